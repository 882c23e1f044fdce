"""Running text: white space, line breaks, raised and struck text, formulas."""

from __future__ import annotations

import re

from drac_pipeline.web.tree import Node

BREAK = "\x00"  # a line break of the page; no character of a parsed page
_RAISED = str.maketrans("0123456789+-−=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ")
_RAISABLE = re.compile(r"[0-9+\-−=()n]{1,4}")
_LABEL = re.compile(r"[^\W\d_]:$")
_DISPLAY = re.compile(r"^\{\\(?:display|text)style\s*(.*)\}$", re.S)
_OPEN = {"q": "“", "s": "~~", "strike": "~~", "del": "~~", "rt": "("}
_CLOSE = {"q": "”", "s": "~~", "strike": "~~", "del": "~~", "rt": ")"}
# inline elements that stand apart on a page though no space is between them
_APART = frozenset({"button", "label", "img", "svg", "a"})


class Inline:
    """Collects the running text of one block."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._marks: list[tuple[Node, int]] = []
        self._ended_apart = False
        self._ended_label = False

    def text(self, text: str | None) -> None:
        if text:
            self.parts.append(text)
            self._ended_apart = self._ended_label = False

    def line_break(self) -> None:
        self.parts.append(BREAK)

    def start(self, node: Node) -> None:
        """An inline element begins."""
        tag = node.tag
        if tag == "br":
            self.line_break()
        elif (tag in _APART and self._ended_apart) or (tag == "span" and self._ended_label):
            self.parts.append(" ")
        self._ended_label = False
        if tag in _OPEN:
            self._marks.append((node, len(self.parts)))
            self.parts.append(_OPEN[tag])
        elif tag == "sup":
            self._marks.append((node, len(self.parts)))

    def end(self, node: Node) -> None:
        """An inline element ends."""
        tag = node.tag
        self._ended_apart = tag in _APART
        # "Price:" and its value side by side, set apart by style only
        self._ended_label = tag in ("span", "b", "strong") and bool(
            self.parts and _LABEL.search(self.parts[-1])
        )
        if not self._marks or self._marks[-1][0] is not node:
            return
        _, at = self._marks.pop()
        inner = self.parts[at + (tag != "sup") :]
        whole = "".join(inner).strip()
        if tag == "sup":
            if _RAISABLE.fullmatch(whole):
                self.parts[at:] = [whole.translate(_RAISED)]
        elif not whole.strip(BREAK + " \t\n"):
            del self.parts[at:]
            self.parts += inner
        else:
            self.parts.append(_CLOSE[tag])

    def take(self) -> str:
        """The text so far, white space collapsed, lines parted by line feeds and paragraphs (two
        breaks or more) by two; empties itself."""
        raw = "".join(self.parts)
        self.parts, self._marks, self._ended_apart = [], [], False
        out: list[str] = []
        for line in raw.split(BREAK):
            text = " ".join(line.split())
            if text or (out and out[-1]):
                out.append(text)
        return "\n".join(out).rstrip("\n")


def formula(node: Node) -> str:
    """A formula in the notation its author wrote it in, else its text."""
    for note in node.iter("annotation"):
        if "tex" in (note.get("encoding") or "") and note.text:
            return _tex(note.text)
    alt = node.get("alttext")
    if alt:
        return _tex(alt)
    return " ".join("".join(node.itertext()).split())


def _tex(text: str) -> str:
    text = " ".join(text.split())
    m = _DISPLAY.match(text)
    return m[1].strip() if m else text
