"""Cells as they were drawn: column edges from the pieces of rules and shades.

Browsers and office programs draw the border and the shade of each cell by itself. Where the
pieces meet, columns meet, whether or not an upright line is there to see.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

from drac_pipeline.convert.local.rows import Row, make_row
from drac_pipeline.convert.local.text_layer import Rule, Segment, Word

if TYPE_CHECKING:
    from drac_pipeline.convert.local.table_zones import Draft

SAME = 2.0  # points by which the ends of one edge differ
MARGIN = 1.6  # points that a cell keeps free beside its edge
ODD = 0.3  # share of rows that may contradict the edges: texts over several columns


def cell_edges(drafts: list[Draft]) -> list[float]:
    """The x of all column edges of a table, outer ones included; none where they are not drawn."""
    found = [edges_of(d) for d in drafts]
    edges = max(found, key=len)
    if len(edges) < 3 or any(e and not _within(e, edges) for e in found):
        return []
    rows = [r for d in drafts for r in d.rows]
    if min(r.x0 for r in rows) < edges[0] - 4 or max(r.x1 for r in rows) > edges[-1] + 4:
        return []
    odd = sum(_crossed(r, edges) or _crowded(r, edges) for r in rows)
    return edges if odd <= ODD * len(rows) else []


def _within(some: list[float], edges: list[float]) -> bool:
    return all(any(abs(x - e) <= SAME for e in edges) for x in some)


def edges_of(draft: Draft) -> list[float]:
    """Where pieces of the draft's rules and shades meet or end."""
    at: list[float] = []
    for r in draft.h_rules:
        if r.joints:
            at += [r.x0, *r.joints, r.x1]
    for _, group in itertools.groupby(
        sorted(draft.shades, key=lambda s: (s.y0, s.x0)), key=lambda s: round(s.y0)
    ):
        on = list(group)
        if any(abs(a.x1 - b.x0) < SAME for a, b in itertools.pairwise(on)):
            at += [x for s in on for x in (s.x0, s.x1)]
    if not at:
        return []
    lo, hi = min(at), max(at)
    for r in draft.h_rules:  # one over the whole table, where the others leave out its sides
        if not r.joints and r.x0 < lo + 2 and r.x1 > hi - 2:
            at += [r.x0, r.x1]
    at += [r.x0 for r in draft.v_rules if lo < r.x0 < hi]
    out: list[list[float]] = []
    for x in sorted(at):
        if out and x - out[-1][0] <= SAME:
            out[-1].append(x)
        else:
            out.append([x])
    edges = [sum(g) / len(g) for g in out]
    kept = edges[:1]
    for x in edges[1:]:
        if x - kept[-1] > 5:  # else the space between two cells
            kept.append(x)
    return kept


def _crossed(row: Row, edges: list[float]) -> bool:
    """A word lies on an edge."""
    return any(w.x0 < x - 1 and w.x1 > x + 1 for s in row.segments for w in s.words for x in edges[1:-1])


def _crowded(row: Row, edges: list[float]) -> bool:
    """Two cells of the row in one column: an edge between them is missing."""
    for a, b in itertools.pairwise(row.cells):
        if b.x0 - a.x1 > 1.5 * a.size and not any(a.x1 - 1 < x < b.x0 + 1 for x in edges[1:-1]):
            return True
    return False


def cut_at_edges(rows: list[Row], edges: list[float]) -> list[Row]:
    """Cut segments at the edges where both sides keep clear of them."""
    out = []
    for r in rows:
        parts = [p for s in r.segments for p in _cut(s, edges[1:-1])]
        out.append(make_row(parts) if len(parts) != len(r.segments) else r)
    return out


def _cut(s: Segment, edges: list[float]) -> list[Segment]:
    inner = [x for x in edges if s.x0 + 1 < x < s.x1 - 1]
    if not inner:
        return [s]
    groups: list[list[Word]] = [s.words[:1]]
    for a, b in itertools.pairwise(s.words):
        apart = min(MARGIN, 0.2 * s.size)
        if any(a.x1 <= x - apart and b.x0 >= x + apart for x in inner):
            groups.append([])
        groups[-1].append(b)
    return [s] if len(groups) == 1 else [replace(s, words=g) for g in groups]


def columns_of(edges: list[float]) -> list[tuple[float, float]]:
    """The columns between the edges."""
    return list(itertools.pairwise(edges))


def drawn_range(s: Segment, draft: Draft, edges: list[float]) -> tuple[int, int] | None:
    """The columns of the cell that a shade of its own, or upright rules on both sides, bound."""
    y = s.base - 0.3 * s.size
    whole = 0.98 * (edges[-1] - edges[0])
    around = [
        r
        for r in draft.shades
        if r.x0 - 1 <= s.x0 and s.x1 <= r.x1 + 1 and r.y0 <= y <= r.y1 and r.x1 - r.x0 < whole
    ]
    box: Rule | None = min(around, key=lambda r: r.x1 - r.x0, default=None)
    if box is not None:
        return _between(box.x0, box.x1, edges)
    across = [v.x0 for v in draft.v_rules if v.y0 - 1 <= y <= v.y1 + 1]
    left, right = [x for x in across if x <= s.x0 + 1], [x for x in across if x >= s.x1 - 1]
    if not left or not right or min(right) - max(left) > whole:
        return None  # the table's own sides
    return _between(max(left), min(right), edges)


def _between(x0: float, x1: float, edges: list[float]) -> tuple[int, int] | None:
    a = next((k for k, x in enumerate(edges) if abs(x - x0) <= SAME + 1), None)
    b = next((k for k, x in enumerate(edges) if abs(x - x1) <= SAME + 1), None)
    return (a, b - 1) if a is not None and b is not None and a < b else None


def boxed(rows: list[Row], draft: Draft) -> bool:
    """Upright rules over the whole height part every text of a line from its neighbours."""
    height = draft.y1 - draft.y0
    at = sorted(v.x0 for v in draft.v_rules if v.y1 - v.y0 > 0.9 * height)
    if len(at) < 3:
        return False
    return all(
        any(a.x1 - 1 <= x <= b.x0 + 1 for x in at) for r in rows for a, b in itertools.pairwise(r.segments)
    )
