"""Where workers of a run put their news, and where its driver reads them.

An actor on the driver's node: it outlives every other node. News are told without waiting for an answer.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from drac_pipeline.pipeline.progress import PageProgress


@dataclass(frozen=True, slots=True)
class Begun:
    """A try of a document has begun on a node."""

    attempt: int
    key: str
    node: str


@dataclass(frozen=True, slots=True)
class Logged:
    """A line of the log of who works on a document."""

    key: str
    stage: str
    node: str
    logger: str
    level: int
    message: str


News = Begun | Logged | PageProgress
_MOST = 10_000  # lines kept: of a driver that does not read, the oldest are let go


class Board:
    """The actor's class."""

    def __init__(self) -> None:
        self._news: list[News] = []

    def tell(self, news: News) -> None:
        """Put something up."""
        self._news.append(news)
        del self._news[:-_MOST]

    def read(self) -> list[News]:
        """All that is new since the last call, oldest first."""
        news, self._news = self._news, []
        return news


def write_down(line: Logged) -> None:
    """Have a worker's line in the log of this process, with what it is about."""
    logger = logging.getLogger(line.logger)
    if logger.isEnabledFor(line.level):
        logger.log(line.level, "%s, %s (on %s): %s", line.key, line.stage, line.node, line.message)
