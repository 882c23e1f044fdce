"""Which visual lines of a table body are one logical row.

Evidence, strongest first: rules between rows; the order of the content stream (most
producers write a table cell by cell, so the lines of a wrapped cell come before the
next cell of the same row); line distances; what a cell's width would have held. Text read
from an image has no order of its own.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from drac_pipeline.convert.local.rows import LEADER_RE, numeric
from drac_pipeline.convert.local.stream import rows_by_stream
from drac_pipeline.convert.local.text_layer import READ_FONT, Segment

if TYPE_CHECKING:
    from drac_pipeline.convert.local.table_zones import Draft
    from drac_pipeline.convert.local.tables import Line

Columns = list[tuple[float, float]]
Cells = dict[int, list[Segment]]
_APART = 1.6  # em: lines of one cell are not so far from each other


def group_rows(
    lines: list[Line], draft: Draft, columns: Columns, *, drawn: bool = False
) -> list[tuple[Cells, int]]:
    """Logical rows as (segments by column, page). `drawn`: the columns' edges are known."""
    if not lines:
        return []
    bands = _bands(lines, draft, columns)
    groups: list[list[Line]] = []
    few = 0.3 if max(map(len, bands)) > 6 else 0.15
    ruled = len(bands) > 2 and len(bands) >= few * len(lines)
    major = _cell_major(lines)
    spans = [_spanning(bands, k, draft, columns) if drawn else set() for k in range(len(bands))]
    ruled |= drawn and len(bands) > 1 and all(_one_row(b, s) for b, s in zip(bands, spans, strict=True))
    if drawn and major and not ruled:
        rows = [rows_by_stream(band) for band in bands]
        if all(rows):
            page = lines[0].row.page
            return [(cells, page) for own in rows for cells in own]
    right = _right_edges(lines, columns)
    for band, span in zip(bands, spans, strict=True):
        one = drawn and _one_row(band, span)
        if ruled and (one or not (_many_records(band, columns) or _written_apart(band, right))):
            groups.append(band)
            continue
        groups += _split(band, columns, major, right)
    if ruled and (draft.v_rules or drawn):
        return _spanned(groups, draft, columns)
    return [_collect(g) for g in groups]


def _collect(group: list[Line]) -> tuple[Cells, int]:
    cells: Cells = {}
    for line in group:
        for c, segments in line.cells.items():
            cells.setdefault(c, []).extend(segments)
    return cells, group[0].row.page


def _bands(lines: list[Line], draft: Draft, columns: Columns) -> list[list[Line]]:
    """Lines between horizontal rules that cross at least one column."""
    ys = sorted(r.y0 for r in draft.h_rules if any(r.x0 - 3 <= (a + b) / 2 <= r.x1 + 3 for a, b in columns))
    out: list[list[Line]] = [[lines[0]]]
    for before, line in itertools.pairwise(lines):
        if any(before.middle + 0.1 < y <= line.middle + 0.1 for y in ys):
            out.append([line])
        else:
            out[-1].append(line)
    return out


def _spanning(bands: list[list[Line]], k: int, draft: Draft, columns: Columns) -> set[int]:
    """Columns in which no rule parts the k-th band from one beside it."""
    out: set[int] = set()
    for a, b in ((k - 1, k), (k, k + 1)):
        if a >= 0 and b < len(bands):
            out |= {
                c
                for c, (x0, x1) in enumerate(columns)
                if not _parted(draft, (x0 + x1) / 2, bands[a][-1], bands[b][0])
            }
    return out


def _one_row(band: list[Line], spanning: set[int]) -> bool:
    """Written cell by cell: each column's lines are finished before the next column is begun.
    Cells over several rows are written with the first of them."""
    orders: dict[int, list[int]] = {}
    for line in band:
        for c, cell in line.cells.items():
            if c not in spanning:
                orders.setdefault(c, []).extend(s.order for s in cell)
    return all(max(orders[a]) < min(orders[b]) for a, b in itertools.pairwise(sorted(orders)))


