"""Which converter reads a document.

Most documents are read from their PDF. Formats that say more in their own file (a web page,
a workbook, Markdown, a text document, slides) are read from it, and their PDF is for showing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from drac_pipeline.config import ConvertConfig
from drac_pipeline.convert.local.document import convert_pdf
from drac_pipeline.model import Converted
from drac_pipeline.office import OWN_FORMATS, convert_office
from drac_pipeline.sheets.route import SHEET_FORMATS, convert_sheets
from drac_pipeline.web import WEB_FORMATS, convert_web

# Formats (as `normalize.sniff` names them) whose own bytes are kept beside the PDF.
DIRECT_FORMATS: frozenset[str] = WEB_FORMATS | SHEET_FORMATS


@dataclass(frozen=True, slots=True)
class Convertible:
    """A normalized document: its PDF, and its own file (`original`) of format `format` where that
    is one to be read."""

    pdf: Path
    format: str
    original: Path | None = None


def convert_document(
    document: Convertible,
    config: ConvertConfig,
    by_pages: Callable[[Path, ConvertConfig], Converted] = convert_pdf,
) -> Converted:
    """The document as Markdown by the converter for its format; `by_pages` reads what is read from
    its PDF. Raises DocumentError."""
    if document.original is not None and document.format in WEB_FORMATS and config.html_route == "web":
        return convert_web(document.original.read_bytes(), document.format, config)
    if document.original is not None and document.format in SHEET_FORMATS and config.sheet_route == "cells":
        return convert_sheets(
            document.original, document.format, config, lambda: convert_pdf(document.pdf, config)
        )
    if document.original is not None and document.format in OWN_FORMATS and config.office_route == "own":
        return convert_office(
            document.original,
            document.format,
            document.pdf,
            config,
            lambda: convert_pdf(document.pdf, config),
        )
    return by_pages(document.pdf, config)
