"""A sheet into blocks: what stands together, told apart by empty rows and columns.

The visible cells are cut at empty rows, then at empty columns, and so on within each part
until nothing is left to cut. Text that is merged over the columns of two blocks (a title)
hides no gap below it. Columns that only look apart are joined again: a single column that
begins in the same row as its neighbour one empty column away belongs to it.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from dataclasses import dataclass, field

from drac_pipeline.sheets.grid import Area, Cell, Declared, Row


@dataclass(slots=True)
class Block:
    """Rows of cells in the visible columns first..last."""

    rows: list[Row]
    first: int
    last: int
    table: Declared | None = None  # the file declares it
    notes: list[Row] = field(default_factory=list)  # text rows below the data

    @property
    def width(self) -> int:
        return self.last - self.first + 1

    @property
    def top(self) -> int:
        return self.rows[0].at

    @property
    def bottom(self) -> int:
        return self.rows[-1].at

    @property
    def area(self) -> Area:
        """The block as the program counts rows and columns."""
        columns = [c.col for r in self.rows for c in r.cells]
        return Area(self.rows[0].number, min(columns), self.rows[-1].number, max(columns))


def cut(rows: list[Row], declared: list[Declared]) -> list[Block]:
    """The blocks in reading order: down, and from left to right where they stand side by side."""
    out: list[Block] = []
    # (rows, may be cut at empty rows): a stack keeps deep sheets off the call stack
    work = [rows]
    while work:
        part = work.pop()
        if not part:
            continue
        pieces = _at_tables(part, declared) or _at_empty_rows(part) or _at_empty_columns(part)
        if pieces:
            work += reversed(pieces)
        else:
            out.append(_block(part, declared))
    return out


def _block(rows: list[Row], declared: list[Declared]) -> Block:
    first = min(r.cells[0].at for r in rows)
    last = max(c.at + c.span - 1 for r in rows for c in r.cells)
    block = Block(rows, first, last)
    area = block.area
    for table in declared:
        if table.area.row1 == area.row1 and table.area.col1 <= area.col2 and table.area.col2 >= area.col1:
            block.table = table
            break
    return block


def _at_tables(rows: list[Row], declared: list[Declared]) -> list[list[Row]]:
    """Cut above and below a declared table that touches other rows of the same columns."""
    first, last = rows[0].number, rows[-1].number
    for table in declared:
        area = table.area
        if not table.name and area.row1 == area.row2:
            continue
        starts_inside = first < area.row1 <= last
        ends_inside = bool(table.name) and first <= area.row2 < last
        if not starts_inside and not ends_inside:
            continue
        inside = [r for r in rows if area.row1 <= r.number <= area.row2]
        columns = {c.col for r in rows for c in r.cells}
        if not inside or min(columns) < area.col1 or max(columns) > area.col2:
            continue
        above = [r for r in rows if r.number < area.row1]
        rest = [r for r in rows if r.number >= area.row1]
        if above:
            return [above, rest]
        below = [r for r in rest if r.number > area.row2]
        if below and ends_inside:
            return [inside, below]
    return []


def _at_empty_rows(rows: list[Row]) -> list[list[Row]]:
    out: list[list[Row]] = [[]]
    for row in rows:
        if out[-1] and row.at - out[-1][-1].at > 1:
            out.append([])
        out[-1].append(row)
    return out if len(out) > 1 else []


def _at_empty_columns(rows: list[Row]) -> list[list[Row]]:
    wide = [r for r in rows if len(r.cells) == 1 and r.cells[0].span > 1]
    others = [r for r in rows if len(r.cells) > 1 or r.cells[0].span == 1]
    if not others:
        return []
    ranges = _joined(_ranges(others), others)
    if len(ranges) < 2:
        return []
    crossing = {r.number for r in wide if _crosses(r.cells[0], ranges)}
    if crossing:
        out: list[list[Row]] = [[]]
        for row in rows:
            if row.number in crossing:
                out += [[row], []]
            else:
                out[-1].append(row)
        return [p for p in out if p]
    parts: list[list[Row]] = [[] for _ in ranges]
    starts = [first for first, _ in ranges]
    for row in rows:
        for i, cells in itertools.groupby(row.cells, key=lambda c: bisect_right(starts, c.at) - 1):
            parts[i].append(Row(row.number, list(cells), row.at))
    return parts


def _crosses(cell: Cell, ranges: list[tuple[int, int]]) -> bool:
    return sum(cell.at <= last and cell.at + cell.span > first for first, last in ranges) > 1


def _ranges(rows: list[Row]) -> list[tuple[int, int]]:
    """Runs of columns that hold something, by position."""
    spans = sorted({(c.at, c.at + c.span - 1) for r in rows for c in r.cells})
    out: list[tuple[int, int]] = []
    for first, last in spans:
        if out and first <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(out[-1][1], last))
        else:
            out.append((first, last))
    return out


def _joined(ranges: list[tuple[int, int]], rows: list[Row]) -> list[tuple[int, int]]:
    """Ranges that belong together joined again."""
    if len(ranges) < 2:
        return ranges
    starts = [first for first, _ in ranges]
    filled: list[list[int]] = [[] for _ in ranges]
    for row in rows:
        for i, _ in itertools.groupby(row.cells, key=lambda c: bisect_right(starts, c.at) - 1):
            filled[i].append(row.at)
    out, sets = [ranges[0]], [filled[0]]
    for (first, last), rows_here in zip(ranges[1:], filled[1:], strict=True):
        left, rows_left = out[-1], sets[-1]
        single = first == last or left[0] == left[1]
        smaller, larger = sorted((rows_here, rows_left), key=len)
        if (
            first - left[1] == 2
            and single
            and min(rows_here) == min(rows_left)
            and set(smaller) <= set(larger)
            and (len(smaller) > 1 or len(larger) == 1)
        ):
            out[-1] = (left[0], last)
            sets[-1] = larger
        else:
            out.append((first, last))
            sets.append(rows_here)
    return out
