"""Pages made for OCR tests: print, rasterised, as a scanner would hand it in."""

from __future__ import annotations

import io
from collections.abc import Callable

import pymupdf
from PIL import Image, ImageDraw

SIZE = (420, 300)  # points: small pages keep the tests quick
DPI = 150
TITLE = "Quarterly maintenance report"
PROSE = (
    "Since 26 February 2025 two of the analysers have stopped again and again with fault E17. "
    "The serial numbers are 640-24-0417 and 640-24-0422. On 5 March our permit required a manual "
    "sample every two hours, which cost us overtime of £1,240."
)


def printed(draw: Callable[[pymupdf.Page], object], size: tuple[int, int] = SIZE) -> Image.Image:
    """What `draw` puts on a page, as an image."""
    with pymupdf.open() as document:
        page = document.new_page(width=size[0], height=size[1])
        draw(page)
        pix = page.get_pixmap(dpi=DPI)
    return Image.frombytes("RGB", (pix.width, pix.height), pix.samples)


def letter(page: pymupdf.Page) -> None:
    """A title and a paragraph."""
    page.insert_text((40, 60), TITLE, fontsize=18, fontname="hebo")
    page.insert_textbox((40, 90, 380, 280), PROSE, fontsize=11)


def scan(image: Image.Image, over: Callable[[pymupdf.Page], object] | None = None) -> bytes:
    """A PDF whose page is `image`, with what `over` adds to it."""
    return scans(image, over=over)


def scans(*images: Image.Image, over: Callable[[pymupdf.Page], object] | None = None) -> bytes:
    """A PDF of a page for each image."""
    with pymupdf.open() as document:
        for image in images:
            buffer = io.BytesIO()
            image.save(buffer, "PNG")
            page = document.new_page(width=image.width * 72 / DPI, height=image.height * 72 / DPI)
            page.insert_image(page.rect, stream=buffer.getvalue())
            if over:
                over(page)
        return document.tobytes(no_new_id=True)


def text_over(say: Callable[[str], str], *, visible: bool = False) -> Callable[[pymupdf.Page], object]:
    """The letter's words at their places, changed by `say`, as other OCR leaves them."""

    def write(page: pymupdf.Page) -> None:
        with pymupdf.open() as document:
            source = document.new_page(width=SIZE[0], height=SIZE[1])
            letter(source)
            blocks: list = source.get_text("dict")["blocks"]  # type: ignore[index]
        for span in (s for b in blocks for line in b.get("lines", ()) for s in line["spans"]):
            page.insert_text(
                span["origin"], say(span["text"]), fontsize=span["size"], render_mode=0 if visible else 3
            )

    return write


def scribble() -> Image.Image:
    """Rows of strokes of a letter's size that are no letters."""
    image = Image.new("L", (875, 625), 255)
    draw = ImageDraw.Draw(image)
    state = 7
    for row in range(8):
        for k in range(22):
            points = []
            for _ in range(5):
                state = (state * 1103515245 + 12345) % 2**31
                points.append((60 + k * 34 + state // 65536 % 20, 60 + row * 60 + state // 4096 % 26))
            draw.line(points, fill=0, width=3)
    return image
