"""The workbook: three visible sheets and a hidden one, several tables, dates, currencies, cached totals."""

import re
import zipfile
from datetime import date

from openpyxl import Workbook
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.utils import get_column_letter

from .common import fix_zip, target

NAME = "hr/Travel Rates and Expenses 2025.xlsx"
FORMATS = {
    "GBP": "£#,##0.00",
    "EUR": '#,##0.00 "€"',
    "PLN": '#,##0.00 "zł"',
    "CHF": '"CHF" #,##0.00',
    "DKK": '#,##0 "kr"',
}
DAILY = [
    ("United Kingdom", "GBP", 38, 16, 9),
    ("Germany", "EUR", 30, 15, 6),
    ("Poland", "PLN", 130, 60, 30),
    ("Ireland", "EUR", 46, 20, 10),
    ("Netherlands", "EUR", 47, 32, 9.4),
    ("France, Paris", "EUR", 58, 39, 11.6),
    ("France, other", "EUR", 53, 36, 10.6),
    ("Denmark", "DKK", 560, 370, 80),
    ("Switzerland", "CHF", 72, 48, 14),
]
MILEAGE = [
    ("Car, first 10,000 miles a year", 0.45, "per mile"),
    ("Car, every further mile", 0.25, "per mile"),
    ("Motorcycle", 0.24, "per mile"),
    ("Bicycle", 0.20, "per mile"),
    ("Passenger supplement", 0.05, "per mile and person"),
]
HOTELS = [
    ("London", "GBP", 165, "Priya Ramanathan"),
    ("Lancaster", "GBP", 95, "Priya Ramanathan"),
    ("Other UK", "GBP", 115, "Priya Ramanathan"),
    ("Hamburg", "EUR", 140, "Silke Brandt"),
    ("Kiel", "EUR", 110, "Silke Brandt"),
    ("Munich", "EUR", 160, "Silke Brandt"),
    ("Warsaw", "PLN", 520, "Ewa Zielińska"),
    ("Gdańsk", "PLN", 440, "Ewa Zielińska"),
    ("Copenhagen", "DKK", 1400, "Silke Brandt"),
    ("Zurich", "CHF", 210, "Silke Brandt"),
]
TRIPS = [
    (
        "T-25-001",
        "Marta Wiśniewska",
        "Kiel, service meeting",
        date(2025, 1, 14),
        date(2025, 1, 16),
        412.6,
        186.0,
        90.0,
    ),
    (
        "T-25-002",
        "Benedikt Sommer",
        "Zurich, tender WVZ",
        date(2025, 1, 20),
        date(2025, 1, 22),
        338.0,
        371.4,
        182.5,
    ),
    (
        "T-25-003",
        "Owen Pritchard",
        "Gdynia, Peltra Membranes",
        date(2025, 1, 28),
        date(2025, 1, 30),
        294.2,
        168.3,
        75.1,
    ),
    (
        "T-25-004",
        "Aileen Strachan",
        "Hollin Bank, trial review",
        date(2025, 2, 4),
        date(2025, 2, 4),
        61.2,
        0.0,
        16.0,
    ),
    (
        "T-25-005",
        "Jens Petersen",
        "Lancaster, audit",
        date(2025, 2, 10),
        date(2025, 2, 13),
        455.9,
        285.0,
        152.0,
    ),
    (
        "T-25-006",
        "Harriet Oduya",
        "London, bank meeting",
        date(2025, 2, 19),
        date(2025, 2, 20),
        148.5,
        159.0,
        54.0,
    ),
    (
        "T-25-007",
        "Marta Wiśniewska",
        "Skelby, fault E17",
        date(2025, 3, 19),
        date(2025, 3, 20),
        97.4,
        104.0,
        54.0,
    ),
    (
        "T-25-008",
        "Benedikt Sommer",
        "Copenhagen, trade fair",
        date(2025, 3, 24),
        date(2025, 3, 28),
        287.0,
        612.8,
        331.7,
    ),
]
HEAD = PatternFill("solid", fgColor="DCE6EA")


def table(sheet, row: int, head: list[str], rows: list[tuple]) -> int:
    """Write a header and rows from the given row on; return the next free row."""
    for r, values in enumerate([tuple(head), *rows]):
        for c, value in enumerate(values, 1):
            cell = sheet.cell(row + r, c, value)
            cell.font = Font(name="Arial", size=10, bold=r == 0)
            if r == 0:
                cell.fill = HEAD
                if len(head[c - 1]) > 24:
                    sheet.row_dimensions[row].height = 28
            number = isinstance(rows[0][c - 1], int | float | date) or head[c - 1] == "Total"
            side = "right" if number else "left"
            cell.alignment = Alignment(side, "top", wrap_text=r == 0, indent=0 if number else 1)
    return row + len(rows) + 1


def title(sheet, row: int, text: str) -> int:
    """A bold line above a table."""
    sheet.cell(row, 1, text).font = Font(name="Arial", bold=True, size=13, color="1F5C7A")
    return row + 1


