"""Hostile and broken workbooks: bounded by what is in them, refused with the right error."""

from __future__ import annotations

import re
import time
import zipfile
from pathlib import Path

import openpyxl
import pytest

from drac_pipeline.config import ConvertConfig
from drac_pipeline.errors import CorruptDocument, DocumentTooLarge, EncryptedDocument, UnsupportedDocument
from drac_pipeline.model import BlockSpan, ConversionReport, Converted, PageReport
from drac_pipeline.sheets import convert_sheets, convert_workbook
from drac_pipeline.sheets.grid import Area, Cell, RawSheet, Row, Visibility, finish
from drac_pipeline.sheets.write import SheetWriter
from drac_pipeline_tests.sheets.conftest import put

SHEET = "xl/worksheets/sheet1.xml"


@pytest.fixture
def simple(tmp_path: Path) -> Path:
    """A workbook of two rows."""
    workbook = openpyxl.Workbook()
    put(workbook.worksheets[0], "A1", [["Part", "EUR"], ["Pump", 5]], bold=1)
    workbook.save(tmp_path / "simple.xlsx")
    return tmp_path / "simple.xlsx"


def rewrite(path: Path, member: str, pattern: str, replacement: str) -> Path:
    """A copy of a workbook with one part changed; the pattern has to be there."""
    target = path.with_name("changed.xlsx")
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as out:
        for info in source.infolist():
            data = source.read(info)
            if info.filename == member:
                text, n = re.subn(pattern, lambda _: replacement, data.decode(), count=1)
                assert n == 1
                data = text.encode()
            out.writestr(info.filename, data)
    return target


def markdown(path: Path) -> str:
    return convert_workbook(path, "xlsx", ConvertConfig()).markdown


def test_a_used_range_of_a_million_rows_costs_nothing(simple):
    far = '<row r="1048496"><c r="C1048496" s="0"/></row></sheetData>'
    path = rewrite(simple, SHEET, "</sheetData>", far)
    path = rewrite(path.rename(path.with_name("far.xlsx")), SHEET, 'ref="A1:B2"', 'ref="A1:XFD1048576"')
    start = time.monotonic()
    assert markdown(path) == "# Sheet\n\nPart: Pump; EUR: 5.\n"
    assert time.monotonic() - start < 5


def test_merged_cells_over_the_whole_sheet_cost_nothing(simple):
    merged = '</sheetData><mergeCells count="1"><mergeCell ref="A1:XFD1048576"/></mergeCells>'
    start = time.monotonic()
    assert "Part" in markdown(rewrite(simple, SHEET, "</sheetData>", merged))
    assert time.monotonic() - start < 5


def test_merged_cells_may_not_multiply_values_without_end(tmp_path):
    workbook = openpyxl.Workbook()
    put(workbook.worksheets[0], "A1", [[1, 2, 3]] * 400)
    workbook.save(tmp_path / "simple.xlsx")
    merged = "".join(f'<mergeCell ref="A{n}:A400"/>' for n in range(1, 400))
    path = rewrite(
        tmp_path / "simple.xlsx", SHEET, "</sheetData>", f"</sheetData><mergeCells>{merged}</mergeCells>"
    )
    with pytest.raises(DocumentTooLarge):
        convert_workbook(path, "xlsx", ConvertConfig(sheet_max_cells=10_000))


def test_too_many_cells(simple):
    with pytest.raises(DocumentTooLarge) as e:
        convert_workbook(simple, "xlsx", ConvertConfig(sheet_max_cells=3))
    assert "sheet_max_cells" in e.value.remedy


def test_entities_are_refused_and_never_expanded(simple):
    bomb = '<!DOCTYPE x [<!ENTITY a "boom"><!ENTITY b "&a;&a;&a;">]>\n<worksheet'
    with pytest.raises(CorruptDocument):
        markdown(rewrite(simple, SHEET, "<worksheet", bomb))
    # out of reach of the check on the head of each part, the parser leaves them as they are
    late = "<!--" + "x" * 70_000 + "-->" + bomb
    path = rewrite(simple, SHEET, "<worksheet", late)
    path = rewrite(path.rename(path.with_name("late.xlsx")), SHEET, "<v>5</v>", "<v>&b;</v>")
    assert "boom" not in markdown(path)


def test_an_encrypted_file_needs_a_password(tmp_path):
    path = tmp_path / "locked.xlsx"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600)
    with pytest.raises(EncryptedDocument):
        markdown(path)


@pytest.mark.parametrize("keep", [0.3, 0.9])
def test_a_cut_off_file_is_corrupt(simple, keep):
    data = simple.read_bytes()
    simple.write_bytes(data[: int(len(data) * keep)])
    with pytest.raises(CorruptDocument):
        markdown(simple)


def test_a_part_that_is_no_xml_is_corrupt(simple):
    with pytest.raises(CorruptDocument):
        markdown(rewrite(simple, SHEET, "</row>", "</rwo>"))


