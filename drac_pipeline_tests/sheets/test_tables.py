"""Which cells are a table, its header, its rows, and the text around it."""

from __future__ import annotations

import datetime

from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.worksheet.table import Table

from drac_pipeline_tests.sheets.conftest import BOLD, lines, put


def test_every_row_is_a_sentence_with_its_header(book):
    made = book(lambda ws: put(ws, "A1", [["Part", "Price"], ["Pump", 12.5], ["Valve", 3]], bold=1))
    assert lines(made) == ["Part: Pump; Price: 12.5.", "Part: Valve; Price: 3."]


def test_a_wide_sheet_keeps_its_columns_together(book):
    head, row = [f"H{i}" for i in range(300)], list(range(300))
    made = book(lambda ws: put(ws, "A1", [head, row], bold=1))
    assert lines(made) == ["; ".join(f"H{i}: {i}" for i in range(300)) + "."]


def test_a_title_above_is_a_heading_and_the_caption(book):
    made = book(lambda ws: put(ws, "A1", [["Prices 2025"], ["valid from May"], ["Part", "EUR"], ["Pump", 5]]))
    assert lines(made) == ["## Prices 2025", "valid from May", "Part: Pump; EUR: 5."]
    assert made.tables[0].caption == "Prices 2025"


def test_a_title_after_an_empty_row_is_the_tables_too(book):
    def fill(ws):
        put(ws, "A1", [["Prices 2025"]])
        put(ws, "A4", [["Part", "EUR"], ["Pump", 5]], bold=1)

    assert lines(book(fill)) == ["## Prices 2025", "Part: Pump; EUR: 5."]


def test_tables_below_each_other_are_two(book):
    def fill(ws):
        put(ws, "A1", [["Part", "EUR"], ["Pump", 5]], bold=1)
        put(ws, "A5", [["City", "Days"], ["Ulm", 2]], bold=1)

    made = book(fill)
    assert lines(made) == ["Part: Pump; EUR: 5.", "City: Ulm; Days: 2."]
    assert [t.header for t in made.tables] == [[["Part"], ["EUR"]], [["City"], ["Days"]]]


def test_tables_side_by_side_are_two_with_their_titles(book):
    def fill(ws):
        put(ws, "A1", [["Sales"]], bold=1)
        put(ws, "A3", [["Region", "Sum"], ["North", 1], ["South", 2]], bold=1)
        put(ws, "E1", [["Staff"]], bold=1)
        put(ws, "E3", [["Name", "Room"], ["Anna", 7]], bold=1)

    assert lines(book(fill)) == [
        "## Sales",
        "Region: North; Sum: 1.",
        "Region: South; Sum: 2.",
        "## Staff",
        "Name: Anna; Room: 7.",
    ]


def test_a_table_without_a_title_is_not_found_under_anothers(book):
    def fill(ws):
        put(ws, "A1", [["Prices"], ["Part", "EUR"], ["Pump", 5]], bold=2)
        put(ws, "A6", [["City", "Days"], ["Ulm", 2]], bold=1)

    assert lines(book(fill)) == ["## Prices", "Part: Pump; EUR: 5.", "## Data", "City: Ulm; Days: 2."]


def test_a_title_merged_over_two_tables_does_not_join_them(book):
    def fill(ws):
        put(ws, "A1", [["Overview"]], bold=1)
        ws.merge_cells("A1:E1")
        put(ws, "A2", [["Region", "Sum"], ["North", 1]], bold=1)
        put(ws, "D2", [["Name", "Room"], ["Anna", 7]], bold=1)

    assert lines(book(fill)) == ["## Overview", "Region: North; Sum: 1.", "Name: Anna; Room: 7."]