def _many_records(band: list[Line], columns: Columns) -> bool:
    """Two lines with figures in the same column are two rows."""
    for c in range(len(columns)):
        if sum(c in line.cells and numeric(line.text(c)) for line in band) > 1:
            return True
    return False


def _written_apart(band: list[Line], right: list[float]) -> bool:
    """Every line has a label and a value and is finished before the next is begun: rows
    without a rule between them, for the lines of wrapped cells are written cell by cell."""
    if (
        len(band) < 2
        or _from_image(band)
        or not all(0 in line.cells and len(line.cells) > 1 for line in band)
    ):
        return False
    if all(
        _wraps([a], b, c, right) for a, b in itertools.pairwise(band) for c in a.cells.keys() & b.cells.keys()
    ):
        return False  # a producer that writes line by line: every cell of the row is full
    return all(_first_order(b) > _last_order([a]) for a, b in itertools.pairwise(band))


def _cell_major(lines: list[Line]) -> bool:
    """Some line was begun before the line above it was finished."""
    if _from_image(lines) or _column_major(lines):
        return False
    orders = [(_first_order(line), _last_order([line])) for line in lines if line.cells]
    pairs = list(itertools.pairwise(orders))
    mixed = sum(b[0] < a[1] for a, b in pairs)
    if not mixed:
        return False
    if mixed < 0.9 * len(pairs) or len(pairs) <= 4:
        return True
    # nearly every pair is mixed: written column by column, which tells nothing, or all rows have wrapped
    by_order = sorted((s.order, c) for line in lines for c, cell in line.cells.items() for s in cell)
    return any(b[1] < a[1] for a, b in itertools.pairwise(by_order))


def _from_image(lines: list[Line]) -> bool:
    return any(s.font == READ_FONT for line in lines for c in line.cells.values() for s in c)


def _column_major(lines: list[Line]) -> bool:
    """Every column was written as a whole, from the first line to the last, and its lines are not
    those of one wrapped row: figures, or words that would have fitted on the line above."""
    full = [line for line in lines if len(line.cells) > 1]
    if len(full) < 3:
        return False
    spans = sorted(
        (min(orders), max(orders))
        for c in {c for line in full for c in line.cells}
        if len(orders := [s.order for line in full for s in line.cells.get(c, ())]) > 1
    )
    if len(spans) < 2 or any(b[0] < a[1] for a, b in itertools.pairwise(spans)):
        return False
    width = 1 + max(c for line in full for c in line.cells)
    right = [max((s.x1 for line in full for s in line.cells.get(c, ())), default=0.0) for c in range(width)]
    apart = {
        id(b) for a, b in itertools.pairwise(lines) if b.base - a.base > _APART * min(a.row.size, b.row.size)
    }
    if sum(id(line) in apart for line in full) >= 3:
        return True
    fits = 0
    for a, b in itertools.pairwise(full):
        shared = a.cells.keys() & b.cells.keys()
        figures = any(
            numeric(a.text(c)) and numeric(b.text(c)) and not a.text(c).endswith(("-", "/")) for c in shared
        )
        fits += figures or not all(_wraps([a], b, c, right) for c in shared)
    return fits > 0.6 * (len(full) - 1)


def _right_edges(lines: list[Line], columns: Columns) -> list[float]:
    out = []
    for c, (_, x1) in enumerate(columns):
        edge = max([s.x1 for line in lines for s in line.cells.get(c, ())], default=x1)
        limit = columns[c + 1][0] - 4 if c + 1 < len(columns) else edge
        out.append(min(max(edge, x1), max(limit, x1)))
    return out


def _first_order(line: Line) -> int:
    return min(s.order for c in line.cells.values() for s in c)


def _last_order(lines: list[Line]) -> int:
    return max(s.order for line in lines for c in line.cells.values() for s in c)


