"""A table's cells in their places: rows in the order they are shown, spans resolved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from drac_pipeline.web.blocks import Block
from drac_pipeline.web.prune import GONE
from drac_pipeline.web.tree import Node

_ROWS = frozenset({"thead", "tbody", "tfoot", "tr"})
_MAX_SPAN = 1000


@dataclass(slots=True, eq=False)
class Cell:
    """A cell. `text` is one line; `tables` are those that lie in it."""

    node: Node
    rows: int = 1
    columns: int = 1
    heading: bool = False
    scope: str = ""
    bold: bool = False
    text: str = ""
    tables: list[Block] = field(default_factory=list)


@dataclass(slots=True)
class Row:
    """A row as written; `part` is thead, tbody or tfoot."""

    part: str
    cells: list[Cell] = field(default_factory=list)


@dataclass(slots=True)
class Shape:
    """The parts of a table as written: rows, captions, and what stands between them."""

    rows: list[Row] = field(default_factory=list)
    captions: list[Node] = field(default_factory=list)
    strays: list[Node] = field(default_factory=list)


def shape_of(table: Node) -> Shape:
    """The rows of a table, those of nested tables apart; the foot comes last, the head first."""
    shape = Shape()
    orphan: Row | None = None
    stack: list[tuple[Node, str, Row | None]] = [(c, "tbody", None) for c in reversed(table)]
    while stack:
        node, part, row = stack.pop()
        tag = node.tag
        if not isinstance(tag, str) or tag in (GONE, "col", "colgroup"):
            continue
        if tag in ("td", "th"):
            if row is None:
                if orphan is None:
                    orphan = Row(part)
                    shape.rows.append(orphan)
                row = orphan
            row.cells.append(_cell(node))
        elif tag == "caption":
            shape.captions.append(node)
        elif tag in _ROWS or (tag != "table" and node.find(".//td") is not None):
            if tag == "tr":
                row = Row(part)
                shape.rows.append(row)
                orphan = None
            part = tag if tag in ("thead", "tfoot", "tbody") else part
            stack.extend((c, part, row) for c in reversed(node))
        else:
            shape.strays.append(node)
    order = {"thead": 0, "tbody": 1, "tfoot": 2}
    shape.rows.sort(key=lambda r: order[r.part])
    return shape


def _cell(node: Node) -> Cell:
    return Cell(
        node,
        rows=_span(node.get("rowspan"), zero=65_534),
        columns=_span(node.get("colspan"), zero=1),
        heading=node.tag == "th",
        scope=(node.get("scope") or "").lower(),
        bold=_is_bold(node),
    )


def _is_bold(node: Node) -> bool:
    """All of the cell's text is bold."""
    style = (node.get("style") or "")[:500].replace(" ", "").lower()
    if "font-weight:bold" in style or "font-weight:700" in style:
        return True
    while not (node.text or "").strip() and len(node) == 1 and not (node[0].tail or "").strip():
        node = node[0]
        if node.tag in ("b", "strong"):
            return True
    return False


def _span(value: str | None, *, zero: int) -> int:
    value = (value or "").strip()
    if not value.isdigit():
        return 1
    number = int(value[:6])
    return min(number or zero, _MAX_SPAN if zero == 1 else 65_534)


def place(rows: list[Row]) -> list[list[Cell | None]]:
    """Per row the cell at each column, spans resolved, all rows of one width.

    A span that leads past the last column that a cell begins in is cut: it says "to the
    end". Spans that would make far more places than there are cells are ignored.
    """
    for respect in (True, False):
        grid = _place(rows, respect)
        if grid is not None:
            return grid
    return []


def _place(rows: list[Row], respect: bool) -> list[list[Cell | None]] | None:
    n_cells = sum(len(r.cells) for r in rows)
    room = 20_000 + 60 * n_cells
    begins = 0
    down: dict[int, tuple[Cell, int]] = {}  # column: the cell from above and the rows it still covers
    placed: list[dict[int, Cell]] = []
    used = 0
    for r, row in enumerate(rows):
        here = {c: cell for c, (cell, _) in down.items()}
        down = {c: (cell, left - 1) for c, (cell, left) in down.items() if left > 1}
        column = 0
        for cell in row.cells:
            while column in here:
                column += 1
            begins = max(begins, column + 1)
            tall = min(cell.rows, len(rows) - r) if respect else 1
            for c in range(column, column + (cell.columns if respect else 1)):
                if c in here:
                    break  # an overlap is a mistake: the first cell keeps its place
                here[c] = cell
                if tall > 1:
                    down[c] = (cell, tall - 1)
            column += cell.columns if respect else 1
        used += len(here)
        if used > room and respect:
            return None
        placed.append(here)
    width = max((max((c for c in row if c < begins), default=-1) + 1 for row in placed), default=0)
    return [[row.get(c) for c in range(width)] for row in placed]


def cells_of(row: list[Cell | None]) -> Iterator[tuple[int, int, Cell]]:
    """(first column, column after the last, cell) of each cell of a placed row."""
    start = 0
    for c in range(1, len(row) + 1):
        if c == len(row) or row[c] is not row[start]:
            cell = row[start]
            if cell is not None:
                yield start, c, cell
            start = c
