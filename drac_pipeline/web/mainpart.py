"""Where a page's text is: its `main` element, or what stands between the blocks of links."""

from __future__ import annotations

import re

from drac_pipeline.model.conversion import DropReason
from drac_pipeline.web.facts import HEADINGS, Facts
from drac_pipeline.web.tree import Node
from drac_pipeline.web.visible import text_of

Found = list[tuple[Node, DropReason]]

_MAIN_SHARE = 0.25  # a `main` with less of the text than this is none
_MIN_PROSE = 400  # letters outside links that a page of text has at least
_LINK_BLOCKS = frozenset(
    {"div", "ul", "ol", "dl", "p", "td", "table", "tr", "center", "font", "span", "section"}
)
_SHORT_LINK = 40
_COPYRIGHT = re.compile(r"\s*(?:©|\(c\)|copyright\b|all rights reserved)", re.I)


def outside_main(root: Node, facts: dict[Node, Facts]) -> Found | None:
    """What stands outside the page's main element, or None where the page names none.

    A heading outside is kept where main has no first-level heading: it is the page's title.
    """
    mains = [n for n in root.iter("main") if facts[n].chars]
    mains = [n for n in mains if not any(a.tag == "main" for a in n.iterancestors())]
    total = facts[root].chars
    if not mains or sum(facts[n].chars for n in mains) < total * _MAIN_SHARE:
        return None
    keep: set[Node] = set(mains)
    on_path: set[Node] = set()
    if all(n.find(".//h1") is None for n in mains):
        title = next((h for h in root.iter("h1") if facts[h].chars), None)
        keep |= {title} if title is not None else set()
    for node in keep:
        on_path.update(node.iterancestors())
    out: Found = []
    stack = [root]
    while stack:
        node = stack.pop()
        for child in reversed(node):
            if not isinstance(child.tag, str) or child in keep or child.tag == "head":
                continue
            if child in on_path:
                stack.append(child)
            elif facts[child].chars:
                out.append((child, "outside main"))
    return out


def unmarked_links(root: Node, facts: dict[Node, Facts], *, chrome: bool) -> Found:
    """Menus that no tag or name marks: short links to other pages and nothing else, before the
    text begins or in a column of their own; at the end only what repeats such a menu."""
    total = facts[root]
    if total.prose < _MIN_PROSE or total.links < 3:
        return []
    out: Found = []
    seen: set[str] = set()
    started = False
    last: list[Node] = []
    stack = [root]
    while stack:
        node = stack.pop()
        if not isinstance(node.tag, str):
            continue
        here = facts[node]
        if not here.chars:
            continue
        if node.tag in _LINK_BLOCKS and _is_menu(node, here):
            hrefs = _hrefs(node)
            if not started or _is_column(node, facts):
                out.append((node, "navigation"))
                seen |= hrefs
                continue
            if seen and len(hrefs & seen) * 2 >= len(hrefs):
                out.append((node, "navigation"))
                continue
        if node.tag in HEADINGS or (node.tag in ("p", "li", "dd") and here.prose > 60):
            started = True
        if len(node) == 0 or node.tag == "p":
            last.append(node)
        stack.extend(reversed(node))
    if (chrome or out) and last and _COPYRIGHT.match(text_of(last[-1])) and facts[last[-1]].chars < 250:
        out.append((last[-1], "footer"))
    return out


def _is_menu(node: Node, here: Facts) -> bool:
    if here.links < 3 or here.headings or here.density < 0.85 or here.chars > _SHORT_LINK * here.links:
        return False
    return not any(h.startswith(("#", "mailto:", "tel:")) or not h for h in _hrefs(node))


def _hrefs(node: Node) -> set[str]:
    return {a.get("href", "").strip() for a in node.iter("a") if a.get("href") is not None}


def _is_column(node: Node, facts: dict[Node, Facts]) -> bool:
    """A cell of links beside a cell of text."""
    row = node.getparent()
    if node.tag != "td" or row is None or row.tag != "tr":
        return False
    return any(c is not node and c.tag == "td" and facts[c].prose >= _MIN_PROSE for c in row)