def test_a_broken_workbook_is_read_from_its_pages(simple):
    path = rewrite(simple, SHEET, "</row>", "</rwo>")
    pages = Converted(markdown="by pages\n", report=ConversionReport(converter="pages"))
    made = convert_sheets(path, "xlsx", ConvertConfig(), lambda: pages)
    assert made.markdown == "by pages\n"
    assert made.report.warnings[0].startswith("read from its printed pages, not from its cells: ")
    # what is too large for its cells is too large for its pages
    with pytest.raises(DocumentTooLarge):
        convert_sheets(simple, "xlsx", ConvertConfig(sheet_max_cells=1), lambda: pages)


def pages(text: str) -> Converted:
    report = ConversionReport(converter="pages", pages=[PageReport(page=1, reader="ocr", error="no text")])
    spans = [BlockSpan(start=0, end=len(text))] if text else []
    return Converted(markdown=text, spans=spans, report=report)


def test_what_is_in_no_cell_is_read_from_the_pages(tmp_path):
    path = tmp_path / "empty.xlsx"
    openpyxl.Workbook().save(path)
    made = convert_sheets(path, "xlsx", ConvertConfig(), lambda: pages("text of a shape\n"))
    assert made.markdown == "text of a shape\n"
    assert made.report.warnings == ["no sheet has anything to see: read from its printed pages"]


def test_a_workbook_without_anything_is_blank_and_no_error(tmp_path):
    path = tmp_path / "empty.xlsx"
    openpyxl.Workbook().save(path)
    for by_pages in (lambda: pages(""), None):
        made = convert_sheets(path, "xlsx", ConvertConfig(), by_pages)
        assert made.markdown == ""
        assert made.report.warnings == ["no sheet has anything to see: nor is anything printed"]
        assert not any(p.error for p in made.report.pages)


_STRINGS = '<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si><t>{}</t></si></sst>'


def with_strings(path: Path, text: str) -> None:
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("xl/sharedStrings.xml", _STRINGS.format(text))


def test_cells_whose_texts_are_not_there(simple):
    """A version of the format before the standard had another name for the table of texts."""
    cells = '<c r="A2" t="s"><v>0</v></c><c r="C2" t="s"><v>7</v></c><c r="D2" t="s"><v>8</v></c>'
    path = rewrite(simple, SHEET, r'<c r="A2".*?</c>', cells)
    with pytest.raises(CorruptDocument, match="texts that are not there"):
        convert_workbook(path, "xlsx", ConvertConfig())
    with_strings(path, "Pump")
    made = convert_workbook(path, "xlsx", ConvertConfig())
    assert "Part: Pump; EUR: 5." in made.markdown
    assert made.report.warnings == ["sheet Sheet: 2 cells refer to texts that are not there"]


def test_one_long_text_in_many_cells_is_bounded(simple):
    rows = "".join(f'<row r="{r}"><c r="A{r}" t="s"><v>0</v></c></row>' for r in range(3, 8003))
    path = rewrite(simple, SHEET, "</sheetData>", rows + "</sheetData>")
    with_strings(path, "x" * 30_000)
    with pytest.raises(DocumentTooLarge, match="characters"):
        convert_workbook(path, "xlsx", ConvertConfig())


def test_xls_that_is_none(tmp_path):
    path = tmp_path / "a.xls"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600)
    with pytest.raises(CorruptDocument):
        convert_workbook(path, "xls", ConvertConfig())
    with pytest.raises(UnsupportedDocument):
        convert_workbook(path, "doc", ConvertConfig())


def test_attributes_that_make_no_sense_do_no_harm(simple):
    path = rewrite(simple, SHEET, '<row r="2"', '<row r="x" ht="z"')
    path = rewrite(path.rename(path.with_name("x.xlsx")), SHEET, 's="0"|r="B2"', 'r="?" s="999999"')
    assert "Pump" in markdown(path)


def test_patterns_that_invite_quadratic_work_are_read_in_time():
    def row(number: int, columns: range) -> Row:
        return Row(number, [Cell(c, f"r{number}c{c}") for c in columns])

    sheets = [
        RawSheet("steps", rows=[row(n, range(2 * n, 2 * n + 1)) for n in range(1, 3000)]),
        RawSheet("every other row", rows=[row(2 * n, range(1, 4)) for n in range(1, 6000)]),
        RawSheet("every third column", rows=[row(n, range(1, 3000, 3)) for n in range(1, 12)]),
        RawSheet(
            "hidden intervals",
            rows=[row(n, range(1, 60)) for n in range(1, 300)],
            hidden_columns=[(2 * n, 2 * n) for n in range(1, 8000)],
            hidden_rows=set(range(1, 1_000_000, 2)),
            filters=[Area(1, 1, 1_000_000 - n, 5) for n in range(500)],
        ),
    ]
    start = time.process_time()
    for raw in sheets:
        sheet = finish(raw, Visibility(), 1_000_000)
        assert sheet is not None
        writer = SheetWriter()
        writer.sheet(sheet)
        assert len(writer.writer.spans) > 10
    assert time.process_time() - start < 10
