"""Builds the HTML tree that the web path's reading goes on with.

An office file says more of its structure than its print: headings, lists and tables are
what they are there. It is put into the few elements of HTML that say the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import lxml.html
from lxml.html import builder

from drac_pipeline.office.package import Node, whole

BREAK = "\n"
_NAME_CHARS = 60


@dataclass(slots=True)
class Piece:
    """Running text of one look. `raised` is set above the line; `size` in points, 0 if unknown."""

    text: str
    bold: bool = False
    raised: bool = False
    size: float = 0.0


def new_page() -> tuple[Node, Node]:
    """The root and the body of a page without content."""
    body = builder.BODY()
    return builder.HTML(body), body


def add(parent: Node, tag: str, pieces: list[Piece] | None = None, **attributes: str) -> Node:
    """A new element at the end of `parent`, with text."""
    node = lxml.html.Element(tag, attributes)
    parent.append(node)
    if pieces:
        fill(node, pieces)
    return node


def fill(node: Node, pieces: list[Piece]) -> None:
    """Put running text into `node`; a line feed is a line break."""
    for piece in _joined(pieces):
        target = node
        if piece.raised:
            target = add(node, "sup")
        elif piece.bold and piece.text.strip():
            target = add(node, "b")
        for n, line in enumerate(piece.text.split(BREAK)):
            if n:
                target.append(lxml.html.Element("br"))
            _append(target, line)


def _append(node: Node, text: str) -> None:
    if len(node):
        node[-1].tail = (node[-1].tail or "") + text
    else:
        node.text = (node.text or "") + text


def _joined(pieces: list[Piece]) -> list[Piece]:
    """Neighbours of one look as one; white space takes the look of what it follows."""
    out: list[Piece] = []
    for piece in pieces:
        if not piece.text:
            continue
        last = out[-1] if out else None
        same = last is not None and last.raised == piece.raised
        if last is not None and same and (last.bold == piece.bold or not piece.text.strip()):
            last.text += piece.text
        else:
            out.append(Piece(piece.text, piece.bold, piece.raised))
    return out


def plain(pieces: list[Piece]) -> str:
    """The words of running text."""
    return " ".join("".join(p.text for p in pieces).split())


def deepen_head(table: Node) -> None:
    """A header row with groups of columns has their names below: that row is header as well.

    For tables whose settings only say that the first row is one.
    """
    head, body = table.find("thead"), table.find("tbody")
    if head is None or body is None or len(head) != 1 or len(body) < 2:
        return
    cells, below = list(head[0]), list(body[0])
    if not any(whole(c.get("colspan"), 1) > 1 for c in cells) or not below:
        return
    texts = [" ".join("".join(c.itertext()).split()) for c in below]
    corner = whole(cells[0].get("rowspan"), 1) > 1
    names = texts if corner else texts[1:]
    if (texts[0] and not corner) or len(names) < 2 or not all(names):
        return
    if any(len(t) > _NAME_CHARS or t[0].isdigit() for t in names):
        return
    row = body[0]
    head.append(row)
    for cell in below:
        cell.tag = "th"


def guess_head(table: Node) -> None:
    """The first row of a plain table of three columns or more names them: short words, all
    different, over cells that hold numbers or much more text."""
    body = table.find("tbody")
    if table.find("thead") is not None or body is None or len(body) < 3:
        return
    rows = [[" ".join("".join(c.itertext()).split()) for c in row] for row in body]
    first, width = rows[0], len(rows[0])
    if width < 3 or any(c.get("colspan") or c.get("rowspan") for row in body for c in row):
        return
    names = first[1:] if not first[0] else first
    if len({n.casefold() for n in names}) < len(names) or not all(names):
        return
    if any(len(n) > _NAME_CHARS or any(c.isdigit() for c in n) for n in names):
        return
    below = [[row[k] for row in rows[1:] if k < len(row) and row[k]] for k in range(width)]
    figures = any(cells and all(any(c.isdigit() for c in t) for t in cells) for cells in below)
    longer = any(
        cells and sum(map(len, cells)) > 2.5 * len(cells) * len(first[k]) for k, cells in enumerate(below)
    )
    if figures or longer:
        head = lxml.html.Element("thead")
        table.insert(list(table).index(body), head)
        head.append(body[0])
        for cell in head[0]:
            cell.tag = "th"


@dataclass(slots=True)
class Marker:
    """The sign of a list item. `number` for those counted 1, 2, 3; `kind` as HTML's `type` of a
    list; `text` where the sign is neither bullet nor a single number or letter."""

    number: int | None = None
    kind: str = "1"
    text: str = ""


@dataclass(slots=True)
class _Open:
    listing: Node
    item: Node
    group: str
    level: int
    left: float
    kind: str


@dataclass
class Lists:
    """Puts items into nested lists. Items of one `group` nest by level, others by their indent."""

    stack: list[_Open] = field(default_factory=list)

    def close(self) -> None:
        """What follows stands in no list."""
        self.stack.clear()

    def item(self, box: Node, group: str, level: int, left: float, marker: Marker) -> Node:
        """A new item; its element."""
        while self.stack and not self._holds(self.stack[-1], group, level, left):
            last = self.stack.pop()
            if self._beside(last, group, level, left):
                self.stack.append(last)
                break
        kind = "ul" if marker.number is None else f"ol{marker.kind}"
        last = self.stack[-1] if self.stack else None
        if last is not None and self._beside(last, group, level, left):
            if last.kind != kind:
                parent = last.listing.getparent()
                last.listing = self._listing(parent, kind, marker)
                last.kind = kind
            last.group, last.level, last.left = group, level, left
        else:
            listing = self._listing(last.item if last else box, kind, marker)
            last = _Open(listing, listing, group, level, left, kind)
            self.stack.append(last)
        attributes = {} if marker.number is None else {"value": str(marker.number)}
        last.item = add(last.listing, "li", None, **attributes)
        return last.item

    @property
    def current(self) -> Node | None:
        """The innermost open item."""
        return self.stack[-1].item if self.stack else None

    def _listing(self, parent: Node, kind: str, marker: Marker) -> Node:
        return add(parent, "ul") if kind == "ul" else add(parent, "ol", None, type=marker.kind)

    @staticmethod
    def _holds(entry: _Open, group: str, level: int, left: float) -> bool:
        """The item stands within that of `entry`."""
        if entry.group == group or abs(left - entry.left) < 4:
            return level > entry.level
        return left > entry.left

    @staticmethod
    def _beside(entry: _Open, group: str, level: int, left: float) -> bool:
        if entry.group == group:
            return level == entry.level
        return level == entry.level if abs(left - entry.left) < 4 else False
