"""Data tables to row sentences; layout tables told apart from them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from drac_pipeline.convert.row_sentences import label_of, row_sentence, unsaid
from drac_pipeline.web.blocks import Block, TableRowText, TableText
from drac_pipeline.web.facts import Facts
from drac_pipeline.web.grid import Cell, Row, cells_of, place, shape_of
from drac_pipeline.web.header import guess_header, is_header_row
from drac_pipeline.web.tree import Node

if TYPE_CHECKING:
    from drac_pipeline.web.flow import Flow

_ENDS = (".", ",", ";", ":", "!", "?")
_SECTION_CHARS = 120
_CELL_CHARS = 800  # letters of a cell that is rather a column of a page


def is_data_table(table: Node, facts: dict[Node, Facts]) -> bool:
    """Whether the rows of `table` say something as rows, rather than place things on a page."""
    if (table.get("role") or "").lower() in ("presentation", "none"):
        return False
    shape = shape_of(table)
    rows = [r for r in shape.rows if any(facts[c.node].chars or len(c.node) for c in r.cells)]
    width = max((sum(min(c.columns, 50) for c in r.cells) for r in rows), default=0)
    if not rows or width < 2:
        return False
    cells = [c for r in rows for c in r.cells]
    here = [facts[c.node] for c in cells]
    if any(f.pre or f.headings > 1 or f.fields > 3 for f in here):
        return False
    marked = any(c.heading and f.chars for c, f in zip(cells, here, strict=True)) or any(
        r.part != "tbody" for r in rows
    )
    if any(f.headings for f in here) and not marked:
        return False
    longest = max(f.chars for f in here)
    nested = sum(f.tables for f in here)
    if marked or shape.captions or table.get("summary"):
        # a page laid out with `th` has its text in one cell
        return longest < 6 * _CELL_CHARS or len(rows) > 3
    if len(rows) == 1:
        return not nested and longest <= 100 and len([f for f in here if f.chars]) > 1
    if nested:
        plain = [r for r in rows if not any(facts[c.node].tables for c in r.cells)]
        regular = [r for r in plain if sum(0 < facts[c.node].chars <= 80 for c in r.cells) >= 2]
        linked = sum(facts[c.node].control for r in plain for c in r.cells)
        return bool(regular) and linked * 2 < sum(facts[c.node].chars for r in plain for c in r.cells) + 1
    full = [f for f in here if f.chars]
    blocky = sum(f.blocks > 2 and f.chars > 200 for f in full)
    return longest < _CELL_CHARS and blocky * 3 <= len(full) and len(full) > len(rows)


def read_table(node: Node, flow: Flow) -> tuple[list[Block], TableText]:
    """What stands in the table outside its cells, and the table."""
    shape = shape_of(node)
    before = [b for stray in shape.strays for b in flow.cell(stray)]
    stray_text = [node.text, *(s.tail for s in shape.strays)]
    before += [Block("paragraph", " ".join(t.split())) for t in stray_text if t and t.strip()]
    for row in shape.rows:
        for cell in row.cells:
            _fill(cell, flow)
    table = TableText(caption=" ".join(one_line(flow.cell(c)) for c in shape.captions).strip())
    rows = [r for r in shape.rows if any(c.text or c.tables for c in r.cells)]
    _compose(table, rows, place(rows))
    return before, table


def _fill(cell: Cell, flow: Flow) -> None:
    blocks = flow.cell(cell.node)
    cell.tables = [b for b in blocks if b.kind == "table"]
    cell.text = one_line([b for b in blocks if b.kind != "table"])


def one_line(blocks: Sequence[Block]) -> str:
    """Blocks of a cell as one line: items and paragraphs parted by commas where no sign parts them."""
    out = ""
    for block in blocks:
        text = " ".join(block.text.split())
        if block.kind == "list_item" and block.marker != "-":
            text = f"{block.marker.removeprefix('- ')} {text}"
        if not text:
            continue
        out += ("" if not out else " " if out.endswith(_ENDS) else ", ") + text
    return out


def _compose(table: TableText, rows: list[Row], grid: list[list[Cell | None]]) -> None:
    """Header and row sentences of the placed cells."""
    width = len(grid[0]) if grid else 0
    at = next((r for r, row in enumerate(grid) if not _whole(row)), 0)
    head = _header_end(rows, grid, at)
    if at and head == at:
        head = at = 0  # no header: lines over the whole width are sections of what follows
    # above a header they are the table's title
    table.caption = " ".join(filter(None, [table.caption, *map(_first_text, grid[:at])]))
    header = _paths(grid[at:head], width)
    table.header = header
    keyed = not any(header) and guess_keys(grid[head:])
    section = ""
    said: list[tuple[Sequence[Sequence[str]], Sequence[str]]] = []
    for r in range(head, len(grid)):
        row = grid[r]
        inner = _inner(row, grid[r - 1] if r > head else None)
        if r + 1 < len(grid) and not inner and _is_section(row, grid[r + 1]):
            section = _first_text(row)
            continue
        if rows[r].part == "tbody" and r + 1 < len(grid) and is_header_row(row) and any(header):
            header = _paths([row], width)  # a header of its own for what follows
            section = ""
            continue
        if _whole(row) and row[0] is not None and (row[0].heading or row[0].bold):
            section = ""
        cells = [cell.text if cell else "" for cell in row]
        labels, values = _labelled(row, header, keyed)
        sentence = row_sentence(labels, values, section)
        said.append((header, cells))  # a value over several columns says them all
        subject = next((c.text for _, _, c in cells_of(row) if c.text and not c.tables), "")
        if inner and len(subject) <= _SECTION_CHARS:
            _name_subject(inner, subject)
        if sentence or inner:
            table.rows.append(TableRowText(cells, sentence, inner))
    if table.rows and (open_columns := unsaid(table.header, said)):
        table.rows.insert(0, TableRowText([], open_columns + "."))
    if not table.rows and (texts := ["; ".join(label_of(p) for p in header if p)]):
        # a header and nothing else: its texts are content
        table.rows += [TableRowText([], t + ".") for t in texts if t]


def _header_end(rows: list[Row], grid: list[list[Cell | None]], at: int) -> int:
    """The row after the header."""
    head = at
    while head < len(grid) and rows[head].part == "thead":
        head += 1
    while head < len(grid) and is_header_row(grid[head]):
        head += 1
    if head == at and len(grid) - at > 1:
        head += guess_header(grid[at:])
    elif at < head < len(grid) and any(c and c.columns > 1 for c in grid[at]):
        # a cell that reaches down from a grouped header row says how deep the header is
        deep = max((c.rows for c in rows[at].cells if c.heading and c.scope != "row"), default=1)
        head = max(head, min(at + deep, len(grid) - 1))
    if head >= len(grid):
        head = min(at + 1, len(grid) - 1) if len(grid) - at > 1 and at < head else at
    return head


def _paths(rows: list[list[Cell | None]], width: int) -> list[list[str]]:
    """The header path of each column, outermost first."""
    paths: list[list[str]] = [[] for _ in range(width)]
    for row in rows:
        whole = _whole(row)
        for first, end, cell in cells_of(row):
            if not cell.text or (whole and len(rows) > 1 and width > 1):
                continue
            for c in range(first, end):
                if not paths[c] or paths[c][-1] != cell.text:
                    paths[c].append(cell.text)
    return paths


def _labelled(
    row: list[Cell | None], header: list[list[str]], keyed: bool
) -> tuple[list[list[str]], list[str]]:
    """Labels and values of a row: a value over several columns once, a row header before its
    values where no column is named."""
    labels = [list(p) for p in header]
    values = [""] * len(row)
    named = any(header)
    keys: list[str] = []
    for first, end, cell in cells_of(row):
        if not cell.text:
            continue
        if not named and (cell.heading or (keyed and first == 0) or cell.text.endswith(":")):
            keys.append(cell.text)
            continue
        values[first] = cell.text
        if keys:
            labels[first], keys = keys, []
        elif end - first > 1:
            labels[first] = _common(header[first:end])
    if keys:
        at = next((c for c, v in enumerate(values) if not v), None)
        if any(values) or at is None:
            values = [*values, "; ".join(keys)]
            labels = [*labels, []]
        else:
            values[at] = "; ".join(keys)
    return labels, values


def _common(paths: list[list[str]]) -> list[str]:
    """The label of a value that covers several columns: what they share, else all their names."""
    shared = []
    for parts in zip(*paths, strict=False):
        if any(p != parts[0] for p in parts):
            break
        shared.append(parts[0])
    rest = list(dict.fromkeys(label_of(p[len(shared) :]) for p in paths))
    rest = [r for r in rest if r]
    return [*shared, " / ".join(rest)] if rest and len(rest) <= 8 else shared


def _inner(row: list[Cell | None], above: list[Cell | None] | None) -> list[Block]:
    """The tables in a row's cells, not those that reach down from the row above."""
    seen = set(map(id, above or ()))
    return [t for _, _, cell in cells_of(row) if id(cell) not in seen for t in cell.tables]


