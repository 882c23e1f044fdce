"""Values as displayed. The office test holds the same table against LibreOffice."""

from __future__ import annotations

import csv
import subprocess

import openpyxl
import pytest

from drac_pipeline.normalize.office import find_office
from drac_pipeline.sheets.dates import moment
from drac_pipeline.sheets.number_format import general, number_format

SHOWN = [
    ("General", 0.1 + 0.2, "0.3"),
    ("General", 123456789012, "123456789012"),
    ("General", 1234567.891, "1234567.891"),
    ("0", 2.5, "3"),
    ("0.00", 2.675, "2.68"),
    ("0.00", -0.004, "0.00"),
    ("#,##0", 1234567.5, "1,234,568"),
    ("#,##0.00", -1234.5, "-1,234.50"),
    ("0%", 0.284, "28%"),
    ("0.0%", 0.125, "12.5%"),
    ("0.0 %", 0.125, "12.5 %"),
    ("0.00E+00", 12345.678, "1.23E+04"),
    ("##0.0E+0", 12345.678, "12.3E+3"),
    ("# ?/?", 1.5, "1 1/2"),
    ("# ??/??", 2.675, "2 27/40"),
    ("# ?/8", 2.675, "2 5/8"),
    ("00000", 123, "00123"),
    ("#.##", 0.5, ".5"),
    ("#.##", 1, "1"),
    (".00", 1.5, "1.50"),
    ("0.0##", 1.25, "1.25"),
    ("#,##0,", 1234567, "1,235"),
    ('0.0,,"M"', 12345678, "12.3M"),
    ('"$"#,##0.00', -5, "-$5.00"),
    ("$#,##0_);($#,##0)", -1234, "($1,234)"),
    ("£#,##0.00", 1231.5, "£1,231.50"),
    ('#,##0.00 "€"', 9.4, "9.40 €"),
    ("[$€-2] #,##0.00", 1234.5, "€ 1,234.50"),
    ('"CHF" #,##0.00', 210, "CHF 210.00"),
    ("#,##0.00_);[Red](#,##0.00)", -5.5, "(5.50)"),
    ('_(* #,##0.00_);_(* (#,##0.00);_(* "-"??_);_(@_)', 0, "-"),
    ('_(* #,##0.00_);_(* (#,##0.00);_(* "-"??_);_(@_)', -1234.5, "(1,234.50)"),
    ('0.00;-0.00;"zero"', 0, "zero"),
    ('[>=1000]#,##0.0,"k";0', 2500, "2.5k"),
    ("[<=9999999]###-####;(###) ###-####", 5551234, "555-1234"),
    ("[<=9999999]###-####;(###) ###-####", 4155551234, "(415) 555-1234"),
    ("000-00-0000", 123456789, "123-45-6789"),
    ('0" pcs"', 5, "5 pcs"),
    ('General" kg"', 3.5, "3.5 kg"),
    ('0.0"%"', 5, "5.0%"),
    ("yyyy-mm-dd", 45671, "2025-01-14"),
    ("dd.mm.yyyy", 45671, "14.01.2025"),
    ("d mmm yyyy", 45671, "14 Jan 2025"),
    ("DD MMM YYYY", 45692, "04 Feb 2025"),
    ("dddd, d mmmm yyyy", 45671, "Tuesday, 14 January 2025"),
    ("[$-407]d. mmmm yyyy", 45731, "15. März 2025"),
    ("mmm-yy", 45671, "Jan-25"),
    ("m/d/yyyy h:mm", 45671.5, "1/14/2025 12:00"),
    ("h:mm AM/PM", 0.75, "6:00 PM"),
    ("yyyy-mm-dd hh:mm:ss", 45671.25, "2025-01-14 06:00:00"),
    ("[h]:mm", 1.5, "36:00"),
    ("[mm]:ss", 0.0625, "90:00"),
    ("mm:ss.0", 0.0012345, "01:46.7"),
    ('h "h" mm', 0.4375, "10 h 30"),
]


@pytest.mark.parametrize(("code", "value", "shown"), SHOWN)
def test_a_value_shows_as_its_format_says(code, value, shown):
    assert number_format(code).render(value) == shown


def test_texts_take_the_words_of_their_format():
    assert number_format('"No. "@').render_text("A7") == "No. A7"
    assert number_format('0.00;-0.00;0;"<"@">"').render_text("n/a") == "<n/a>"
    assert number_format("0.00").render_text("n/a") == "n/a"


def test_a_format_that_shows_nothing_shows_nothing():
    assert number_format(";;;").render(5) == ""
    assert number_format(";;;").render_text("secret") == ""


def test_numbers_without_a_format_keep_their_digits():
    assert general(4006381333931.0) == "4006381333931"
    assert general(1e21) == "1E+21"
    assert general(-0.000012) == "-0.000012"
    assert general(float("inf")) == "inf"


def test_halves_are_rounded_as_they_are_written():
    # 28.5 in decimals; as binary numbers multiplied it is a little less
    assert number_format("0%").render(0.285) == "29%"
    assert number_format("0.00").render(1.005) == "1.01"


def test_day_numbers_of_both_date_systems():
    assert number_format("yyyy-mm-dd", True).render(0) == "1904-01-01"
    assert number_format("yyyy-mm-dd").render(1) == "1900-01-01"  # not 1899: a leap day is made up in between
    assert number_format("yyyy-mm-dd").render(61) == "1900-03-01"
    assert number_format("yyyy-mm-dd").render(-1) == "-1"  # no date at all
    assert moment(1e12) is None


def test_any_code_renders_any_number():
    for code in (
        "[",
        '"',
        "\\",
        "0.0.0",
        "0/0/0",
        "E+",
        "[h",
        "_",
        "*",
        "0;0;0;0;0;0",
        "#,,,.,#",
        "?/",
        "[$-",
        "%%%",
    ):
        for value in (0, 1, -1.5, 1e300, -1e-300, float("nan")):
            shown = number_format(code).render(value)
            assert isinstance(shown, str)


@pytest.mark.office
def test_libreoffice_shows_the_same(tmp_path):
    workbook = openpyxl.Workbook()
    sheet = workbook.create_sheet("Values", 0)
    for row, (code, value, _) in enumerate(SHOWN, 1):
        sheet.cell(row, 1, value).number_format = code
    sheet.column_dimensions["A"].width = 60
    workbook.save(tmp_path / "values.xlsx")
    profile = (tmp_path / "profile").as_uri()
    subprocess.run(
        [
            *(find_office(), "--headless", f"-env:UserInstallation={profile}", "--convert-to"),
            # tab, quotes, UTF-8, all texts quoted, cells as shown
            "csv:Text - txt - csv (StarCalc):9,34,76,1,,0,true,true,true",
            *("--outdir", str(tmp_path), str(tmp_path / "values.xlsx")),
        ],
        check=True,
        capture_output=True,
        timeout=120,
    )
    with (tmp_path / "values.csv").open(encoding="utf-8", newline="") as f:
        shown = [" ".join(row[0].split()) for row in csv.reader(f, delimiter="\t")]
    assert shown == [s for _, _, s in SHOWN]
