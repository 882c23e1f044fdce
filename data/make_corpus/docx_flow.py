"""Renders parsed markup with python-docx: styles, real lists, tables with spans, real footnotes."""

import copy
import re

import pyphen
from docx import Document
from docx.opc.constants import RELATIONSHIP_TYPE as RT
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsdecls, qn
from docx.shared import Cm, Pt, RGBColor
from docx.table import Table

from .markup import Block, cells, runs

NOTE_XML = (
    '<w:footnotes {ns}><w:footnote w:type="separator" w:id="-1"><w:p><w:r><w:separator/></w:r></w:p>'
    "</w:footnote>"
    '<w:footnote w:type="continuationSeparator" w:id="0"><w:p><w:r><w:continuationSeparator/></w:r></w:p>'
    "</w:footnote>{notes}</w:footnotes>"
)
ONE_NOTE = (
    '<w:footnote w:id="{n}"><w:p><w:pPr><w:pStyle w:val="FootnoteText"/></w:pPr><w:r><w:rPr>'
    '<w:vertAlign w:val="superscript"/></w:rPr><w:footnoteRef/></w:r>'
    '<w:r><w:t xml:space="preserve"> {text}</w:t></w:r></w:p></w:footnote>'
)


def element(tag: str, **attributes: str):
    """A WordprocessingML element with w: attributes."""
    node = OxmlElement(tag)
    for key, value in attributes.items():
        node.set(qn(f"w:{key}"), value)
    return node


def field(paragraph, code: str) -> None:
    """A field such as PAGE, with its begin, code and end."""
    for kind in ("begin", code, "end"):
        run = paragraph.add_run()
        if kind == code:
            node = element("w:instrText")
            node.text = code
        else:
            node = element("w:fldChar", fldCharType=kind)
        run._r.append(node)


