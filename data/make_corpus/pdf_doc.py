"""The reportlab document: page count, running header and footer, footnotes at the page's foot."""

from collections.abc import Callable

from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate, Paragraph

from .common import fix_pdf, target


class CountingCanvas(Canvas):
    """Holds pages back until their number is known, then draws the running lines."""

    running: Callable | None = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._held: list[dict] = []

    def showPage(self):
        self._held.append(dict(self.__dict__))
        self._startPage()

    def save(self):
        held = self._held
        for state in held:
            self.__dict__.update(state)
            if self.running:
                self.running(self._pageNumber, len(held))
            super().showPage()
        super().save()


class Doc(BaseDocTemplate):
    """A document whose marks feed the outline, the running section title and the footnotes."""

    def __init__(self, name: str, outline=False, small=None, margins=(57, 62, 57, 78), **info):
        super().__init__(str(target(name)), pagesize=A4, invariant=1, pageCompression=1, **info)
        self.with_outline, self.small = outline, small
        self.seq_mark, self.section = 0, ""
        self.page_notes: list[str] = []
        left, top, right, bottom = margins
        self.box = (left, bottom, A4[0] - left - right, A4[1] - top - bottom)

    def frame(self, name="main", box=None) -> Frame:
        """The text area of a page without inner padding."""
        return Frame(*(box or self.box), id=name, leftPadding=0, rightPadding=0, topPadding=0, bottomPadding=0)

    def template(self, name: str, frames: list[Frame] | None = None, before: Callable | None = None):
        """A page template; footnotes called on the page are drawn below the frame at its end."""

        def end(canvas, doc):
            if not self.page_notes:
                return
            left, bottom, width, _ = self.box
            canvas.line(left, bottom - 4, left + 120, bottom - 4)
            y = bottom - 8
            for text in self.page_notes:
                number, _, rest = text.partition(" ")
                par = Paragraph(f"<super>{number}</super> {rest}", self.small)
                _, height = par.wrap(width, 60)
                y -= height
                par.drawOn(canvas, left, y)
            self.page_notes.clear()

        def start(canvas, doc):
            if before:
                before(canvas, doc)

        return PageTemplate(name, frames or [self.frame()], onPage=start, onPageEnd=end)

    def beforeDocument(self):
        self.seq_mark, self.section = 0, ""
        self.page_notes.clear()

    def make(self, story: list, running: Callable | None) -> None:
        """Build; running(canvas, page, pages) draws header and footer."""
        canvas_class = type("RunningCanvas", (CountingCanvas,), {"running": running})
        self.multiBuild(story, canvasmaker=canvas_class)
        fix_pdf(target(self.filename))
