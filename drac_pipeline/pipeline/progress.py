"""Tell whoever listens how far a run is.

The pipeline calls `report`; a progress bar, a log or nobody listens. One process only:
workers tell their parent by the outcomes they return.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from drac_pipeline.pipeline.process import DocumentOutcome

Listener = Callable[[DocumentOutcome], None]
_listeners: list[Listener] = []


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
