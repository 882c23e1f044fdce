"""PDF pages to PNG images.

The paper renders at 200 DPI and scales down to at most 1,568 pixels a side. A page is
drawn here at that final size at once: the scale is the smaller of `dpi / 72` and
`max_side / longest side`. The drawing is vectors, so this gives the same size with
sharper text, and never needs the memory of the larger image: an A4 page is 1654 x
2339 at 200 DPI, and 1109 x 1568 either way.
"""

from __future__ import annotations

import contextlib
import io
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image

from drac_pipeline.config import RenderConfig
from drac_pipeline.errors import CorruptDocument, EncryptedDocument
from drac_pipeline.mupdf import pymupdf
from drac_pipeline.pages import map_pages

pymupdf.TOOLS.mupdf_display_errors(False)
pymupdf.TOOLS.mupdf_display_warnings(False)

# Writing the PNG takes longer than drawing the page. Rows unfiltered at zlib level 2 take a
# third of the time of the usual adaptive filters at level 6, and text pages come out
# smaller; pages that hold photographs do not, and get the filters (at level 1).
_COMPRESS = 2
_POOR_RATIO = 0.35


@dataclass(frozen=True, slots=True)
class RenderedPage:
    """One page: its image, or why there is none.

    page            number in the document, from 1
    path            the PNG, None where `error` is set
    width, height   of the image in pixels
    scale           pixels per point: PDF coordinates (as displayed) times this are pixels
    gray            True where the page has no colour and the image is grayscale
    warnings        what the drawing complained about (a damaged font, a content stream cut off)
    """

    page: int
    path: Path | None
    width: int = 0
    height: int = 0
    scale: float = 0.0
    gray: bool = False
    error: str | None = None
    warnings: tuple[str, ...] = field(default=())


def render_pages(pdf: Path, out_dir: Path, config: RenderConfig) -> list[RenderedPage]:
    """Write `page-0001.png` … into `out_dir`, one for each page of `pdf`.

    A page that cannot be drawn gets an error and no file; the others go on. The same
    PDF gives the same bytes. Memory is bounded by `config.window` pages. Raises
    CorruptDocument or EncryptedDocument if the PDF does not open.
    """
    out_dir.mkdir(parents=True, exist_ok=True)
    with contextlib.closing(_Drawer(pdf, out_dir, config)) as drawer:
        return map_pages(_Drawer, (pdf, out_dir, config), range(drawer.count), drawer)


def iter_pages(pdf: Path, out_dir: Path, config: RenderConfig) -> Iterator[RenderedPage]:
    """`render_pages`, page by page in this process."""
    out_dir.mkdir(parents=True, exist_ok=True)
    with contextlib.closing(_Drawer(pdf, out_dir, config)) as drawer:
        for number in range(drawer.count):
            yield drawer(number)


class _Drawer:
    """Draws pages of one PDF by their index.

    An open document keeps what its pages needed (fonts, images, objects); it is opened again
    after `config.window` pages, which lets go of it.
    """

    def __init__(self, pdf: Path, out_dir: Path, config: RenderConfig) -> None:
        self.pdf, self.out_dir, self.config = pdf, out_dir, config
        self.document = self._open()
        self.count = self.document.page_count
        self.drawn = 0

    def __call__(self, number: int) -> RenderedPage:
        if self.drawn == self.config.window:
            self.close()
            self.document, self.drawn = self._open(), 0
        self.drawn += 1
        return _render(self.document, number, self.out_dir, self.config)

    def close(self) -> None:
        self.document.close()
        pymupdf.TOOLS.store_shrink(100)

    def _open(self) -> pymupdf.Document:
        try:
            document = pymupdf.open(self.pdf, filetype="pdf")
        except Exception as e:
            raise CorruptDocument(f"the PDF cannot be opened ({e})", stage="render") from e
        if document.needs_pass:
            document.close()
            raise EncryptedDocument("the PDF is encrypted", remedy="Normalize it first.", stage="render")
        return document


def scale_for(width: float, height: float, config: RenderConfig) -> float:
    """Pixels per point for a page of `width` x `height` points."""
    return min(config.dpi / 72, config.max_side / max(width, height, 1e-6))


def _render(doc: pymupdf.Document, number: int, out_dir: Path, config: RenderConfig) -> RenderedPage:
    path = out_dir / f"page-{number + 1:04d}.png"
    pymupdf.TOOLS.reset_mupdf_warnings()
    try:
        page = doc.load_page(number)
        box = page.rect
        if box.is_empty or box.is_infinite:
            raise ValueError("the page has no area")
        scale = scale_for(box.width, box.height, config)
        pixmap = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), alpha=False, annots=True)
        gray = _save(pixmap, path, config.max_side)
        size = min(pixmap.width, config.max_side), min(pixmap.height, config.max_side)
        return RenderedPage(number + 1, path, *size, scale=scale, gray=gray, warnings=_warnings())
    except Exception as e:  # MuPDF raises many kinds, and one page must not end the document
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
        reason = (str(e) or type(e).__name__).splitlines()[0][:300]
        return RenderedPage(number + 1, None, error=reason, warnings=_warnings())


def _save(pixmap: pymupdf.Pixmap, path: Path, max_side: int) -> bool:
    """Write the PNG; returns True where it is grayscale.

    Rounding outwards can give a pixel too many, which is cut off.
    """
    image = Image.frombuffer("RGB", (pixmap.width, pixmap.height), pixmap.samples_mv, "raw", "RGB", 0, 1)
    if max(image.size) > max_side:
        image = image.crop((0, 0, min(image.width, max_side), min(image.height, max_side)))
    red = image.getchannel(0)
    gray = red.tobytes() == image.getchannel(1).tobytes() == image.getchannel(2).tobytes()
    path.write_bytes(encode_png(red if gray else image))
    return gray


def encode_png(image: Image.Image) -> bytes:
    """An `L` or `RGB` image as PNG; equal pixels give equal bytes."""
    raw = image.tobytes()
    stride = image.width * len(image.getbands())
    rows = b"".join(b"\0" + raw[at : at + stride] for at in range(0, len(raw), stride))
    data = zlib.compress(rows, _COMPRESS)
    if len(data) > len(raw) * _POOR_RATIO:
        buffer = io.BytesIO()
        image.save(buffer, "PNG", compress_level=1)
        return buffer.getvalue()
    colour = 0 if image.mode == "L" else 2
    header = struct.pack(">IIBBBBB", image.width, image.height, 8, colour, 0, 0, 0)
    parts = (_part(b"IHDR", header), _part(b"IDAT", data), _part(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def _part(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def _warnings() -> tuple[str, ...]:
    lines = pymupdf.TOOLS.mupdf_warnings(reset=True).splitlines()
    return tuple(dict.fromkeys(lines))[:10]
