"""Values, hidden parts, comments, and where everything came from."""

from __future__ import annotations

import datetime

import openpyxl
import pytest
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.comments import Comment

from drac_pipeline.config import ConvertConfig
from drac_pipeline.errors import EmptyDocument
from drac_pipeline.model import ElementKind
from drac_pipeline.parse import parse_markdown
from drac_pipeline.sheets import convert_workbook
from drac_pipeline_tests.sheets.conftest import lines, put


def test_values_show_as_displayed(book):
    def fill(ws):
        put(
            ws,
            "A1",
            [["What", "Shown"], ["rate", 0.125], ["price", 1234.5], ["yes", True], ["bad", "#DIV/0!"]],
            1,
        )
        put(ws, "A6", [["when", datetime.datetime(2024, 3, 5)], ["two lines", "a\nb"], ["id", 4006381333931]])
        ws["B2"].number_format = "0.0%"
        ws["B3"].number_format = '#,##0.00 "€"'
        ws["B5"].data_type = "e"
        ws["B6"].number_format = "d mmmm yyyy"
        put(ws, "A9", [["rich", CellRichText("plain ", TextBlock(InlineFont(b=True), "bold"), " end")]])
        put(ws, "A10", [["link", "our page"]])
        ws["B10"].hyperlink = "https://example.org/page"

    assert lines(book(fill)) == [
        "What: rate; Shown: 12.5%.",
        "What: price; Shown: 1,234.50 €.",
        "What: yes; Shown: TRUE.",
        "What: bad; Shown: #DIV/0!",
        "What: when; Shown: 5 March 2024.",
        "What: two lines; Shown: a b.",
        "What: id; Shown: 4006381333931.",
        "What: rich; Shown: plain bold end.",
        "What: link; Shown: our page.",
    ]


def table_with_hidden_parts(ws):
    put(ws, "A1", [["Name", "Pay", "Room"], ["Anna", 100, 7], ["Tom", 200, 8], ["Eva", 300, 9]], bold=1)
    ws.row_dimensions[3].hidden = True
    ws.column_dimensions["B"].hidden = True


def test_hidden_rows_and_columns_are_left_out_and_reported(book):
    made = book(table_with_hidden_parts)
    assert lines(made) == ["Name: Anna; Room: 7.", "Name: Eva; Room: 9."]
    assert [(d.text, d.reason) for d in made.report.dropped] == [
        ("Data: 3 cells in hidden columns", "hidden"),
        ("Data: 1 hidden row", "hidden"),
    ]


def test_hidden_rows_and_columns_can_be_taken_in(book):
    made = book(table_with_hidden_parts, hidden_rows=True, hidden_columns=True)
    assert lines(made) == [
        "Name: Anna; Pay: 100; Room: 7.",
        "Name: Tom; Pay: 200; Room: 8.",
        "Name: Eva; Pay: 300; Room: 9.",
    ]
    assert made.report.dropped == []


def test_rows_that_a_filter_hides_have_their_own_policy(book):
    def fill(ws):
        put(ws, "A1", [["Name", "State"], ["a", "open"], ["b", "closed"], ["c", "open"]])
        ws.auto_filter.ref = "A1:B4"
        ws.auto_filter.add_filter_column(1, ["open"])
        ws.row_dimensions[3].hidden = True

    made = book(fill)
    assert lines(made) == ["Name: a; State: open.", "Name: c; State: open."]
    assert made.report.warnings == ["sheet Data: 1 row hidden by a filter left out"]
    assert lines(book(fill, filtered_rows=True))[1] == "Name: b; State: closed."
    assert len(lines(book(fill, hidden_rows=True))) == 2


def test_a_merged_value_whose_first_row_is_hidden_is_still_seen(book):
    def fill(ws):
        put(ws, "A1", [["Group", "Item", "Sum"], ["G1", "a", 1], [None, "b", 2], [None, "c", 3]], bold=1)
        ws.merge_cells("A2:A4")
        ws.row_dimensions[2].hidden = True

    assert lines(book(fill)) == ["Group: G1; Item: b; Sum: 2.", "Group: G1; Item: c; Sum: 3."]


