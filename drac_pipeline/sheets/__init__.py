"""Spreadsheets to retrieval-oriented Markdown by reading their cells."""

from drac_pipeline.sheets.route import SHEET_FORMATS, convert_sheets
from drac_pipeline.sheets.workbook import convert_csv, convert_workbook

__all__ = ["SHEET_FORMATS", "convert_csv", "convert_sheets", "convert_workbook"]
