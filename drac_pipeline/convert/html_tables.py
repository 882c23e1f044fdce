"""HTML tables to a grid of texts, row and column spans resolved."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

MAX_SPAN = 1000  # a span larger than this is a mistake or an attack


@dataclass
class Cell:
    """A cell as written."""

    text: str = ""
    rows: int = 1
    columns: int = 1
    heading: bool = False


@dataclass
class HtmlTable:
    """A table's cells by row; `head` counts rows of a thead."""

    rows: list[list[Cell]] = field(default_factory=list)
    caption: str = ""
    head: int = 0


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[HtmlTable] = []
        self.stack: list[tuple[HtmlTable, Cell | None]] = []
        self.cell: Cell | None = None
        self.caption = False
        self.thead = False

    @property
    def table(self) -> HtmlTable | None:
        return self.stack[-1][0] if self.stack else None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.stack.append((HtmlTable(), self.cell))
            self.tables.append(self.stack[-1][0])
            self.cell = None
            return
        table = self.table
        if table is None:
            return
        if tag == "tr":
            self.cell = None
            table.rows.append([])
            table.head += self.thead
        elif tag in ("td", "th"):
            if not table.rows:
                table.rows.append([])
            values = dict(attrs)
            self.cell = Cell(
                rows=_span(values.get("rowspan")),
                columns=_span(values.get("colspan")),
                heading=tag == "th" or self.thead,
            )
            table.rows[-1].append(self.cell)
        elif tag == "thead":
            self.thead = True
        elif tag == "caption":
            self.caption = True
        elif tag in ("br", "p", "li", "div") and self.cell is not None:
            self.cell.text += " "

    def handle_endtag(self, tag: str) -> None:
        if tag == "table" and self.stack:
            inner, self.cell = self.stack.pop()
            if self.cell is not None:
                # a table in a cell is that cell's text
                self.cell.text += " ; ".join(" ".join(c.text.split()) for row in inner.rows for c in row)
                self.tables.remove(inner)
        elif tag in ("td", "th", "tr"):
            self.cell = None
        elif tag == "thead":
            self.thead = False
        elif tag == "caption":
            self.caption = False

    def handle_data(self, data: str) -> None:
        if self.cell is not None:
            self.cell.text += data
        elif self.caption and self.table is not None:
            self.table.caption += data


def _span(value: str | None) -> int:
    return min(int(value), MAX_SPAN) if value and value.strip().isdigit() and int(value) > 0 else 1


def read_html_tables(html: str) -> list[HtmlTable]:
    """The tables of a piece of HTML, in order."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.tables


def grid_of(table: HtmlTable) -> tuple[list[list[str]], list[list[str]]]:
    """(header path per column, body rows); a spanned text stands in every place it covers,
    but only once a row where it spans columns."""
    places: dict[tuple[int, int], tuple[str, bool, int]] = {}
    width = 0
    n = 0
    for r, row in enumerate(table.rows):
        c = 0
        for cell in row:
            while (r, c) in places:
                c += 1
            n += 1
            text = " ".join(cell.text.split())
            for i in range(min(cell.rows, len(table.rows) - r)):
                for j in range(cell.columns):
                    places[r + i, c + j] = (text, cell.heading, n)
            c += cell.columns
            width = max(width, c)
    head = table.head
    if not head:
        while head < len(table.rows) and table.rows[head] and all(c.heading for c in table.rows[head]):
            head += 1
        if head == 0 and len(table.rows) > 1:
            head = 1 if table.rows[0] and not all(c.heading for c in table.rows[0][:1]) else 0
    if head >= len(table.rows):
        head = max(0, len(table.rows) - 1) if len(table.rows) > 1 else 0
    header: list[list[str]] = []
    for c in range(width):
        path: list[str] = []
        for r in range(head):
            text, _, number = places.get((r, c), ("", False, 0))
            whole = width > 1 and all(places.get((r, k), ("", False, 0))[2] == number for k in range(width))
            if text and not whole and (not path or path[-1] != text):
                path.append(text)
        header.append(path)
    body = []
    for r in range(head, len(table.rows)):
        cells: list[str] = []
        before = 0
        for c in range(width):
            text, _, number = places.get((r, c), ("", False, 0))
            cells.append("" if number and number == before else text)
            before = number
        body.append(cells)
    return header, body