def _split(band: list[Line], columns: Columns, major: bool, right: list[float]) -> list[list[Line]]:
    pitch_split = None if major else _pitch_threshold(band, columns)
    marks = _record_marks(band) if _from_image(band) else None
    groups: list[list[Line]] = []
    for k, line in enumerate(band):
        if not line.cells:
            continue
        if not groups:
            groups.append([line])
            continue
        before = groups[-1]
        if _level(before[-1], line):
            joins = True
        elif major:
            joins = _joins_by_order(before, line, right)
        elif pitch_split is not None:
            joins = line.base - before[-1].base < pitch_split
        else:
            following = band[k + 1] if k + 1 < len(band) else None
            joins = _joins_by_shape(before, line, following, columns, right)
            if not joins and marks is not None:
                joins = _rest_of_cells(before, line, right, marks)
        if joins:
            before.append(line)
        else:
            groups.append([line])
    return groups


def _level(above: Line, line: Line) -> bool:
    """Lines at less than line distance, of different cells: one cell stands at the other's middle."""
    near = 0 < line.base - above.base < 0.8 * min(line.row.size, above.row.size)
    return near and not line.cells.keys() & above.cells.keys()


def _joins_by_order(group: list[Line], line: Line, right: list[float]) -> bool:
    if _first_order(line) < _last_order(group):
        return True
    if len(line.cells) != 1:
        return False
    (c,) = line.cells
    if c != max(c for g in group for c in g.cells):
        return False
    if c == 0 and not _wraps(group, line, 0, right):
        return False
    if line.base - group[-1].base > 1.7 * line.row.size:
        return False
    return c != 0 or not _has_marks(group)


def _has_marks(group: list[Line]) -> bool:
    return any(c != 0 for g in group for c in g.cells)


def _wraps(group: list[Line], line: Line, c: int, right: list[float]) -> bool:
    """The line's first word would not have fitted on the line above in its cell."""
    above = list(group[-1].cells.get(c, ()))
    here = line.cells.get(c)
    if not above or not here:
        return False
    last = max(above, key=lambda s: s.x1)
    word = here[0].words[0]
    if LEADER_RE.search(last.text + " "):
        return False  # a leader ends the cell
    if last.text.endswith(("-", "\u00ad")):
        return True
    return last.x1 + 0.25 * last.size + (word.x1 - word.x0) > right[c] - 0.5


def _pitch_threshold(band: list[Line], columns: Columns) -> float | None:
    """The distance that parts rows from wrapped lines, where distances are of two kinds."""
    gaps = [b.base - a.base for a, b in itertools.pairwise(band) if b.row.page == a.row.page]
    if len(gaps) < 3:
        return None
    ordered = sorted(gaps)
    jump, at = 0.0, 0
    for i in range(len(ordered) - 1):
        if ordered[i] > 0 and ordered[i + 1] / ordered[i] > jump:
            jump, at = ordered[i + 1] / ordered[i], i
    if jump < 1.18 or at + 1 > 0.85 * len(ordered):
        return None
    limit = (ordered[at] + ordered[at + 1]) / 2
    # lines closer than the limit must look like one row
    wrong = close = 0
    for a, b in itertools.pairwise(band):
        if b.base - a.base < limit:
            close += 1
            wrong += any(numeric(a.text(c)) and numeric(b.text(c)) for c in range(len(columns)))
    return None if wrong > 0.1 * close else limit


