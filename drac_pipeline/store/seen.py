"""Manifests as they were last read, for commands that go over all documents several times.

One for all stores of a root in a process; it goes when the last of them does.
"""

from __future__ import annotations

import os
import threading
import time
import weakref

from drac_pipeline.store.manifest import Manifest

_SETTLED_NS = 2_000_000_000  # replaced twice within a tick of the clock, a file could look the same
Stamp = tuple[int, int, int]


class SeenManifests:
    """Manifests by path, each good as long as its file's inode, time and size stay."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[Stamp, Manifest]] = {}

    def get(self, path: str, stat: os.stat_result) -> Manifest | None:
        """The manifest in the file, where it was read in this state before."""
        known = self._found.get(path)
        return known[1] if known and known[0] == _stamp(stat) else None

    def put(self, path: str, stat: os.stat_result, manifest: Manifest) -> None:
        """Remember what a file in this state holds, unless it was written just now."""
        if abs(time.time_ns() - stat.st_mtime_ns) > _SETTLED_NS:
            self._found[path] = (_stamp(stat), manifest)

    def keep_only(self, paths: set[str]) -> None:
        """Forget files that are gone."""
        for path in self._found.keys() - paths:
            self._found.pop(path, None)


def seen_in(root: str) -> SeenManifests:
    """What stores of this root have seen in this process."""
    with _lock:
        found = _by_root.get(root)
        if found is None:
            found = _by_root[root] = SeenManifests()
        return found


def _stamp(stat: os.stat_result) -> Stamp:
    return stat.st_ino, stat.st_mtime_ns, stat.st_size


_by_root: weakref.WeakValueDictionary[str, SeenManifests] = weakref.WeakValueDictionary()
_lock = threading.Lock()
