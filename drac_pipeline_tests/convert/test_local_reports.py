"""Tables as reports print them: stacked, side by side, titled, headers beside their figures; forms."""

from __future__ import annotations

import pymupdf
import pytest

from drac_pipeline.config import ConvertConfig
from drac_pipeline.convert import convert_pdf
from drac_pipeline.convert.local import document
from drac_pipeline.convert.local.text_layer import PageText
from drac_pipeline_tests.convert.pages import BOLD, FILLER, Doc, blocks

XS = (72, 200, 280, 360)


def figures(doc: Doc, ends: tuple[float, ...], *cells: str, x: float = 72, after: float = 14) -> Doc:
    """A label, and figures whose right ends stand under each other."""
    doc.text(x, cells[0])
    for end, cell in zip(ends, cells[1:], strict=True):
        doc.text(end - pymupdf.get_text_length(cell, fontsize=10), cell)
    doc.y += after
    return doc


@pytest.mark.parametrize("ruled", [False, True])
def test_tables_close_under_each_other_are_two(ruled: bool):
    doc = Doc().paragraph(*FILLER)
    for head, labels in (("Division", "North South West"), ("Office", "Audit Legal Rent")):
        if ruled:
            doc.rule(70, 400, y=doc.y - 12)
        doc.row(XS[:3], head, head[:3] + " cost", "Items", font=BOLD, after=14)
        if ruled:
            doc.rule(70, 400, y=doc.y - 11)
        for k, label in enumerate(labels.split()):
            figures(doc, (240, 310), label, f"1,{k}04", str(k + 7))
        if ruled:
            doc.rule(70, 400, y=doc.y - 10)
        doc.y += 14
    out = doc.paragraph(*FILLER).convert()
    assert [t.header[0] for t in out.tables] == [["Division"], ["Office"]]
    assert "Office: Audit; Off cost: 1,004; Items: 7." in blocks(out)


def test_a_wider_table_below_a_narrower_one_keeps_its_last_column():
    doc = Doc().paragraph(*FILLER)
    for head, right in (("Division", 320), ("Office", 420), ("Unit", 320)):
        ends = tuple(range(220, right + 1, 100))
        doc.rule(70, right + 4, y=doc.y - 12)
        figures(doc, ends, head, *("Cost", "Share", "Index")[: len(ends)])
        doc.rule(70, right + 4, y=doc.y - 11)
        for k in range(3):
            figures(doc, ends, f"{head} {'ABC'[k]}", *(f"{k}{n}5" for n in range(len(ends))))
        doc.rule(70, right + 4, y=doc.y - 10)
        doc.y += 12
    out = doc.convert()
    assert "Office: Office B; Cost: 105; Share: 115; Index: 125." in blocks(out)
    assert len(out.tables) == 3


def test_a_title_in_the_middle_is_no_header():
    doc = Doc().paragraph(*FILLER)
    doc.text(150, "Labour force status of persons", font=BOLD)
    doc.y += 22
    figures(doc, (240, 320, 400), "Region", "Men", "Women", "All")
    for k, region in enumerate(("North", "South", "West", "East")):
        figures(doc, (240, 320, 400), region, f"1{k}2", f"{k}9", f"20{k}")
    found = blocks(doc.convert())
    assert "Region: North; Men: 102; Women: 09; All: 200." in found
    assert any(b.endswith("Labour force status of persons") for b in found)


def test_headers_at_the_left_of_columns_with_figures_at_the_right():
    doc = Doc().paragraph(*FILLER)
    doc.rule(70, 470, y=doc.y - 12)
    doc.row((72, 172, 272, 372), "Item", "Population", "Deaths", "Births", after=14)
    doc.rule(70, 470, y=doc.y - 11)
    for k in range(4):
        figures(doc, (268, 368, 466), f"Place {'ABCD'[k]}", f"10,{k}90", f"9{k}2", f"{k}.5")
    doc.rule(70, 470, y=doc.y - 10)
    found = blocks(doc.convert())
    assert "Item: Place A; Population: 10,090; Deaths: 902; Births: 0.5." in found


def test_units_below_headers_and_groups_over_them_are_header():
    doc = Doc().paragraph(*FILLER)
    doc.rule(70, 440, y=doc.y - 12)
    doc.text(250, "Actual").text(390, "Planned")
    doc.rule(200, 320, y=doc.y + 3).rule(340, 440, y=doc.y + 3)
    doc.y += 15
    figures(doc, (240, 310, 370, 440), "State", "Cost", "Staff", "Cost", "Staff")
    figures(doc, (240, 310, 370, 440), "", "(USD)", "(number)", "(USD)", "(number)")
    doc.rule(70, 440, y=doc.y - 10)
    doc.y += 3
    for k in range(4):
        figures(doc, (240, 310, 370, 440), f"Land {'ABCD'[k]}", f"1{k}", f"2{k}", f"3{k}", f"4{k}")
    (table,) = doc.convert().tables
    assert table.header[1:] == [
        ["Actual", "Cost (USD)"],
        ["Actual", "Staff (number)"],
        ["Planned", "Cost (USD)"],
        ["Planned", "Staff (number)"],
    ]


