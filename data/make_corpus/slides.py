"""The slide deck: titles, nested bullets, a table, speaker notes and a hidden slide."""

from pptx import Presentation
from pptx.dml.color import RGBColor
from pptx.enum.shapes import MSO_SHAPE
from pptx.util import Cm, Pt

from .common import fix_zip, target
from .markup import SOURCES

NAME = "sales/Sales Kick-off 2025.pptx"
ACCENT = RGBColor(0x1F, 0x5C, 0x7A)
TARGETS = [
    ("Region", "Lead", "Revenue 2024 (£k)", "Target 2025 (£k)", "Growth"),
    ("United Kingdom and Ireland", "Callum Reid", "16,344", "17,650", "8 %"),
    ("Germany, Austria, Switzerland", "Benedikt Sommer", "8,325", "9,325", "12 %"),
    ("Poland and Baltic states", "Kasia Nowak", "3,392", "3,900", "15 %"),
    ("Rest of the world", "Benedikt Sommer", "2,774", "2,925", "5 %"),
    ("Total", "", "30,835", "33,800", "10 %"),
]


def dress(slide, prs, title: str) -> None:
    """Title text, its place, and a coloured bar."""
    bar = slide.shapes.add_shape(MSO_SHAPE.RECTANGLE, 0, 0, Cm(0.6), prs.slide_height)
    bar.fill.solid()
    bar.fill.fore_color.rgb = ACCENT
    bar.line.fill.background()
    shape = slide.shapes.title
    shape.left, shape.top, shape.width, shape.height = Cm(2), Cm(1), Cm(29), Cm(2.4)
    shape.text = title
    paragraph = shape.text_frame.paragraphs[0]
    paragraph.alignment = 1
    paragraph.font.size, paragraph.font.bold, paragraph.font.color.rgb = Pt(32), True, ACCENT


def bullet_slides(prs) -> None:
    """The slides of sources/slides.txt: title, dashes for the level of a line, notes; the last is hidden."""
    for text in (SOURCES / "slides.txt").read_text(encoding="utf-8").strip().split("\n\n"):
        title, *lines, notes = text.split("\n")
        slide = prs.slides.add_slide(prs.slide_layouts[1])
        dress(slide, prs, title)
        body = slide.placeholders[1]
        body.left, body.top, body.width, body.height = Cm(2), Cm(4), Cm(29), Cm(13)
        for i, line in enumerate(lines):
            paragraph = body.text_frame.paragraphs[0] if i == 0 else body.text_frame.add_paragraph()
            dashes, _, paragraph.text = line.partition(" ")
            paragraph.level = len(dashes) - 1
            paragraph.font.size = Pt(24 if paragraph.level == 0 else 20)
        slide.notes_slide.notes_text_frame.text = notes.removeprefix("note: ")
        if len(prs.slides) == 2:
            table_slide(prs)
    slide._element.set("show", "0")


def table_slide(prs) -> None:
    """The slide with the targets."""
    slide = prs.slides.add_slide(prs.slide_layouts[5])
    dress(slide, prs, "Targets for 2025 by region")
    shape = slide.shapes.add_table(len(TARGETS), 5, Cm(2), Cm(4.2), Cm(29), Cm(9))
    for column, width in zip(shape.table.columns, (9.5, 6, 5, 5, 3.5), strict=True):
        column.width = Cm(width)
    for r, row in enumerate(TARGETS):
        for c, text in enumerate(row):
            cell = shape.table.cell(r, c)
            cell.text = text
            paragraph = cell.text_frame.paragraphs[0]
            paragraph.font.size = Pt(16)
            paragraph.font.bold = r in (0, len(TARGETS) - 1)
            paragraph.alignment = 3 if c > 1 else 1
            if r == 0:
                cell.fill.solid()
                cell.fill.fore_color.rgb = ACCENT
    slide.notes_slide.notes_text_frame.text = (
        "Bonus is paid from 95 % of the target on. Details follow by 1 March."
    )


def make() -> None:
    """Write the deck."""
    prs = Presentation()
    prs.slide_width, prs.slide_height = Cm(33.867), Cm(19.05)
    first = prs.slides.add_slide(prs.slide_layouts[0])
    dress(first, prs, "Sales Kick-off 2025")
    first.shapes.title.top = Cm(6)
    sub = first.placeholders[1]
    sub.left, sub.top, sub.width, sub.height = Cm(2), Cm(9), Cm(29), Cm(4)
    sub.text = "Lancaster, 3 and 4 February 2025\nBenedikt Sommer, Sales Director"
    for paragraph in sub.text_frame.paragraphs:
        paragraph.alignment, paragraph.font.size = 1, Pt(22)
    bullet_slides(prs)
    props = prs.core_properties
    props.title, props.comments = "Sales Kick-off 2025", ""
    props.author = props.last_modified_by = "Benedikt Sommer"
    prs.save(target(NAME))
    fix_zip(target(NAME))
