"""Copies of artifacts on this machine. An output never changes, so a copy of it is never out of date.

    objects/<document>/<stage>/<version>/<files>

Whoever is beyond the size deletes what was longest not asked for, but nothing of the last hour:
somebody may be reading it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import time
from pathlib import Path

_KEPT_SECONDS = 3600.0
_LOOK_SHARE = 0.05  # of the size may be added by a process before it looks


class ArtifactCache:
    """The copies below `root`, of about `size` bytes at most."""

    def __init__(self, root: Path, size: int) -> None:
        self.root = root
        self.size = size
        self._added = 0

    def folder(self, document: str, stage: str, version: str) -> Path:
        """Where the files of an output are, if they are there."""
        return self.root / "objects" / document / stage / version

    def take(self, made: Path, document: str, stage: str, version: str) -> Path:
        """Move the folder `made` in; gives where it is."""
        target = self.folder(document, stage, version)
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists():
            shutil.rmtree(target)
        made.replace(target)
        self.added(sum(e.stat().st_size for e in os.scandir(target) if e.is_file()))
        return target

    def get(self, path: Path) -> bool:
        """Whether a copy is there; it counts as asked for now."""
        try:
            os.utime(path.parent)
            return path.is_file()
        except OSError:
            return False

    def drop(self, document: str, stage: str = "", version: str = "") -> None:
        """Delete the copies of an output, or of all of a document."""
        parts = [p for p in (document, stage, version) if p]
        shutil.rmtree(self.root.joinpath("objects", *parts), ignore_errors=True)

    def added(self, size: int) -> None:
        """Note that so many bytes came in; clears up where it is time to."""
        self._added += size
        if self._added > self.size * _LOOK_SHARE:
            self._added = 0
            self.shrink()

    def shrink(self, kept_seconds: float = _KEPT_SECONDS) -> None:
        """Delete the oldest outputs until the rest fits."""
        self.root.mkdir(parents=True, exist_ok=True)
        with (self.root / ".shrink-lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:  # another process is at it
                return
            found = sorted(self._outputs())
            total = sum(size for _, size, _ in found)
            limit = time.time() - kept_seconds
            for asked, size, folder in found:
                if total <= self.size or asked > limit:
                    return
                shutil.rmtree(folder, ignore_errors=True)
                with contextlib.suppress(OSError):
                    folder.parent.rmdir()
                    folder.parent.parent.rmdir()
                total -= size

    def _outputs(self) -> list[tuple[float, int, Path]]:
        """When each output was last asked for, its bytes, and its folder."""
        out = []
        for folder in (self.root / "objects").glob("*/*/*"):
            with contextlib.suppress(OSError):
                size = sum(e.stat().st_size for e in os.scandir(folder))
                out.append((folder.stat().st_mtime, size, folder))
        return out
