"""A table of a DOCX as an HTML table: merged cells as spans, header rows as such."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from drac_pipeline.office.package import MC, Node, W, chosen, is_on, whole
from drac_pipeline.office.page import add, deepen_head, guess_head
from drac_pipeline.office.styles import is_on_attribute

if TYPE_CHECKING:
    from drac_pipeline.office.docx import Docx

_MAX_COLUMNS = 1000
_WRAPS = frozenset(f"{W}{n}" for n in ("sdtContent", "customXml", "ins", "del", "moveTo", "moveFrom"))


@dataclass(slots=True)
class _Cell:
    node: Node
    column: int
    columns: int = 1
    rows: int = 1


@dataclass(slots=True)
class _Row:
    cells: list[_Cell]
    head: bool


def add_table(document: Docx, table: Node, box: Node) -> None:
    """Put a table into `box`. A table of one cell is a frame around its content."""
    rows = _rows(table)
    cells = [c for r in rows for c in r.cells]
    if not cells:
        return
    if len(cells) == 1 or all(len(r.cells) == 1 and r.cells[0].column == 0 for r in rows):
        for cell in cells:
            document.cell(cell.node, box)
        return
    heads = _header_rows(document, table, rows)
    target = add(box, "table")
    part = None
    for n, row in enumerate(rows):
        kind = "thead" if n < heads else "tbody"
        if part is None or part.tag != kind:
            part = add(target, kind)
        line = add(part, "tr")
        at = 0
        for cell in row.cells:
            while at < cell.column and not _covered(rows, n, at):
                add(line, "td")
                at += 1
            attributes = {}
            if cell.columns > 1:
                attributes["colspan"] = str(cell.columns)
            if cell.rows > 1:
                attributes["rowspan"] = str(cell.rows)
            node = add(line, "th" if n < heads else "td", **attributes)
            document.cell(cell.node, node)
            _unwrap_single(node)
            at = cell.column + cell.columns
    if not rows[0].head:
        deepen_head(target)
        guess_head(target)


def _unwrap_single(cell: Node) -> None:
    """A cell of one paragraph holds its text itself, so that bold cells are seen as such."""
    if len(cell) == 1 and cell[0].tag == "p":
        paragraph = cell[0]
        cell.remove(paragraph)
        cell.text = paragraph.text
        cell.extend(list(paragraph))


def _covered(rows: list[_Row], n: int, column: int) -> bool:
    """A cell of a row above reaches down to here."""
    for up in range(n - 1, -1, -1):
        for cell in rows[up].cells:
            if cell.column <= column < cell.column + cell.columns and cell.rows > n - up:
                return True
        if n - up > 200:
            break
    return False


def _rows(table: Node) -> list[_Row]:
    rows: list[_Row] = []
    open_cells: dict[int, _Cell] = {}  # by column: the cell that goes on downwards
    for tr in _children(table, f"{W}tr"):
        properties = tr.find(f"{W}trPr")
        before = properties.find(f"{W}gridBefore") if properties is not None else None
        column = min(whole(before.get(f"{W}val")), _MAX_COLUMNS) if before is not None else 0
        head = properties is not None and bool(is_on(properties.find(f"{W}tblHeader")))
        row = _Row([], head)
        for tc in _children(tr, f"{W}tc"):
            settings = tc.find(f"{W}tcPr")
            span = settings.find(f"{W}gridSpan") if settings is not None else None
            merge = settings.find(f"{W}vMerge") if settings is not None else None
            columns = max(1, min(whole(span.get(f"{W}val"), 1), _MAX_COLUMNS)) if span is not None else 1
            if merge is not None and merge.get(f"{W}val") != "restart" and column in open_cells:
                open_cells[column].rows += 1
            else:
                cell = _Cell(tc, column, columns)
                row.cells.append(cell)
                open_cells.pop(column, None)
                if merge is not None:
                    open_cells[column] = cell
            column += columns
        rows.append(row)
    return rows


def _children(node: Node, tag: str) -> list[Node]:
    """The rows of a table or cells of a row, also in what only wraps them."""
    out: list[Node] = []
    stack = list(reversed(node))
    while stack:
        child = stack.pop()
        if child.tag == tag:
            out.append(child)
        elif child.tag == f"{W}sdt" or child.tag in _WRAPS:
            stack.extend(reversed(child))
        elif child.tag == f"{MC}AlternateContent" and (choice := chosen(child)) is not None:
            stack.extend(reversed(choice))
    return out


def _header_rows(document: Docx, table: Node, rows: list[_Row]) -> int:
    """Rows marked to be repeated, else the first where the table's style sets it apart."""
    n = 0
    while n < len(rows) and rows[n].head:
        n += 1
    if n:
        # all rows marked so are a mistake
        return n if n < len(rows) else 1
    properties = table.find(f"{W}tblPr")
    named = properties.find(f"{W}tblStyle") if properties is not None else None
    look = properties.find(f"{W}tblLook") if properties is not None else None
    if named is None or len(rows) < 2 or len(rows[0].cells) < 2:
        return 0
    first = (
        look is None
        or is_on_attribute(look.get(f"{W}firstRow"))
        or bool(int(look.get(f"{W}val") or "0", 16) & 0x20)
    )
    style = document.styles.of(named.get(f"{W}val"))
    return int(first and style is not document.styles.default and style.first_row)