def test_hidden_sheets_are_left_out_with_their_name(tmp_path):
    workbook = openpyxl.Workbook()
    put(workbook.worksheets[0], "A1", [["Seen text"]])
    for name, state in (("Costs", "hidden"), ("Deep", "veryHidden")):
        sheet = workbook.create_sheet(name)
        sheet.sheet_state = state
        put(sheet, "A1", [["Secret text"]])
    workbook.save(tmp_path / "b.xlsx")
    made = convert_workbook(tmp_path / "b.xlsx", "xlsx", ConvertConfig())
    assert made.markdown == "# Sheet\n\nSeen text\n"
    assert [d.text for d in made.report.dropped] == ["Costs: hidden sheet", "Deep: hidden sheet"]
    taken = convert_workbook(tmp_path / "b.xlsx", "xlsx", ConvertConfig(hidden_sheets=True))
    assert taken.markdown == "# Sheet\n\nSeen text\n\n# Costs\n\nSecret text\n\n# Deep\n\nSecret text\n"


def test_a_workbook_with_nothing_to_see_is_empty(book):
    with pytest.raises(EmptyDocument):
        book(lambda ws: ws.cell(1, 1))


def test_comments_are_left_out_or_taken_in(book):
    def fill(ws):
        put(ws, "A1", [["Name", "Room"], ["Anna", 7]], bold=1)
        ws["B2"].comment = Comment("moved in May", "me")

    made = book(fill)
    assert "moved" not in made.markdown
    assert [(d.text, d.reason) for d in made.report.dropped] == [("Data!B2: moved in May", "comment")]
    assert lines(book(fill, cell_comments=True)) == ["Name: Anna; Room: 7.", "B2: moved in May"]


def test_spans_are_the_blocks_and_know_their_cells(book):
    def fill(ws):
        put(ws, "B2", [["Prices"], ["Part", "EUR"], ["Pump", 5], ["Valve", 3]], bold=2)
        put(ws, "B8", [["A closing remark."]])

    made = book(fill)
    said = [(made.markdown[s.start : s.end], s.kind, s.origin, s.table_id, s.row) for s in made.spans]
    assert said == [
        ("# Data", "heading", "Data", None, None),
        ("## Prices", "heading", "Data!B2", None, None),
        ("Part: Pump; EUR: 5.", "table_row", "Data!B4:C4", "t1", 0),
        ("Part: Valve; EUR: 3.", "table_row", "Data!B5:C5", "t1", 1),
        ("A closing remark.", "paragraph", "Data!B8", None, None),
    ]
    assert made.tables[0].origin == "Data!B2:C5"
    assert [(r.cells, r.origin, r.page) for r in made.tables[0].rows] == [
        (["Pump", "5"], "Data!B4:C4", 0),
        (["Valve", "3"], "Data!B5:C5", 0),
    ]
    elements = parse_markdown(made.markdown, made.spans)
    kinds = [e.kind for e in elements]
    assert kinds == [ElementKind.HEADING] * 2 + [ElementKind.TABLE_ROW] * 2 + [ElementKind.PARAGRAPH]
    assert elements[2].ancestors == ("h1", "h2")


def test_a_sheet_name_with_blanks_is_quoted_where_cells_are_named(tmp_path):
    workbook = openpyxl.Workbook()
    workbook.worksheets[0].title = "Q1 '25"
    put(workbook.worksheets[0], "A1", [["a text"]])
    workbook.save(tmp_path / "b.xlsx")
    made = convert_workbook(tmp_path / "b.xlsx", "xlsx", ConvertConfig())
    assert made.spans[1].origin == "'Q1 ''25'!A1"


@pytest.mark.office
def test_formulas_without_values_are_calculated(book):
    made = book(
        lambda ws: put(ws, "A1", [["N", "Double", "Word"], [4, "=A2*2", '=IF(A2>3,"big","")']], bold=1)
    )
    assert lines(made) == ["N: 4; Double: 8; Word: big."]
    assert made.report.warnings == []


def test_without_libreoffice_a_warning_says_what_is_missing(book, monkeypatch):
    monkeypatch.setenv("PATH", "")
    from drac_pipeline.normalize import office

    monkeypatch.setattr(office, "_shared", {})
    made = book(lambda ws: put(ws, "A1", [["N", "Double"], [4, "=A2*2"]], bold=1))
    assert lines(made) == ["Double", "N: 4."]
    assert len(made.report.warnings) == 1
    assert made.report.warnings[0].startswith("sheet Data: 1 formula has no stored value and is empty here (")
