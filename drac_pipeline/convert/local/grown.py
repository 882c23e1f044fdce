"""Rows next to a table's rules that keep to its columns as they are drawn.

Where only the header, or every other row, is drawn, the joints of its rules still tell the
columns of the rows that have no rule of their own.
"""

from __future__ import annotations

import itertools

from drac_pipeline.convert.local.rows import Row, visual_rows
from drac_pipeline.convert.local.text_layer import Rule, Segment

OUT = 2.0  # points by which a cell's text may stand out of the outer edges
TIGHT = 1.6  # distance of the lines of one cell, in type sizes, at most


def edges_of_rules(rules: list[Rule]) -> list[float]:
    """Column edges where the pieces of the rules meet, and the outer ends; fewer than 3 if unknown."""
    at = sorted(x for r in rules if r.joints for x in (r.x0, *r.joints, r.x1))
    out: list[float] = []
    for x in at:
        if not out or x - out[-1] > 5:
            out.append(x)
    return out


def grow(rows: list[Row], candidates: list[Row], edges: list[float], *, up: bool) -> list[Row]:
    """Those of the candidates (nearest first) that go on with the table, top to bottom."""
    if len(edges) < 3:
        return []
    gaps = [b.base - a.base for a, b in itertools.pairwise(rows) if len(b.cells) > 1]
    size = max(r.size for r in rows)
    limit = max([1.35 * g + 2 for g in gaps] + [3.4 * size])
    edge = rows[0] if up else rows[-1]
    out: list[Row] = []
    for row in candidates:
        gap = abs(edge.base - row.base)
        if gap > limit or abs(row.size - edge.size) > 1.2:
            break
        if row.x0 < edges[0] - OUT or row.x1 > edges[-1] + OUT:
            break
        if any(_over(s, edges) for s in row.segments) and not (up and _spans(row, edge, edges)):
            break
        out.append(row)
        edge = row
    while out and len(out[-1].cells) < 2 and not _same_cell(out, rows, up=up):
        tail = out[
            len(out) - sum(1 for _ in itertools.takewhile(lambda r: len(r.cells) < 2, reversed(out))) :
        ]
        if len(columns_filled(tail, edges)) > 1:
            break  # cells of one row at different heights
        out.pop()
    return out[::-1] if up else out


def _same_cell(out: list[Row], rows: list[Row], *, up: bool) -> bool:
    last = out[-1]
    before = out[-2] if len(out) > 1 else (rows[0] if up else rows[-1])
    if abs(last.base - before.base) > TIGHT * last.size:
        return False
    return all(s.bold for s in last.segments) == any(s.bold for s in before.segments)


def _over(s: Segment, edges: list[float]) -> bool:
    """The text lies over an edge."""
    inner = [x for x in edges[1:-1] if s.x0 + 1 < x < s.x1 - 1]
    gaps = [(a.x1 + 1.6, b.x0 - 1.6) for a, b in itertools.pairwise(s.words)]
    return any(not any(lo <= x <= hi for lo, hi in gaps) for x in inner)


def _spans(row: Row, below: Row, edges: list[float]) -> bool:
    """Headers over several columns: several texts, one in the middle of its columns, or one in bold
    right of the labels."""
    if len(row.segments) > 1 or _group(row, below, edges):
        return True
    bold = all(s.bold for r in (row, below) for s in r.segments)
    return bold and row.x0 >= edges[1] and below.base - row.base < 3.4 * row.size


def same_columns(one: Rule, two: Rule) -> bool:
    """The joints of two rules can be those of one table: those of the one are among the other's."""
    a, b = sorted((one.joints, two.joints), key=len)
    return all(any(abs(x - y) < 3 for y in b) for x in a)


def prose_between(between: list[Segment], top: Rule, bottom: Rule) -> bool:
    """A line of one text over the edges, well away from both rules or beside lines that keep to
    them: text between two tables. A cell over all columns has a band of its own."""
    edges = edges_of_rules([top, bottom])
    rows = visual_rows(between)
    across = [r for r in rows if len(r.segments) == 1 and _over(r.segments[0], edges)]
    if across and len(across) < len(rows):
        return True
    return any(r.base - top.y0 > 3 * r.size and bottom.y0 - r.base > 2 * r.size for r in across)


def _group(row: Row, below: Row, edges: list[float]) -> bool:
    """A header in the middle over several columns, not over the labels."""
    s = row.segments[0]
    if len(row.segments) > 1 or s.x0 < edges[1] or all(x.bold for x in below.segments) != s.bold:
        return False
    if below.base - row.base > 3.4 * row.size:
        return False
    inner = edges[1:]
    middles = [(a + b) / 2 for k, a in enumerate(inner) for b in inner[k + 2 :]]
    return any(abs((s.x0 + s.x1) / 2 - m) < 2 for m in middles)


def columns_filled(rows: list[Row], edges: list[float]) -> set[int]:
    """The columns between the edges in which the rows have text."""
    return {
        k
        for k, (a, b) in enumerate(itertools.pairwise(edges))
        for r in rows
        for s in r.segments
        if a - OUT < s.x0 and s.x1 < b + OUT
    }
