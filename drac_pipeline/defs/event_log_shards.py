"""The databases the event log keeps open: few, checked for being the same file, none across a fork."""

import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.engine import Engine

FORK_PATIENCE_SECONDS = 5.0


class _Shard:
    """An open database: its engine, how many callers use it now, and the file it was opened on."""

    def __init__(self, engine: Engine, inode: int | None):
        self.engine = engine
        self.inode = inode
        self.users = 0
        self.retired = False


class ShardEngines:
    """Engines by shard name: the most recently used stay open, none is shared across a fork.

    ``open_engine`` builds the engine of a shard whose file ``path_of`` names; it is called under the
    lock. An engine in use is never closed, so more than ``max_open`` can be open for a while.
    """

    def __init__(self, path_of: Callable[[str], str], open_engine: Callable[[str], Engine], max_open: int):
        if max_open < 1:
            raise ValueError(f"max_open must be at least 1, not {max_open}")
        self._path_of = path_of
        self._open_engine = open_engine
        self._max_open = max_open
        self._start_afresh()
        _ALL_ENGINES.add(self)

    def _start_afresh(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._left = threading.Condition(self._lock)
        self._write_lock = threading.RLock()
        self._shards: OrderedDict[str, _Shard] = OrderedDict()
        self._in_use = 0

    @property
    def open_shards(self) -> Sequence[str]:
        """Names of the shards that are open, least recently used first."""
        return list(self._shards)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Let the writers of this process take turns: cheaper and fairer than SQLite's polling."""
        self._leave_parents_engines()
        with self._write_lock:
            yield

    @contextmanager
    def engine(self, shard: str) -> Iterator[Engine]:
        """Yield the engine of a shard and keep it open meanwhile."""
        self._leave_parents_engines()
        with self._lock:
            entry = self._get(shard)
            entry.users += 1
            self._in_use += 1
            self._evict()
        try:
            yield entry.engine
        finally:
            with self._lock:
                entry.users -= 1
                self._in_use -= 1
                if entry.retired and not entry.users:
                    entry.engine.dispose()
                self._evict()
                self._left.notify_all()

    def close(self) -> None:
        """Close every engine: now, or when its last user leaves it."""
        self._leave_parents_engines()
        with self._lock:
            for shard in list(self._shards):
                self._retire(shard)

    def _get(self, shard: str) -> _Shard:
        entry = self._shards.get(shard)
        # Another process may have wiped the home: writing on would fill a file that has no name any more.
        if entry is not None and entry.inode != _inode(self._path_of(shard)):
            self._retire(shard)
            entry = None
        if entry is None:
            engine = self._open_engine(shard)
            entry = self._shards[shard] = _Shard(engine, _inode(self._path_of(shard)))
        self._shards.move_to_end(shard)
        return entry

    def _evict(self) -> None:
        idle = [name for name, entry in self._shards.items() if not entry.users]
        for shard in idle[: max(0, len(self._shards) - self._max_open)]:
            self._retire(shard)

    def _retire(self, shard: str) -> None:
        entry = self._shards.pop(shard)
        entry.retired = True
        if not entry.users:
            entry.engine.dispose()

    def _leave_parents_engines(self) -> None:
        if os.getpid() == self._pid:
            return
        # Closing a connection of the parent's could disturb it, and so could collecting it as garbage.
        _INHERITED.append(self._shards)
        self._start_afresh()

    # SQLite keeps a process's locks in memory and a fork copies that memory but not the locks, so a child
    # that inherits an open database believes in locks it does not hold; and what another thread has locked
    # inside SQLite at that moment stays locked in the child for good. So: all quiet, all closed, then fork.
    def before_fork(self) -> None:
        """Wait for connections in use, close them all, and let nobody open one until the fork is done."""
        self._leave_parents_engines()
        self._write_lock.acquire()
        self._lock.acquire()
        # No longer than this: the thread that forks may itself be the one that uses a connection.
        self._left.wait_for(lambda: not self._in_use, FORK_PATIENCE_SECONDS)
        for entry in self._shards.values():
            if not entry.users:
                entry.engine.dispose()

    def after_fork_in_parent(self) -> None:
        """Go on as before."""
        self._lock.release()
        self._write_lock.release()


_INHERITED: list[object] = []
_ALL_ENGINES: "weakref.WeakSet[ShardEngines]" = weakref.WeakSet()
_FORKING: list[ShardEngines] = []


def _before_fork() -> None:
    for engines in list(_ALL_ENGINES):
        engines.before_fork()
        _FORKING.append(engines)


def _after_fork_in_parent() -> None:
    while _FORKING:
        _FORKING.pop().after_fork_in_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_FORKING.clear
    )


def _inode(path: str) -> int | None:
    try:
        return Path(path).stat().st_ino
    except FileNotFoundError:
        return None
