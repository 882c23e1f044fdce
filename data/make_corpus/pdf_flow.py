"""Renders parsed markup with reportlab: styles, tables with spans, notes, footnotes, outline."""

from xml.sax.saxutils import escape

from reportlab.lib import colors
from reportlab.lib.enums import TA_JUSTIFY
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.platypus import (
    CondPageBreak,
    Flowable,
    KeepTogether,
    LongTable,
    PageBreak,
    Paragraph,
    Spacer,
    TableStyle,
)

from .common import FONT_DIR
from .markup import Block, cells, runs

FAMILIES = {
    "Sans": ("liberation/LiberationSans", ("Regular", "Bold", "Italic", "BoldItalic")),
    "Serif": ("liberation/LiberationSerif", ("Regular", "Bold", "Italic", "BoldItalic")),
}


def load_fonts() -> None:
    """Register the two font families under the names Sans and Serif."""
    for family, (stem, faces) in FAMILIES.items():
        names = [family, f"{family}-B", f"{family}-I", f"{family}-BI"]
        for name, face in zip(names, faces, strict=True):
            pdfmetrics.registerFont(TTFont(name, FONT_DIR / f"{stem}-{face}.ttf"))
        pdfmetrics.registerFontFamily(family, *names)


class Mark(Flowable):
    """Takes no room; tells the document where a heading or a footnote fell."""

    width = height = 0

    def __init__(self, kind: str, text: str, level: int = 0):
        super().__init__()
        self.kind, self.text, self.level = kind, text, level

    def wrap(self, *_args):
        return 0, 0

    def draw(self):
        doc = self.canv._doctemplate
        if self.kind == "note":
            doc.page_notes.append(self.text)
            return
        key = f"h{doc.seq_mark}"
        doc.seq_mark += 1
        self.canv.bookmarkHorizontal(key, 0, 24)
        if self.level < 3:
            doc.notify("TOCEntry", (self.level - 1, self.text, self.canv.getPageNumber(), key))
        if doc.with_outline:
            self.canv.addOutlineEntry(self.text, key, self.level - 1, closed=self.level > 1)


