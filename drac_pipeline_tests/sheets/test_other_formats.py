"""ODS as the file has it; XLS and ODS as LibreOffice writes them say the same as the XLSX."""

from __future__ import annotations

import datetime
import struct
import zipfile
from pathlib import Path

import openpyxl
import pytest
from openpyxl.comments import Comment

from drac_pipeline.config import ConvertConfig, NormalizeConfig
from drac_pipeline.errors import EncryptedDocument
from drac_pipeline.normalize.office import office_converter
from drac_pipeline.sheets import convert_workbook
from drac_pipeline.sheets.xls_shapes import shape_texts
from drac_pipeline_tests.sheets.conftest import put

SPACES = " ".join(
    f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{long}:1.0"'
    for short, long in (
        *(("office", "office"), ("table", "table"), ("text", "text"), ("style", "style")),
        *(("fo", "xsl-fo-compatible"), ("draw", "drawing")),
    )
)
STYLES = """<office:automatic-styles>
<style:style style:name="b" style:family="table-cell">
<style:text-properties fo:font-weight="bold"/></style:style>
<style:style style:name="gone" style:family="table">
<style:table-properties table:display="false"/></style:style>
</office:automatic-styles>"""


def write_ods(path: Path, tables: str, after: str = "") -> Path:
    content = (
        f'<?xml version="1.0"?><office:document-content {SPACES}>{STYLES}'
        f"<office:body><office:spreadsheet>{tables}{after}</office:spreadsheet></office:body>"
        "</office:document-content>"
    )
    with zipfile.ZipFile(path, "w") as z:
        z.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        z.writestr("content.xml", content)
    return path


def cell(text: str, kind: str = "string", more: str = "") -> str:
    return f'<table:table-cell office:value-type="{kind}" {more}><text:p>{text}</text:p></table:table-cell>'


def row(*cells: str, more: str = "") -> str:
    return f"<table:table-row {more}>{''.join(cells)}</table:table-row>"


HEAD = row(*(cell(t, more='table:style-name="b"') for t in ("Part", "Unit", "EUR")))
EMPTY = row(
    '<table:table-cell table:number-columns-repeated="16384"/>', more='table:number-rows-repeated="1048000"'
)


def test_ods_shows_the_texts_of_the_file(tmp_path):
    down = 'table:number-rows-spanned="2" table:number-columns-spanned="1"'
    tables = (
        '<table:table table:name="Data">'
        + HEAD
        + row(cell("Pump", more=down), cell("ea<text:s text:c='2'/>ch"), cell("1.234,50 €", "currency"))
        + row("<table:covered-table-cell/>", cell("box"), cell("5", "float"))
        + row(cell("Valve"), cell("each"), cell("7", "float"), more='table:visibility="collapse"')
        + row(cell("Seal", more='table:number-columns-repeated="2"'), cell("9", "float"))
        + EMPTY
        + "</table:table>"
        + '<table:table table:name="Old" table:style-name="gone">'
        + row(cell("secret"))
        + "</table:table>"
    )
    made = convert_workbook(write_ods(tmp_path / "a.ods", tables), "ods", ConvertConfig())
    assert made.markdown == (
        "# Data\n\nPart: Pump; Unit: ea ch; EUR: 1.234,50 €.\n\nPart: Pump; Unit: box; EUR: 5.\n\n"
        "Part: Seal; Unit: Seal; EUR: 9.\n"
    )
    assert [d.text for d in made.report.dropped] == ["Data: 1 hidden row", "Old: hidden sheet"]


def test_ods_comments_and_filtered_rows(tmp_path):
    note = "<office:annotation><text:p>a remark</text:p></office:annotation>"
    tables = (
        '<table:table table:name="Data">'
        + HEAD
        + row(f'<table:table-cell office:value-type="string">{note}<text:p>Pump</text:p></table:table-cell>')
        + row(cell("Valve"), cell("each"), cell("7", "float"), more='table:visibility="filter"')
        + row(cell("Seal"), cell("each"), cell("9", "float"))
        + "</table:table>"
    )
    made = convert_workbook(write_ods(tmp_path / "a.ods", tables), "ods", ConvertConfig())
    assert made.markdown == "# Data\n\nPart: Pump.\n\nPart: Seal; Unit: each; EUR: 9.\n"
    assert [d.text for d in made.report.dropped] == ["Data: 1 row hidden by a filter", "Data!A2: a remark"]


def test_an_encrypted_ods_needs_a_password(tmp_path):
    path = write_ods(tmp_path / "a.ods", "")
    with zipfile.ZipFile(path, "a") as z:
        z.writestr("META-INF/manifest.xml", "<m><file-entry><encryption-data/></file-entry></m>")
    with pytest.raises(EncryptedDocument):
        convert_workbook(path, "ods", ConvertConfig())


