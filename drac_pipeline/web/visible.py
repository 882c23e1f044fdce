"""Takes out of a page what is no text of it: scripts, frames, controls, hidden elements."""

from __future__ import annotations

import re
from collections.abc import Iterator

from drac_pipeline.model.conversion import DropReason
from drac_pipeline.web import names
from drac_pipeline.web.facts import HEADINGS
from drac_pipeline.web.tree import Node

_CODE = frozenset({"script", "style", "template", "noscript", "link", "meta", "base", "title", "head"})
_EMBEDDED = frozenset(
    {"iframe", "frame", "embed", "applet", "canvas", "audio", "video", "portal", "fencedframe", "map"}
)
_CONTROLS = frozenset({"select", "datalist", "textarea", "option", "optgroup"})
_HIDDEN_STYLE = re.compile(
    r"(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|mso-hide\s*:\s*all|opacity\s*:\s*0(?:\.0*)?"
    r"|font-size\s*:\s*0(?:px|pt|em|rem|%)?|(?:left|top|text-indent)\s*:\s*-\d{3,}\d*(?:px|em|pt)"
    r"|(?:max-)?height\s*:\s*0(?:px)?\s*;[^\"]*overflow\s*:\s*hidden)\s*(?:!important\s*)?(?:;|$)",
    re.I,
)
_FOLDED = re.compile(r"accordion|collaps|tab-?(?:pane|panel|content)|expand|toggle|faq|answer|spoiler", re.I)
_SIGNS = re.compile(r"[^\w]*", re.S)
Out = tuple[Node, DropReason]


class Visible:
    """Decides element by element; `folded` holds ids that a control of the page opens."""

    def __init__(self, root: Node) -> None:
        _label_tabs(root)
        self.folded = set(_folded_ids(root))
        self.switches = {n.get("id") for n in root.iter("input") if _is_switch(n)} - {None}

    def reason(self, node: Node) -> DropReason | None:
        """Why `node` is left out, or None."""
        tag = node.tag
        if tag in _CODE:
            return "script"
        if tag in _EMBEDDED:
            return "embedded"
        if self._hidden(node):
            return "hidden"
        if tag == "a" and _is_mark(node):
            return "decoration"
        if names.is_permalink(node) or (tag in ("td", "span", "div", "a", "pre") and names.is_gutter(node)):
            return "decoration"
        if tag == "a" and (node.get("href") or "").startswith("#") and names.is_skip_link(text_of(node)):
            return "navigation"
        return None

    def control(self, node: Node) -> DropReason | None:
        """Why a control is left out: a button, a field, a switch."""
        tag = node.tag
        out = tag in _CONTROLS or (tag == "button" and not _is_heading_button(node))
        out = out or (tag == "input" and not _shown(node))
        return "form" if out or (tag == "label" and node.get("for") in self.switches) else None

    def _hidden(self, node: Node) -> bool:
        if node.tag in ("math", "body", "html"):
            return False
        style = node.get("style")
        unseen = node.get("hidden") is not None or bool(style and _HIDDEN_STYLE.search(style[:2000]))
        if unseen:
            # what a page folds away is content: tabs, answers, "read more"; and formulas are
            # often hidden behind their picture
            return not (
                node.find(".//math") is not None
                or node.get("hidden") == "until-found"
                or node.get("role") == "tabpanel"
                or node.get("id") in self.folded
                or (node.tag != "tr" and _FOLDED.search(f"{node.get('class')} {node.get('id')}"[:800]))
            )
        if names.is_offscreen(node):
            return True
        if (node.get("aria-hidden") or "").lower() == "true":
            if node.get("role") in ("dialog", "alertdialog") or "modal" in names.classes(node):
                return True
            return node.tag != "img" and len(node) == 0 and bool(_SIGNS.fullmatch(node.text or ""))
        return False


def text_of(node: Node, limit: int = 400) -> str:
    """The text of an element in one line, at most about `limit` characters of it."""
    parts: list[str] = []
    size = 0
    for piece in node.itertext():
        parts.append(piece)
        size += len(piece)
        if size > limit * 4:
            break
    return " ".join("".join(parts).split())[:limit]


def _folded_ids(root: Node) -> Iterator[str]:
    for node in root.iter("button", "a", "div", "summary", "h2", "h3", "h4", "li", "span"):
        for name in ("aria-controls", "data-target", "data-bs-target"):
            for word in (node.get(name) or "").split()[:20]:
                yield word.lstrip("#")
        if node.tag == "a" and (node.get("data-toggle") or node.get("role") in ("tab", "button")):
            yield (node.get("href") or "").lstrip("#")


def _label_tabs(root: Node) -> None:
    """Puts a tab's name into its panel: the bar of tabs itself is no content."""
    tabs = (
        {n.get("aria-controls"): n for n in root.iter() if n.get("role") == "tab"} if _has_tabs(root) else {}
    )
    for panel in root.iter() if tabs else ():
        tab = tabs.get(panel.get("id")) if panel.get("role") == "tabpanel" else None
        if tab is not None and (name := text_of(tab, 200)):
            label = panel.makeelement("p")
            label.text, label.tail, panel.text = name, panel.text, None
            panel.insert(0, label)


def _has_tabs(root: Node) -> bool:
    return root.find(".//*[@role='tabpanel']") is not None


def _is_mark(node: Node) -> bool:
    """A sign that links to the heading it stands in, or back from a note."""
    href = node.get("href") or ""
    if not href.startswith("#"):
        return False
    text = text_of(node, 20)
    if node.get("role") == "doc-backlink" or (href.startswith("#fnref") and re.fullmatch(r"[^\w]*\d*", text)):
        return True
    above = node.getparent()
    return above is not None and above.tag in HEADINGS and bool(text) and bool(_SIGNS.fullmatch(text))


def _is_heading_button(node: Node) -> bool:
    """The title of something foldable: its text is content."""
    if node.get("aria-expanded") is not None:
        return True
    above = node.getparent()
    if above is None or above.tag not in HEADINGS:
        return False
    return "".join(text_of(above).split()) == "".join(text_of(node).split())


def _is_switch(node: Node) -> bool:
    """A tick box that opens a menu: a button without a script."""
    if (node.get("type") or "").lower() not in ("checkbox", "radio"):
        return False
    said = names.words(node) & {"toggle", "toggler", "hamburger", "menu", "nav"}
    return bool(said) or node.get("role") == "button" or node.get("aria-haspopup") is not None


def _shown(node: Node) -> bool:
    """A tick box, or a value nobody can edit."""
    if _is_switch(node):
        return False
    kind = (node.get("type") or "text").lower()
    fixed = node.get("readonly") is not None or node.get("disabled") is not None
    return kind in ("checkbox", "radio") or (kind in ("text", "number", "date") and fixed)
