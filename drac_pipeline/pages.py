"""Map over the pages of one document on the cores that are free.

The process that has the document works on its pages itself. If that takes longer than a moment
and cores are free, helper processes take pages too: from the moment a core is free until
another document wants it. Results come in the order of the pages, the same with any number of
helpers. Helpers exist where a `Crew` was set (the pool's workers do); elsewhere, as in a
program that uses this library, pages are done one after the other.

Processes rather than threads: PyMuPDF holds the interpreter's lock, and is not safe in threads.
"""

from __future__ import annotations

import contextlib
import ctypes
import logging
import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Generic, TypeVar

from drac_pipeline import cores
from drac_pipeline.logs import Outlet, outlet_here, send_to

log = logging.getLogger(__name__)

R = TypeVar("R")
ReadPage = Callable[[int], R]

READY = "ready"  # what a helper on another machine says first
_WORTH_SECONDS = 10.0  # of work for which such a one is asked for: it takes seconds to come
PATIENCE = 1.0  # seconds one process works alone: most documents are done by then
HELPER_BYTES = 600_000_000  # what a helper takes with the OCR models at work
_SETTLE = 1.0  # seconds in which a new helper says that it is at work
_SHARE = 0.75  # of a document's memory from which no helper is added
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG; the parent is the fork server, which ends with its own parent
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass
class Crew:
    """Who may help this process with its pages.

    most           pages at once; 0: as many as cores are free
    memory_bytes   what this process and its helpers may take together
    hired, left    called with a helper's process id when it starts and when it has ended
    progress       called with pages done and all pages, after each page and while helpers are waited for
    where          the folder of `cores`
    elsewhere      gives a connection to a helper that is no process of this machine, which says `READY` once
                   it is one, and closes it if it cannot be; called with `make` and `args` of `map_pages`
    most_elsewhere how many of these at once
    """

    most: int = 0
    memory_bytes: int = 4_000_000_000
    hired: Callable[[int], None] = lambda _: None
    left: Callable[[int], None] = lambda _: None
    progress: Callable[[int, int], None] = lambda _done, _total: None
    where: Path = field(default_factory=cores.folder)
    elsewhere: Callable[[Callable[..., Any], tuple[Any, ...]], Any] | None = None
    most_elsewhere: int = 0


_crew: Crew | None = None


@contextlib.contextmanager
def helped_by(crew: Crew) -> Iterator[None]:
    """Pages mapped inside the block may be spread over helpers."""
    global _crew
    before, _crew = _crew, crew
    try:
        yield
    finally:
        _crew = before


@contextlib.contextmanager
def helped_elsewhere(hire: Callable[[Callable[..., Any], tuple[Any, ...]], Any], most: int) -> Iterator[None]:
    """The crew of this process may have `most` helpers on other machines too, inside the block."""
    with helped_by(replace(_crew or Crew(1), elsewhere=hire, most_elsewhere=most)):
        yield


def map_pages(
    make: Callable[..., ReadPage[R]],
    args: tuple[Any, ...],
    numbers: Sequence[int],
    own: ReadPage[R],
    *,
    anywhere: bool = False,
) -> list[R]:
    """`own(n)` for each of `numbers`, in their order.

    `make(*args)` gives a helper process the same function; `make`, `args` and the results are
    pickled. What `own` raises for a page is raised here, whoever came upon it. `anywhere` says that
    helpers may be on other machines: that all of a page is in its result, and none in a file.
    """
    if _crew is None or len(numbers) < 2:
        return [own(n) for n in numbers]
    spread: _Spread[R] = _Spread(_crew, make, args, numbers, own)
    spread.anywhere = anywhere and _crew.elsewhere is not None
    try:
        return spread.run()
    finally:
        spread.end()


class _Helper:
    """`process` is None for one on another machine."""

    def __init__(self, process: BaseProcess | None, talk: Any) -> None:
        self.process, self.talk = process, talk
        self.thread: threading.Thread | None = None

    @property
    def busy(self) -> bool:
        return self.thread is not None and self.thread.is_alive()


