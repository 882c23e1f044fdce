"""The log of a run: what the library logs while it works for one, worker processes included."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator

from dagster import AssetExecutionContext

from drac_pipeline.config import LogsConfig
from drac_pipeline.logs import LIBRARY, TextLines, doing, log_to_stderr, writes_to_stderr
from drac_pipeline.pipeline.process import REPORTED


class _ToRun(logging.Handler):
    """Warnings and errors of the library, with document and stage in the line; not those that the run's
    events say anyway."""

    def __init__(self, context: AssetExecutionContext) -> None:
        super().__init__(logging.WARNING)
        self.context = context
        self.setFormatter(TextLines("%(message)s%(where)s"))

    def emit(self, record: logging.LogRecord) -> None:
        if not getattr(record, "reported", False):
            self.context.log.log(record.levelno, self.format(record))


@contextlib.contextmanager
def logging_to_run(context: AssetExecutionContext, config: LogsConfig) -> Iterator[None]:
    """Inside the block the library's lines go to the run's log, and to stderr where the settings want JSON
    and nobody has seen to that, as in the process of a run that Dagster started."""
    config = config.in_environment()
    if config.format == "json" and not writes_to_stderr():
        log_to_stderr(config)
    library, handler = logging.getLogger(LIBRARY), _ToRun(context)
    library.addHandler(handler)
    try:
        with doing(run=context.run.run_id):
            yield
    finally:
        library.removeHandler(handler)


def tell(
    context: AssetExecutionContext, level: int, message: str, *, document: str = "", stage: str = ""
) -> None:
    """A line of the run itself, in its log and among the library's lines."""
    where = ", ".join(x for x in (document, stage) if x)
    context.log.log(level, f"{where}: {message}" if where else message)
    extra = {**REPORTED, "document": document, "stage": stage}
    logging.getLogger(__name__).log(level, message, extra=extra)
