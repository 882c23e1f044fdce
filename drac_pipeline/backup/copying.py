"""Copies files into a snapshot; what the snapshot before has just so is linked instead of copied."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_SQLITE = b"SQLite format 3\0"
_SIDE_FILES = ("-wal", "-shm", "-journal")


@dataclass
class Copier:
    """Copies from the folder `source` to `target`, with `previous` (another such copy) to share with.

    `files` and `size` (bytes) count all, `new_size` what was copied and not linked.
    """

    source: Path
    target: Path
    previous: Path | None = None
    files: int = 0
    size: int = 0
    new_size: int = 0
    gone: list[str] = field(default_factory=list)

    def file(self, path: Path) -> None:
        """Copy one file of the source: a SQLite database as of one moment, whoever writes to it.

        A file that is gone by now is noted in `gone`.
        """
        relative = path.relative_to(self.source)
        target = self.target / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            stat = path.stat()
            before = self.previous / relative if self.previous else None
            if before is not None and not _being_written(path) and _same(before, stat):
                try:
                    os.link(before, target)
                except OSError:  # no links there, or too many of this file
                    self._copy(path, target, stat)
            else:
                self._copy(path, target, stat)
        except FileNotFoundError:
            self.gone.append(relative.as_posix())
            return
        self.files += 1
        self.size += stat.st_size

    def _copy(self, path: Path, target: Path, stat: os.stat_result) -> None:
        if _is_sqlite(path):
            copy_database(path, target)
            os.utime(target, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        else:
            shutil.copy2(path, target)
        self.new_size += stat.st_size


def files_below(folder: Path) -> Iterator[Path]:
    """The files of a folder that make up its state: no locks, temporary files, sockets or journals
    of databases (what is in a journal comes with the database)."""
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if not f.startswith(".tmp-"))
        for name in sorted(names):
            path = Path(root, name)
            if name.startswith(".tmp-") or name in (".lock", ".work-lock") or name.endswith("-lock"):
                continue
            if any(name.endswith(s) and path.with_name(name[: -len(s)]).exists() for s in _SIDE_FILES):
                continue
            if path.is_file() and not path.is_symlink():
                yield path


def copy_database(source: Path, target: Path) -> None:
    """Copy a SQLite database as of one moment, while others write to it."""
    target.unlink(missing_ok=True)
    original = sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True, timeout=60.0)
    try:
        copy = sqlite3.connect(target)
        try:
            original.backup(copy)
        finally:
            copy.close()
    finally:
        original.close()


def _is_sqlite(path: Path) -> bool:
    with path.open("rb") as f:
        return f.read(len(_SQLITE)) == _SQLITE


def _being_written(path: Path) -> bool:
    """True of a database with changes that are in its journal only."""
    journal = path.with_name(path.name + "-wal")
    try:
        return journal.stat().st_size > 0
    except FileNotFoundError:
        return False


def _same(before: Path, stat: os.stat_result) -> bool:
    try:
        old = before.stat()
    except FileNotFoundError:
        return False
    return old.st_size == stat.st_size and old.st_mtime_ns == stat.st_mtime_ns
