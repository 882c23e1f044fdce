"""What a double sees: the hash of a page's image, and the Markdown of that page."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable
from pathlib import Path

from drac_pipeline.config import ConvertConfig, RenderConfig
from drac_pipeline.convert import convert_pdf
from drac_pipeline.convert.markers import PAGE_COMMENT
from drac_pipeline.render import iter_pages


def image_hash(png: bytes) -> str:
    """The name of an image in the table."""
    return hashlib.sha256(png).hexdigest()


def page_table(
    pdfs: Iterable[Path], render: RenderConfig | None = None, convert: ConvertConfig | None = None
) -> dict[str, str]:
    """Image hash to Markdown for all pages of the PDFs, rendered with the settings of the pipeline."""
    render, convert = render or RenderConfig(), convert or ConvertConfig()
    table: dict[str, str] = {}
    for pdf in pdfs:
        parts = PAGE_COMMENT.split(convert_pdf(pdf, convert).markdown)
        texts = {int(n): text.strip() for n, text in zip(parts[1::2], parts[2::2], strict=True)}
        with tempfile.TemporaryDirectory() as folder:
            for page in iter_pages(pdf, Path(folder), render):
                if page.path is not None:
                    table[image_hash(page.path.read_bytes())] = texts.get(page.page, "")
                    page.path.unlink()
    return table


def read_by_ocr(png: bytes) -> str:
    """The Markdown of an image that is in no table."""
    from drac_pipeline.mupdf import pymupdf

    with pymupdf.open(stream=png, filetype="png") as image:
        pdf = image.convert_to_pdf()
    parts = PAGE_COMMENT.split(convert_pdf(pdf, ConvertConfig()).markdown)
    return parts[-1].strip()
