"""The blocks of a sheet as the parts of a document: which text titles which table, and
which blocks are one table with empty rows in it."""

from __future__ import annotations

from dataclasses import dataclass, field

from drac_pipeline.sheets.blocks import Block, cut
from drac_pipeline.sheets.grid import Row, Sheet
from drac_pipeline.sheets.header import Heading, header_paths
from drac_pipeline.sheets.tables import Reading, read_block

_NEAR = 3  # rows between a title and its table, at most: two empty ones
_TITLE_CHARS = 150
_WINDOW = 40  # blocks looked at for a neighbour: many blocks must not cost their square


@dataclass(slots=True)
class Part:
    """A table with its title and the texts between them, or texts alone (`reading` is None)."""

    reading: Reading | None = None
    title: Row | None = None
    before: list[Row] = field(default_factory=list)  # above the title
    lead: list[Row] = field(default_factory=list)  # between title and table


def lay_out(sheet: Sheet, *, prior: bool = False) -> list[Part]:
    """The parts of a sheet in reading order."""
    readings = [
        read_block(b, given_rows=sheet.header_rows, prior=prior) for b in cut(sheet.rows, sheet.declared)
    ]
    readings = _continued(readings, prior)
    owner = _owners(readings)
    texts: dict[int, list[Reading]] = {}
    for i, target in owner.items():
        texts.setdefault(target, []).append(readings[i])
    parts = []
    for i, reading in enumerate(readings):
        if i in owner:
            continue
        if reading.is_text:
            parts.append(_text_part(reading, more=i + 1 < len(readings)))
            continue
        above = [r for t in texts.get(i, ()) for r in t.notes] + reading.titles
        part = _titled(above)
        part.reading = reading
        parts.append(part)
    return parts


def _titled(above: list[Row]) -> Part:
    """The title among the texts above a table: the first one set apart, else the first."""
    part = Part(lead=above)
    fit = [r for r in above if _can_title(r)]
    title = next((r for r in fit if r.cells[0].look.strong), fit[0] if fit else None)
    if title is not None:
        at = next(i for i, r in enumerate(above) if r is title)
        part.title, part.before, part.lead = title, above[:at], above[at + 1 :]
    return part


def _text_part(reading: Reading, *, more: bool) -> Part:
    """Text of no table: a first line that is set apart from what is below it is a heading."""
    rows = reading.notes
    first, rest = rows[0], rows[1:]
    apart = first.cells[0].look.strong and (
        not rest or any(r.cells[0].look != first.cells[0].look for r in rest)
    )
    if apart and _can_title(first) and (rest or more):
        return Part(title=first, lead=rest)
    return Part(lead=rows)


def _can_title(row: Row) -> bool:
    if len(row.cells) > 1:
        return False
    cell = row.cells[0]
    text = cell.text.strip()
    return cell.kind == "text" and len(text) <= _TITLE_CHARS and not text.endswith((".", ";", ","))


def _owners(readings: list[Reading]) -> dict[int, int]:
    """Text block → the table below it whose title it is: near, over its columns, over no other's."""
    out: dict[int, int] = {}
    for i, text in enumerate(readings):
        if not text.is_text:
            continue
        below = [
            j
            for j in range(i + 1, min(i + 1 + _WINDOW, len(readings)))
            if _overlap(text.block, readings[j].block) and readings[j].top > text.bottom
        ]
        if not below:
            continue
        nearest = min(readings[j].top for j in below)
        at = [j for j in below if readings[j].top == nearest]
        if len(at) == 1 and not readings[at[0]].is_text and nearest - text.bottom <= _NEAR:
            out[i] = at[0]
    return out


def _overlap(a: Block, b: Block) -> bool:
    return a.first <= b.last and b.first <= a.last


def _continued(readings: list[Reading], prior: bool) -> list[Reading]:
    """Readings with those joined to the table above that go on with it after an empty row."""
    out: list[Reading] = []
    for reading in readings:
        above = next((r for r in out[: -_WINDOW - 1 : -1] if _overlap(r.block, reading.block)), None)
        if above is None or not _join(above, reading, prior):
            out.append(reading)
    return out


def _join(a: Reading, b: Reading, prior: bool) -> bool:
    """Add `b` to `a` if it goes on with its table."""
    if a.is_text or b.is_text or a.notes or b.block.table is not None or b.top - a.bottom != 2:
        return False
    if (a.heading.keys and len(a.body) > 1) or (b.heading.keys and len(b.body) > 1) or len(b.titles) > 1:
        return False
    if any(len(r.cells) > 1 for r in b.titles):
        return False
    if not (a.block.first <= b.block.first and b.block.last <= a.block.last):
        return False
    body = b.body
    if _header_alone(a, prior):
        if b.heading.sure or b.titles:
            return False
        a.heading = Heading(len(a.body), sure=True)
    elif not a.heading.rows:
        return False
    elif b.heading.rows and not b.titles and _same_header(a, b):
        body = body[b.heading.rows :]
    elif b.heading.sure or not _same_kinds(a, b):
        return False
    titles = b.titles
    a.block.rows = _extended(a.block.rows, b.block.rows)
    a.body = _extended(a.body, [*titles, *body])
    a.notes = b.notes
    a.sections |= {r.number for r in titles}
    return True


def _extended(rows: list[Row], more: list[Row]) -> list[Row]:
    rows.extend(more)
    return rows


def _header_alone(a: Reading, prior: bool) -> bool:
    """One row of labels and nothing below it; two plain ones are rather a key and its value."""
    if len(a.body) != 1 or len(a.body[0].cells) < 2:
        return False
    cells = a.body[0].cells
    if len(cells) == 2 and not prior and not all(c.look.strong for c in cells):
        return False
    return all(c.kind == "text" for c in cells) and sum(c.span for c in cells) == a.block.width


def _same_header(a: Reading, b: Reading) -> bool:
    return header_paths(a.body[: a.heading.rows], a.block.first, a.block.width) == header_paths(
        b.body[: b.heading.rows], a.block.first, a.block.width
    )


def _same_kinds(a: Reading, b: Reading) -> bool:
    """Numbers and dates below numbers and dates in the columns that have them, and some of them."""
    kinds: dict[int, set[str]] = {}
    for row in a.body[a.heading.rows : a.heading.rows + 20]:
        for c in row.cells:
            kinds.setdefault(c.at, set()).add(c.kind)
    met = 0
    for row in b.body[:20]:
        for c in row.cells:
            if c.kind not in ("number", "date"):
                continue
            if c.at in kinds and c.kind not in kinds[c.at]:
                return False
            met += c.at in kinds
    if met:
        return True
    # words only: one table if the other has nothing but words either and as many columns
    words = all(k == {"text"} for k in kinds.values())
    return words and (b.block.first, b.block.last) == (a.block.first, a.block.last)
