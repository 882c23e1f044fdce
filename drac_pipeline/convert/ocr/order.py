"""The order in which recognised lines follow each other.

A text layer has the order in which its producer wrote, which tells text columns from a
table's: columns are written one after the other. A scan has none, so it is made up here
from what tells them apart for the eye: columns are runs of full lines, evenly spaced.
"""

from __future__ import annotations

import itertools

from drac_pipeline.convert.local.text_layer import Segment

_LINES, _WORDS, _FULL = 4, 2.5, 0.55
_GUTTER = 0.6  # em


def number(segments: list[Segment]) -> list[Segment]:
    """The segments in reading order, numbered."""
    out = _ordered(sorted(segments, key=lambda s: (round(s.base, 1), s.x0)), 0)
    for k, s in enumerate(out):
        s.order = k
    return out


def _ordered(segments: list[Segment], depth: int) -> list[Segment]:
    found = _columns(segments) if depth < 5 else None
    if found is None:
        return segments
    start, end, x = found
    run = segments[start:end]
    left = [s for s in run if s.x1 <= x]
    right = [s for s in run if s.x1 > x]
    out: list[Segment] = []
    for part in (segments[:start], left, right, segments[end:]):
        out += _ordered(part, depth + 1)
    return out


def _columns(segments: list[Segment]) -> tuple[int, int, float] | None:
    """The longest run of segments with a gutter at x between prose on both sides."""
    best: tuple[int, int, float] | None = None
    most = _LINES - 1
    for x in _candidates(segments):
        start = 0
        crossing = [i for i, s in enumerate(segments) if s.x0 < x < s.x1]
        for end in [*crossing, len(segments)]:
            run = segments[start:end]
            left = [s for s in run if s.x1 <= x]
            right = [s for s in run if s.x1 > x]
            lines = min(len(left), len(right))
            if lines > most and _free(left, right) and _prose(left) and _prose(right):
                best, most = (start, end, x), lines
            start = end + 1
    return best


def _candidates(segments: list[Segment]) -> list[float]:
    """Middles of gaps beside segments, a few points apart."""
    found: list[float] = []
    for s in segments:
        beside = [t.x0 for t in segments if t.x0 > s.x1 and abs(t.base - s.base) < s.size]
        if beside:
            found.append((s.x1 + min(beside)) / 2)
    out: list[float] = []
    for x in sorted(found):
        if not out or x - out[-1] > 4:
            out.append(x)
    return out


def _free(left: list[Segment], right: list[Segment]) -> bool:
    gap = min(s.x0 for s in right) - max(s.x1 for s in left)
    return gap >= _GUTTER * max(left[0].size, right[0].size)


def _prose(side: list[Segment]) -> bool:
    """Lines of several words that mostly fill the width, evenly spaced."""
    x0, x1 = min(s.x0 for s in side), max(s.x1 for s in side)
    lines = [list(g) for _, g in itertools.groupby(side, key=lambda s: round(s.base, 1))]
    full = sum(line[-1].x1 - line[0].x0 > 0.8 * (x1 - x0) for line in lines)
    words = sum(len(s.words) for s in side)
    pitch = sorted(b[0].base - a[0].base for a, b in itertools.pairwise(lines))
    if len(lines) < _LINES or full < _FULL * len(lines) or words < _WORDS * len(lines):
        return False
    even = pitch[len(pitch) // 2]
    return sum(p < 1.35 * even for p in pitch) >= 0.6 * len(pitch)
