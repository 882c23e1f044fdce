"""Main content only: what a page says, without the furniture of the site it stands on.

The rules weigh evidence: tags and roles that say what they are, class names only together
with what is inside (links, buttons, little text), and the page's `main` element where it
holds the text. A page without furniture loses nothing. Each thing left out is reported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from drac_pipeline.model.conversion import Dropped, DropReason
from drac_pipeline.web import names
from drac_pipeline.web.facts import HEADINGS, Facts, count_facts
from drac_pipeline.web.mainpart import outside_main, unmarked_links
from drac_pipeline.web.tree import Node
from drac_pipeline.web.visible import Visible, text_of

GONE = "drac-gone"  # the tag of an emptied element; its tail stays in place
_NAMED = frozenset(
    {"div", "section", "ul", "ol", "dl", "p", "table", "td", "span", "form", "aside", "center", "details"}
    | {"nav", "header", "footer", "fieldset", "figure"}
)
_CONTENT = frozenset({"main", "article"})
_ROLE_REASON: dict[str, DropReason] = {
    "navigation": "navigation",
    "menu": "navigation",
    "menubar": "navigation",
    "tablist": "navigation",
    "toolbar": "navigation",
    "doc-toc": "navigation",
    "search": "form",
    "contentinfo": "footer",
    "complementary": "sidebar",
    "dialog": "dialog",
    "alertdialog": "dialog",
}
_MAX_REPORTED = 200


@dataclass
class Pruned:
    """What was left out, and the facts of what remains."""

    dropped: list[Dropped] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    facts: dict[Node, Facts] = field(default_factory=dict)
    chrome: bool = False
    seen: set[tuple[str, str]] = field(default_factory=set)


def prune(root: Node, *, boilerplate: bool = True) -> Pruned:
    """Empties in `root` what is not content. `boilerplate=False` keeps all that is visible."""
    out = Pruned()
    visible = Visible(root)
    sift(root, visible.reason, out)
    if boilerplate:
        facts = count_facts(root)
        if sift(root, _Furniture(root, facts).reason, out):
            facts = count_facts(root)
        found = outside_main(root, facts)
        found = found if found is not None else unmarked_links(root, facts, chrome=out.chrome)
        for node, reason in found:
            empty(node, reason, out)
    sift(root, visible.control, out)  # last, since controls tell what a box of a page is
    out.facts = count_facts(root)
    return out


def sift(root: Node, reason_of: Callable[[Node], DropReason | None], out: Pruned) -> int:
    """Empties each element that `reason_of` gives a reason for, top down; how many it were."""
    stack = [root]
    n = 0
    while stack:
        node = stack.pop()
        if not isinstance(node.tag, str) or node.tag == GONE:
            continue
        reason = reason_of(node)
        if reason is None:
            stack.extend(reversed(node))
        else:
            empty(node, reason, out)
            n += 1
    return n


def empty(node: Node, reason: DropReason, out: Pruned) -> None:
    """Takes an element out and reports it; code is reported by its tag only."""
    if reason == "script":
        text = ""
    elif reason == "embedded":
        text = " ".join(filter(None, (node.tag, node.get("title"), text_of(node))))
    else:
        text = text_of(node)
    # what is said a hundred times (a sign beside each heading) is reported once
    if text and (reason, text) not in out.seen and len(out.dropped) < _MAX_REPORTED:
        out.seen.add((reason, text))
        out.dropped.append(Dropped(page=0, text=text, reason=reason))
    if reason not in ("script", "hidden", "decoration", "form", "embedded"):
        out.chrome = True
    tail = node.tail
    node.clear()
    node.tag, node.tail = GONE, tail


class _Furniture:
    """The rules for single elements."""

    def __init__(self, root: Node, facts: dict[Node, Facts]) -> None:
        self.facts = facts
        self.total = max(1, facts[root].chars)
        self.n_headings = facts[root].headings

    def reason(self, node: Node) -> DropReason | None:
        tag = node.tag
        if tag in ("html", "body") or tag in HEADINGS:
            return None
        here = self.facts[node]
        role = (node.get("role") or "").strip().lower()
        if tag == "dialog":
            return "dialog"
        if tag == "nav":
            return "navigation"
        if cookie := self._cookie(node, here, role):
            return cookie
        if role in _ROLE_REASON and here.chars < self.total * 0.5:
            reason = _ROLE_REASON[role]
            if reason not in ("footer", "sidebar") or not _within_content(node):
                return reason
        if tag == "form" or here.passwords:
            return self._form(node, here)
        if tag == "header" or role == "banner":
            return self._header(node, here)
        if tag == "footer":
            notes = role == "doc-endnotes" or "footnotes" in names.words(node)
            return None if notes or _within_content(node) else "footer"
        if tag == "aside" and not _within_content(node):
            # beside the content; a page that is one aside keeps it
            return "sidebar" if here.chars < self.total * 0.4 else None
        if tag in _NAMED:
            return self._named(node, here)
        return None

    def _cookie(self, node: Node, here: Facts, role: str) -> DropReason | None:
        if not here.cookies and not names.says_cookie(node):
            return None
        small = here.chars < 4000 and here.chars < self.total * 0.6 and node.tag in _NAMED
        if not small or node.find(".//h1") is not None:
            return None
        said = names.says_cookie(node)
        if role in ("dialog", "alertdialog") and (said or here.cookies):
            return "cookie banner"
        if not said and (here.chars > 800 or _within_content(node)):
            return None
        buttons = (b for b in node.iter("button", "a", "input") if isinstance(b.tag, str))
        accept = any(names.is_accept(text_of(b, 80) or b.get("value") or "") for b in buttons)
        return "cookie banner" if accept else None

    def _form(self, node: Node, here: Facts) -> DropReason | None:
        share = here.chars / self.total
        if here.passwords and here.chars < 800 and share < 0.5 and node.tag in _NAMED:
            return "login"
        if node.tag != "form":
            return self._named(node, here) if node.tag in _NAMED else None
        if names.words(node) & names.SEARCH and here.prose < 100:
            return "form"
        if here.chars < 500 and share < 0.5 and here.density >= 0.8 and not here.tables:
            return "form"
        return None

    def _header(self, node: Node, here: Facts) -> DropReason | None:
        if _within_content(node) or here.chars > self.total * 0.5:
            return None
        site = here.links or here.buttons or here.fields or node.find(".//nav") is not None
        if not site and here.chars > 0:
            return None  # a title block, a document's head
        if here.headings and here.headings == self.n_headings:
            return None  # the page has no heading elsewhere; what is inside is judged by itself
        if here.prose > 400:
            return None
        return "navigation"

    def _named(self, node: Node, here: Facts) -> DropReason | None:
        share = here.chars / self.total
        if share > 0.5 or (not node.get("class") and not node.get("id")):
            return None
        words = names.words(node)
        # an id of a section with a heading is the anchor of that heading: "navigation", "login"
        if node.tag == "section" and not node.get("class") and here.headings:
            return None
        if names.is_menu(words) and here.density >= 0.5:
            return "navigation"
        if words & names.LOGO and here.links and here.density == 1.0 and here.chars < 100:
            return "navigation"
        if words & names.BREADCRUMB and here.links and here.chars < 300:
            return "navigation"
        if words & names.SIDE and (here.density >= 0.4 or (not _within_content(node) and here.chars < 200)):
            return "sidebar"
        if words & names.LOGIN and (here.density >= 0.5 or here.fields) and here.chars < 600:
            return "login"
        if names.is_footer(node) and share < 0.4 and (here.chars < 600 or here.density >= 0.3):
            return None if _within_content(node) else "footer"
        return None


def _within_content(node: Node) -> bool:
    above = node.getparent()
    while above is not None:
        if above.tag in _CONTENT or above.tag == "blockquote":
            return True
        above = above.getparent()
    return False
