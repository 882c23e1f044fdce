"""A PPTX to the HTML tree that says the same: titles as headings, bullets, tables, notes.

A slide's title is a heading; slides that go on under the same title, or without one, belong to
the heading before. Titles of opening and section slides stand above those of the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from drac_pipeline.config import ConvertConfig
from drac_pipeline.errors import CorruptDocument
from drac_pipeline.office.bullets import Bullets, master_style
from drac_pipeline.office.graphics import add_chart, add_diagram
from drac_pipeline.office.package import DGM, MC, A, C, Node, P, Package, R, Relation, chosen, whole
from drac_pipeline.office.page import Lists, Piece, add, deepen_head, fill, guess_head, new_page, plain
from drac_pipeline.office.reading import Reading
from drac_pipeline.office.styles import is_on_attribute

_TITLES = frozenset({"title", "ctrTitle"})
_FURNITURE = frozenset({"dt", "ftr", "sldNum", "hdr"})
_CONTINUED = re.compile(
    r"\s*[(\[–—-]*\s*(?:cont(?:inued|['’]?d|\.)?\.?|\d{1,2}\s*(?:/|of)\s*\d{1,2})\s*[)\]]?\s*$", re.I
)
_HEADING_CHARS = 200
_LINE_CHARS = 120
_NUMBER = re.compile(r"(\d{1,3})[.):]\s")
_APART = 1200  # hundredths of a point


@dataclass
class _Slide:
    """A slide, its relations, and where it takes its list styles from."""

    root: Node
    relations: dict[str, Relation]
    layout: Node | None = None
    master: Node | None = None
    kind: str = ""
    box: Node = None
    title: str = ""
    text: list[Node] = field(default_factory=list)
    begun: bool = False  # something of it was written, its title or other text
    led: bool = False  # it has no title, and its first line is set like a heading
    number: int = 0  # of the last line on the level of that one


class Pptx:
    """Reads one presentation; `read` gives the page and what was left out."""

    def __init__(self, package: Package, config: ConvertConfig) -> None:
        self.package = package
        self.config = config
        self.main = package.main()
        self.reading = Reading()
        self._last = ""  # the title that holds, and its level
        self._level = 0
        self._number = 0  # of the last heading below a leading line, where it is numbered

    def read(self) -> Reading:
        """The presentation as a page."""
        self.reading.root, body = new_page()
        slides = list(self._slides())
        for slide, _ in slides:
            if slide.kind not in ("title", "secHead") and _is_section(slide.root):
                slide.kind = "secHead"
        kinds = {s.kind for s, hidden in slides if not hidden}
        for slide, hidden in slides:
            if hidden and not self.config.hidden_slides:
                text = " ".join(
                    "".join(t.text or "" for t in p.iter(f"{A}t")) for p in slide.root.iter(f"{A}p")
                )
                self.reading.leave(" ".join(text.split()) or "a slide without text", "hidden")
                continue
            slide.box = add(body, "div")
            if hidden:
                self.reading.take("hidden slide")
            else:
                self.reading.slides.append(slide.box)
            self._slide(slide, kinds)
        return self.reading

    def _slides(self) -> Iterator[tuple[_Slide, bool]]:
        """The slides in order, and whether each is hidden."""
        root = self.package.part(self.main)
        if root is None:
            raise CorruptDocument("its main part is not readable XML")
        relations = self.package.relations(self.main)
        for entry in root.findall(f"{P}sldIdLst/{P}sldId"):
            relation = relations.get(entry.get(f"{R}id") or "")
            slide = self.package.part(relation.target) if relation else None
            if relation is None or slide is None:
                continue
            own = self.package.relations(relation.target)
            layout, master = self._above(own, "slideLayout"), None
            if layout is not None:
                master = self._above(self.package.relations(layout[0]), "slideMaster")
            made = _Slide(slide, own, layout[1] if layout else None, master[1] if master else None)
            made.kind = (made.layout.get("type") or "") if made.layout is not None else ""
            yield made, (slide.get("show") or "1").lower() in ("0", "false")

    def _above(self, relations: dict[str, Relation], kind: str) -> tuple[str, Node] | None:
        relation = next((r for r in relations.values() if r.kind == kind), None)
        root = self.package.part(relation.target) if relation else None
        return (relation.target, root) if relation is not None and root is not None else None

    # ----------------------------------------------------------------- slide

    def _slide(self, slide: _Slide, kinds: set[str]) -> None:
        tree = slide.root.find(f"{P}cSld/{P}spTree")
        shapes = list(self._shapes(tree)) if tree is not None else []
        titles = [s for s in shapes if _placeholder(s)[0] in _TITLES and _words(s)]
        # of several only the first is the slide's, those of a slide made elsewhere may be any text
        title = titles[0] if titles else _stands_in(shapes)
        if title is not None:
            self._title(title, slide, kinds)
        for shape in shapes:
            if shape is not title:
                self._shape(shape, slide)
        self._beside(slide)

    def _shapes(self, tree: Node) -> Iterator[Node]:
        """Shapes in the order they are read out, those in groups in their place."""
        stack = list(reversed(tree))
        while stack:
            node = stack.pop()
            if node.tag == f"{P}grpSp":
                stack.extend(reversed(node))
            elif node.tag == f"{MC}AlternateContent":
                choice = chosen(node)
                stack.extend(reversed(choice if choice is not None else ()))
            elif node.tag in (f"{P}sp", f"{P}graphicFrame", f"{P}pic", f"{P}cxnSp"):
                hidden = node.find(f"./*/{P}cNvPr")
                if hidden is not None and is_on_attribute(hidden.get("hidden")):
                    self.reading.leave(_words(node), "hidden")
                    continue
                yield node

    def _title(self, shape: Node, slide: _Slide, kinds: set[str]) -> None:
        pieces: list[Piece] = []
        for paragraph in shape.iter(f"{A}p"):
            pieces += [Piece(" "), *_pieces(paragraph)] if pieces else _pieces(paragraph)
        text = plain(pieces)
        if not text:
            return
        slide.begun, self._number = True, 0
        key = _CONTINUED.sub("", text).casefold()
        if key and key == self._last:
            self.reading.leave(text, "running header", len(self.reading.slides))
            return
        self._last = key
        if len(text) > _HEADING_CHARS:
            add(slide.box, "p", pieces)
            return
        self._level = _title_level(slide.kind, kinds)
        add(slide.box, f"h{self._level}", [Piece(p.text.replace("\n", " ")) for p in pieces])

    def _shape(self, shape: Node, slide: _Slide) -> None:
        kind, index = _placeholder(shape)
        if kind in _FURNITURE:
            reason = "page number" if kind == "sldNum" else "running footer"
            self.reading.leave(_words(shape), reason, len(self.reading.slides))
            return
        if shape.tag == f"{P}graphicFrame":
            self._frame(shape, slide)
        elif shape.tag == f"{P}pic":
            named = shape.find(f"{P}nvPicPr/{P}cNvPr")
            described = " ".join((named.get("descr") or "").split()) if named is not None else ""
            self.reading.leave(described, "image", len(self.reading.slides))
        body = shape.find(f"{P}txBody")
        if body is not None:
            self._text(body, slide, self._styles(body, slide, kind, index))

    def _styles(self, body: Node, slide: _Slide, kind: str, index: str) -> list[Node]:
        """List styles of a shape, nearest first."""
        out = [body.find(f"{A}lstStyle")]
        if kind or index:
            for above in (slide.layout, slide.master):
                twin = _twin(above, kind, index)
                if twin is not None:
                    out.append(twin.find(f"{P}txBody/{A}lstStyle"))
            out.append(master_style(slide.master, kind or "body"))
        return [s for s in out if s is not None]

    def _text(self, body: Node, slide: _Slide, styles: list[Node]) -> None:
        bullets = Bullets(styles)
        lists = Lists()
        box = add(slide.box, "div")
        paragraphs = body.findall(f"{A}p")
        for n, paragraph in enumerate(paragraphs):
            pieces = _pieces(paragraph)
            properties = paragraph.find(f"{A}pPr")
            level = min(8, max(0, whole(properties.get("lvl")))) if properties is not None else 0
            text = plain(pieces)
            marker = bullets.marker(paragraph, level) if text else None
            if not text:
                continue
            if marker is None:
                if (
                    lists.current is not None
                    and level > 0
                    and bullets.left(paragraph, level) > lists.stack[-1].left
                ):
                    add(lists.current, "p", pieces)
                    continue
                lists.close()
                if _heads(paragraph, pieces, paragraphs[n + 1 :]):
                    add(box, f"h{min(6, self._line_level(text, slide))}", [Piece(text)])
                else:
                    add(box, "p", pieces)
                slide.begun = True
                continue
            slide.begun = True
            if marker.text:
                pieces = [Piece(f"{marker.text} "), *pieces]
            fill(lists.item(box, "slide", level, 0.0, marker), pieces)

    def _line_level(self, text: str, slide: _Slide) -> int:
        """The level of a line that is set like a heading. On a slide without a title the first line is
        what the others stand under, those apart whose number goes on from its own; it is one of them
        where its number goes on from theirs on the slide before."""
        numbered = _NUMBER.match(text)
        number = int(numbered[1]) if numbered else 0
        if not slide.begun:
            slide.led = True
            below = number > 1 and number == self._number + 1
            slide.number = 0 if below else number
        else:
            below = slide.led and not (number > 1 and number == slide.number + 1)
            slide.number = slide.number if below else number
        self._number = number if below else 0
        return self._level + (2 if below else 1)

    def _frame(self, shape: Node, slide: _Slide) -> None:
        for node in shape.iter(f"{A}tbl", f"{DGM}relIds", f"{C}chart"):
            if node.tag == f"{A}tbl":
                _table(node, slide.box)
            elif node.tag == f"{C}chart":
                add_chart(slide.box, self.package, slide.relations, node)
            else:
                add_diagram(slide.box, self.package, slide.relations, node)

    # ------------------------------------------------------- beside the slide

    def _beside(self, slide: _Slide) -> None:
        """Speaker notes and comments."""
        for relation in slide.relations.values():
            if relation.kind == "notesSlide":
                self._notes(self.package.part(relation.target), slide)
            elif relation.kind == "comments":
                self._comments(self.package.part(relation.target), slide)

    def _notes(self, notes: Node | None, slide: _Slide) -> None:
        lines: list[list[Piece]] = []
        for shape in notes.iter(f"{P}sp") if notes is not None else ():
            if _placeholder(shape)[0] == "body":
                lines += [p for q in shape.iter(f"{A}p") if plain(p := _pieces(q))]
        if not lines:
            return
        if not self.config.speaker_notes:
            self.reading.leave(" ".join(map(plain, lines)), "speaker notes", len(self.reading.slides))
            return
        self.reading.take("speaker notes of a slide")
        for line in lines:
            add(slide.box, "p", line)

    def _comments(self, comments: Node | None, slide: _Slide) -> None:
        for node in comments if comments is not None else ():
            parts = [t.text or "" for t in node.iter(f"{P}text", f"{A}t")]
            text = " ".join(" ".join(parts).split())
            if not text:
                continue
            if not self.config.comments:
                self.reading.leave(text, "comment", len(self.reading.slides))
                continue
            self.reading.take("comment")
            add(slide.box, "p", [Piece(f"Comment: {text}")])


def _title_level(kind: str, kinds: set[str]) -> int:
    """Opening slide, section, slide; a level that no slide has is left out."""
    order = [k for k in ("title", "secHead") if k in kinds]
    return order.index(kind) + 1 if kind in order else len(order) + 1


def _texts(shapes: list[Node]) -> list[Node]:
    """The shapes with text, what stands on every slide apart."""
    return [s for s in shapes if s.tag == f"{P}sp" and _placeholder(s)[0] not in _FURNITURE and _words(s)]


def _is_line(shape: Node) -> bool:
    lines = [t for p in shape.iter(f"{A}p") if (t := plain(_pieces(p)))]
    return len(lines) == 1 and len(lines[0]) <= _LINE_CHARS and not lines[0].endswith((".", ",", ";", ":"))


def _is_section(root: Node) -> bool:
    """A slide without title and with a single line on it."""
    shapes = [s for s in root.iter(f"{P}sp", f"{P}graphicFrame", f"{P}pic") if s.tag != f"{P}sp" or _words(s)]
    texts = _texts(shapes)
    return len(shapes) == len(texts) == 1 and not _placeholder(texts[0])[0] and _is_line(texts[0])


def _stands_in(shapes: list[Node]) -> Node | None:
    """What is set like a title where no title is filled in: a free line that is alone on its slide,
    or in clearly larger type than all others."""
    texts = _texts(shapes)
    if len(texts) == 1 == len(shapes):
        return texts[0] if _is_line(texts[0]) and not _placeholder(texts[0])[0] else None
    sizes = [(max((whole(r.get("sz")) for r in s.iter(f"{A}rPr")), default=0), s) for s in texts]
    order = sorted(sizes, key=lambda x: -x[0])
    if len(order) < 2 or not order[1][0] or order[0][0] < 1.3 * order[1][0]:
        return None
    largest = order[0][1]
    return largest if _is_line(largest) and not _placeholder(largest)[0] else None


def _placeholder(shape: Node) -> tuple[str, str]:
    """Type and index of the placeholder that a shape fills, empty if none."""
    node = shape.find(f"./*/{P}nvPr/{P}ph")
    if node is None:
        return "", ""
    return node.get("type") or "obj", node.get("idx") or "0"


def _twin(root: Node | None, kind: str, index: str) -> Node | None:
    """The placeholder of a layout or master that a slide's one is made from."""
    same_kind = None
    for shape in root.iter(f"{P}sp") if root is not None else ():
        other, at = _placeholder(shape)
        if not other:
            continue
        if at == index and index != "0":
            return shape
        if other == kind or {other, kind} <= {"obj", "body", "subTitle"} or {other, kind} <= _TITLES:
            same_kind = shape if same_kind is None else same_kind
    return same_kind


