"""Reading order: bands of text columns on a page, left to right, top to bottom."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from drac_pipeline.convert.local.rows import Row, numeric, visual_rows
from drac_pipeline.convert.local.text_layer import Segment

MIN_LINES = 4  # lines a text column has at least
MIN_GUTTER = 0.6  # em


@dataclass(slots=True, eq=False)
class Block:
    """Something placed as a whole: a ruled table's zone."""

    x0: float
    y0: float
    x1: float
    y1: float
    payload: object


@dataclass(slots=True)
class Flow:
    """A run of rows and blocks to be read top to bottom; `x0`, `x1` bound its column."""

    items: list[Row | Block]
    x0: float
    x1: float

    @property
    def rows(self) -> list[Row]:
        return [i for i in self.items if isinstance(i, Row)]


def reading_order(segments: list[Segment], blocks: list[Block]) -> list[Flow]:
    """The page's flows in reading order."""
    if not segments and not blocks:
        return []
    return _merge_flows(_split(segments, blocks, 0))


def _flow(segments: list[Segment], blocks: list[Block]) -> Flow:
    items: list[Row | Block] = [*visual_rows(segments), *blocks]
    items.sort(key=lambda i: i.y0)
    for k in range(1, len(items)):
        if _right_of(items[k - 1], items[k]):
            items[k - 1], items[k] = items[k], items[k - 1]
    x0 = min([s.x0 for s in segments] + [b.x0 for b in blocks])
    x1 = max([s.x1 for s in segments] + [b.x1 for b in blocks])
    return Flow(items, x0, x1)


def _right_of(one: Row | Block, two: Row | Block) -> bool:
    """Two tables side by side, the right one first."""
    if not (isinstance(one, Block) and isinstance(two, Block)) or one.x0 < two.x1:
        return False
    return min(one.y1, two.y1) - max(one.y0, two.y0) > 0.5 * min(one.y1 - one.y0, two.y1 - two.y0)


def _merge_flows(flows: list[Flow]) -> list[Flow]:
    """Neighbouring flows of the same column edges are one: a band border is no break."""
    out: list[Flow] = []
    for flow in flows:
        if out and out[-1].items and flow.items:
            last = out[-1]
            below = flow.items[0].y0 >= last.items[-1].y0
            if below and (
                (abs(last.x0 - flow.x0) < 3 and abs(last.x1 - flow.x1) < 0.2 * (last.x1 - last.x0))
                or min(last.x1, flow.x1) - max(last.x0, flow.x0)
                > 0.8 * min(last.x1 - last.x0, flow.x1 - flow.x0)
            ):
                out[-1] = Flow(last.items + flow.items, min(last.x0, flow.x0), max(last.x1, flow.x1))
                continue
        out.append(flow)
    return out


def _split(segments: list[Segment], blocks: list[Block], depth: int) -> list[Flow]:
    if not segments or depth > 4:
        return [_flow(segments, blocks)] if segments or blocks else []
    rows: list[Row | Block] = [*visual_rows(segments), *blocks]
    rows.sort(key=lambda i: i.y0)
    bands = _bands(rows)
    if len(bands) == 1 and bands[0][1] is None:
        return [_flow(segments, blocks)]
    out: list[Flow] = []
    for members, gutter in bands:
        segs = [s for r in members if isinstance(r, Row) for s in r.segments]
        blks = [b for b in members if isinstance(b, Block)]
        if gutter is None:
            out.append(_flow(segs, blks))
            continue
        x = (gutter[0] + gutter[1]) / 2
        left = [s for s in segs if s.x1 <= x + 1]
        right = [s for s in segs if s.x1 > x + 1]
        out += _split(left, [b for b in blks if b.x1 <= x + 1], depth + 1)
        out += _split(right, [b for b in blks if b.x1 > x + 1], depth + 1)
    return out


def _gaps(item: Row | Block, x0: float, x1: float) -> list[tuple[float, float]]:
    """The free x-ranges of a row within [x0, x1]."""
    if isinstance(item, Block):
        return [(x0, item.x0), (item.x1, x1)]
    out, at = [], x0
    for s in item.segments:
        if s.x0 > at:
            out.append((at, s.x0))
        at = max(at, s.x1)
    if at < x1:
        out.append((at, x1))
    return out


