"""SHA-256 of files, remembered for those whose stat is unchanged."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import time
from pathlib import Path
from types import TracebackType

from drac_pipeline.errors import SourceChanged, UnreadableDocument

_BLOCK = 1 << 20
# A file written this recently could be written again without its time stamp moving on
# (coarse clocks), so its hash is not remembered yet.
_SETTLED_NS = 2_000_000_000


def hash_file(path: Path) -> tuple[str, os.stat_result]:
    """SHA-256 in hex of the bytes of `path`, and its stat; read in blocks of 1 MiB.

    Raises SourceChanged if the file changes or vanishes while it is read,
    UnreadableDocument if it may not be read.
    """
    digest = hashlib.sha256()
    read = 0
    try:
        with path.open("rb", buffering=0) as f:
            before = os.fstat(f.fileno())
            # not beyond the size at the start: a file that grows as fast as it is read has no end
            while read <= before.st_size and (block := f.read(_BLOCK)):
                digest.update(block)
                read += len(block)
            after = os.fstat(f.fileno())
        now = path.stat()
    except FileNotFoundError as e:
        raise SourceChanged("the file vanished before it was read", remedy="Run again.") from e
    except OSError as e:
        raise UnreadableDocument(
            f"the file cannot be read: {e.strerror}", remedy="Give read permission, or exclude the file."
        ) from e
    if not (_state(before) == _state(after) == _state(now)) or read != after.st_size:
        raise SourceChanged("the file changed while it was read", remedy="Run again when it is complete.")
    return digest.hexdigest(), after


def _state(stat: os.stat_result) -> tuple[int, int, int]:
    return stat.st_size, stat.st_mtime_ns, stat.st_ino


class FingerprintCache:
    """Fingerprints by absolute path, valid as long as size, mtime (ns) and inode stay; those of objects in
    buckets by address, as long as size, time and ETag stay.

    One SQLite file, read at once and written by `flush` (or on leaving a `with`).
    It is only a cache: an unreadable file is replaced. Use from one thread.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._dirty: dict[bytes, tuple[int, int, int, str]] = {}
        try:
            self._known = self._load()
        except sqlite3.DatabaseError:
            path.unlink(missing_ok=True)
            self._known = self._load()

    def get(self, path: Path, stat: os.stat_result) -> str | None:
        """The fingerprint remembered for `path` in the state `stat`, or None."""
        found = self._known.get(os.fsencode(path))
        return found[3] if found and found[:3] == _state(stat) else None

    def known(self, address: str, state: tuple[int, int, str]) -> str | None:
        """The fingerprint remembered for an object of that size, time and ETag, or None."""
        found = self._known.get(os.fsencode(address))
        return found[3] if found and found[:3] == _object_state(state) else None

    def remember(self, address: str, state: tuple[int, int, str], fingerprint: str) -> None:
        """Remember an object's `fingerprint`: an ETag needs no time to be trusted."""
        name = os.fsencode(address)
        self._known[name] = self._dirty[name] = (*_object_state(state), fingerprint)

    def put(self, path: Path, stat: os.stat_result, fingerprint: str) -> None:
        """Remember `fingerprint`, unless the file is too young for its time stamp to be trusted."""
        if abs(time.time_ns() - stat.st_mtime_ns) < _SETTLED_NS:
            return
        name = os.fsencode(path)
        self._known[name] = self._dirty[name] = (*_state(stat), fingerprint)

    def flush(self) -> None:
        """Write what is new in one transaction."""
        if not self._dirty:
            return
        rows = [(name, *_signed(row)) for name, row in self._dirty.items()]
        with contextlib.closing(self._connect()) as db, db:
            db.executemany("INSERT OR REPLACE INTO fingerprint VALUES (?, ?, ?, ?, ?)", rows)
        self._dirty.clear()

    def __enter__(self) -> FingerprintCache:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.flush()

    def _connect(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(self.path, timeout=30)
        db.execute(
            "CREATE TABLE IF NOT EXISTS fingerprint (path BLOB PRIMARY KEY, size INTEGER,"
            " mtime_ns INTEGER, inode INTEGER, sha256 TEXT) WITHOUT ROWID"
        )
        return db

    def _load(self) -> dict[bytes, tuple[int, int, int, str]]:
        with contextlib.closing(self._connect()) as db:
            rows = db.execute("SELECT path, size, mtime_ns, inode, sha256 FROM fingerprint")
            return {bytes(p): (size, mtime, inode % (1 << 64), sha) for p, size, mtime, inode, sha in rows}


def _object_state(state: tuple[int, int, str]) -> tuple[int, int, int]:
    size, modified, etag = state
    return size, modified, int.from_bytes(hashlib.sha256(etag.encode()).digest()[:8], "big")


def _signed(row: tuple[int, int, int, str]) -> tuple[int, int, int, str]:
    """SQLite's integers are signed 64-bit; inode numbers of network file systems are not."""
    size, mtime, inode, sha = row
    return size, mtime, inode - (1 << 64) if inode >= 1 << 63 else inode, sha
