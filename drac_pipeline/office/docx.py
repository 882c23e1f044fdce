"""A DOCX to the HTML tree that says the same: headings, lists, tables, notes, boxes."""

from __future__ import annotations

from dataclasses import dataclass, field

from drac_pipeline.config import ConvertConfig
from drac_pipeline.errors import CorruptDocument
from drac_pipeline.office.docx_runs import Runs
from drac_pipeline.office.docx_table import add_table
from drac_pipeline.office.graphics import add_chart, add_diagram
from drac_pipeline.office.numbering import Numbering, number_text
from drac_pipeline.office.package import DGM, MC, C, Node, Package, Relation, W, chosen
from drac_pipeline.office.page import Lists, Piece, add, fill, new_page, plain
from drac_pipeline.office.reading import Reading
from drac_pipeline.office.styles import BODY_LEVEL, Style, Styles, with_paragraph

_RAISED = str.maketrans("0123456789abcdefghijklmnoprstuvwxyz", "⁰¹²³⁴⁵⁶⁷⁸⁹ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ")
_HEADING_CHARS = 300  # a longer paragraph in a heading's style is text
_TITLE = frozenset({"title", "heading"})  # LibreOffice writes titles in its style Heading
_INSIDE = frozenset(
    f"{W}{n}" for n in ("ins", "moveTo", "customXml", "smartTag", "sdtContent", "del", "moveFrom")
)


@dataclass
class _Stand:
    """Where the walk stands: the element that takes the blocks, the open lists; `cell` in a table."""

    box: Node
    cell: bool = False
    lists: Lists = field(default_factory=Lists)