def _pieces(paragraph: Node) -> list[Piece]:
    """The running text of a paragraph."""
    out: list[Piece] = []
    for node in paragraph:
        if node.tag == f"{A}br":
            out.append(Piece("\n"))
        elif node.tag == f"{A}fld" and node.get("type") == "slidenum":
            continue
        elif node.tag in (f"{A}r", f"{A}fld"):
            properties, text = node.find(f"{A}rPr"), node.find(f"{A}t")
            bold = properties is not None and is_on_attribute(properties.get("b"))
            raised = properties is not None and whole(properties.get("baseline")) > 0
            if text is not None and text.text:
                out.append(Piece(text.text.replace("\v", "\n").replace("_x000B_", "\n"), bold, raised))
        elif isinstance(node.tag, str) and node.tag not in (f"{A}pPr", f"{A}endParaRPr"):
            # formulas, and content given twice
            choice = chosen(node) if node.tag == f"{MC}AlternateContent" else node
            words = [t.text or "" for t in (choice if choice is not None else node).iter("{*}t")]
            out.append(Piece("".join(words)))
    return out


def _heads(paragraph: Node, pieces: list[Piece], following: list[Node]) -> bool:
    """A line in bold over the text of a slide, or set apart from what is above it."""
    text = plain(pieces)
    if len(text) > _LINE_CHARS or text.endswith((".", ",", ";")) or not any(c.isalpha() for c in text):
        return False
    if not all(p.bold for p in pieces if p.text.strip()):
        return False
    space = paragraph.find(f"{A}pPr/{A}spcBef/{A}spcPts")
    if space is not None and whole(space.get("val")) >= _APART and not text.endswith(":"):
        return True
    below = next((p for q in following if plain(p := _pieces(q))), None)
    return below is not None and not any(p.bold for p in below)


