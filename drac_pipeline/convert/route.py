"""Which converter reads a document.

Most documents are read from their PDF. Formats that say more in their own file (a web page,
a workbook, Markdown, a text document, slides) are read from it, and their PDF is for showing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from drac_pipeline.config import ConvertConfig, NormalizeConfig
from drac_pipeline.convert.local.document import convert_pdf
from drac_pipeline.convert.locate import located
from drac_pipeline.model import Converted
from drac_pipeline.office import OWN_FORMATS, convert_office, with_missing
from drac_pipeline.sheets.route import SHEET_FORMATS, convert_sheets
from drac_pipeline.web import WEB_FORMATS, convert_web

# Formats (as `normalize.sniff` names them) whose own bytes are kept beside the PDF.
DIRECT_FORMATS: frozenset[str] = WEB_FORMATS | SHEET_FORMATS


@dataclass(frozen=True, slots=True)
class Convertible:
    """A normalized document: its PDF (which shows all of it if `whole`), and its own file
    (`original`) of format `format` where that is one to be read. `tools` says which programs may be
    started for it, and their limits."""

    pdf: Path
    format: str
    original: Path | None = None
    whole: bool = True
    tools: NormalizeConfig = field(default_factory=NormalizeConfig)


def reads_own_file(document: Convertible, config: ConvertConfig) -> bool:
    """True where the document is read from its own file and not from its PDF's pages."""
    if document.original is None:
        return False
    return (
        (document.format in WEB_FORMATS and config.html_route == "web")
        or (document.format in SHEET_FORMATS and config.sheet_route == "cells")
        or (document.format in OWN_FORMATS and config.office_route == "own")
    )


def convert_document(
    document: Convertible,
    config: ConvertConfig,
    by_pages: Callable[[Path, ConvertConfig], Converted] = convert_pdf,
) -> Converted:
    """The document as Markdown by the converter for its format; `by_pages` reads what is read from
    its PDF. Raises DocumentError."""
    own = document.original
    if own is None:
        return by_pages(document.pdf, config)
    if not reads_own_file(document, config):
        return with_missing(own, document.format, by_pages(document.pdf, config))
    if document.format in WEB_FORMATS:
        return _located(convert_web(own.read_bytes(), document.format, config), document)
    if document.format in SHEET_FORMATS:
        pages = functools.partial(by_pages, document.pdf, config) if document.whole else None
        return _located(convert_sheets(own, document.format, config, pages, document.tools), document)
    return convert_office(own, document.format, document.pdf, config, lambda: by_pages(document.pdf, config))


def _located(converted: Converted, document: Convertible) -> Converted:
    return located(converted, document.pdf) if document.whole else converted
