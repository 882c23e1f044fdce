"""Which rows of a block are its header, and whether it is a list of keys and values.

A row is a header only on evidence: the file declares it, it looks different from the rows
below (and theirs is not its look), or it is words above a column of numbers or dates. Where
all is plain text, a first row of short, different labels that come up nowhere else in
their columns is taken for one in blocks of three columns and more; two such columns are
keys and values, which loses nothing if they were a table.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from dataclasses import dataclass

from drac_pipeline.sheets.blocks import Block
from drac_pipeline.sheets.grid import Cell, Row

_MOST = 6  # header rows
_SAMPLE = 60  # body rows looked at
_LABEL_CHARS = 120
_SHAPE = re.compile(r"[0-9@]|://|www\.")
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Heading:
    """`rows` header rows; `sure`: on evidence; `keys`: two columns, keys and values."""

    rows: int = 0
    sure: bool = False
    keys: bool = False


NO_HEADER = Heading()


class _Body:
    """What the columns of the rows below a candidate hold."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = len(rows)
        self.kinds: dict[int, Counter[str]] = {}
        self.looks: dict[int, Counter[object]] = {}
        self.values: dict[int, set[str]] = {}
        for row in rows:
            for c in row.cells:
                self.kinds.setdefault(c.at, Counter())[c.kind] += 1
                self.looks.setdefault(c.at, Counter())[c.look] += 1
                self.values.setdefault(c.at, set()).add(c.text)

    def kind(self, at: int) -> str:
        """The kind of four fifths of a column's cells, "" where there is none."""
        kinds = self.kinds.get(at)
        if not kinds:
            return ""
        name, n = kinds.most_common(1)[0]
        return name if n >= 0.8 * kinds.total() else ""

    def rare(self, cell: Cell) -> bool:
        """True if hardly a cell below looks like this one."""
        looks = self.looks.get(cell.at)
        if not looks:
            return True
        return looks[cell.look] <= (0.25 * looks.total() if looks.total() > 3 else 0)


def find_header(block: Block, *, given: int = 0, prior: bool = False) -> Heading:
    """The header of a block.

    `given`: the file repeats or freezes that many of the block's first rows. `prior`: the
    format's custom is a header (CSV), so plain text suffices in two columns as well.
    """
    rows = block.rows
    if block.table is not None:
        n = min(block.table.header_rows, len(rows))
        return Heading(n, sure=True)
    if len(rows) < 2:
        return Heading(keys=block.width >= 2 and len(rows[0].cells) == 2)
    width = len({at for r in rows for c in r.cells for at in range(c.at, c.at + c.span)})  # empty ones aside
    if width > 2 and is_form(rows):
        return NO_HEADER
    n = by_evidence(block, given)
    if n:
        if width == 2 and _keys_rather(block, n, prior):
            return Heading(keys=True)
        return Heading(n, sure=True)
    if width == 2 and not prior:
        return Heading(keys=_first_column_names(block))
    if width >= 2 and len(rows) > (1 if prior else 2) and _labels_only(block, width):
        return Heading(_spanned_rows(rows, 1), sure=False)
    return Heading()


def by_evidence(block: Block, given: int = 0) -> int:
    """How many rows are the header on evidence."""
    rows = block.rows
    n = 0
    for i in range(min(_MOST, len(rows) - 1)):
        body = _Body(rows[i + 1 : i + 1 + _SAMPLE])
        if n and not _continues(rows, i, body):
            break
        row = rows[i]
        if not _is_labels(row, body):
            break
        styled = _styled(row, body)
        if not (styled or _typed(row, body) or i < given):
            # a row of group labels over the real header shows by its merged cells
            spans = any(c.span > 1 for c in row.cells)
            lone = len(row.cells) < 2 and row.cells[0].at == block.first
            over_units = (
                not n and i + 2 < len(rows) and _units(row, rows[i + 1], _Body(rows[i + 2 : _SAMPLE]))
            )
            if (not spans or lone) and not group_spans(row, rows[i + 1]) and not over_units:
                break
            continue
        n = i + 1
    return n


