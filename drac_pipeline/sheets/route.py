"""Spreadsheets by their cells, or by their pages where the cells cannot be read."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

from drac_pipeline.config import ConvertConfig, NormalizeConfig
from drac_pipeline.errors import CorruptDocument, DocumentError, EmptyDocument, EncryptedDocument
from drac_pipeline.model import Converted
from drac_pipeline.model.conversion import ConversionReport
from drac_pipeline.sheets.workbook import convert_csv, convert_workbook

SHEET_FORMATS = frozenset({"xlsx", "xls", "ods", "csv"})


def convert_sheets(
    original: Path,
    format: str,
    config: ConvertConfig,
    by_pages: Callable[[], Converted] | None,
    tools: NormalizeConfig | None = None,
) -> Converted:
    """The Markdown of a spreadsheet; without text where it has none.

    LibreOffice opens some files that this cannot (encrypted with the password all programs
    know, broken but repairable), and prints what is in no cell (charts, text in shapes). So
    where the cells give nothing, `by_pages` reads the PDF, with a warning; None where there is no
    PDF that shows the workbook.
    """
    tools = tools or NormalizeConfig()
    try:
        if format == "csv":
            return convert_csv(original.read_bytes(), config)
        return convert_workbook(original, format, config, tools)
    except EmptyDocument as e:
        return _without_cells(by_pages, e)
    except (EncryptedDocument, CorruptDocument) as e:
        if by_pages is None:
            raise
        converted = by_pages()
        converted.report.warnings.append(f"read from its printed pages, not from its cells: {e.cause}")
        return converted


def _without_cells(by_pages: Callable[[], Converted] | None, why: EmptyDocument) -> Converted:
    """What is printed of a workbook with empty or hidden cells: text of shapes and charts, or nothing."""
    converted = None
    if by_pages is not None:
        with contextlib.suppress(DocumentError):
            converted = by_pages()
    if converted is None:
        converted = Converted(markdown="", report=ConversionReport(converter="sheets"))
    seen = "read from its printed pages" if converted.spans else "nor is anything printed"
    converted.report.warnings.append(f"{why.cause}: {seen}")
    # a sheet of nothing but lines is no page that could not be read
    for page in converted.report.pages:
        page.error, page.blank = None, page.blank or not page.n_chars
    return converted