class _Spread(Generic[R]):
    """One run of `map_pages`."""

    def __init__(
        self, crew: Crew, make: Callable[..., Any], args: tuple[Any, ...], numbers: Sequence[int], own: Any
    ) -> None:
        self.crew, self.make, self.args, self.own = crew, make, args, own
        self.numbers = numbers
        self.todo = deque(numbers)
        self.back: deque[int] = deque()  # pages a helper failed at: they are this process's own
        self.results: dict[int, R] = {}
        self.helpers: list[_Helper] = []
        self.began = time.monotonic()
        self.hired_at = self.asked_at = 0.0
        self.anywhere = self.over = False

    def run(self) -> list[R]:
        while len(self.results) < len(self.numbers):
            self._hire()
            self._hire_elsewhere()
            try:
                n = self.back.popleft() if self.back else self.todo.popleft()
            except IndexError:
                self._await_helpers()
                continue
            self.results[n] = self.own(n)
            self._tell()
        return [self.results[n] for n in self.numbers]

    def _await_helpers(self) -> None:
        """All pages are given out: wait for one to come in or come back."""
        for helper in self.helpers:
            if helper.busy and helper.thread:
                helper.thread.join(0.2)
                self._tell()
                return

    def _tell(self) -> None:
        self.crew.progress(len(self.results), len(self.numbers))

    def _hire(self) -> None:
        """Start as many helpers as there are pages, cores and memory for."""
        now = time.monotonic()
        alone = not self.crew.most and now - self.began < PATIENCE
        if alone or len(self.todo) < 2 or now - self.hired_at < _SETTLE:
            return
        working = [h.process.pid or 0 for h in self.helpers if h.process and h.busy]
        free = self.crew.most - 1 - len(working)
        if not self.crew.most:
            free = cores.usable() - max(cores.count(self.crew.where), 1 + len(working))
        taken = [resident_bytes(pid) for pid in (os.getpid(), *working)]
        each = max(HELPER_BYTES, *taken)
        room = int((_SHARE * self.crew.memory_bytes - sum(taken)) / each)
        for _ in range(min(free, room, len(self.todo) - 1)):
            self.hired_at = now
            try:
                self.helpers.append(self._start())
            except (OSError, EOFError) as e:  # no process is to be had: the work goes on without
                log.warning("no helper could be started: %s", e)
                return

    def _hire_elsewhere(self) -> None:
        """Ask for one more on another machine where what is left is worth the time that it takes to come."""
        now = time.monotonic()
        if not self.anywhere or not self.results or now - self.asked_at < _SETTLE:
            return
        left = (now - self.began) / len(self.results) * len(self.todo)
        far = [h for h in self.helpers if h.process is None and h.busy]
        if left < _WORTH_SECONDS or len(far) >= self.crew.most_elsewhere or self.crew.elsewhere is None:
            return
        self.asked_at = now
        try:
            helper = _Helper(None, self.crew.elsewhere(self.make, self.args))
        except (OSError, EOFError) as e:
            log.warning("no helper on another machine could be asked for: %s", e)
            return
        helper.thread = threading.Thread(target=self._lead, args=(helper,), daemon=True)
        helper.thread.start()
        self.helpers.append(helper)

    def _start(self) -> _Helper:
        process, here = start_helper(self.make, self.args, self.crew.where, outlet_here())
        self.crew.hired(process.pid or 0)
        helper = _Helper(process, here)
        helper.thread = threading.Thread(target=self._lead, args=(helper,), daemon=True)
        helper.thread.start()
        return helper

    def _lead(self, helper: _Helper) -> None:
        """Give a helper page after page while its core is not wanted by a document."""
        n: int | None = None
        far = helper.process is None
        try:
            if far and self._heard(helper) != READY:
                return
            while far or self.crew.most or cores.count(self.crew.where) <= cores.usable():
                try:
                    n = self.todo.popleft()
                except IndexError:  # no page is left
                    break
                helper.talk.send(n)
                done, result = self._heard(helper) if far else helper.talk.recv()
                if done:
                    self.results[n] = result
                else:
                    self.back.append(n)
                n = None
        except EOFError as e:
            if n is not None or not far:  # one that never came is nothing to speak of
                log.warning("a helper ended (%r): its page is done without it", e)
        except Exception as e:  # it died, or what it sent cannot be read: no page may be lost by it
            if n is not None:
                log.warning("a helper failed at page %d (%r): the page is done without it", n + 1, e)
        finally:
            if n is not None:
                self.back.append(n)
            helper.talk.close()  # which ends it

    def _heard(self, helper: _Helper) -> Any:
        """What a helper on another machine says, if that is still wanted."""
        while not helper.talk.poll(0.2):
            if self.over:
                raise EOFError("all pages are done")
        return helper.talk.recv()

    def end(self) -> None:
        """No helper outlives the call."""
        self.over = True
        for h in self.helpers:
            if h.process is None:
                if h.thread:
                    h.thread.join()
                continue
            if h.process.is_alive() and len(self.results) < len(self.numbers):
                h.process.kill()
            h.process.join(2)
            if h.process.is_alive():
                h.process.kill()
                h.process.join()
            if h.thread:
                h.thread.join()
            self.crew.left(h.process.pid or 0)
            h.process.close()


def start_helper(
    make: Callable[..., Any], args: tuple[Any, ...], where: Path, outlet: Outlet | None
) -> tuple[BaseProcess, Any]:
    """A process that does pages, and the connection over which it gets their numbers."""
    context = multiprocessing.get_context("forkserver")
    here, there = context.Pipe()
    # the fork server is the pool's own, with its modules: a helper starts in some milliseconds
    process = context.Process(target=_help, args=(there, make, args, where, outlet), daemon=True)
    process.start()
    there.close()
    return process, here


def _help(
    talk: Connection,
    make: Callable[..., Any],
    args: tuple[Any, ...],
    where: Path,
    outlet: Outlet | None,
) -> None:
    """In a helper: do the pages that come over the pipe, until it is closed."""
    end_with_parent()
    if outlet:
        send_to(outlet)
    with cores.at_work(where), contextlib.suppress(EOFError, OSError):
        read = None
        while True:
            n = talk.recv()
            try:
                read = read or make(*args)
                answer = True, read(n)
            except Exception as e:  # the process that has the document meets it again, and says it
                answer = False, repr(e)
            talk.send(answer)


def end_with_parent() -> None:
    """End this process when its parent is gone: it would wait for work for ever otherwise.

    An interrupt from the terminal reaches all processes; the parent decides what becomes of it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(OSError, AttributeError):  # Linux; also ends one that a native library holds up
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)

    def watch() -> None:
        parent = multiprocessing.parent_process()
        if parent:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def resident_bytes(pid: int) -> int:
    """The memory a process takes; 0 if it is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_BYTES
    except (OSError, IndexError):
        return 0
