"""The reportlab document: page count, running header and footer, footnotes at the page's foot."""

from collections.abc import Callable

from reportlab.lib.pagesizes import A4
from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate, Paragraph
from reportlab.platypus.doctemplate import IndexingFlowable

from .common import fix_pdf, target


class PageTotal(IndexingFlowable):
    """Asks for another pass until the number of pages that the footers show is right."""

    width = height = 0

    def __init__(self, doc: "Doc"):
        super().__init__()
        self.doc = doc

    def wrap(self, *_args):
        return 0, 0

    def draw(self):
        pass

    def isSatisfied(self):
        shown, self.doc.total = self.doc.total, self.doc.page
        return shown == self.doc.page


class Doc(BaseDocTemplate):
    """A document whose marks feed the outline, the contents and the footnotes."""

    def __init__(
        self, name: str, running: Callable, outline=False, small=None, margins=(57, 62, 57, 78), **info
    ):
        super().__init__(str(target(name)), pagesize=A4, invariant=1, pageCompression=1, **info)
        self.running, self.with_outline, self.small = running, outline, small
        self.seq_mark, self.total = 0, 0
        self.page_notes: list[str] = []
        left, top, right, bottom = margins
        self.box = (left, bottom, A4[0] - left - right, A4[1] - top - bottom)

    def beforeDocument(self):
        self.seq_mark = 0
        self.page_notes.clear()

    def frame(self, name="main", box=None) -> Frame:
        """The text area of a page without inner padding."""
        return Frame(
            *(box or self.box), id=name, leftPadding=0, rightPadding=0, topPadding=0, bottomPadding=0
        )

    def template(self, name: str, frames: list[Frame] | None = None, before: Callable | None = None, size=A4):
        """A page template; its end draws the running lines and the footnotes called on the page."""

        def end(canvas, _doc):
            self.running(canvas, canvas.getPageNumber(), self.total)
            self.draw_notes(canvas)

        before = before or (lambda _canvas, _doc: None)
        return PageTemplate(name, frames or [self.frame()], onPage=before, onPageEnd=end, pagesize=size)

    def draw_notes(self, canvas) -> None:
        """The footnotes below the text area, under a short rule."""
        if not self.page_notes:
            return
        left, bottom, width, _ = self.box
        canvas.setLineWidth(0.6)
        canvas.line(left, bottom - 4, left + 120, bottom - 4)
        y = bottom - 8
        for text in self.page_notes:
            number, _, rest = text.partition(" ")
            par = Paragraph(f"<super>{number}</super> {rest}", self.small)
            _, height = par.wrap(width, 60)
            y -= height
            par.drawOn(canvas, left, y)
        self.page_notes.clear()

    def make(self, story: list) -> None:
        """Build in as many passes as page numbers need."""
        self.multiBuild([*story, PageTotal(self)])
        fix_pdf(target(self.filename))