def _name_subject(tables: list[Block], subject: str) -> None:
    """What the outer row is about goes before the rows of the tables in it."""
    for row in (row for t in tables if t.table for row in t.table.rows):
        if row.sentence and subject:
            row.sentence = f"{subject.rstrip(':')} — {row.sentence}"


def _whole(row: list[Cell | None]) -> bool:
    """One cell over the whole width."""
    return len(row) > 1 and row[0] is not None and all(c is row[0] for c in row)


def _first_text(row: list[Cell | None]) -> str:
    return next((c.text for c in row if c and c.text), "")


def _is_section(row: list[Cell | None], following: list[Cell | None]) -> bool:
    """A row that titles the rows below it."""
    texts = [c for _, _, c in cells_of(row) if c.text]
    if len(texts) != 1 or len(texts[0].text) > _SECTION_CHARS or len(row) < 2:
        return False
    cell = texts[0]
    if not (cell.heading or cell.bold or (_whole(row) and not re.search(r"[.!?]$", cell.text))):
        return False
    if not _whole(row) and not (row[0] is cell and sum(c is not None for c in row) == len(row)):
        return False
    if not _whole(row) and cell.rows > 1:
        return False
    return sum(bool(c.text) for _, _, c in cells_of(following)) > 1


def guess_keys(grid: list[list[Cell | None]]) -> bool:
    """Whether the first of two columns names what stands in the second."""
    rows = [r for r in grid if not _whole(r)]
    if not rows or len(rows[0]) != 2:
        return False
    keys = [r[0] for r in rows if r[0] is not None and r[0].text]
    if len(keys) < len(rows):
        return False
    marked = sum(k.bold or k.heading or k.text.endswith(":") for k in keys)
    return marked * 2 > len(keys) or all(len(k.text) <= 30 for k in keys)
