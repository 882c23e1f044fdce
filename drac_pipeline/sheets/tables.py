"""A block read: its titles, its header, its rows with their sections, the notes below it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from drac_pipeline.sheets.blocks import Block
from drac_pipeline.sheets.grid import Row, letters
from drac_pipeline.sheets.header import (
    NO_HEADER,
    Heading,
    by_evidence,
    find_header,
    header_paths,
    is_form,
    is_label,
)

_NOTE = re.compile(
    r"(?:[*†‡§¹²³⁴⁵]|\(?[0-9a-z]\)\s|(?:notes?|source|remarks?|legend|hinweis|anmerkung|quelle|stand|"
    r"remarque|fuente|nota|fonte)\b\s*[:.]?)",
    re.I,
)
_TOTAL = re.compile(
    r"(?:grand |sub-?)?(?:total|sum|summe|gesamt\w*|insgesamt|zwischensumme|totale?s?|suma|somme)\b", re.I
)
_GRAND = re.compile(r"(?:grand|overall|gesamt|total général|insgesamt)", re.I)
_TITLE_CHARS = 150
_PREAMBLE = 3  # rows


@dataclass(slots=True)
class BodyRow:
    """A row of data: its cells by column, the section it stands in, its sentence's own header."""

    row: Row
    cells: list[str]
    section: str = ""
    header: list[list[str]] | None = None  # keys and values: each row has its own


@dataclass(slots=True)
class SheetTable:
    """A table read. `header[c]` is the path of column c, outermost first."""

    block: Block
    header: list[list[str]]
    rows: list[BodyRow]


@dataclass(slots=True)
class Reading:
    """A block read: text above, the table (None where all is text), text below."""

    block: Block
    titles: list[Row] = field(default_factory=list)
    heading: Heading = NO_HEADER
    body: list[Row] = field(default_factory=list)  # header rows included
    notes: list[Row] = field(default_factory=list)
    sections: set[int] = field(default_factory=set)  # rows known to title the rows below

    @property
    def is_text(self) -> bool:
        return not self.body

    @property
    def top(self) -> int:
        return self.block.top

    @property
    def bottom(self) -> int:
        return self.block.bottom


def read_block(block: Block, *, given_rows: int = 0, prior: bool = False) -> Reading:
    """Tell a block's text from its table and find the header. `given_rows`: rows 1..n of the
    sheet are repeated on every page or frozen."""
    rows = list(block.rows)
    reading = Reading(block)
    if all(len(r.cells) == 1 for r in rows) and not _is_column(block):
        reading.notes = rows
        return reading
    if block.table is None and block.width > 1:
        while len(rows) > 1 and _is_title(rows, block):
            reading.titles.append(rows.pop(0))
    if block.width > 1:
        while len(rows) > 1 and _is_note(rows[-1], rows[:-1], block):
            reading.notes.insert(0, rows.pop())
    given = sum(r.number <= given_rows for r in rows)
    if block.table is None and not given_rows:
        reading.titles += _preamble(rows, block)
    body = Block(rows, block.first, block.last, block.table)
    reading.heading = find_header(body, given=given, prior=prior)
    reading.body = rows
    return reading


def _is_column(block: Block) -> bool:
    """One column of data under a header (not a header over paragraphs, nor a list of lines)."""
    rows = block.rows
    if block.width > 1 or len(rows) < 3:
        return block.table is not None and len(rows) > 1
    heading = find_header(block)
    below = [r.cells[0].text for r in rows[1:]]
    sentences = sum(t.rstrip().endswith((".", "!", "?")) and " " in t.strip() for t in below)
    return heading.sure and sum(map(len, below)) < 80 * len(below) and sentences * 2 < len(below)


def _is_title(rows: list[Row], block: Block) -> bool:
    """One text over the columns of the rows below it."""
    first = rows[0].cells
    if len(first) != 1 or first[0].kind not in ("text", "date"):
        return False
    cell = first[0]
    if cell.at > block.first and cell.span < block.width - (cell.at - block.first):
        # a label over some columns is part of the header, if there is text right below it
        return not any(cell.at <= c.at < cell.at + cell.span for c in rows[1].cells)
    if any(c.down for c in rows[1].cells):
        return False
    return any(len(r.cells) > 1 for r in rows[1:])


def _preamble(rows: list[Row], block: Block) -> list[Row]:
    """Take rows of words from above a header that only shows from its own row on ("Sum of EUR |
    Column labels" above a pivot table)."""
    for n in range(1, min(_PREAMBLE, len(rows) - 2) + 1):
        above, rest = rows[:n], rows[n:]
        if any(c.kind != "text" or c.span > 1 for c in above[-1].cells):
            break
        if len(above[-1].cells) >= len(rest[0].cells) or is_form(above):
            break
        if by_evidence(Block(rows, block.first, block.last)):
            break
        if by_evidence(Block(rest, block.first, block.last)) and all(len(r.cells) > 1 for r in above):
            del rows[:n]
            return above
    return []


