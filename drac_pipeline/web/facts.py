"""What is in each element of a page, counted once from the leaves up."""

from __future__ import annotations

from dataclasses import dataclass

from drac_pipeline.web.tree import Node

HEADINGS = {f"h{n}": n for n in range(1, 7)}
_CONTROLS = frozenset({"button", "select", "option", "textarea", "label"})
_FIELDS = frozenset({"input", "select", "textarea"})
_BLOCKS = frozenset(
    {"p", "ul", "ol", "dl", "pre", "blockquote", "hr", "form", "figure", "article", "section"}
)


@dataclass(slots=True)
class Facts:
    """Counts below and in an element: letters (no white space), those in links and controls …"""

    chars: int = 0
    control: int = 0
    links: int = 0
    buttons: int = 0
    fields: int = 0
    passwords: int = 0
    headings: int = 0
    tables: int = 0
    blocks: int = 0
    pre: int = 0
    cookies: int = 0

    @property
    def density(self) -> float:
        """Share of the letters that stand in links, buttons and labels."""
        return self.control / self.chars if self.chars else 0.0

    @property
    def prose(self) -> int:
        return self.chars - self.control

    def add(self, other: Facts) -> None:
        # written out: this runs once for every element
        self.chars += other.chars
        self.control += other.control
        self.links += other.links
        self.buttons += other.buttons
        self.fields += other.fields
        self.passwords += other.passwords
        self.headings += other.headings
        self.tables += other.tables
        self.blocks += other.blocks
        self.pre += other.pre
        self.cookies += other.cookies


def count_facts(root: Node) -> dict[Node, Facts]:
    """Facts of every element below `root`; one pass."""
    nodes = list(root.iter())
    facts: dict[Node, Facts] = {n: Facts() for n in nodes if isinstance(n.tag, str)}
    for node in reversed(nodes):
        here = facts.get(node)
        if here is not None:
            _count_self(node, here)
        parent = node.getparent()
        if parent is None or parent not in facts:
            continue
        above = facts[parent]
        if here is not None:
            above.add(here)
        above.chars += _letters(node.tail)
        above.cookies += _cookies(node.tail)
    return facts


def _count_self(node: Node, here: Facts) -> None:
    tag = node.tag
    here.chars += _letters(node.text)
    here.cookies += _cookies(node.text)
    if tag == "a" and node.get("href") is not None:
        here.control = here.chars
        here.links += 1
    elif tag in _CONTROLS:
        here.control = here.chars
        here.buttons += tag == "button"
    elif tag == "input":
        kind = (node.get("type") or "text").lower()
        here.buttons += kind in ("submit", "button", "image")
        here.passwords += kind == "password"
    elif tag in HEADINGS:
        here.headings += 1
    elif tag == "table":
        here.tables += 1
    elif tag in ("pre", "textarea"):
        here.pre += 1
    here.fields += tag in _FIELDS
    here.blocks += tag in _BLOCKS or tag in HEADINGS


def _letters(text: str | None) -> int:
    return len("".join(text.split())) if text else 0


def _cookies(text: str | None) -> int:
    return int(bool(text) and "cookie" in text.lower())  # type: ignore[union-attr]