def _bands(rows: list[Row | Block]) -> list[tuple[list[Row | Block], tuple[float, float] | None]]:
    """Cut the rows into bands, each with one gutter or none."""
    x0, x1 = min(r.x0 for r in rows), max(r.x1 for r in rows)
    width = x1 - x0
    out: list[tuple[list[Row | Block], tuple[float, float] | None]] = []
    i = tried = 0
    while i < len(rows):
        j, gutter, several = _grow(rows, i, x0, x1)
        if gutter is not None and (width <= 60 or not _are_columns(rows[i:j], gutter)):
            gutter = None
        if gutter is None and several[0] > tried:
            tried, gutters = several
            gutter = next((g for g in gutters if _are_tables(rows[i:tried], g)), None)
            j = tried
        if gutter is not None:
            out.append((rows[i:j], gutter))
            i = j
            continue
        # the row stays in a one-column band
        if out and out[-1][1] is None:
            out[-1][0].append(rows[i])
        else:
            out.append(([rows[i]], None))
        i += 1
    return out


def _are_tables(rows: list[Row | Block], gutter: tuple[float, float]) -> bool:
    """Each side is a table of its own: written as a whole, row by row, with several cells in most."""
    x = (gutter[0] + gutter[1]) / 2
    sides: tuple[list[Segment], list[Segment]] = ([], [])
    for r in rows:
        if not isinstance(r, Row):
            return False
        for s in r.segments:
            sides[s.x1 > x + 1].append(s)
    if not all(sides):
        return False
    left, right = ([s.order for s in side] for side in sides)
    if max(left) > min(right) and max(right) > min(left):
        return False
    return all(_row_by_row(side) for side in sides)


def _row_by_row(side: list[Segment]) -> bool:
    pairs = list(itertools.pairwise(sorted(side, key=lambda s: s.order)))
    if sum(abs(a.base - b.base) < 2 and b.x0 > a.x1 for a, b in pairs) < 0.3 * len(pairs):
        return False
    rows = visual_rows(side)
    return len(rows) >= 3 and sum(len(r.cells) > 1 for r in rows) >= 0.34 * len(rows)


def _grow(
    rows: list[Row | Block], i: int, x0: float, x1: float
) -> tuple[int, tuple[float, float] | None, tuple[int, list[tuple[float, float]]]]:
    """The longest run from row i that keeps an inner gutter free, and the longest with several."""
    free = _gaps(rows[i], x0, x1)
    best: tuple[int, tuple[float, float] | None] = (i + 1, None)
    several: tuple[int, list[tuple[float, float]]] = (0, [])
    j = i
    while True:
        size = _size(rows[j])
        inner = [g for g in free if g[1] - g[0] >= MIN_GUTTER * size]
        seen = rows[i : j + 1]
        good = [g for g in inner if _both_sides(seen, g)]
        if good:
            best = (j + 1, max(good, key=lambda g: g[1] - g[0]))
            if len(good) > 2 and j - i > 2:
                several = (j + 1, good)
        if not inner:
            return best[0], best[1], several
        j += 1
        if j >= len(rows) or rows[j].y0 - max(r.y1 for r in seen[-6:]) > 2.6 * size:
            return best[0], best[1], several  # white space over all columns ends the band
        gaps = _gaps(rows[j], x0, x1)
        free = [
            (max(a[0], b[0]), min(a[1], b[1]))
            for a in inner
            for b in gaps
            if min(a[1], b[1]) - max(a[0], b[0]) > 2
        ]


def _size(row: Row | Block) -> float:
    return row.size if isinstance(row, Row) else 8.0


def _both_sides(rows: list[Row | Block], gutter: tuple[float, float]) -> bool:
    left = right = False
    for r in rows:
        if isinstance(r, Block):
            left |= r.x1 <= gutter[0] + 1
            right |= r.x0 >= gutter[1] - 1
            continue
        for s in r.segments:
            left |= s.x1 <= gutter[0] + 1
            right |= s.x0 >= gutter[1] - 1
        if left and right:
            return True
    return left and right


