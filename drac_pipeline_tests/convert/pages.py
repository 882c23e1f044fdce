"""Small PDFs for the tests of the local converter, drawn line by line."""

from __future__ import annotations

from collections.abc import Sequence

import pymupdf

from drac_pipeline.config import ConvertConfig
from drac_pipeline.convert import convert_pdf
from drac_pipeline.convert.markers import PAGE_COMMENT
from drac_pipeline.model import Converted

BODY, BOLD = "helv", "hebo"


class Doc:
    """A document under construction; `y` runs down the current page."""

    def __init__(self, width: float = 595, height: float = 842) -> None:
        self.pdf = pymupdf.open()
        self.size = (width, height)
        self.page: pymupdf.Page
        self.new_page()

    def new_page(self) -> Doc:
        self.page = self.pdf.new_page(width=self.size[0], height=self.size[1])
        self.y = 72.0
        return self

    def text(self, x: float, text: str, *, y: float | None = None, size: float = 10, font: str = BODY) -> Doc:
        self.page.insert_text((x, self.y if y is None else y), text, fontsize=size, fontname=font)
        return self

    def line(self, text: str, *, x: float = 72, size: float = 10, font: str = BODY, after: float = 13) -> Doc:
        self.text(x, text, size=size, font=font)
        self.y += after
        return self

    def heading(self, text: str, *, size: float = 16) -> Doc:
        self.y += 14
        return self.line(text, size=size, font=BOLD, after=size + 12)

    def paragraph(self, *lines: str, x: float = 72, size: float = 10) -> Doc:
        for text in lines:
            self.line(text, x=x, size=size)
        self.y += 10
        return self

    def row(self, xs: Sequence[float], *cells: str, font: str = BODY, after: float = 16) -> Doc:
        for x, cell in zip(xs, cells, strict=True):
            if cell:
                self.text(x, cell, font=font)
        self.y += after
        return self

    def rule(self, x0: float, x1: float, *, y: float | None = None) -> Doc:
        y = self.y - 10 if y is None else y
        self.page.draw_line((x0, y), (x1, y), width=0.6)
        return self

    def upright(self, x: float, y0: float, y1: float) -> Doc:
        self.page.draw_line((x, y0), (x, y1), width=0.6)
        return self

    def bytes(self) -> bytes:
        return self.pdf.tobytes()

    def convert(self) -> Converted:
        return convert_pdf(self.bytes(), ConvertConfig(ocr=False))


def blocks(converted: Converted) -> list[str]:
    """The Markdown blocks without page comments."""
    lines = [s.strip("\n") for s in converted.markdown.split("\n\n")]
    return [b for b in lines if b and not PAGE_COMMENT.fullmatch(b)]


FILLER = (
    "The pump moves water from the lower tank to the upper tank and keeps the level there",
    "between the two marks that the operator has set at the control box beside the ladder.",
    "Every movement is written to the log, so that a later reader can follow what was done.",
)