def test_a_text_in_the_middle_titles_the_rows_below_it():
    doc = Doc().paragraph(*FILLER)
    figures(doc, (240, 320, 400), "Sex", "March", "June", "May")
    for title in ("Number of persons", "Change in per cent"):
        width = pymupdf.get_text_length(title, fontsize=10)
        doc.text((72 + 400 - width) / 2, title)
        doc.y += 14
        for k, label in enumerate(("Men", "Women", "Persons")):
            figures(doc, (240, 320, 400), label, f"7{k}", f"8{k}", f"9{k}")
    found = blocks(doc.convert())
    assert "Change in per cent — Sex: Women; March: 71; June: 81; May: 91." in found


def test_tables_side_by_side_whose_lines_do_not_meet():
    doc = Doc().paragraph(*FILLER)
    top = doc.y
    for x, pitch, head in ((72, 12.5, "County"), (320, 17.0, "City")):
        doc.y = top
        figures(doc, (x + 130, x + 190), head, "Births", "Deaths", x=x, after=pitch)
        for k in range(7):
            figures(doc, (x + 130, x + 190), f"{head} {'ABCDEFG'[k]}", f"2{k}1", f"3{k}", x=x, after=pitch)
    doc.y += 20
    found = blocks(doc.paragraph(*FILLER).convert())
    assert "County: County C; Births: 221; Deaths: 32." in found
    assert "City: City G; Births: 261; Deaths: 36." in found
    assert found.index("County: County G; Births: 261; Deaths: 36.") < found.index(
        "City: City A; Births: 201; Deaths: 30."
    )


def test_labels_and_values_in_two_types_are_a_form():
    doc = Doc()
    rows = [("Danger?", "no", "Permit?", "yes, kept"), ("Returned?", "12 tubes", "Class", "B, major")]
    for y in range(3):
        doc.rule(70, 470, y=60 + 22 * y)
    for x in (70, 150, 270, 350, 470):
        doc.upright(x, 60, 104)
    for y, cells in zip((75, 97), rows, strict=True):
        for x, text, font in zip((76, 156, 276, 356), cells, ("helv", "tiit") * 2, strict=True):
            doc.text(x, text, y=y, font=font, size=12 if font == "tiit" else 10)
    assert blocks(doc.convert()) == [
        "Danger?: no.",
        "Permit?: yes, kept.",
        "Returned?: 12 tubes.",
        "Class: B, major.",
    ]


def test_a_signature_is_no_heading():
    doc = Doc().heading("Complaint").paragraph(*FILLER).paragraph(*FILLER).paragraph(FILLER[0])
    doc.line("Yours faithfully", after=30)
    doc.line("R. Thackeray", size=20, font="tiit", after=26)
    doc.line("Process Control Manager")
    found = blocks(doc.convert())
    assert "R. Thackeray" in found and "# Complaint" in found


def twins(doc: Doc) -> Doc:
    """Lines of figures of two tables between each other, written line by line: no way to tell."""
    for k in range(8):
        doc.text(72, f"Left {k}").text(150, f"{k}1").text(200, f"{k}2")
        doc.text(320, f"Right {k}", y=doc.y + 6).text(400, f"{k}3", y=doc.y + 6).text(
            450, f"{k}4", y=doc.y + 6
        )
        doc.y += 13
    return doc


def test_the_layout_model_is_asked_for_unsure_pages_alone(monkeypatch: pytest.MonkeyPatch):
    asked: list[int] = []

    def regions(_page: pymupdf.Page, text: PageText) -> list[tuple[float, ...]]:
        asked.append(text.page)
        return [(70.0, 60.0, 215.0, 185.0), (318.0, 60.0, 470.0, 190.0)]

    monkeypatch.setattr(document, "tables_beside", regions)
    doc = Doc().paragraph(*FILLER)
    twins(doc.new_page())
    out = doc.convert()
    assert asked == [2]
    first, second = out.report.pages
    assert (first.reader, first.confidence) == ("text layer", 1.0)
    assert second.reader == "layout model" and "overlap" in second.reason
    assert len(out.tables) == 2
    asked.clear()
    sure = convert_pdf(doc.bytes(), ConvertConfig(ocr=False, layout_below=0))
    assert not asked
    assert sure.report.pages[1].confidence < 0.8 and "unsure" in sure.report.pages[1].reason