@pytest.mark.office
@pytest.mark.parametrize("kind", ["xls", "ods"])
def test_the_same_workbook_says_the_same_in_other_formats(tmp_path, kind):
    workbook = openpyxl.Workbook()
    ws = workbook.worksheets[0]
    put(ws, "A1", [["Prices 2025"], ["Group", "Part", "EUR", "From", "Secret"]], bold=2)
    put(ws, "A3", [["Pumps", "P-1", 1234.5, datetime.date(2024, 5, 1), "s1"]])
    put(ws, "A4", [[None, "P-2", 7, datetime.date(2024, 6, 1), "s2"], ["Valves", "V-1", 3, True, "s3"]])
    put(ws, "A6", [["Seals", "S-1", 0.125, "never", "s4"]])
    put(ws, "A9", [["Contact:", "Silke Brandt"], ["Phone:", "n/a"]])
    ws.merge_cells("A1:E1")
    ws.merge_cells("A3:A4")
    ws["C3"].number_format = '#,##0.00 "€"'
    ws["C6"].number_format = "0.0%"
    ws["D3"].number_format = ws["D4"].number_format = "d mmm yyyy"
    ws["B3"].comment = Comment("a remark", "me")
    ws.row_dimensions[5].hidden = True
    ws.column_dimensions["E"].hidden = True
    hidden = workbook.create_sheet("Costs")
    hidden.sheet_state = "hidden"
    put(hidden, "A1", [["secret"]])
    path = tmp_path / "book.xlsx"
    workbook.save(path)
    expected = convert_workbook(path, "xlsx", ConvertConfig())
    assert expected.markdown.split("\n\n")[2:5] == [
        "Group: Pumps; Part: P-1; EUR: 1,234.50 €; From: 1 May 2024.",
        "Group: Pumps; Part: P-2; EUR: 7; From: 1 Jun 2024.",
        "Group: Seals; Part: S-1; EUR: 12.5%; From: never.",
    ]
    other = office_converter(NormalizeConfig()).convert(path, tmp_path / "out", to=kind)
    made = convert_workbook(other, kind, ConvertConfig())
    assert made.markdown == expected.markdown
    assert [(d.reason, d.text) for d in made.report.dropped if d.reason == "hidden"] == [
        ("hidden", "Sheet: 4 cells in hidden columns"),
        ("hidden", "Sheet: 1 hidden row"),
        ("hidden", "Costs: hidden sheet"),
    ]
    assert any("a remark" in d.text for d in made.report.dropped)


@pytest.mark.office
def test_text_of_shapes_is_read(tmp_path):
    shape = """<draw:custom-shape svg:x="1cm" svg:y="3cm" svg:width="6cm" svg:height="3cm"
        xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0">
        <text:p>Mind the łatch</text:p><text:p>Second line</text:p></draw:custom-shape>"""
    table = f"""<table:table table:name="Data"><table:shapes>{shape}</table:shapes>
        <table:table-row><table:table-cell office:value-type="string"><text:p>Cell</text:p></table:table-cell>
        </table:table-row></table:table>"""
    flat = tmp_path / "shapes.fods"
    flat.write_text(
        f"""<?xml version="1.0" encoding="UTF-8"?><office:document {SPACES} office:version="1.3"
        office:mimetype="application/vnd.oasis.opendocument.spreadsheet"><office:body><office:spreadsheet>
        {table}</office:spreadsheet></office:body></office:document>"""
    )
    for kind in ("xls", "xlsx", "ods"):
        path = office_converter(NormalizeConfig()).convert(flat, tmp_path / kind, to=kind)
        made = convert_workbook(path, kind, ConvertConfig())
        assert made.markdown == "# Data\n\nCell\n\nMind the łatch\n\nSecond line\n", kind


def test_a_broken_stream_gives_no_shapes():
    assert shape_texts(b"") == []
    sheet = struct.pack("<HHI", 0x85, 4, 8) + struct.pack("<HH", 0x809, 0) + struct.pack("<HH", 0x1B6, 900)
    assert shape_texts(sheet) == [[]]


def test_a_shapes_text_is_counted_in_units_of_utf_16():
    """A character beyond the first plane takes two, also where they lie in different records."""

    def record(kind: int, data: bytes) -> bytes:
        return struct.pack("<HH", kind, len(data)) + data

    def book(*parts: bytes, units: int) -> bytes:
        head = record(0x809, bytes(16))
        box = record(0x5D, struct.pack("<HHH", 0x15, 0x12, 6) + bytes(20))
        text = record(0x1B6, bytes(10) + struct.pack("<HH", units, 16) + bytes(4))
        rest = b"".join(record(0x3C, p) for p in parts) + record(0x0A, b"")
        start = len(head) + 12 + 4
        return (
            head + record(0x85, struct.pack("<II", start, 0)) + record(0x0A, b"") + head + box + text + rest
        )

    wide = "a\U0001f600b\U0001f600".encode("utf-16-le")
    runs = struct.pack("<HHHH", 0, 5, 0, 0)  # formatting, in a record of the same kind
    assert shape_texts(book(b"\1" + wide, runs, units=6)) == [["a\U0001f600b\U0001f600"]]
    assert shape_texts(book(b"\1" + wide[:4], b"\1" + wide[4:], runs, units=6)) == [
        ["a\U0001f600b\U0001f600"]
    ]
    assert shape_texts(book(b"\0ab", b"\1" + "ł".encode("utf-16-le"), runs, units=3)) == [["abł"]]