class Flow:
    """Turns blocks into flowables in one visual style."""

    def __init__(self, font="Sans", size=9.5, accent="#1f5c7a", width=480.0, justify=False, hyphens=None):
        self.font, self.size, self.width = font, size, width
        self.accent = colors.HexColor(accent)
        extra = {"alignment": TA_JUSTIFY} if justify else {}
        if hyphens:
            extra["hyphenationLang"] = hyphens
        body = ParagraphStyle(
            "body", fontName=font, fontSize=size, leading=size * 1.38, spaceAfter=6, **extra
        )
        self.body = body
        self.cell = ParagraphStyle("cell", fontName=font, fontSize=size - 1, leading=(size - 1) * 1.25)
        self.head_cell = ParagraphStyle(
            "head", parent=self.cell, fontName=f"{font}-B", textColor=colors.white
        )
        self.small = ParagraphStyle("small", fontName=font, fontSize=size - 2, leading=(size - 2) * 1.25)
        sizes = (size + 6, size + 3, size + 1)
        self.heads = [
            ParagraphStyle(
                f"h{i + 1}",
                fontName=f"{font}-B",
                fontSize=s,
                leading=s * 1.2,
                spaceBefore=(14, 10, 7)[i],
                spaceAfter=(7, 5, 3)[i],
                textColor=self.accent if i < 2 else colors.black,
            )
            for i, s in enumerate(sizes)
        ]
        self.notes: dict[str, str] = {}

    def inline(self, text: str) -> str:
        """Inline markup to reportlab's own."""
        out = []
        for style, part in runs(text):
            part = escape(part)
            out.append(
                {"b": f"<b>{part}</b>", "i": f"<i>{part}</i>", "note": f"<super>{part}</super>"}.get(
                    style, part
                )
            )
        return "".join(out)

    def para(self, text: str, style=None) -> list:
        """A paragraph, and a mark for each footnote it calls."""
        marks = [Mark("note", f"{n} {self.notes[n]}") for style_, n in runs(text) if style_ == "note"]
        return [*marks, Paragraph(self.inline(text), style or self.body)]

    def heading(self, block: Block) -> list:
        """A heading with its bookmark."""
        mark = Mark("head", block.text, block.level)
        return [CondPageBreak(110), Paragraph(self.inline(block.text), self.heads[block.level - 1]), mark]

    def bullets(self, block: Block) -> list:
        """List items as indented paragraphs with hanging markers."""
        out = []
        for level, marker, text in block.items:
            indent = 16 + 16 * level
            style = ParagraphStyle(
                "item",
                parent=self.body,
                bulletFontName=self.font,
                bulletFontSize=self.size,
                leftIndent=indent,
                bulletIndent=indent - 13,
                spaceAfter=2.5,
            )
            sign = ("•", "–", "▪")[level] if marker == "-" else marker
            sign = sign if sign != "▪" else "·"
            out.append(Paragraph(self.inline(text), style, bulletText=sign))
        return [*out, Spacer(0, 5)]

    def table(self, block: Block) -> list:
        """A table with spans; options are those of the @table line."""
        rows, opts = block.items, block.opts
        header, total = int(opts.get("header", 1)), int(opts.get("total", 0))
        cols = len(rows[0])
        grid = [[""] * cols for _ in rows]
        right = {int(c) for c in opts.get("right", "").split(",") if c}
        style = [
            ("GRID", (0, 0), (-1, -1), 0.4, colors.HexColor("#9aa7ad")),
            ("VALIGN", (0, 0), (-1, -1), "TOP"),
            ("TOPPADDING", (0, 0), (-1, -1), 2.5),
            ("BOTTOMPADDING", (0, 0), (-1, -1), 3),
            ("LEFTPADDING", (0, 0), (-1, -1), 4),
            ("RIGHTPADDING", (0, 0), (-1, -1), 4),
        ]
        for c in cells(rows):
            base = self.head_cell if c.row < header else self.cell
            bold = c.row >= len(rows) - total or (header == 0 and c.col == 0)
            align = 1 if c.row < header and c.colspan > 1 else 2 if c.col in right else 0
            font = f"{self.font}-B" if bold or c.row < header else self.font
            look = ParagraphStyle("c", parent=base, fontName=font, alignment=align)
            grid[c.row][c.col] = Paragraph(self.inline(c.text), look)
            if c.rowspan > 1 or c.colspan > 1:
                style.append(("SPAN", (c.col, c.row), (c.col + c.colspan - 1, c.row + c.rowspan - 1)))
                style.append(("VALIGN", (c.col, c.row), (c.col, c.row), "MIDDLE"))
        if header:
            style.append(("BACKGROUND", (0, 0), (-1, header - 1), self.accent))
        else:
            style.append(("BACKGROUND", (0, 0), (0, -1), colors.HexColor("#eef3f5")))
        if total:
            style.append(("LINEABOVE", (0, -total), (-1, -total), 1.2, colors.black))
        parts = [float(w) for w in opts["widths"].split(",")] if "widths" in opts else [1] * cols
        widths = [self.width * p / sum(parts) for p in parts]
        repeat = header if int(opts.get("repeat", 0)) else 0
        made = LongTable(grid, widths, repeatRows=repeat, style=TableStyle(style), hAlign="LEFT")
        return [KeepTogether([made]) if int(opts.get("keep", 0)) else made, Spacer(0, 9)]

    def note(self, block: Block) -> list:
        """A boxed note or warning."""
        look = {"warning": ("WARNING", "#b3261e", "#fdeeed"), "note": ("Note", "#1f5c7a", "#eef5f9")}
        word, edge, fill = look[block.opts["name"]]
        style = ParagraphStyle(
            "box",
            parent=self.body,
            borderColor=colors.HexColor(edge),
            backColor=colors.HexColor(fill),
            borderWidth=0.8,
            borderPadding=5,
            leftIndent=6,
            rightIndent=6,
            spaceBefore=9,
            spaceAfter=12,
        )
        return [Paragraph(f"<b>{word}</b> – {self.inline(block.text)}", style)]

    def story(self, blocks: list[Block], notes: dict[str, str], directives: dict | None = None) -> list:
        """All flowables of a document; a directive is looked up by name and called with its text."""
        self.notes = notes
        out: list = []
        for block in blocks:
            if block.kind == "para":
                out += self.para(block.text)
            elif block.kind == "page":
                out.append(PageBreak())
            elif block.kind == "directive":
                out += (directives or {})[block.opts["name"]](block.text)
            else:
                make = {"heading": self.heading, "list": self.bullets, "table": self.table, "note": self.note}
                out += make[block.kind](block)
        return out
