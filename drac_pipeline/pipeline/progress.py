"""Tell whoever listens how far a run is.

The pipeline calls `report` and `report_pages`; a progress bar, a log or nobody listens. One
process only: workers tell their parent by the outcomes they return, and by notes it looks at.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from drac_pipeline.counted import counted
from drac_pipeline.pipeline.process import DocumentOutcome

Listener = Callable[[DocumentOutcome], None]
_listeners: list[Listener] = []


@dataclass(frozen=True, slots=True)
class PageProgress:
    """How far a document is within a stage that goes page by page."""

    key: str
    stage: str
    done: int
    total: int

    def __str__(self) -> str:
        return f"{self.key}, {self.stage}: {self.done} of {counted(self.total, 'page')}"


PageListener = Callable[[PageProgress], None]
_page_listeners: list[PageListener] = []


def report_pages(progress: PageProgress) -> None:
    """A document that takes a while has come further."""
    for listener in list(_page_listeners):
        listener(progress)


@contextlib.contextmanager
def listening_to_pages(listener: PageListener) -> Iterator[None]:
    """Have `listener` called, once a second at most, for each long document inside the block."""
    _page_listeners.append(listener)
    try:
        yield
    finally:
        _page_listeners.remove(listener)


class PageLines:
    """A listener for logs: a line for each document every `seconds`, none for short work."""

    def __init__(self, write: Callable[[str], object], seconds: float = 10.0) -> None:
        self.write, self.seconds = write, seconds
        self._told: dict[tuple[str, str], float] = {}

    def __call__(self, progress: PageProgress) -> None:
        now = time.monotonic()
        told = self._told.setdefault((progress.key, progress.stage), now)
        if now - told >= self.seconds:
            self._told[progress.key, progress.stage] = now
            self.write(str(progress))


def report(outcome: DocumentOutcome) -> None:
    """A document is done, well or not."""
    for listener in list(_listeners):
        listener(outcome)


@contextlib.contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Have `listener` called for each document that ends inside the block."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)