def widths(sheet, *values: float) -> None:
    """Column widths and a print set-up that fits the width."""
    for i, value in enumerate(values, 1):
        sheet.column_dimensions[get_column_letter(i)].width = value
    sheet.page_setup.orientation = "landscape"
    sheet.page_setup.paperSize = 9
    sheet.page_setup.fitToHeight = 0
    sheet.sheet_properties.pageSetUpPr.fitToPage = True


def rates(sheet) -> None:
    """Two tables on one sheet: daily allowances and mileage."""
    start = title(sheet, 1, "Daily allowances, valid from 1 January 2025")
    head = [
        "Country",
        "Currency",
        "Full day (24 h)",
        "Part of a day (more than 8 h)",
        "Deduction for breakfast",
    ]
    row = table(sheet, start, head, DAILY)
    for r in range(start + 1, row):
        for c in (3, 4, 5):
            sheet.cell(r, c).number_format = FORMATS[sheet.cell(r, 2).value]
    sheet.cell(row, 1, "The day of departure and the day of return count as parts of a day.").font = Font(
        name="Arial", size=10, italic=True
    )
    start = title(sheet, row + 2, "Mileage for private vehicles (United Kingdom)")
    row = table(sheet, start, ["Vehicle", "Rate", "Unit"], MILEAGE)
    for r in range(start + 1, row):
        sheet.cell(r, 2).number_format = "£0.00"
    widths(sheet, 32, 11, 17, 19, 19)


def hotels(sheet) -> None:
    """Hotel limits with the person who approves more."""
    start = title(sheet, 1, "Highest hotel price per night including breakfast")
    row = table(sheet, start, ["City", "Currency", "Limit per night", "Exceptions approved by"], HOTELS)
    for r in range(start + 1, row):
        sheet.cell(r, 3).number_format = FORMATS[sheet.cell(r, 2).value]
    widths(sheet, 24, 11, 17, 26)


def trips(sheet) -> dict[str, float]:
    """The log of trips with sums as formulas; returns the values of the formulas by cell."""
    sheet.merge_cells("A1:I1")
    start = title(sheet, 1, "Trips, first quarter of 2025 (all amounts in GBP)")
    head = ["Trip", "Traveller", "Purpose", "From", "To", "Transport", "Hotel", "Allowance", "Total"]
    end = table(sheet, start, head, [(*trip, None) for trip in TRIPS])
    cached: dict[str, float] = {}
    for r, trip in enumerate(TRIPS, start + 1):
        sheet.cell(r, 9, f"=SUM(F{r}:H{r})").font = Font(name="Arial", size=10)
        cached[f"I{r}"] = round(sum(trip[5:8]), 2)
    sheet.cell(end, 1, "Total")
    for c, letter in enumerate("FGH", 5):
        sheet[f"{letter}{end}"] = f"=SUM({letter}{start + 1}:{letter}{end - 1})"
        cached[f"{letter}{end}"] = round(sum(t[c] for t in TRIPS), 2)
    sheet[f"I{end}"] = f"=SUM(I{start + 1}:I{end - 1})"
    cached[f"I{end}"] = round(sum(sum(t[5:8]) for t in TRIPS), 2)
    for r in range(start + 1, end + 1):
        for c in range(6, 10):
            sheet.cell(r, c).number_format = FORMATS["GBP"]
        for c in (4, 5):
            sheet.cell(r, c).number_format = "DD MMM YYYY"
    for c in range(1, 10):
        sheet.cell(end, c).font = Font(name="Arial", size=10, bold=True)
    sheet.freeze_panes = "A3"
    widths(sheet, 11, 21, 28, 13, 13, 12, 12, 12, 13)
    return cached


def make() -> None:
    """Write the workbook and put the values of its formulas into it, as a spreadsheet program does."""
    book = Workbook()
    rates_sheet = book.active
    rates_sheet.title = "Rates"
    rates(rates_sheet)
    hotels(book.create_sheet("Hotels"))
    cached = trips(book.create_sheet("Trips Q1"))
    hidden = book.create_sheet("Cost centres")
    table(
        hidden,
        1,
        ["Cost centre", "Department", "Budget 2025 (GBP)"],
        [("CC-410", "Service", 46000), ("CC-520", "Sales", 61000)],
    )
    hidden.sheet_state = "hidden"
    book.properties.creator = "People team"
    path = target(NAME)
    book.save(path)
    with zipfile.ZipFile(path) as src:
        parts = {n: src.read(n) for n in src.namelist()}
    name = "xl/worksheets/sheet3.xml"
    for cell, value in cached.items():
        pattern = rf'(<c r="{cell}"[^>]*><f>[^<]*</f>)<v ?/?>(</v>)?'
        parts[name], done = re.subn(pattern.encode(), rf"\g<1><v>{value}</v>".encode(), parts[name])
        assert done == 1, cell
    with zipfile.ZipFile(path, "w") as out:
        for part, data in parts.items():
            out.writestr(part, data)
    fix_zip(path)