def _is_note(row: Row, above: list[Row], block: Block) -> bool:
    """One text below the data that is no row of it."""
    if len(row.cells) != 1 or sum(len(r.cells) > 1 for r in above) < 1:
        return False
    cell = row.cells[0]
    if cell.kind != "text" or cell.at != block.first or cell.down or _TOTAL.match(cell.text):
        return False
    if cell.span > 1 or _NOTE.match(cell.text) or len(cell.text) > _TITLE_CHARS:
        return True
    data = [r.cells[0] for r in above if r.cells[0].at == cell.at and len(r.cells) > 1]
    longest = max((len(c.text) for c in data), default=0)
    sentence = cell.text.rstrip().endswith((".", "!", "?")) and len(cell.text.split()) > 3
    other = cell.look.italic and not any(c.look.italic for c in data)
    return other or (sentence and len(cell.text) > longest) or len(cell.text) > max(40, 2 * longest)


def read_table(reading: Reading) -> SheetTable:
    """Header paths and rows of a reading that has a table."""
    block, rows, n = reading.block, reading.body, reading.heading.rows
    if reading.heading.keys:
        return SheetTable(block, [], _keys_and_values(rows, block))
    if n == 0 and is_form(rows):
        return SheetTable(block, [], _form(rows))
    if n:
        header = header_paths(rows[:n], block.first, block.width)
    elif len(rows) > 1:
        header = _column_letters(rows, block)
    else:
        header = []
    body = rows[n:]
    sections = reading.sections | _section_rows(body, block)
    out, current = [], ""
    for i, row in enumerate(body):
        cells = [""] * block.width
        for c in row.cells:
            if 0 <= c.at - block.first < block.width:
                cells[c.at - block.first] = c.text
        if row.number in sections and i + 1 < len(body):
            current = row.cells[0].text
            out.append(BodyRow(row, cells, header=[]))
            continue
        if current and _is_grand(row, i, body, sections):
            current = ""
        out.append(BodyRow(row, cells, current))
    return SheetTable(block, header, out)


def _is_grand(row: Row, i: int, body: list[Row], sections: set[int]) -> bool:
    """A total of the whole table: by its words, or the last row, if it stands apart, follows
    a section's total, or the sections before have none."""
    if _GRAND.match(row.cells[0].text):
        return True
    if i + 1 < len(body) or not _TOTAL.match(row.cells[0].text):
        return False
    if row.at - body[i - 1].at > 1 or _TOTAL.match(body[i - 1].cells[0].text):
        return True
    last = max(k for k, r in enumerate(body) if r.number in sections)
    before = body[:last]
    totals = any(_TOTAL.match(r.cells[0].text) for r in before)
    return any(r.number in sections for r in before) and not totals


def _section_rows(body: list[Row], block: Block) -> set[int]:
    """Rows of one text that title the rows below: merged over the columns or set apart by
    their look; plain ones only where the data begins with one and there are several."""
    single = [
        i
        for i, r in enumerate(body[:-1])
        if len(r.cells) == 1 and r.cells[0].kind == "text" and r.cells[0].at == block.first
        and not r.cells[0].down and len(body[i + 1].cells) > 1 and not _TOTAL.match(r.cells[0].text)
    ]  # fmt: skip
    if not single or block.width < 2:
        return set()
    looks = {r.cells[0].look for r in body if len(r.cells) > 1 and r.cells[0].at == block.first}
    marked = [
        i
        for i in single
        if body[i].cells[0].span >= max(2, block.width - 1)
        or (body[i].cells[0].look.strong and body[i].cells[0].look not in looks)
    ]
    if not marked and block.width > 2 and single[0] == 0 and len(single) > 1:
        marked = single
    return {body[i].number for i in marked}


def _keys_and_values(rows: list[Row], block: Block) -> list[BodyRow]:
    """Each row's first cell names its second; a value without a key goes on with the one above."""
    out, key = [], ""
    for row in rows:
        values = [c for c in row.cells if c.at > block.first]
        if row.cells[0].at == block.first:
            key = row.cells[0].text
        if not values:
            out.append(BodyRow(row, [key, ""], header=[]))
            continue
        value = " ".join(c.text for c in values)
        out.append(BodyRow(row, [key, value], header=[[], [key]]))
    return out


def _form(rows: list[Row]) -> list[BodyRow]:
    """Rows in which labels end with a colon and their values follow ("Name: | X | Date: | Y")."""
    out = []
    for row in rows:
        header: list[list[str]] = []
        cells: list[str] = []
        label = ""
        for c in row.cells:
            if is_label(c):
                if label:
                    header.append([])
                    cells.append(label)
                label = c.text
            else:
                header.append([label] if label else [])
                cells.append(c.text)
                label = ""
        if label:
            header.append([])
            cells.append(label)
        out.append(BodyRow(row, cells, header=header))
    return out


def _column_letters(rows: list[Row], block: Block) -> list[list[str]]:
    """Columns without a header go by their letters, so that values of a column stay comparable."""
    names = {c.at: letters(c.col) for r in rows for c in r.cells}
    return [[names[at]] if at in names else [] for at in range(block.first, block.last + 1)]
