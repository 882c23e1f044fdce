"""Workbooks made by the tests, and how their Markdown is compared."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.styles import Font
from openpyxl.utils.cell import coordinate_to_tuple
from openpyxl.worksheet.worksheet import Worksheet

from drac_pipeline.config import ConvertConfig
from drac_pipeline.model import Converted
from drac_pipeline.sheets import convert_workbook

BOLD = Font(bold=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs LibreOffice where there is none."""
    if not shutil.which("soffice"):
        skip = pytest.mark.skip(reason="LibreOffice is not installed")
        for item in items:
            if item.get_closest_marker("office"):
                item.add_marker(skip)


def put(ws: Worksheet, at: str, rows: Sequence[Sequence[Any]], bold: int = 0) -> None:
    """Write `rows` from the cell `at`; the first `bold` rows are bold. None leaves a cell out."""
    row, col = coordinate_to_tuple(at)
    for i, values in enumerate(rows):
        for j, value in enumerate(values):
            if value is not None:
                cell = ws.cell(row + i, col + j, value)
                if i < bold:
                    cell.font = BOLD


@pytest.fixture
def book(tmp_path: Path) -> Callable[..., Converted]:
    """A function that lets its argument fill the first sheet (named Data) and converts the file."""

    def make(fill: Callable[[Any], None], **settings: Any) -> Converted:
        workbook = openpyxl.Workbook()
        sheet = workbook.active
        assert isinstance(sheet, Worksheet)
        sheet.title = "Data"
        fill(sheet)
        path = tmp_path / "book.xlsx"
        workbook.save(path)
        return convert_workbook(path, "xlsx", ConvertConfig(**settings))

    return make


def lines(converted: Converted) -> list[str]:
    """The blocks of the Markdown below the sheet's heading."""
    blocks = converted.markdown.rstrip("\n").split("\n\n")
    assert blocks[0] == "# Data"
    return blocks[1:]
