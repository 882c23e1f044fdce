"""The running text of a DOCX paragraph, and what is anchored in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drac_pipeline.office.package import DGM, MC, C, M, Node, W, chosen
from drac_pipeline.office.page import BREAK, Piece
from drac_pipeline.office.styles import Style, is_on_attribute, with_run

if TYPE_CHECKING:
    from drac_pipeline.office.docx import Docx

_SKIP = frozenset(
    f"{W}{n}"
    for n in ("pPr", "rPr", "instrText", "delInstrText", "rt", "sdtPr", "sdtEndPr", "tblPr", "fldData")
)
_PLAIN = {
    f"{W}tab": "\t",
    f"{W}ptab": "\t",
    f"{W}cr": BREAK,
    f"{W}noBreakHyphen": "-",
}
# what bullets and signs of the symbol fonts look like in other fonts
_SYMBOLS = {0xB7: "•", 0xA7: "▪", 0xD8: "➢", 0xFC: "✓", 0xFE: "☑", 0xA8: "☐", 0xE0: "→", 0xE8: "➔", 0x6F: "☐"}


class Runs:
    """Collects `pieces` of text, `references` to notes and comments (kind, id, mark), and what is
    `drawn`: text boxes, diagrams, charts, pictures."""

    def __init__(self, document: Docx, style: Style, *, inside_note: bool = False) -> None:
        self.document = document
        self.style = style
        self.inside_note = inside_note
        self.pieces: list[Piece] = []
        self.references: list[tuple[str, str, str]] = []
        self.drawn: list[Node] = []

    def read(self, paragraph: Node) -> None:
        """Walks the paragraph; nothing below it is a paragraph of the same text."""
        look = self.style
        stack: list[tuple[Node, Style]] = [(c, look) for c in reversed(paragraph)]
        while stack:
            node, look = stack.pop()
            tag = node.tag
            if not isinstance(tag, str) or tag in _SKIP:
                continue
            if tag == f"{W}r":
                look = self._look(node)
                if look.hidden:
                    self._hidden(node)
                    continue
            elif tag == f"{MC}AlternateContent":
                choice = chosen(node)
                stack.extend((c, look) for c in reversed(choice if choice is not None else ()))
                continue
            elif tag in (f"{W}drawing", f"{W}pict", f"{W}object"):
                self._drawing(node)
                continue
            elif tag == f"{M}oMath":
                self._add(" ".join("".join(t.text or "" for t in node.iter(f"{M}t")).split()), look)
                continue
            elif self._leaf(node, look):
                continue
            stack.extend((c, look) for c in reversed(node))

    def _leaf(self, node: Node, look: Style) -> bool:
        """Takes in an element that is text or a reference; False for others."""
        tag = node.tag
        if tag in (f"{W}t", f"{W}delText", f"{M}t"):
            self._add((node.text or "").replace(BREAK, " "), look)
        elif tag in _PLAIN:
            self._add(_PLAIN[tag], look)
        elif tag == f"{W}br":
            self._add(BREAK if node.get(f"{W}type") in (None, "textWrapping") else " ", look)
        elif tag == f"{W}sym":
            self._add(_symbol(node.get(f"{W}char")), look)
        elif tag in (f"{W}footnoteReference", f"{W}endnoteReference"):
            kind = "footnote" if tag == f"{W}footnoteReference" else "endnote"
            identifier = node.get(f"{W}id") or ""
            custom = is_on_attribute(node.get(f"{W}customMarkFollows"))  # its sign is text that follows
            mark = "" if custom else self.document.mark(kind, identifier)
            if mark:
                self.pieces.append(Piece(mark))
            self.references.append((kind, identifier, mark))
        elif tag == f"{W}commentReference":
            self.references.append(("comment", node.get(f"{W}id") or "", ""))
        else:
            return False
        return True

    def _add(self, text: str, look: Style) -> None:
        if text:
            self.pieces.append(Piece(text, bool(look.bold), look.raised, look.size))

    def _look(self, run: Node) -> Style:
        properties = run.find(f"{W}rPr")
        named = properties.find(f"{W}rStyle") if properties is not None else None
        look = self.style
        if named is not None:
            character = self.document.styles.of(named.get(f"{W}val"))
            if character is not self.document.styles.default and character.bold is not None:
                look = with_run(look, None)
                look = Style(bold=character.bold, hidden=character.hidden or look.hidden, size=look.size)
        return with_run(look, properties)

    def _hidden(self, run: Node) -> None:
        text = "".join(t.text or "" for t in run.iter(f"{W}t"))
        if text.strip():
            self.document.reading.leave(" ".join(text.split()), "hidden")

    def _drawing(self, node: Node) -> None:
        """Notes what is drawn; of content given twice only one version."""
        stack = [node]
        while stack:
            at = stack.pop()
            tag = at.tag
            if not isinstance(tag, str):
                continue
            if tag == f"{MC}AlternateContent":
                choice = chosen(at)
                if choice is not None:
                    stack.append(choice)
                continue
            if tag in (f"{W}txbxContent", f"{DGM}relIds", f"{C}chart"):
                self.drawn.append(at)
                continue
            if tag.endswith("}docPr") and at.get("descr"):
                self.drawn.append(at)
            stack.extend(reversed(at))


def _symbol(code: str | None) -> str:
    try:
        value = int(code or "", 16)
    except ValueError:
        return ""
    if 0xF000 <= value <= 0xF0FF:
        return _SYMBOLS.get(value - 0xF000, "")
    return chr(value) if 0x20 <= value <= 0xFFFF and not 0xD800 <= value <= 0xDFFF else ""