class Docx:
    """Reads one document; `read` gives the page and what was left out."""

    def __init__(self, package: Package, config: ConvertConfig) -> None:
        main = package.main()
        self.package = package
        self.config = config
        self.relations = package.relations(main)
        self.document = package.part(main)
        self.styles = Styles(self._part("styles"))
        self.numbering = Numbering(self._part("numbering"))
        self.reading = Reading()
        self.title: Node | None = None
        self.headings: list[Node] = []
        self.comments = _by_id(self._part("comments"), "comment")
        self._notes = {
            "footnote": _by_id(self._part("footnotes"), "footnote"),
            "endnote": _by_id(self._part("endnotes"), "endnote"),
        }
        self._counts = {"footnote": 0, "endnote": 0}
        self._formats = {"footnote": "decimal", "endnote": "lowerRoman"}
        for root in (self._part("settings"), self.document):
            for kind in self._formats:
                for node in root.iter(f"{W}{kind}Pr") if root is not None else ():
                    if (form := node.find(f"{W}numFmt")) is not None:
                        self._formats[kind] = form.get(f"{W}val") or "decimal"
        self._endnotes: list[tuple[str, Node]] = []

    def read(self) -> Reading:
        """The document as a page."""
        self.reading.root, body = new_page()
        if self.document is None:
            raise CorruptDocument("its main part is not readable XML")
        self._running(body, "header")
        source = self.document.find(f"{W}body")
        stand = _Stand(body)
        self.blocks(source if source is not None else (), stand)
        for mark, note in self._endnotes:
            self._note(body, mark, note)
        self._running(body, "footer")
        self._level()
        return self.reading

    def _part(self, kind: str) -> Node | None:
        relation = self._relation(kind)
        return self.package.part(relation.target) if relation else None

    def _relation(self, kind: str) -> Relation | None:
        return next((r for r in self.relations.values() if r.kind == kind), None)

    # ---------------------------------------------------------------- blocks

    def blocks(self, nodes: Node, stand: _Stand) -> None:
        """The paragraphs and tables among `nodes` and in what only wraps them."""
        for node in nodes:
            tag = node.tag
            if tag == f"{W}p":
                self._paragraph(node, stand)
            elif tag == f"{W}tbl":
                stand.lists.close()
                add_table(self, node, stand.box)
            elif tag == f"{W}sdt":
                self.blocks(node.findall(f"{W}sdtContent"), stand)
            elif tag == f"{MC}AlternateContent":
                choice = chosen(node)
                self.blocks(choice if choice is not None else (), stand)
            elif tag in _INSIDE:
                self.blocks(node, stand)

    def cell(self, nodes: Node, box: Node) -> None:
        """The content of a table cell or text box."""
        self.blocks(nodes, _Stand(box, cell=True))

    def _paragraph(self, node: Node, stand: _Stand) -> None:
        properties = node.find(f"{W}pPr")
        named = properties.find(f"{W}pStyle") if properties is not None else None
        style = self.styles.of(named.get(f"{W}val") if named is not None else None)
        own = with_paragraph(style, properties)
        runs = Runs(self, style)
        runs.read(node)
        text = plain(runs.pieces)
        level = self._outline(own, text)
        self._block(runs.pieces, text, own, level, stand)
        for reference in runs.references:
            self._reference(reference, stand)
        for drawn in runs.drawn:
            self._drawn(drawn, stand)

    def _outline(self, style: Style, text: str) -> int | None:
        """The heading level (1-based) of a paragraph; 0 for the document's title."""
        if not text or len(text) > _HEADING_CHARS:
            return None
        if style.name in _TITLE:
            return 0
        if style.outline is None or not 0 <= style.outline < BODY_LEVEL:
            return None
        return style.outline + 1

    def _block(self, pieces: list[Piece], text: str, style: Style, level: int | None, stand: _Stand) -> None:
        number, at = style.numbering or ("", None)
        numbered = number not in ("", "0") and self.numbering.level(number, at or 0) is not None
        if numbered and at is None:
            at = self.numbering.level_of_style(number, style.id)
        if level is not None:
            sign = self.numbering.sign(number, at or 0) if numbered else ""
            stand.lists.close()
            pieces = [Piece(f"{sign} ", pieces[0].bold), *pieces] if sign else pieces
            if stand.cell:
                # a heading in a cell heads the cell, not the document
                add(stand.box, "p", [Piece(p.text, True, p.raised) for p in pieces])
                return
            heading = add(stand.box, f"h{min(6, max(1, level))}", pieces)
            self.headings.append(heading)
            if level == 0 and self.title is None and len(self.headings) == 1:
                self.title = heading
            return
        if numbered:
            self._item(pieces, text, style, (number, at or 0), stand)
            return
        if not text:
            return
        if stand.lists.current is not None and self._goes_on(style, stand.lists):
            add(stand.lists.current, "p", pieces)
            return
        stand.lists.close()
        self.reading.paragraphs.append((add(stand.box, "p", pieces), style, pieces))

    def _item(
        self, pieces: list[Piece], text: str, style: Style, place: tuple[str, int], stand: _Stand
    ) -> None:
        number, level = place
        marker = self.numbering.count(number, level)
        if not text:
            return
        if marker is None:  # a list's paragraph without a sign goes on with the item above
            box = stand.lists.current
            add(stand.box if box is None else box, "p", pieces)
            return
        settings = self.numbering.level(number, level)
        left = style.left if style.left is not None else settings.left if settings else 0.0
        if marker.text:
            pieces = [Piece(f"{marker.text} "), *pieces]
        fill(stand.lists.item(stand.box, number, level, left, marker), pieces)

    @staticmethod
    def _goes_on(style: Style, lists: Lists) -> bool:
        """A paragraph set in as far as the text of the item above."""
        return style.left is not None and style.left > 0 and style.left >= lists.stack[-1].left - 1

    # ------------------------------------------------------- beside the text

    def mark(self, kind: str, identifier: str) -> str:
        """The sign of a note that is referred to here, its number; "" if there is none."""
        if identifier not in self._notes[kind]:
            return ""
        self._counts[kind] += 1
        return number_text(self._counts[kind], self._formats[kind]).translate(_RAISED)

    def _reference(self, reference: tuple[str, str, str], stand: _Stand) -> None:
        """What a note or comment says, after the paragraph that it belongs to."""
        kind, identifier, mark = reference
        if kind == "comment":
            self._comment(identifier, stand)
            return
        note = self._notes[kind].get(identifier)
        if note is None:
            return
        if kind == "endnote":  # where they are printed
            self._endnotes.append((mark, note))
            return
        self._note(self._beside(stand), mark, note)

    def _note(self, box: Node, mark: str, note: Node) -> None:
        first = True
        for paragraph in note.iter(f"{W}p"):
            runs = Runs(self, self.styles.default, inside_note=True)
            runs.read(paragraph)
            if plain(runs.pieces):
                sign = [Piece(f"{mark} ")] if first and mark else []
                add(box, "p", sign + runs.pieces)
                first = False

    def _comment(self, identifier: str, stand: _Stand) -> None:
        comment = self.comments.get(identifier)
        if comment is None:
            return
        text = " ".join(
            filter(None, (" ".join(t.text or "" for t in p.iter(f"{W}t")) for p in comment.iter(f"{W}p")))
        )
        text = " ".join(text.split())
        if not self.config.comments:
            self.reading.leave(text, "comment")
            return
        author = comment.get(f"{W}author") or ""
        add(
            self._beside(stand),
            "p",
            [Piece(f"Comment by {author}: {text}" if author else f"Comment: {text}")],
        )
        self.reading.take("comment")

    @staticmethod
    def _beside(stand: _Stand) -> Node:
        return stand.box if stand.lists.current is None else stand.lists.current

    def _drawn(self, node: Node, stand: _Stand) -> None:
        """Text boxes, diagrams and charts, after the paragraph they are anchored in."""
        box = self._beside(stand)
        if node.tag == f"{W}txbxContent":
            self.blocks(node, _Stand(box, cell=stand.cell))
        elif node.tag == f"{DGM}relIds":
            add_diagram(box, self.package, self.relations, node)
        elif node.tag == f"{C}chart":
            add_chart(box, self.package, self.relations, node)
        elif description := " ".join((node.get("descr") or "").split()):
            self.reading.leave(description, "image")

    def _running(self, box: Node, kind: str) -> None:
        """Each different header or footer once: taken in, or reported as left out."""
        seen: set[str] = set()
        for relation in self.relations.values():
            if relation.kind != kind or (root := self.package.part(relation.target)) is None:
                continue
            holder = add(box, "div")
            self.blocks(root, _Stand(holder, cell=True))
            text = " ".join(" ".join(holder.itertext()).split())
            if text and text not in seen and self.config.headers_footers:
                self.reading.take(kind)
            else:
                box.remove(holder)
                # what is printed of it is reported page by page
                self.reading.running = self.reading.running or bool(text)
            seen.add(text)

    def _level(self) -> None:
        """Under a title at the document's head all headings go one level down."""
        if self.title is None:
            return
        for heading in self.headings:
            if heading is not self.title:
                heading.tag = f"h{min(6, int(heading.tag[1]) + 1)}"


def _by_id(root: Node | None, name: str) -> dict[str, Node]:
    """Notes by their id, those apart that only draw a line."""
    out: dict[str, Node] = {}
    for node in root.findall(f"{W}{name}") if root is not None else ():
        if node.get(f"{W}type") in (None, "normal"):
            out[node.get(f"{W}id") or ""] = node
    return out


def read_docx(package: Package, config: ConvertConfig) -> Reading:
    """The document in `package`."""
    return Docx(package, config).read()
