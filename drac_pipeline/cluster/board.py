"""Where workers of a run put their news, and where its driver reads them.

An actor on the driver's node: it outlives every other node. News are told without waiting for an answer.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from drac_pipeline.logs import as_sent
from drac_pipeline.pipeline.progress import PageProgress


@dataclass(frozen=True, slots=True)
class Begun:
    """A try of a document has begun on a node."""

    attempt: int
    key: str
    node: str


@dataclass(frozen=True, slots=True)
class Logged:
    """A line of a process on a node, as `logs.as_sent` gives it."""

    node: str
    record: dict[str, Any]


class ToBoard(logging.Handler):
    """Puts up what this process, and those that it gives work to, log."""

    def __init__(self, board: Any, node: str) -> None:
        super().__init__()
        self._board, self._node = board, node
        self.addFilter(lambda record: record.name.startswith(_OWN))

    def emit(self, record: logging.LogRecord) -> None:
        self._board.tell.remote(Logged(self._node, as_sent(record)))


News = Begun | Logged | PageProgress
_OWN = "drac_pipeline"  # Ray's workers log too, to files of their node
_MOST = 10_000  # lines kept: of a driver that does not read, the oldest are let go


class Board:
    """The actor's class."""

    def __init__(self) -> None:
        self._news: list[News] = []
        self._waiting = True

    def tell(self, news: News) -> None:
        """Put something up."""
        self._news.append(news)
        del self._news[:-_MOST]

    def read(self, waiting: bool) -> list[News]:
        """All that is new since the last call, oldest first. The driver says whether documents wait."""
        self._waiting = waiting
        news, self._news = self._news, []
        return news

    def nobody_waits(self) -> bool:
        """Whether CPUs that are free are wanted by no document of the run."""
        return not self._waiting
