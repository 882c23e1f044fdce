"""The nouns of a sheet as it is seen: visible cells as displayed, by row.

Readers give cells at their own row and column. `finish` leaves out what a policy leaves
out and gives the rest visible positions (`Row.at`, `Cell.at`), so that a hidden column
makes no gap and a gap is an empty row or column that a person sees.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple

_HIDDEN_ROWS = ("hidden row", "hidden rows")
_FILTERED_ROWS = ("row hidden by a filter", "rows hidden by a filter")
_HIDDEN_CELLS = ("cell in hidden columns", "cells in hidden columns")
Kind = Literal["text", "number", "date", "bool", "error"]


class Look(NamedTuple):
    """How a cell is set, as far as it tells headers from data."""

    bold: bool = False
    italic: bool = False
    fill: str = ""
    color: str = ""
    border: int = 0
    size: float = 0.0

    @property
    def strong(self) -> bool:
        return self.bold or bool(self.fill)


PLAIN = Look()


@dataclass(slots=True)
class Cell:
    """A cell with something to show. `span`: visible columns it covers; `down`: repeated from above."""

    col: int
    text: str
    kind: Kind = "text"
    look: Look = PLAIN
    at: int = 0
    span: int = 1
    down: bool = False


@dataclass(slots=True)
class Row:
    """A row with at least one cell; `number` is 1-based as in the program, `at` its visible position."""

    number: int
    cells: list[Cell]
    at: int = 0


class Area(NamedTuple):
    """A rectangle, 1-based and inclusive."""

    row1: int
    col1: int
    row2: int
    col2: int


@dataclass(slots=True)
class Declared:
    """A table that the file itself declares, with its number of header rows."""

    area: Area
    header_rows: int = 1
    name: str = ""


@dataclass(slots=True)
class RawSheet:
    """A sheet as a reader gives it: everything, hidden or not."""

    name: str
    hidden: bool = False
    rows: list[Row] = field(default_factory=list)
    merges: list[Area] = field(default_factory=list)
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: list[tuple[int, int]] = field(default_factory=list)
    filters: list[Area] = field(default_factory=list)  # areas in which hidden rows are filtered out
    filtered_rows: set[int] = field(default_factory=set)  # rows that the file says a filter hides
    declared: list[Declared] = field(default_factory=list)
    comments: list[tuple[str, str]] = field(default_factory=list)  # (cell, text)
    texts: list[str] = field(default_factory=list)  # text boxes
    header_rows: int = 0  # rows 1..n are repeated or frozen on top
    uncalculated: list[tuple[int, int]] = field(default_factory=list)  # formulas without a value
    lost_texts: int = 0  # cells whose text the file refers to and has not


@dataclass(slots=True)
class Sheet:
    """A sheet as it is seen. `left_out` counts by what hid them (in the singular and plural)."""

    name: str
    rows: list[Row]
    declared: list[Declared]
    comments: list[tuple[str, str]]
    texts: list[str]
    header_rows: int
    left_out: dict[tuple[str, str], int] = field(default_factory=dict)


@lru_cache(maxsize=4096)
def letters(col: int) -> str:
    """1 → A, 27 → AA."""
    out = ""
    while col > 0:
        col, rest = divmod(col - 1, 26)
        out = chr(65 + rest) + out
    return out


@lru_cache(maxsize=20_000)
def column_number(name: str) -> int:
    """A → 1, AA → 27; 0 for what is no column."""
    n = 0
    for char in name.upper():
        if not "A" <= char <= "Z":
            return 0
        n = n * 26 + ord(char) - 64
    return n


def cell_position(ref: str) -> tuple[int, int]:
    """`B7` or `$B$7` → (7, 2); (0, 0) for what is no cell."""
    ref = ref.replace("$", "")
    name = ref.rstrip("0123456789")
    digits = ref[len(name) :]
    return (int(digits), column_number(name)) if digits and column_number(name) else (0, 0)


def area_of(ref: str) -> Area | None:
    """`A1:F20` or `A1` → Area."""
    first, _, last = ref.partition(":")
    (r1, c1), (r2, c2) = cell_position(first), cell_position(last or first)
    if not (r1 and r2 and c1 and c2):
        return None
    return Area(min(r1, r2), min(c1, c2), max(r1, r2), max(c1, c2))


def range_name(sheet: str, row1: int, col1: int, row2: int, col2: int) -> str:
    """`Sheet1!A5:F5`; a name with other than letters and digits is quoted as programs quote it."""
    name = sheet if sheet.replace("_", "").isalnum() else "'" + sheet.replace("'", "''") + "'"
    first, last = f"{letters(col1)}{row1}", f"{letters(col2)}{row2}"
    cells = first if first == last else f"{first}:{last}"
    return f"{name}!{cells}" if sheet else cells


@dataclass(frozen=True, slots=True)
class Visibility:
    """What of a sheet's hidden parts is taken in."""

    rows: bool = False
    columns: bool = False
    filtered: bool = False


