"""Files that may still be written: they wait until they have come to rest."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable

from drac_pipeline.sources.source import SourceEntry

_NS = 1_000_000_000
YOUNG_SECONDS = 2.0


def young(entries: Iterable[SourceEntry], seconds: float, now_ns: int | None = None) -> list[SourceEntry]:
    """Those changed less than `seconds` ago. A time in the future (another clock) counts as now
    for one such span only, so that no file waits for ever. An object of a bucket is whole at any time."""
    now = time.time_ns() if now_ns is None else now_ns
    limit = seconds * _NS
    return [e for e in entries if not e.version and abs(now - e.mtime_ns) < limit]


def wait_until_settled(
    entries: Collection[SourceEntry], quiet: float = 0.2, patience: float = 10.0
) -> list[SourceEntry]:
    """Watch files that are `young` until none changes over `quiet` seconds; gives those that still
    do after `patience` seconds. Takes no time where there is none."""
    moving = list(young(entries, max(YOUNG_SECONDS, quiet)))
    end = time.monotonic() + patience
    while moving:
        before = {e.path: _state(e) for e in moving}
        time.sleep(quiet)
        moving = [e for e in moving if _state(e) != before[e.path]]
        if time.monotonic() > end:
            break
    return moving


def _state(entry: SourceEntry) -> tuple[int, int] | None:
    try:
        stat = entry.path.stat()
    except OSError:
        return None
    return stat.st_size, stat.st_mtime_ns