def test_merged_headers_become_paths_and_merged_values_are_repeated(book):
    def fill(ws):
        put(ws, "A1", [["Region", 2023, None, 2024], [None, "Plan", "Actual", "Plan"], ["North", 1, 2, 3]], 2)
        put(ws, "A4", [[None, 4, 5, 6], ["South", 7, 8, 9]])
        ws.merge_cells("A1:A2")
        ws.merge_cells("B1:C1")
        ws.merge_cells("A3:A4")

    assert lines(book(fill)) == [
        "Region: North; 2023, Plan: 1; 2023, Actual: 2; 2024, Plan: 3.",
        "Region: North; 2023, Plan: 4; 2023, Actual: 5; 2024, Plan: 6.",
        "Region: South; 2023, Plan: 7; 2023, Actual: 8; 2024, Plan: 9.",
    ]


def test_group_labels_that_are_not_merged_spread_where_the_labels_below_repeat(book):
    rows = [[None, "2023", None, "2024"], ["City", "Plan", "Actual", "Plan", "Actual"], ["Ulm", 1, 2, 3, 4]]
    made = book(lambda ws: put(ws, "A1", rows))
    assert lines(made) == ["City: Ulm; 2023, Plan: 1; 2023, Actual: 2; 2024, Plan: 3; 2024, Actual: 4."]


def test_a_label_centred_across_columns_counts_as_merged(book):
    def fill(ws):
        put(ws, "A1", [["City", "Load"], [None, "Day", "Night"], ["Ulm", 1, 2]], bold=2)
        for at in ("B1", "C1"):
            ws[at].alignment = Alignment(horizontal="centerContinuous")

    assert lines(book(fill)) == ["City: Ulm; Load, Day: 1; Load, Night: 2."]


def test_keys_and_values(book):
    def fill(ws):
        put(ws, "A1", [["Owner", "Jane Hill"], ["Budget", 5000], ["Start", datetime.date(2024, 5, 1)]])

    assert lines(book(fill)) == ["Owner: Jane Hill.", "Budget: 5000.", "Start: 2024-05-01."]


def test_keys_set_in_bold_are_no_header(book):
    def fill(ws):
        put(ws, "A1", [["Plant", 12], ["Staff", 40], ["Shifts", 3]])
        for at in ("A1", "A2", "A3"):
            ws[at].font = BOLD

    assert lines(book(fill)) == ["Plant: 12.", "Staff: 40.", "Shifts: 3."]


def test_a_form_of_labels_with_colons(book):
    rows = [["Name:", "Anna", "Date:", datetime.date(2024, 5, 1)], ["Room:", 7, "Phone:", "n/a"]]
    made = book(lambda ws: put(ws, "A1", rows))
    assert lines(made) == ["Name: Anna; Date: 2024-05-01.", "Room: 7; Phone: n/a."]


def test_rows_of_data_are_never_taken_for_a_header(book):
    rows = [["Anna", 34, "Ulm"], ["Tom", 41, "Bonn"], ["Eva", 29, "Kiel"]]
    made = book(lambda ws: put(ws, "B2", rows))
    assert lines(made) == ["B: Anna; C: 34; D: Ulm.", "B: Tom; C: 41; D: Bonn.", "B: Eva; C: 29; D: Kiel."]
    assert made.tables[0].header == [["B"], ["C"], ["D"]]


def test_equal_texts_throughout_have_no_header(book):
    made = book(lambda ws: put(ws, "A1", [["x", "x", "x"]] * 3))
    assert lines(made) == ["A: x; B: x; C: x."] * 3


def test_words_over_words_are_a_header_in_three_columns(book):
    rows = [["Code", "Message", "Remedy"], ["E1", "No flow", "Open valve"], ["E2", "Leak", "Call service"]]
    made = book(lambda ws: put(ws, "A1", rows))
    assert lines(made) == [
        "Code: E1; Message: No flow; Remedy: Open valve.",
        "Code: E2; Message: Leak; Remedy: Call service.",
    ]


def test_years_may_head_columns(book):
    made = book(lambda ws: put(ws, "A1", [["Region", 2023, 2024], ["North", 10.5, 20], ["South", 5, 8]]))
    assert lines(made) == ["Region: North; 2023: 10.5; 2024: 20.", "Region: South; 2023: 5; 2024: 8."]


