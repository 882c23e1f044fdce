"""Values of formulas that a file has none for: programs that write workbooks without
calculating leave them out, and LibreOffice calculates them when it opens such a file."""

from __future__ import annotations

import tempfile
from bisect import insort
from pathlib import Path

from drac_pipeline.config import NormalizeConfig
from drac_pipeline.errors import DocumentError
from drac_pipeline.normalize.office import office_converter
from drac_pipeline.sheets.grid import Cell, RawSheet, Row
from drac_pipeline.sheets.xlsx import read_xlsx


def fill_in(path: Path, sheets: list[RawSheet], max_cells: int, tools: NormalizeConfig) -> str:
    """Give the formulas of `sheets` their values; says why where that was not possible."""
    try:
        with tempfile.TemporaryDirectory(prefix="drac-sheets-") as folder:
            source = Path(folder) / f"workbook{path.suffix if path.suffix.isascii() else ''}"
            if source.suffix not in (".xlsx", ".xlsm", ".ods"):
                source = source.with_suffix(".xlsx")
            source.write_bytes(path.read_bytes())
            result = office_converter(tools).convert(
                source, Path(folder) / "out", to="xlsx:Calc MS Excel 2007 XML"
            )
            calculated = {s.name: s for s in read_xlsx(result, max_cells, hidden_sheets=True)}
    except DocumentError as e:
        return e.cause
    for sheet in sheets:
        if sheet.uncalculated and sheet.name in calculated:
            _take(sheet, calculated[sheet.name])
    return ""


def _take(sheet: RawSheet, calculated: RawSheet) -> None:
    """Put the missing cells in; what stays missing is empty after calculation too, unless it is not there."""
    values = {r.number: {c.col: c for c in r.cells} for r in calculated.rows}
    rows = {r.number: r for r in sheet.rows}
    for number, col in sheet.uncalculated:
        found = values.get(number, {}).get(col)
        if found is None:
            continue
        row = rows.get(number)
        if row is None:
            row = rows[number] = Row(number, [])
            insort(sheet.rows, row, key=lambda r: r.number)
        insort(row.cells, Cell(col, found.text, found.kind, found.look), key=lambda c: c.col)
    sheet.uncalculated = []