def _continues(rows: list[Row], i: int, body: _Body) -> bool:
    """True if row i goes on with the header of the row above."""
    above, row = rows[i - 1], rows[i]
    if any(c.down for c in row.cells):
        return True  # a cell reaches down from the header
    if _styled(row, body) and {c.look for c in row.cells} & {c.look for c in above.cells}:
        return True
    if any(c.span > 1 for c in above.cells) and len(above.cells) > 1:
        return True
    if group_spans(above, row):
        return True
    return _units(above, row, body)


def _units(above: Row, row: Row, body: _Body) -> bool:
    """A row of units under the labels: short words, none in the first column, above numbers."""
    if row.cells[0].at <= above.cells[0].at or any(len(c.text) > 8 or c.kind != "text" for c in row.cells):
        return False
    return _typed(row, body)


def _is_labels(row: Row, body: _Body) -> bool:
    words = 0
    for c in row.cells:
        if len(c.text) > _LABEL_CHARS or c.kind in ("error", "bool"):
            return False
        if c.kind == "text":
            words += 1
        elif c.kind == "date":
            if body.kind(c.at) == "date":
                return False
        elif not _is_ordinal(c.text):
            return False
    if words == len(row.cells):
        return True
    # years, dates and running numbers may head columns, if they are not of the data's kind
    if len(row.cells) == 1:
        return False
    numbers = [int(c.text) for c in row.cells if c.kind == "number"]
    return len(set(numbers)) == len(numbers) and (not numbers or _run(numbers) or _styled(row, body))


def _is_ordinal(text: str) -> bool:
    return text.isdigit() and (len(text) <= 2 or (len(text) == 4 and text[:2] in ("18", "19", "20", "21")))


def _run(numbers: list[int]) -> bool:
    """Years or numbers that go up or down by one step, as labels do."""
    steps = {b - a for a, b in itertools.pairwise(numbers)}
    return len(numbers) > 1 and len(steps) == 1 and steps <= {1, -1, 5, 10}


def _styled(row: Row, body: _Body) -> bool:
    """The row looks otherwise than the rows below it."""
    different = sum(body.rare(c) for c in row.cells)
    if different < 0.6 * len(row.cells):
        return False
    return any(c.look.strong for c in row.cells) or different == len(row.cells) > 1


def _typed(row: Row, body: _Body) -> bool:
    """Words above numbers or dates, and no number above numbers that is not a label."""
    found = False
    for c in row.cells:
        below = body.kind(c.at)
        if c.kind in ("text", "date") and below not in (c.kind, "text", ""):
            found = True
        elif c.kind == "number" and below == "number" and len(c.text) == 4:
            # a year, if what is below it is none
            found = found or not all(_is_ordinal(v) for v in body.values[c.at])
    return found and (len(row.cells) > 1 or body.rows > 1)


def _keys_rather(block: Block, n: int, prior: bool) -> bool:
    """Two columns whose first row only passes for a header."""
    rows = block.rows
    first = rows[0]
    body = _Body(rows[n : n + _SAMPLE])
    if _styled(first, body) and all(body.rare(c) for c in first.cells):
        return False
    if len(first.cells) < 2:
        return True
    if sum(r.cells[0].text.rstrip().endswith(":") for r in rows) * 2 >= len(rows):
        return True
    if prior or body.kind(first.cells[0].at) in ("number", "date"):
        return False  # numbers are no keys
    values = [c for r in rows for c in r.cells[1:]]
    if all(r.cells[0].look.strong for r in rows) and not any(c.look.strong for c in values):
        return True
    kinds = body.kinds.get(first.cells[1].at, Counter())
    return len(kinds) > 1 or len({_pattern(c) for r in rows[n:] for c in r.cells[1:]}) > 1


def is_label(cell: Cell) -> bool:
    """Words that end with a colon."""
    return cell.kind == "text" and len(cell.text) > 1 and cell.text.rstrip().endswith(":")


