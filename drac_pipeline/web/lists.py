"""Which list item the walk stands in, its depth and its marker."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from drac_pipeline.web.blocks import Block
from drac_pipeline.web.tree import Node

MAX_DEPTH = 12
_KINDS = {"a": "a", "lower-alpha": "a", "lower-latin": "a", "A": "A", "upper-alpha": "A", "upper-latin": "A"}
_KINDS |= {"i": "i", "lower-roman": "i", "I": "I", "upper-roman": "I"}
_STYLE = re.compile(r"list-style(?:-type)?\s*:[^;]*?\b(lower-alpha|lower-latin|upper-alpha|upper-latin|"
                    r"lower-roman|upper-roman)\b")  # fmt: skip
_GOOGLE = re.compile(r"lst-\S+-(\d)$")
_WORD_LEVEL = re.compile(r"mso-list\s*:\s*\w+\s+level(\d)", re.I)
_BULLET = re.compile(r"[•·▪◦‣●○■□❖➢➤✓✔⁃∙](?:\s+|(?=\w))(?=\S)")
_NUMBER = re.compile(r"(\d{1,4})[.)]$")
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"),
          (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip


@dataclass(slots=True)
class Item:
    """An open item; `flow` where it holds a heading: then it is a box on the page, not an item."""

    node: Node | None
    marker: str
    block: Block | None = None
    flow: bool = False


@dataclass(slots=True)
class _List:
    node: Node
    ordered: bool
    number: int
    step: int = 1
    kind: str = "1"
    extra: int = 0  # depth that only a class name tells


@dataclass(slots=True)
class _Entry:
    """A list or item with what is open at it: kept so that no event looks at the whole stack."""

    what: _List | Item
    lists: int  # lists since the last box
    extra: int
    inside: bool  # within an item that is no box
    item: Item | None
    above: _List | None


@dataclass
class ListState:
    """The open lists and items, outermost first."""

    stack: list[_Entry] = field(default_factory=list)
    boxed: int = 0  # entries that a heading has been seen in

    def open(self, node: Node) -> None:
        """A list begins."""
        ordered = node.tag == "ol"
        items = sum(c.tag == "li" for c in node) if node.get("reversed") is not None else 0
        start = _integer(node.get("start"), items or 1)
        style = _STYLE.search((node.get("style") or "")[:500])
        kind = _KINDS.get(style[1] if style else node.get("type") or "", "1")
        google = next((m for c in (node.get("class") or "")[:300].split() if (m := _GOOGLE.match(c))), None)
        extra = int(google[1]) if google else 0
        self._push(_List(node, ordered, start, -1 if items else 1, kind, extra))

    def item(self, node: Node) -> None:
        """An item begins."""
        above = self.stack[-1].above if self.stack else None
        marker = "-"
        if above is not None and above.ordered:
            number = _integer(node.get("value"), above.number)
            above.number = number + above.step
            marker = f"{number}." if above.kind == "1" else f"- {_letters(number, above.kind)}."
        self._push(Item(node, marker))

    def word(self, level: int, marker: str) -> None:
        """A paragraph that a word processor wrote as a list item."""
        self._push(Item(None, marker))
        self.stack[-1].lists, self.stack[-1].extra = level, 0

    def end_word(self) -> None:
        if self.stack and isinstance(what := self.stack[-1].what, Item) and what.node is None:
            self.stack.pop()

    def close(self, node: Node) -> None:
        """A list or item ends."""
        for i in range(len(self.stack) - 1, -1, -1):
            if self.stack[i].what.node is node:
                del self.stack[i:]
                break
        self.boxed = min(self.boxed, len(self.stack))

    def heading(self) -> None:
        """A heading stands in the open items: they are boxes."""
        for entry in self.stack[self.boxed :]:
            if isinstance(entry.what, Item):
                entry.what.flow = True
            entry.lists, entry.extra, entry.inside = 0, 0, False
        self.boxed = len(self.stack)

    @property
    def depth(self) -> int:
        """How deep an item, or a block within one, stands; 0 outside."""
        if not self.stack or not self.stack[-1].inside:
            return 0
        return max(1, min(MAX_DEPTH, self.stack[-1].lists + self.stack[-1].extra))

    @property
    def current(self) -> Item | None:
        """The innermost item."""
        return self.stack[-1].item if self.stack else None

    @property
    def item_open(self) -> bool:
        """True where text belongs to an item."""
        top = self.stack[-1].what if self.stack else None
        return isinstance(top, Item) and not top.flow

    def _push(self, what: _List | Item) -> None:
        below = self.stack[-1] if self.stack else _Entry(what, 0, 0, False, None, None)
        if isinstance(what, Item):
            entry = _Entry(what, below.lists, below.extra, True, what, below.above)
        else:
            entry = _Entry(what, below.lists + 1, what.extra, below.inside, below.item, what)
        self.stack.append(entry)


def word_list(node: Node) -> tuple[int, str] | None:
    """Level and marker of a paragraph that Word marks as an item; takes its bullet out."""
    m = _WORD_LEVEL.search((node.get("style") or "")[:1000])
    if not m:
        return None
    marker = ""
    for span in node.iter("span"):
        if "mso-list:ignore" in (span.get("style") or "")[:500].replace(" ", "").lower():
            marker = "".join(span.itertext()).strip()
            tail = span.tail
            span.clear()
            span.tail = tail
            break
    number = _NUMBER.match(marker)
    return int(m[1]), (f"{number[1]}." if number else f"- {marker}" if re.match(r"\w+[.)]", marker) else "-")


def bullet_of(line: str) -> str | None:
    """The text of a line that begins with a bullet sign, or None."""
    m = _BULLET.match(line)
    return line[m.end() :] if m else None


def _integer(text: str | None, default: int) -> int:
    try:
        return max(0, min(int(text or ""), 999_999_999))
    except ValueError:
        return default


def _letters(number: int, kind: str) -> str:
    if number <= 0 or number > 3999:
        return str(number)
    out = ""
    if kind in "aA":
        while number:
            number, rest = divmod(number - 1, 26)
            out = chr(97 + rest) + out
    else:
        for value, sign in _ROMAN:
            out += sign * (number // value)
            number %= value
    return out.upper() if kind in "AI" else out
