"""Spreadsheets by their cells, or by their pages where the cells cannot be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from drac_pipeline.config import ConvertConfig
from drac_pipeline.errors import CorruptDocument, EncryptedDocument
from drac_pipeline.model import Converted
from drac_pipeline.sheets.workbook import convert_csv, convert_workbook

SHEET_FORMATS = frozenset({"xlsx", "xls", "ods", "csv"})


def convert_sheets(
    original: Path, format: str, config: ConvertConfig, by_pages: Callable[[], Converted]
) -> Converted:
    """The Markdown of a spreadsheet.

    LibreOffice opens some files that this cannot (encrypted with the password all programs
    know, broken but repairable), so there is a PDF then: `by_pages` reads that, with a warning.
    """
    try:
        if format == "csv":
            return convert_csv(original.read_bytes(), config)
        return convert_workbook(original, format, config)
    except (EncryptedDocument, CorruptDocument) as e:
        converted = by_pages()
        converted.report.warnings.append(f"read from its printed pages, not from its cells: {e.cause}")
        return converted
