"""Application note: two justified columns, hyphenation at line ends, ligature characters."""

import re

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.platypus import FrameBreak, NextPageTemplate, Paragraph

from .markup import parse
from .pdf_doc import Doc
from .pdf_flow import Flow, load_fonts

NAME = "products/AN-17 Residual chlorine control.pdf"
GAP = 20


class LigatureFlow(Flow):
    """Sets fi and fl as the single characters U+FB01 and U+FB02, as many typesetting systems do."""

    def inline(self, text: str) -> str:
        return re.sub("fl", "\ufb02", re.sub("fi", "\ufb01", super().inline(text)))


def running(canvas, page: int, pages: int) -> None:
    """Header and footer."""
    canvas.setFont("Serif-I", 8.5)
    canvas.setFillColor(colors.HexColor("#444444"))
    if page > 1:
        canvas.drawString(54, A4[1] - 36, "Residual chlorine control at a service reservoir")
        canvas.drawRightString(A4[0] - 54, A4[1] - 36, "AN-17")
    canvas.drawString(54, 32, "Lindmoor Instruments · Application Note AN-17 · January 2025")
    canvas.drawRightString(A4[0] - 54, 32, f"Page {page} of {pages}")


def make() -> None:
    """Write the note."""
    load_fonts()
    column = (A4[0] - 108 - GAP) / 2
    flow = LigatureFlow("Serif", 10, accent="#7a3b1f", width=column, justify=True, hyphens="en_GB")
    doc = Doc(NAME, running, small=flow.small, title="Application Note AN-17", author="Aileen Strachan")
    bottom, top = 58, A4[1] - 58
    head = doc.frame("head", (54, top - 92, A4[0] - 108, 92))

    def columns(height: float) -> list:
        lefts = (54, 54 + column + GAP)
        return [doc.frame(f"c{i}", (x, bottom, column, height)) for i, x in enumerate(lefts)]

    doc.addPageTemplates(
        [
            doc.template("first", [head, *columns(top - 104 - bottom)]),
            doc.template("next", columns(top - bottom)),
        ]
    )
    tag = flow.body.clone("tag", textColor=flow.accent, fontName="Serif-B")
    title = flow.heads[0].clone("title", fontSize=20, leading=24, spaceBefore=0)
    blocks, notes = parse("an17.md")
    for block in blocks:
        if block.kind == "heading":
            block.level = 2
    story = [
        Paragraph("APPLICATION NOTE AN-17", tag),
        Paragraph("Residual chlorine control at a service reservoir", title),
        Paragraph("Dr. Aileen Strachan, Lindmoor Instruments Ltd., Lancaster", flow.body),
        NextPageTemplate("next"),
        FrameBreak(),
    ]
    doc.make(story + flow.story(blocks, notes))
