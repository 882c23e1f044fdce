"""Which of this machine's cores work on documents, over all processes of this user.

Each process that works on a document, or helps with one's pages, holds a lock on a file of its
own in one folder. The system drops a lock with its process however that ends, so nothing is
left behind that counts. Runs beside each other see each other's processes.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

_LOOK = 0.02  # seconds
_SETTLED = 60.0  # seconds from which a file without a lock is nobody's


def usable() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0))


def folder() -> Path:
    """Where the processes of this user say that they are at work."""
    return Path(tempfile.gettempdir()) / f"drac-cores-{os.getuid()}"


def free_memory() -> int:
    """Bytes that may still be taken: of the machine, or of the control group's limit where that is less."""
    found = [2**63]
    with contextlib.suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text().splitlines()
        found.append(1024 * int(next(x for x in lines if x.startswith("MemAvailable:")).split()[1]))
    group = Path("/sys/fs/cgroup")
    with contextlib.suppress(OSError, ValueError):  # "max" is no number: no limit
        limit = int((group / "memory.max").read_text())
        found.append(limit - int((group / "memory.current").read_text()))
    return max(0, min(found))


@contextlib.contextmanager
def at_work(where: Path) -> Iterator[None]:
    """Counts as one core at work inside the block. Where files cannot be locked it counts for nothing."""
    held: int | None = None
    path = where / uuid.uuid4().hex
    try:
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        held = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(held, fcntl.LOCK_EX)  # at most for the moment in which somebody counts
    except OSError:
        pass
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            path.unlink()
        if held is not None:
            os.close(held)


_held: list[int] = []  # the places of this process, of which one is locked


@contextlib.contextmanager
def a_place(where: Path, most: int) -> Iterator[None]:
    """Holds one of `most` places inside the block, or until `let_go`, and waits for it.

    For processes that are more than the cores since they mostly wait: so many compute at a time,
    and take memory for it. Where files cannot be locked nobody waits.
    """
    try:
        places = where / "places"  # a folder, which `count` passes over
        places.mkdir(mode=0o700, parents=True, exist_ok=True)
        for n in range(most):
            _held.append(os.open(places / str(n), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
        while not any(_locks(place) for place in _held):
            time.sleep(_LOOK)
    except OSError:
        let_go()
    try:
        yield
    finally:
        let_go()


def let_go() -> None:
    """From here on this process waits for others more than it computes."""
    while _held:
        os.close(_held.pop())


def _locks(place: int) -> bool:
    try:
        fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def count(where: Path) -> int:
    """How many are at work; the files of processes that ended without a word are removed."""
    found = 0
    try:
        entries = [e.path for e in os.scandir(where)]
    except OSError:
        return 0
    for entry in entries:
        try:
            at = os.open(entry, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            fcntl.flock(at, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            found += 1
        else:  # made, and not locked yet; or its process is gone
            with contextlib.suppress(OSError):
                if os.fstat(at).st_mtime < time.time() - _SETTLED:
                    Path(entry).unlink()
        finally:
            os.close(at)
    return found
