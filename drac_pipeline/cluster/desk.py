"""The way from the process that works on a document to its Ray worker, which can reach the driver.

That process is none of Ray's: it talks over a socket of its machine, a connection for each of its threads,
and gets an answer to whatever it asks or tells.
"""

from __future__ import annotations

import contextlib
import functools
import secrets
import threading
from collections.abc import Callable, Iterator
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Listener
from typing import Any

from drac_pipeline.cluster.books import far_books
from drac_pipeline.llm.books import kept_by
from drac_pipeline.pages import helped_elsewhere

Place = tuple[str, bytes]
Answer = Callable[[str, tuple[Any, ...]], Any]
HELP = "help"
_BACKLOG = 256  # threads that come at once


class Desk:
    """Answers who comes to `place`, each in a thread; `answer(what, args)` may raise what it likes. One that
    comes for help with pages is left to `lend(connection, make, args)`."""

    def __init__(self, answer: Answer, lend: Callable[..., None]) -> None:
        self._answer, self._lend = answer, lend
        # no file, which a killed process would leave behind
        self.place: Place = (f"\0drac-desk-{secrets.token_hex(12)}", secrets.token_bytes(24))
        self._listener = Listener(self.place[0], "AF_UNIX", backlog=_BACKLOG, authkey=self.place[1])
        threading.Thread(target=self._open, daemon=True).start()

    def close(self) -> None:
        """Nobody is answered any more."""
        self._listener.close()

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
                if what == HELP:
                    self._lend(came, *args)
                    return
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
            connection = self._own.connection = Client(self._place[0], "AF_UNIX", self._place[1])
        connection.send((what, args))
        done, answer = connection.recv()
        if done:
            return answer
        raise answer


@functools.lru_cache(maxsize=1)
def _line(place: Place) -> Line:
    return Line(place)


def _help_from(place: Place, make: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    connection = Client(place[0], "AF_UNIX", place[1])
    connection.send((HELP, (make, args)))
    return connection


@contextlib.contextmanager
def at_desk(place: Place, helpers: int) -> Iterator[None]:
    """Within it the process of a document has its model calls let in and written down by the driver, and
    as many helpers with its pages on other nodes."""
    hire = functools.partial(_help_from, place)
    books = functools.partial(far_books, _line(place).ask)
    with kept_by(books), helped_elsewhere(hire, helpers):
        yield