def _words(shape: Node) -> str:
    texts = ("".join(t.text or "" for t in p.iter(f"{A}t")) for p in shape.iter(f"{A}p"))
    return " ".join(" ".join(texts).split())


def _table(node: Node, box: Node) -> None:
    """A table; its first row is the header where the table's settings say so."""
    properties = node.find(f"{A}tblPr")
    first = properties is not None and is_on_attribute(properties.get("firstRow"))
    rows = node.findall(f"{A}tr")
    head = 1 if first and len(rows) > 1 else 0
    table = add(box, "table")
    parts = {True: add(table, "thead") if head else None, False: add(table, "tbody")}
    for n, tr in enumerate(rows):
        line = add(parts[n < head], "tr")
        for tc in tr.findall(f"{A}tc"):
            if is_on_attribute(tc.get("hMerge")) or is_on_attribute(tc.get("vMerge")):
                continue
            attributes = {}
            if (columns := whole(tc.get("gridSpan"), 1)) > 1:
                attributes["colspan"] = str(columns)
            if (tall := whole(tc.get("rowSpan"), 1)) > 1:
                attributes["rowspan"] = str(min(tall, len(rows) - n))
            cell = add(line, "th" if n < head else "td", **attributes)
            lines = [p for q in tc.iter(f"{A}p") if plain(p := _pieces(q))]
            if len(lines) == 1:
                fill(cell, lines[0])
            else:
                for pieces in lines:
                    add(cell, "p", pieces)
    deepen_head(table)
    guess_head(table)


def read_pptx(package: Package, config: ConvertConfig) -> Reading:
    """The presentation in `package`."""
    return Pptx(package, config).read()