def test_a_striped_table_keeps_its_first_row(book):
    def fill(ws):
        put(ws, "A1", [[f"n{i}", f"t{i % 2}", f"c{i}"] for i in range(8)])
        for row in (1, 3, 5, 7):
            for at in "ABC":
                ws[f"{at}{row}"].fill = PatternFill("solid", fgColor="DDDDDD")

    assert lines(book(fill))[0] == "A: n0; B: t0; C: c0."


def test_a_declared_table_has_the_header_it_declares(book):
    def fill(ws):
        put(ws, "A1", [["a", "b"], ["c", "d"], ["e", "f"]])
        ws.add_table(Table(displayName="T", ref="A1:B3"))

    assert lines(book(fill)) == ["a: c; b: d.", "a: e; b: f."]


def test_tables_that_touch_are_told_apart_where_they_are_declared(book):
    def fill(ws):
        put(ws, "A1", [["a", "b"], ["1", "2"], ["c", "d"], ["3", "4"]])
        ws.add_table(Table(displayName="T", ref="A1:B2"))
        ws.add_table(Table(displayName="U", ref="A3:B4"))

    assert lines(book(fill)) == ["a: 1; b: 2.", "c: 3; d: 4."]


def test_sections_and_totals(book):
    rows = [
        ["Part", "Unit", "EUR"],
        ["Pumps"],
        ["P-1", "each", 10],
        ["Valves"],
        ["V-1", "each", 3],
        ["Total", None, 13],
    ]

    def fill(ws):
        put(ws, "A1", rows, bold=1)
        ws["A2"].font = ws["A4"].font = Font(bold=True, italic=True)

    assert lines(book(fill)) == [
        "Pumps.",
        "Pumps — Part: P-1; Unit: each; EUR: 10.",
        "Valves.",
        "Valves — Part: V-1; Unit: each; EUR: 3.",
        "Part: Total; EUR: 13.",
    ]


def test_a_section_with_its_own_total_keeps_it(book):
    rows = [
        ["Part", "Unit", "EUR"],
        *(["Pumps"], ["P-1", "each", 10], ["Total", None, 10]),
        *(["Valves"], ["V-1", "each", 3], ["Total", None, 3]),
        ["Total", None, 13],
    ]

    def fill(ws):
        put(ws, "A1", rows, bold=1)
        ws["A2"].font = ws["A5"].font = Font(bold=True, italic=True)

    assert lines(book(fill))[-2:] == ["Valves — Part: Total; EUR: 3.", "Part: Total; EUR: 13."]
    assert lines(book(fill))[2] == "Pumps — Part: Total; EUR: 10."


def test_an_empty_row_does_not_end_a_table_that_goes_on(book):
    def fill(ws):
        put(ws, "A1", [["Order", "Sum"], ["SO-1", 10], ["SO-2", 11]], bold=1)
        put(ws, "A5", [["SO-3", 12]])
        put(ws, "A7", [["Total", 33]])

    made = book(fill)
    assert lines(made) == [
        "Order: SO-1; Sum: 10.",
        "Order: SO-2; Sum: 11.",
        "Order: SO-3; Sum: 12.",
        "Order: Total; Sum: 33.",
    ]
    assert len(made.tables) == 1


def test_a_header_apart_from_its_data(book):
    def fill(ws):
        put(ws, "A1", [["Order", "Date", "Sum"]], bold=1)
        put(ws, "A3", [["SO-1", "May", 10], ["SO-2", "June", 11]])

    assert lines(book(fill))[0] == "Order: SO-1; Date: May; Sum: 10."


def test_notes_below_a_table_and_text_between_are_paragraphs(book):
    def fill(ws):
        put(
            ws,
            "A1",
            [["Part", "EUR"], ["Pump", 5], ["All prices are without VAT."], ["* on request"]],
            bold=1,
        )
        put(ws, "A6", [["Orders go to the office in Ulm.\n\nWrite to sales."]])

    assert lines(book(fill)) == [
        "Part: Pump; EUR: 5.",
        "All prices are without VAT.",
        "* on request",
        "Orders go to the office in Ulm.",
        "Write to sales.",
    ]