class Writer:
    """A DOCX document in one look."""

    def __init__(
        self, notes: dict[str, str], font="Liberation Sans", size=10.0, accent="1F5C7A", language="en-GB"
    ):
        self.doc = Document()
        self.notes, self.accent, self.hyphens = notes, accent, None
        section = self.doc.sections[0]
        section.page_width, section.page_height = Cm(21), Cm(29.7)
        section.left_margin = section.right_margin = Cm(2.2)
        section.top_margin, section.bottom_margin = Cm(2.4), Cm(2.2)
        self.width = section.page_width - section.left_margin - section.right_margin
        styles = self.doc.styles
        for name in ("Normal", "Heading 1", "Heading 2", "Heading 3", "Title"):
            style = styles[name]
            style.font.name = font
            props = style.element.get_or_add_rPr()
            props.rFonts.attrib.clear()
            for slot in ("ascii", "hAnsi", "cs", "eastAsia"):
                props.rFonts.set(qn(f"w:{slot}"), font)
        styles["Normal"].font.size = Pt(size)
        styles["Normal"].element.get_or_add_rPr().append(element("w:lang", val=language))
        styles["Normal"].paragraph_format.space_after = Pt(6)
        for level, points in ((1, size + 5), (2, size + 2), (3, size + 1)):
            styles[f"Heading {level}"].font.size = Pt(points)
            styles[f"Heading {level}"].font.color.rgb = RGBColor.from_string(accent)
        note_style = styles.add_style("footnote text", 1)
        note_style.font.size = Pt(size - 2)
        note_style.font.name = font
        note_style.element.set(qn("w:styleId"), "FootnoteText")
        self._add_notes_part()

    def _add_notes_part(self) -> None:
        if not self.notes:
            return
        notes = "".join(ONE_NOTE.format(n=n, text=text) for n, text in self.notes.items())
        blob = NOTE_XML.format(ns=nsdecls("w"), notes=notes).encode()
        kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
        part = Part(PackURI("/word/footnotes.xml"), kind, blob, self.doc.part.package)
        self.doc.part.relate_to(part, RT.FOOTNOTES)

    def use_soft_hyphens(self, language: str) -> None:
        """Put soft hyphens into long words, so that lines may break there."""
        self.hyphens = pyphen.Pyphen(lang=language, left=3, right=3)

    def inline(self, paragraph, text: str, bold=False) -> None:
        """Add runs for inline markup, with real footnote references."""
        for style, part in runs(text):
            if style == "note":
                run = paragraph.add_run()
                run.font.superscript = True
                run._r.append(element("w:footnoteReference", id=part))
                continue
            if self.hyphens:
                part = re.sub(r"[^\W\d_]{8,}", lambda m: self.hyphens.inserted(m[0], "\u00ad"), part)
            run = paragraph.add_run(part)
            run.bold = True if style == "b" or bold else None
            run.italic = True if style == "i" else None

    def heading(self, block: Block) -> None:
        """A heading by style."""
        self.inline(self.doc.add_heading("", block.level), block.text)

    def items(self, block: Block) -> None:
        """List paragraphs; each numbered run restarts at one."""
        numbering: dict[int, int] = {}
        for level, marker, text in block.items:
            for deeper in [k for k in numbering if k > level]:
                del numbering[deeper]
            suffix = f" {level + 1}" if level else ""
            kind = "List Bullet" if marker == "-" else "List Number"
            paragraph = self.doc.add_paragraph(style=f"{kind}{suffix}")
            paragraph.paragraph_format.space_after = Pt(3)
            if marker != "-":
                if level not in numbering:
                    numbering[level] = self._new_number(f"{kind}{suffix}", letter=marker[0].isalpha())
                props = paragraph._p.get_or_add_pPr().get_or_add_numPr()
                props.get_or_add_ilvl().val = 0
                props.get_or_add_numId().val = numbering[level]
            self.inline(paragraph, text)

    def _new_number(self, style: str, letter: bool) -> int:
        """A new numbering instance like that of the style, starting at one."""
        numbering = self.doc.part.numbering_part.element
        base = self.doc.styles[style].element.pPr.numPr.numId.val
        abstract_id = numbering.num_having_numId(base).abstractNumId.val
        source = next(
            a
            for a in numbering.findall(qn("w:abstractNum"))
            if a.get(qn("w:abstractNumId")) == str(abstract_id)
        )
        fresh = copy.deepcopy(source)
        ids = [int(a.get(qn("w:abstractNumId"))) for a in numbering.findall(qn("w:abstractNum"))]
        new_id = max(ids) + 1
        fresh.set(qn("w:abstractNumId"), str(new_id))
        for tag in ("w:nsid", "w:tmpl"):
            for node in fresh.findall(qn(tag)):
                fresh.remove(node)
        for link in fresh.iter(qn("w:pStyle")):
            link.getparent().remove(link)
            break
        if letter:
            level = fresh.find(qn("w:lvl"))
            level.find(qn("w:numFmt")).set(qn("w:val"), "lowerLetter")
        numbering.findall(qn("w:abstractNum"))[-1].addnext(fresh)
        return numbering.add_num(new_id).numId

    def table(self, block: Block) -> Table:
        """A table with merged cells; header rows repeat only if the source says so."""
        rows, opts = block.items, block.opts
        header, right = int(opts.get("header", 1)), {int(c) for c in opts.get("right", "").split(",") if c}
        table = self.doc.add_table(len(rows), len(rows[0]))
        table.style = "Table Grid"
        table.autofit = False
        parts = [float(w) for w in opts["widths"].split(",")]
        for column, part in zip(table.columns, parts, strict=True):
            column.width = int(self.width * part / sum(parts))
        for c in cells(rows):
            cell = table.cell(c.row, c.col)
            if c.rowspan > 1 or c.colspan > 1:
                cell = cell.merge(table.cell(c.row + c.rowspan - 1, c.col + c.colspan - 1))
            band = c.row >= header and c.colspan == len(rows[0])
            head = c.row < header
            paragraph = cell.paragraphs[0]
            paragraph.paragraph_format.space_after = Pt(1)
            paragraph.alignment = 1 if head and c.colspan > 1 else 2 if c.col in right and not band else 0
            self.inline(paragraph, c.text, bold=head or band or (header == 0 and c.col == 0))
            if head or band:
                shade = element("w:shd", val="clear", color="auto", fill="DCE6EA" if head else "F1F1EC")
                cell._tc.get_or_add_tcPr().append(shade)
        for r, row in enumerate(table.rows):
            for column, cell in enumerate(row.cells):
                if rows[r][column] not in "^<":
                    cell.width = table.columns[column].width
            props = row._tr.get_or_add_trPr()
            props.append(element("w:cantSplit"))
            if r < header and int(opts.get("repeat", 0)):
                props.append(element("w:tblHeader"))
        self.doc.add_paragraph().paragraph_format.space_after = Pt(2)
        return table

    def write(self, blocks: list[Block]) -> None:
        """Write all blocks."""
        for block in blocks:
            if block.kind == "para":
                self.inline(self.doc.add_paragraph(), block.text)
            elif block.kind == "page":
                self.doc.add_page_break()
            else:
                {"heading": self.heading, "list": self.items, "table": self.table}[block.kind](block)

    def running(self, head: str, foot: str, page_word="Page {} of {}") -> None:
        """Header text, and a footer with the page number at the right."""
        section = self.doc.sections[0]
        before, between, _ = page_word.split("{}")
        section.header.paragraphs[0].text = head
        paragraph = section.footer.paragraphs[0]
        paragraph.add_run(f"{foot}\t\t{before}")
        field(paragraph, "PAGE")
        paragraph.add_run(between)
        field(paragraph, "NUMPAGES")
        for part in (section.header, section.footer):
            for run in part.paragraphs[0].runs:
                run.font.size = Pt(8)
                run.font.color.rgb = RGBColor(0x55, 0x55, 0x55)


def tracked(paragraph, kind: str, text: str, author: str, number: int) -> None:
    """A tracked insertion ("ins") or deletion ("del") at the end of the paragraph."""
    tag = "w:t" if kind == "ins" else "w:delText"
    xml = (
        f'<w:{kind} {nsdecls("w")} w:id="{number}" w:author="{author}" w:date="2025-04-15T10:00:00Z">'
        f'<w:r><{tag} xml:space="preserve">{text}</{tag}></w:r></w:{kind}>'
    )
    paragraph._p.append(parse_xml(xml))
