"""The way from the process that works on a document to its Ray worker, which can reach the driver.

That process is none of Ray's: it talks over a socket of its machine, a connection for each of its threads,
and gets an answer to whatever it asks or tells.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import secrets
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Listener
from typing import Any

from drac_pipeline.cluster.books import far_books
from drac_pipeline.llm.books import kept_by
from drac_pipeline.pipeline.watch import Notes

Place = tuple[str, bytes]
Answer = Callable[[str, tuple[Any, ...]], Any]
ROOT_LOGGER = "drac_pipeline"
_BACKLOG = 256  # threads that come at once


class Desk:
    """Answers who comes to `place`, each in a thread; `answer(what, args)` may raise what it likes."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._folder = tempfile.mkdtemp(prefix="drac-desk-")
        self.place: Place = (f"{self._folder}/desk", secrets.token_bytes(24))
        self._listener = Listener(self.place[0], "AF_UNIX", backlog=_BACKLOG, authkey=self.place[1])
        threading.Thread(target=self._open, daemon=True).start()

    def close(self) -> None:
        """Nobody is answered any more."""
        self._listener.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _open(self) -> None:
        while True:
            try:
                came = self._listener.accept()
            except (AuthenticationError, EOFError, ConnectionError):  # who came has ended meanwhile
                continue
            except OSError:  # closed
                return
            threading.Thread(target=self._serve, args=(came,), daemon=True).start()

    def _serve(self, came: Any) -> None:
        with contextlib.suppress(EOFError, OSError), came:
            while True:
                what, args = came.recv()
                try:
                    answer = True, self._answer(what, args)
                except Exception as e:
                    answer = False, e
                came.send(answer)


class Line:
    """The other end of a desk, for all threads of a process."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._own = threading.local()

    def ask(self, what: str, *args: Any) -> Any:
        """The answer of the desk, or what it raised."""
        connection: Any = getattr(self._own, "connection", None)
        if connection is None:
            connection = self._own.connection = Client(self._place[0], authkey=self._place[1])
        connection.send((what, args))
        done, answer = connection.recv()
        if done:
            return answer
        raise answer


@functools.lru_cache(maxsize=1)
def _line(place: Place) -> Line:
    return Line(place)


@contextlib.contextmanager
def at_desk(place: Place, level: int, notes: Notes) -> Iterator[None]:
    """Within it the process of a document logs to the driver what is of `level`, and has its model calls
    let in and written down there."""
    line = _line(place)
    logger = logging.getLogger(ROOT_LOGGER)
    handler = _ToDriver(line, notes)
    before = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(level)
    logger.propagate = False
    try:
        with kept_by(functools.partial(far_books, line.ask)):
            yield
    finally:
        logger.removeHandler(handler)
        logger.level, logger.propagate = before


class _ToDriver(logging.Handler):
    def __init__(self, line: Line, notes: Notes) -> None:
        super().__init__()
        self._line, self._notes = line, notes

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if record.exc_info:
            message += "\n" + logging.Formatter().formatException(record.exc_info)
        with contextlib.suppress(OSError, EOFError):
            self._line.ask("log", self._notes.stage, record.name, record.levelno, message)