def test_text_is_not_taken_for_markup(book):
    def fill(ws):
        put(ws, "A1", [["# of units is below"]])
        put(ws, "A3", [["> 5 is good"]])
        put(ws, "A5", [["<!-- page 3 -->"]])
        put(ws, "A7", [["-----"]])

    assert lines(book(fill)) == ["\\# of units is below", "\\> 5 is good", "\\<!-- page 3 -->"]


def test_one_column_under_a_header(book):
    made = book(
        lambda ws: put(ws, "A1", [["Approved suppliers"], ["Peltra"], ["Lindmoor"], ["Beck"]], bold=1)
    )
    assert lines(made) == [f"Approved suppliers: {n}." for n in ("Peltra", "Lindmoor", "Beck")]


def test_an_empty_column_between_keys_and_values_does_not_part_them(book):
    rows = [["Invoice no.", None, "INV-77"], ["Date", None, datetime.date(2024, 3, 1)], ["For", None, "Beck"]]
    made = book(lambda ws: put(ws, "A1", rows))
    assert lines(made) == ["Invoice no.: INV-77.", "Date: 2024-03-01.", "For: Beck."]


def test_an_empty_corner_is_a_header_over_names(book):
    rows = [[None, "Mon", "Tue"], ["Early", "Anna", "Tom"], ["Late", "Eva", "Anna"], ["Night", None, "Tom"]]
    made = book(lambda ws: put(ws, "A1", rows))
    assert lines(made) == ["Early; Mon: Anna; Tue: Tom.", "Late; Mon: Eva; Tue: Anna.", "Night; Tue: Tom."]


def test_units_below_the_labels_belong_to_the_header(book):
    rows = [["Product", "Weight", "Price"], [None, "kg", "EUR"], ["A-1", 1.5, 10], ["A-2", 2.5, 12]]
    made = book(lambda ws: put(ws, "A1", rows))
    assert lines(made) == [
        "Product: A-1; Weight, kg: 1.5; Price, EUR: 10.",
        "Product: A-2; Weight, kg: 2.5; Price, EUR: 12.",
    ]


def test_words_above_the_real_header_are_text(book):
    rows = [
        ["Sum of EUR", "Column labels"],
        ["Row labels", "2023", "Total"],
        ["North", 1, 1],
        ["South", 3, 3],
    ]
    made = book(lambda ws: put(ws, "A1", rows))
    assert lines(made) == [
        "Sum of EUR; Column labels",
        "Row labels: North; 2023: 1; Total: 1.",
        "Row labels: South; 2023: 3; Total: 3.",
    ]


def test_dates_may_head_columns(book):
    def fill(ws):
        put(ws, "A1", [["Staff", datetime.date(2024, 1, 1), datetime.date(2024, 2, 1)], ["Anna", 10, 12]])
        ws["B1"].number_format = ws["C1"].number_format = "mmm yyyy"

    assert lines(book(fill)) == ["Staff: Anna; Jan 2024: 10; Feb 2024: 12."]


def test_sentences_under_a_heading_are_text(book):
    rows = [["How to fill it in"], ["Fill in the yellow cells."], ["Send the file to the office."]]
    made = book(lambda ws: put(ws, "A1", rows, bold=1))
    assert lines(made) == [
        "## How to fill it in",
        "Fill in the yellow cells.",
        "Send the file to the office.",
    ]


def test_values_that_are_missing_leave_their_header_out(book):
    rows = [["Name", "Phone", "City"], ["Anna", None, "Ulm"], ["Eva"], ["Udo", "0456", "Bonn"]]
    made = book(lambda ws: put(ws, "A1", rows, bold=1))
    assert lines(made) == ["Name: Anna; City: Ulm.", "Name: Eva.", "Name: Udo; Phone: 0456; City: Bonn."]


def test_a_column_without_values_is_named_once(book):
    rows = [["Item", "Checked by", "Qty", "Signature"], ["Valve", None, 4, None], ["Pump", None, 2, None]]
    made = book(lambda ws: put(ws, "A1", rows, bold=1))
    assert lines(made) == ["Checked by; Signature", "Item: Valve; Qty: 4.", "Item: Pump; Qty: 2."]
    assert len(made.tables[0].rows) == 2