def is_form(rows: list[Row]) -> bool:
    """Rows in which labels end with a colon and their values follow ("Name: | X | Date: | Y")."""
    labelled = sum(any(is_label(a) and not is_label(b) for a, b in itertools.pairwise(r.cells)) for r in rows)
    return labelled * 2 > len(rows)


def _pattern(cell: Cell) -> str:
    """A number's format as it shows, digits aside: 1,234.50 € and 9.40 € are alike."""
    text = _DIGITS.sub("0", cell.text).replace("0,0", "0").lstrip("-")
    return text if cell.kind != "number" else re.sub(r"^0(\.0)?$", "0", text)


def _first_column_names(block: Block) -> bool:
    names = [r.cells[0].text for r in block.rows if r.cells[0].at == block.first]
    kinds = {r.cells[0].kind for r in block.rows if r.cells[0].at == block.first}
    return kinds <= {"text"} and len(set(names)) == len(names)


def _labels_only(block: Block, width: int) -> bool:
    """A first row of plain text that can be labels: complete (an empty corner over a column of
    names aside), short, different, not met again."""
    first, rest = block.rows[0], block.rows[1 : 1 + 5 * _SAMPLE]
    texts = [c.text.strip() for c in first.cells]
    missing = width - sum(c.span for c in first.cells)
    corner = first.cells[0].at > block.first and all(r.cells[0].at == block.first for r in rest)
    if missing > corner or any(c.kind != "text" for c in first.cells):
        return False
    if len({t.casefold() for t in texts}) < len(texts) or any(len(t) > 60 for t in texts):
        return False
    body = _Body(rest)
    for c in first.cells:
        values = body.values.get(c.at, set())
        if c.text in values:
            return False
        shaped = sum(bool(_SHAPE.search(v)) for v in values)
        if _SHAPE.search(c.text) and shaped >= 0.5 * len(values):
            return False
    return True


def _spanned_rows(rows: list[Row], n: int) -> int:
    """With the rows that cells of the header reach down to, or that merged cells need below."""
    while n < min(_MOST, len(rows) - 1):
        above = rows[n - 1].cells
        down = any(c.down for c in rows[n].cells)
        if not down and not (any(c.span > 1 for c in above) and len(above) > 1):
            break
        n += 1
    return n


def header_paths(rows: list[Row], first: int, width: int) -> list[list[str]]:
    """The header path of each column, outermost first."""
    paths: list[list[str]] = [[] for _ in range(width)]
    for i, row in enumerate(rows):
        filled = _filled_out(row, rows[i + 1] if i + 1 < len(rows) else None)
        for cell, span in filled:
            for at in range(cell.at, cell.at + span):
                path = paths[at - first] if 0 <= at - first < width else []
                text = " ".join(cell.text.split())
                if text and (not path or path[-1] != text):
                    path.append(text)
    return paths


def _filled_out(row: Row, below: Row | None) -> list[tuple[Cell, int]]:
    """Cells with the columns they head."""
    groups = group_spans(row, below) if below is not None else []
    return list(zip(row.cells, groups or [c.span for c in row.cells], strict=True))


def group_spans(row: Row, below: Row) -> list[int]:
    """How many columns each cell heads where group labels were typed over the first of their
    columns only: the labels below repeat group by group. [] where they do not."""
    if len(row.cells) < 2 or any(c.span > 1 for c in row.cells):
        return []
    starts = [c.at for c in row.cells]
    labels = {c.at: c.text for c in below.cells}
    ends = [*starts[1:], max(labels) + 1]
    groups = [[labels.get(at, "") for at in range(a, b)] for a, b in zip(starts, ends, strict=True)]
    large = [g for g in groups if len(g) > 1]
    size = min((len(g) for g in large), default=0)
    if len(large) < 2 or any(g[:size] != large[0][:size] for g in large) or "" in large[0][:size]:
        return []
    return [max(1, min(len(g), size)) for g in groups]
