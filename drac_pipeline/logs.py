"""Log lines that say of which run, document and stage they are, in text or as JSON, from all processes.

The library logs through `logging`. `doing` says what this process works on; each line that a handler of
this module gets carries it. A worker process sends its lines to the process that gave it the work
(`gathered` there, `send_to` in the worker), which handles them as its own.
"""

from __future__ import annotations

import contextlib
import json
import logging
import socket
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from drac_pipeline.config import LogsConfig

FIELDS = ("run", "document", "stage")
NODE = "node"
LIBRARY = "drac_pipeline"
_SENT = ("name", "levelno", "levelname", "created", "process", *FIELDS)
_MOST_BYTES = 60_000  # of a line on its way from a worker

_doing: dict[str, str] = {}  # of this process, whose threads all work on the same


@contextlib.contextmanager
def doing(**what: str) -> Iterator[None]:
    """Lines logged inside the block are of this `run`, `document` or `stage`."""
    before = dict(_doing)
    _doing.update(what)
    try:
        yield
    finally:
        _doing.clear()
        _doing.update(before)


def now_doing(**what: str) -> None:
    """The same from here on, to the end of the `doing` around it."""
    _doing.update(what)


class _Where(logging.Filter):
    """Puts run, document and stage into a record that has none."""

    def filter(self, record: logging.LogRecord) -> bool:
        for name in FIELDS:
            if not getattr(record, name, ""):
                setattr(record, name, _doing.get(name, ""))
        return True


class TextLines(logging.Formatter):
    """`WARNING drac_pipeline.pages [a.pdf, markdown]: message`."""

    def format(self, record: logging.LogRecord) -> str:
        where = ", ".join(x for n in ("document", "stage", NODE) if (x := getattr(record, n, "")))
        record.where = f" [{where}]" if where else ""
        return super().format(record)


class JsonLines(logging.Formatter):
    """One JSON object a line: time (UTC), level, logger, run, document, stage, process, message, and `error`
    with the traceback where there is one, `node` where the process was on another one of a cluster."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            **{n: getattr(record, n, "") for n in FIELDS},
            **({NODE: node} if (node := getattr(record, NODE, "")) else {}),
            "process": record.process,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def _worth_a_line(record: logging.LogRecord) -> bool:
    """Lines of the library, and of others what is wrong: not how Dagster sets up its databases."""
    return record.levelno >= logging.WARNING or record.name.split(".")[0] == LIBRARY


def log_to_stderr(
    config: LogsConfig, stream: TextIO | None = None, *, others_too: bool | None = None
) -> None:
    """Write this process's lines to stderr (or `stream`) as the settings say; the last call counts. Of other
    libraries only warnings and errors, unless `others_too` (default: where the level is debug)."""
    handler = logging.StreamHandler(stream or sys.stderr)
    if config.format == "json":
        handler.setFormatter(JsonLines())
        logging.captureWarnings(True)
    else:
        handler.setFormatter(TextLines("%(levelname)s %(name)s%(where)s: %(message)s"))
        if config.level == "auto":  # a table of failed documents, say, follows
            handler.addFilter(lambda record: not getattr(record, "reported", False))
    if not (config.level == "debug" if others_too is None else others_too):
        handler.addFilter(_worth_a_line)
    handler.addFilter(_Where())
    handler.set_name("drac")
    root = logging.getLogger()
    root.handlers = [h for h in root.handlers if h.get_name() != "drac"] + [handler]
    root.setLevel(config.level_number())


def writes_to_stderr() -> bool:
    """Whether `log_to_stderr` was called here."""
    return any(h.get_name() == "drac" for h in logging.getLogger().handlers)


# ------------------------------------------------------------ across processes


@dataclass(frozen=True, slots=True)
class Outlet:
    """Where a process that this one gives work to sends its lines, from which level on, and what it does."""

    address: str
    level: int
    doing: tuple[tuple[str, str], ...] = ()


_outlet: Outlet | None = None


class _ToParent(logging.Handler):
    """Sends each record as a datagram: whole or not at all, and no lock stays with a killed process."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self.address = address
        self.socket: socket.socket | None = None

    def emit(self, record: logging.LogRecord) -> None:
        told = as_sent(record)
        try:
            if self.socket is None:
                self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
                self.socket.connect(self.address)
            self.socket.send(json.dumps(told, default=str).encode())
        except OSError:  # nobody listens (any more): no reason to fail a document
            self.socket = None

    def close(self) -> None:
        if self.socket is not None:
            self.socket.close()
        super().close()


@contextlib.contextmanager
def gathered(folder: Path) -> Iterator[Outlet]:
    """An outlet for other processes of this machine: lines that come by it inside the block are handled as
    this process's own. `folder` has the socket, and is this user's alone."""
    level = logging.getLogger().getEffectiveLevel()
    try:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        listener.bind(str(folder / "log"))
    except OSError:  # a path too long for a socket: those processes write to their own stderr
        yield Outlet("", level)
        return
    thread = threading.Thread(target=_handle, args=(listener, dict(_doing)), daemon=True)
    thread.start()
    try:
        yield Outlet(str(folder / "log"), level)
    finally:
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as last:
            last.sendto(b"", str(folder / "log"))  # comes after all that was sent before
            thread.join()
        listener.close()


def _handle(listener: socket.socket, here: dict[str, str]) -> None:
    while line := listener.recv(4 * _MOST_BYTES):
        with contextlib.suppress(ValueError):
            handle_sent(json.loads(line), here)


def as_sent(record: logging.LogRecord) -> dict[str, Any]:
    """A record as plain values, for another process."""
    told = {n: getattr(record, n, "") for n in _SENT}
    told["msg"] = record.getMessage()[: _MOST_BYTES // 6]
    if record.exc_info:
        told["exc_text"] = logging.Formatter().formatException(record.exc_info)[: _MOST_BYTES // 6]
    elif record.exc_text:
        told["exc_text"] = record.exc_text
    told["reported"] = getattr(record, "reported", False)
    return told


def handle_sent(told: dict[str, Any], here: dict[str, str] | None = None) -> None:
    """Handle a record of another process as this one's own; what it does not say, `here` says (default: what
    this process is doing)."""
    record = logging.makeLogRecord({**told, "args": ()})
    for name, value in (_doing if here is None else here).items():
        if not getattr(record, name, ""):
            setattr(record, name, value)
    logging.getLogger(record.name).handle(record)


def send_to(outlet: Outlet) -> None:
    """In a process that was given work: lines go to who gave it, and to nobody else."""
    global _outlet
    _doing.update(outlet.doing)
    if _outlet and _outlet.address == outlet.address:
        return
    _outlet = outlet
    root = logging.getLogger()
    root.setLevel(outlet.level)
    if outlet.address:
        handler = _ToParent(outlet.address)
        handler.addFilter(_Where())
        for old in root.handlers:
            old.close()
        root.handlers = [handler]


def outlet_here() -> Outlet | None:
    """The outlet of this process for one that helps it; None where it writes its lines itself."""
    return _outlet and Outlet(_outlet.address, _outlet.level, tuple(_doing.items()))