def _are_columns(rows: list[Row | Block], gutter: tuple[float, float]) -> bool:
    """Text columns rather than a table's: each side is written as a whole, or is prose."""
    x = (gutter[0] + gutter[1]) / 2
    sides: tuple[list[Segment], list[Segment]] = ([], [])
    blocks = [r for r in rows if isinstance(r, Block)]
    for r in rows:
        if isinstance(r, Row):
            for s in r.segments:
                sides[s.x1 > x + 1].append(s)
    counts = [len({round(s.base) for s in side}) for side in sides]
    if blocks:
        for b in blocks:
            counts[b.x1 > x + 1] += MIN_LINES
    if blocks and not all(sides) and max(counts) >= 2 * MIN_LINES:
        # text beside a ruled table
        return sum(r.y1 > blocks[0].y0 and r.y0 < blocks[-1].y1 for r in rows) > 0.6 * len(rows)
    if min(counts) < 2:
        return False
    switches, before = 0, -1
    both = sorted([(s.order, 0) for s in sides[0]] + [(s.order, 1) for s in sides[1]])
    for _, side in both:
        switches += before >= 0 and side != before
        before = side
    lines = min(counts)
    if lines < MIN_LINES:
        # a few lines: only prose that is written side by side as wholes
        wide = all(sum(len(s.words) for s in side) >= 4 * c for side, c in zip(sides, counts, strict=True))
        return switches <= 1 and wide and not blocks
    if _figures_of(sides) or (not blocks and _rows_level(sides)):
        return False
    if switches <= max(1, 0.12 * lines):
        # written side by side as wholes; columns of a table written column by column are
        # short cells, so still ask for some text
        words = [sum(len(s.words) for s in side) / max(1, c) for side, c in zip(sides, counts, strict=True)]
        return min(words) >= 2.2 or (switches <= 1 and max(words) >= 4)
    return all(_prose(side) for side in sides)


def _figures_of(sides: tuple[list[Segment], list[Segment]]) -> bool:
    """The right side's lines begin with figures, on the lines of the left side's labels: a table
    that was written column by column."""
    left = {round(s.base + d) for s in sides[0] for d in (-1, 0, 1)}
    rows = visual_rows(sides[1])
    level = [r for r in rows if round(r.base) in left]
    if len(level) < max(3, 0.6 * len(rows)):
        return False
    return sum(numeric(r.segments[0].text) for r in level) >= 0.6 * len(level)


def _rows_level(sides: tuple[list[Segment], list[Segment]]) -> bool:
    """Cells of text: what begins below a gap on one side does so on the other, four times or more."""
    starts: list[list[float]] = []
    sparse = 0
    for side in sides:
        rows = visual_rows(side)
        gaps = [b.base - a.base for a, b in itertools.pairwise(rows)]
        loose = 1.45 * rows[0].size
        width = max(r.x1 for r in rows) - min(r.x0 for r in rows)
        full = sum(r.x1 - r.x0 > 0.8 * width for r in rows)
        sparse += min(gaps, default=0.0) > loose and full > 0.5 * len(rows)
        begins = [b.base for b, gap in zip(rows[1:], gaps, strict=True) if gap > loose]
        starts.append([rows[0].base, *begins])
    if sparse == 2:
        return False  # text set wide
    left, right = starts
    if min(len(left), len(right)) < 4:
        return False
    level = sum(any(abs(a - b) < 1.5 for b in right) for a in left)
    return level >= 0.8 * max(len(left), len(right))


def _prose(segments: list[Segment]) -> bool:
    """Most lines fill the width, and lines are many words long."""
    if not segments:
        return False
    rows = visual_rows(segments)
    x0, x1 = min(r.x0 for r in rows), max(r.x1 for r in rows)
    full = sum((r.x1 - r.x0) > 0.8 * (x1 - x0) and len(r.segments) == 1 for r in rows)
    words = sum(len(s.words) for s in segments)
    pitch = sorted(b.base - a.base for a, b in itertools.pairwise(rows))
    dense = len(rows) < 3 or (rows[-1].base - rows[0].base) < 1.7 * len(rows) * pitch[len(pitch) // 2]
    return full >= 0.55 * len(rows) and words >= 4.5 * len(rows) and dense and len(rows) >= 5