class _Columns:
    """Hidden columns: whether one is, and how many lie left of one."""

    def __init__(self, intervals: list[tuple[int, int]]) -> None:
        self.ends: list[int] = []
        self.starts: list[int] = []
        self.counts: list[int] = []  # hidden columns up to each interval's end
        total = 0
        for first, last in sorted(intervals):
            first = max(first, self.ends[-1] + 1 if self.ends else 1)
            if first <= last:
                total += last - first + 1
                self.starts.append(first)
                self.ends.append(last)
                self.counts.append(total)

    def hides(self, col: int) -> bool:
        i = bisect_left(self.ends, col)
        return i < len(self.ends) and self.starts[i] <= col

    def below(self, col: int) -> int:
        """How many hidden columns lie left of `col`."""
        i = bisect_left(self.ends, col)
        before = self.counts[i - 1] if i else 0
        return before + (max(0, col - self.starts[i]) if i < len(self.starts) else 0)

    def first_shown(self, col: int, last: int) -> int:
        """The first column of col..last that is not hidden; `col` if all are."""
        at = col
        while at <= last and self.hides(at):
            at = self.ends[bisect_left(self.ends, at)] + 1
        return at if at <= last else col


def finish(raw: RawSheet, take: Visibility, max_cells: int) -> Sheet | None:
    """`raw` as it is seen, or None where merged cells repeat values beyond `max_cells`."""
    filtered = _filtered(raw)
    out_rows = set() if take.rows else raw.hidden_rows - filtered
    if not take.filtered:
        out_rows |= filtered
    columns = _Columns([] if take.columns else raw.hidden_columns)
    rows = {r.number: r for r in raw.rows}
    if not _spread_merges(raw.merges, rows, out_rows, columns, max_cells):
        return None
    left_out: dict[tuple[str, str], int] = {}
    passed_over = _covered(raw.merges, rows, out_rows)
    positions: dict[int, int] = {}  # column → visible position, 0: hidden
    kept: list[Row] = []
    for number in sorted(rows):
        row = rows[number]
        if number in out_rows:
            if any(not c.down for c in row.cells):
                what = _FILTERED_ROWS if number in filtered else _HIDDEN_ROWS
                left_out[what] = left_out.get(what, 0) + 1
            continue
        cells = []
        for c in row.cells:
            if c.col not in positions:
                positions[c.col] = 0 if columns.hides(c.col) else c.col - columns.below(c.col)
            c.at = positions[c.col]
            if c.at:
                cells.append(c)
            elif not c.down:
                left_out[_HIDDEN_CELLS] = left_out.get(_HIDDEN_CELLS, 0) + 1
        if cells:
            cells.sort(key=lambda c: c.col)
            row.cells = cells
            row.at = number - bisect_left(passed_over, number)
            kept.append(row)
    return Sheet(raw.name, kept, raw.declared, raw.comments, raw.texts, raw.header_rows, left_out)


def _filtered(raw: RawSheet) -> set[int]:
    """Hidden rows that a filter hides."""
    if not raw.filters:
        return raw.filtered_rows & raw.hidden_rows
    # few areas hold in practice; a file with thousands must not cost their product with the rows
    rows = sorted(raw.hidden_rows)
    found = raw.filtered_rows & raw.hidden_rows
    end = 0
    for area in sorted(raw.filters):
        first = bisect_left(rows, max(area.row1 + 1, end))
        found |= set(rows[first : bisect_left(rows, area.row2 + 1)])
        end = max(end, area.row2 + 1)
    return found


def _spread_merges(
    merges: list[Area],
    rows: dict[int, Row],
    out_rows: set[int],
    columns: _Columns,
    max_cells: int,
) -> bool:
    """Give merged cells their spans and repeat their values in the rows they cover."""
    if not merges:
        return True
    numbers = sorted(rows)
    last_col = max((c.col for r in rows.values() for c in r.cells), default=0)
    anchors = {(r.number, c.col): c for r in rows.values() for c in r.cells}
    added = 0
    for area in merges:
        cell = anchors.get((area.row1, area.col1))
        if cell is None:
            continue
        col2 = min(area.col2, last_col)
        shown = columns.first_shown(area.col1, col2)
        cell.span = max(1, col2 - shown + 1 - (columns.below(col2 + 1) - columns.below(shown)))
        if shown != cell.col:
            cell.col = shown
        for number in numbers[bisect_left(numbers, area.row1 + 1) :]:
            if number > area.row2:
                break
            row = rows[number]
            # in a row of its own the value is there already; a hidden first row shows it in the next
            row.cells = [c for c in row.cells if not area.col1 <= c.col <= col2]
            row.cells.append(
                Cell(
                    cell.col, cell.text, cell.kind, cell.look, span=cell.span, down=area.row1 not in out_rows
                )
            )
            added += 1
            if added > max_cells:
                return False
    return True


def _covered(merges: list[Area], rows: dict[int, Row], out_rows: set[int]) -> list[int]:
    """Rows that make no gap: hidden ones, and empty ones below the top of a merged cell."""
    last = max(rows, default=0)
    out = set(out_rows)
    for area in merges:
        if area.row1 in rows and area.row2 - area.row1 < 1000:
            out |= {n for n in range(area.row1 + 1, min(area.row2, last) + 1) if n not in rows}
    return sorted(out)
