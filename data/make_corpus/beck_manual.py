"""LM-640 manual: numbered headings, outline, running lines, a long table with repeated header."""

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.platypus import NextPageTemplate, PageBreak, Paragraph, Spacer
from reportlab.platypus.tableofcontents import TableOfContents

from .markup import parse
from .pdf_doc import Doc
from .pdf_flow import Flow, load_fonts

NAME = "products/LM-640 Beck Operation and Maintenance Manual.pdf"
ACCENT = "#1f5c7a"


def cover(canvas, _doc) -> None:
    """The cover: a colour field and a line drawing of the cabinet."""
    canvas.setFillColor(colors.HexColor(ACCENT))
    canvas.rect(0, A4[1] - 250, A4[0], 250, stroke=0, fill=1)
    canvas.setStrokeColor(colors.HexColor("#5b7482"))
    canvas.setLineWidth(1.5)
    canvas.roundRect(225, 190, 145, 300, 6)
    canvas.roundRect(245, 400, 105, 66, 3)
    for i in range(3):
        canvas.roundRect(247 + 36 * i, 205, 29, 70, 3)
        canvas.circle(261 + 36 * i, 345, 13)


def running(canvas, page: int, pages: int) -> None:
    """Header and footer of all pages but the cover."""
    if page == 1:
        return
    canvas.setFont("Sans", 8)
    canvas.setFillColor(colors.HexColor("#555555"))
    canvas.drawString(57, A4[1] - 40, "LM-640 Beck – Operation and Maintenance Manual")
    canvas.drawRightString(A4[0] - 57, A4[1] - 40, "Lindmoor Instruments Ltd.")
    canvas.setLineWidth(0.4)
    canvas.line(57, A4[1] - 45, A4[0] - 57, A4[1] - 45)
    canvas.drawString(57, 30, "LM-640-OM-EN Rev. D · September 2024")
    canvas.drawRightString(A4[0] - 57, 30, f"Page {page} of {pages}")


def make() -> None:
    """Write the manual."""
    load_fonts()
    flow = Flow("Sans", accent=ACCENT, width=481)
    info = {"title": "LM-640 Beck Operation and Maintenance Manual", "author": "Lindmoor Instruments Ltd."}
    doc = Doc(NAME, running, outline=True, small=flow.small, **info)
    doc.addPageTemplates([doc.template("cover", before=cover), doc.template("text")])
    big = flow.heads[0].clone("big", fontSize=30, leading=36, textColor=colors.white)
    sub = flow.body.clone("sub", fontSize=14, leading=19, textColor=colors.white)
    contents = TableOfContents(dotsMinLevel=0)
    first = flow.body.clone("toc1", fontName="Sans-B", spaceBefore=4, spaceAfter=1)
    contents.levelStyles = [first, flow.body.clone("toc2", leftIndent=14, spaceAfter=0)]
    story = [
        Spacer(0, 30),
        Paragraph("LM-640 Beck", big),
        Paragraph("Nutrient analyser for ammonium, nitrate and orthophosphate", sub),
        Paragraph("Operation and Maintenance Manual", sub),
        Spacer(0, 520),
        Paragraph("Document LM-640-OM-EN, revision D, September 2024", flow.body),
        Paragraph("Lindmoor Instruments Ltd., Caton Mill, Low Road, Lancaster, United Kingdom", flow.body),
        NextPageTemplate("text"),
        PageBreak(),
        Paragraph("Contents", flow.heads[0]),
        contents,
        PageBreak(),
    ]
    doc.make(story + flow.story(*parse("beck_manual.md")))