def _joins_by_shape(
    group: list[Line], line: Line, following: Line | None, columns: Columns, right: list[float]
) -> bool:
    if line.base - group[-1].base > 1.75 * line.row.size:
        return False
    filled = {c for g in group for c in g.cells}
    figures = any(numeric(line.text(c)) for c in line.cells)
    if 0 not in line.cells:
        if figures:
            # a stub of two lines with its figures on the second is one row
            return False
        # text under filled cells only: their rest, if they were full
        return set(line.cells) <= filled and any(
            _wraps(group, line, c, right) or line.text(c)[:1].islower() for c in line.cells
        )
    if set(line.cells) == {0}:
        if group[-1].text(0) and (
            line.text(0)[:1].islower()
            or (
                _wraps(group, line, 0, right)
                and line.cells[0][0].x0 > group[0].cells.get(0, line.cells[0])[0].x0 + 1
            )
        ):
            return len(filled) > 1 or _wraps(group, line, 0, right)
        return False
    if filled == {0}:
        here, above = line.cells[0][0], group[-1].cells[0][0]
        if line.text(0)[:1].islower() and _led(line) and not _led(group[-1]):
            return True  # the leader follows the end of a label
        if not _wraps(group, line, 0, right):
            return False
        if line.text(0)[:1].islower():
            return True
        if here.x0 <= above.x0 + 2 or group[-1].text(0).endswith(":"):
            return False
        # hanging: the rest of a long label, unless more rows follow at the same indent
        if following is not None and 0 in following.cells and abs(following.cells[0][0].x0 - here.x0) < 2:
            return False
        return above.x1 - above.x0 > 0.6 * (right[0] - columns[0][0])
    return False


def _record_marks(band: list[Line]) -> set[int]:
    """Columns of figures that are filled just where the first column is: a row's first line."""
    begins = [line for line in band if 0 in line.cells]
    rest = [line for line in band if 0 not in line.cells]
    if len(begins) < 3 or not rest or 0 not in band[0].cells:
        return set()
    columns = set.intersection(*(set(line.cells) for line in begins)) - {0}
    figures = {c for c in columns if sum(numeric(line.text(c)) for line in begins) > 0.8 * len(begins)}
    return {c for c in figures if not any(c in line.cells for line in rest)}


def _rest_of_cells(group: list[Line], line: Line, right: list[float], marks: set[int]) -> bool:
    """Fewer cells than the row has: a row's first line has all its `marks`, or else each cell
    stands where the one above it was full, so that no word was begun here.

    A column of single words is full in every row, so one of the cells above must hold more.
    """
    filled = {c for g in group for c in g.cells}
    if not line.cells.keys() < filled or line.base - group[-1].base > 1.75 * line.row.size:
        return False
    if marks and 0 not in line.cells:
        return True
    full = all(_wraps(group, line, c, right) for c in line.cells)
    return full and any(len(_words(group[-1], c)) > 1 for c in line.cells)


def _words(line: Line, c: int) -> list[str]:
    return [w.text for s in line.cells.get(c, ()) for w in s.words]


def _led(line: Line) -> bool:
    return bool(LEADER_RE.search(line.row.text + " "))


def _spanned(groups: list[list[Line]], draft: Draft, columns: Columns) -> list[tuple[Cells, int]]:
    """Repeat a cell in the rows it spans: no rule crosses its column between them."""
    collected = [_collect(g) for g in groups]
    for c, (x0, x1) in enumerate(columns):
        middle = (x0 + x1) / 2
        i = 0
        while i < len(groups):
            j = i
            while j + 1 < len(groups) and not _parted(draft, middle, groups[j][-1], groups[j + 1][0]):
                j += 1
            if j > i:
                cell = [s for k in range(i, j + 1) for s in collected[k][0].get(c, ())]
                rows_filled = sum(c in collected[k][0] for k in range(i, j + 1))
                others = [
                    s.order
                    for k in range(i, j + 1)
                    for d in collected[k][0]
                    if d != c
                    for s in collected[k][0][d]
                ]
                # its lines are written one after the other, those of several rows are not
                whole = cell and not any(cell[0].order < o < cell[-1].order for o in others)
                if cell and (whole or rows_filled <= 1 + (j - i) // 3):
                    for k in range(i, j + 1):
                        collected[k][0][c] = cell
            i = j + 1
    return collected


def _parted(draft: Draft, x: float, above: Line, below: Line) -> bool:
    return any(
        above.middle + 0.1 < r.y0 <= below.middle + 0.1 and r.x0 - 1 <= x <= r.x1 + 1 for r in draft.h_rules
    )
