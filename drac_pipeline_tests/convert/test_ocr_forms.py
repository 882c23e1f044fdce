"""Forms, tables without rules and signatures in scans: what a text layer tells by type and order."""

from __future__ import annotations

import pymupdf
import pytest

from drac_pipeline.config import ConvertConfig
from drac_pipeline.convert import convert_pdf
from drac_pipeline.model import Converted
from drac_pipeline_tests.convert.scans import printed, scan

LABELS = ["Danger to persons?", "Breach of permit?", "Parts returned?", "Class"]
VALUES = ["no", "no, samples taken", "yes, 12 tubes", "B, Whitlock 17/3"]


def boxes(page: pymupdf.Page, cells: list[list[tuple[str, str, float]]], width: float = 95) -> None:
    """A grid of ruled cells; each is text, font and size."""
    for r, row in enumerate(cells):
        for c, (text, font, size) in enumerate(row):
            x, y = 20 + c * width, 40 + r * 24
            page.draw_rect((x, y, x + width, y + 24), width=0.8)
            page.insert_text((x + 5, y + 15), text, fontsize=size, fontname=font)


def read(draw: object) -> Converted:
    return convert_pdf(scan(printed(draw)), ConvertConfig())  # type: ignore[arg-type]


def test_labels_left_of_their_values_in_pairs() -> None:
    def draw(page: pymupdf.Page) -> None:
        cells = [
            [
                (t, f, s)
                for k in (2 * r, 2 * r + 1)
                for t, f, s in ((LABELS[k], "helv", 9), (VALUES[k], "tiit", 10.5))
            ]
            for r in range(2)
        ]
        boxes(page, cells)

    result = read(draw)
    [table] = result.tables
    assert [r.cells for r in table.rows] == [list(pair) for pair in zip(LABELS, VALUES, strict=True)]
    assert "Danger to persons?: no." in result.markdown


def test_labels_left_of_their_values() -> None:
    pairs = [("Customer", "Harbourgate Water"), ("Site", "outlet channel 2"), ("Product", "LM-640 Beck")]

    def draw(page: pymupdf.Page) -> None:
        boxes(page, [[(a, "helv", 9), (b, "tiit", 10.5)] for a, b in pairs], 150)

    [table] = read(draw).tables
    assert [r.cells for r in table.rows] == [list(p) for p in pairs]


def test_labels_above_their_values() -> None:
    labels, values = ["Serial number", "Fault code", "Stops", "Batch"], ["640-24-0417", "E17", "8", "PT-2411"]

    def draw(page: pymupdf.Page) -> None:
        boxes(page, [[(t, "helv", 9) for t in labels], [(t, "tiit", 10.5) for t in values]])

    [table] = read(draw).tables
    assert table.header == [[t] for t in labels]
    assert [r.cells for r in table.rows] == [values]


def test_a_boxed_label_stays_with_its_text() -> None:
    text = "Pump stops during the ammonium cycle; the head is clean."

    def draw(page: pymupdf.Page) -> None:
        page.draw_rect((20, 40, 390, 64), width=0.8)
        page.insert_text((26, 55), "Description of the fault", fontsize=9)
        page.draw_rect((20, 64, 390, 100), width=0.8)
        page.insert_text((26, 82), text, fontsize=10.5, fontname="tiit")

    assert read(draw).markdown == f"<!-- page 1 -->\n\nDescription of the fault\n\n{text}\n"


def test_a_signature_is_no_heading() -> None:
    def draw(page: pymupdf.Page) -> None:
        lines = [
            (40, "Dear Sir or Madam,", "tiro", 11),
            (70, "Two analysers delivered under our contract have stopped again.", "tiro", 11),
            (100, "We ask you to examine the tubes and to tell us the cause of it.", "tiro", 11),
            (130, "For questions please call me at any time of the working day.", "tiro", 11),
            (160, "Yours faithfully", "tiro", 11),
            (195, "R. Thackeray", "tiit", 19),
            (212, "Ruth Thackeray", "tiro", 11),
            (227, "Process Control Manager", "tiro", 11),
        ]
        for y, text, font, size in lines:
            page.insert_text((40, y), text, fontsize=size, fontname=font)

    result = read(draw)
    assert "R. Thackeray\n" in result.markdown
    assert "#" not in result.markdown


@pytest.mark.parametrize("font", ["helv", "tiro", "cour"])
def test_upright_print_is_no_italic(font: str) -> None:
    """A name in larger upright type over the next part stays a heading."""

    def draw(page: pymupdf.Page) -> None:
        page.insert_text((40, 50), "Works Road", fontsize=18, fontname=font)
        for k, text in enumerate(("The pump moves water all day.", "It is oiled once a week.", "By hand.")):
            page.insert_text((40, 90 + 30 * k), text, fontsize=11, fontname=font)

    assert read(draw).markdown.startswith("<!-- page 1 -->\n\n# Works Road\n")


def test_wrapped_cells_without_rules_are_one_row() -> None:
    """Lines evenly apart: only the width of the cells tells that a row goes on."""
    rows = [
        (
            "1",
            ["Windshield", "Wipers"],
            ["High-quality silicone", "blade with motor, pair"],
            ["1,500 to 3,500"],
        ),
        ("2", ["Dashboard", "Display"], ["Digital cluster,", "replaceable parts"], ["25,000 to", "45,000"]),
        ("3", ["Radiator"], ["Aluminium core, oil", "cooler included"], ["8,000 to 18,000"]),
        ("4", ["Seats"], ["Fabric or leather,", "with recline, each"], ["8,000 to 25,000"]),
    ]

    def draw(page: pymupdf.Page) -> None:
        at = [20, 50, 130, 260]
        page.draw_line((20, 30), (340, 30), width=1)
        for x, text in zip(at, ("No", "Part", "Description", "Price"), strict=True):
            page.insert_text((x, 43), text, fontsize=10, fontname="hebo")
        page.draw_line((20, 48), (340, 48), width=0.6)
        y = 60.0
        for key, *cells in rows:
            page.insert_text((20, y), key, fontsize=10)
            for x, lines in zip(at[1:], cells, strict=True):
                for k, text in enumerate(lines):
                    page.insert_text((x, y + 12 * k), text, fontsize=10)
            y += 12 * max(map(len, cells))
        page.draw_line((20, y - 6), (340, y - 6), width=1)

    [table] = read(draw).tables
    assert [r.cells for r in table.rows] == [[k, *(" ".join(c) for c in cells)] for k, *cells in rows]


def test_rows_of_single_words_under_a_spanned_key_stay_rows() -> None:
    rows = [("Petrol", "Base", "6.5"), ("", "X", "7.0"), ("Diesel", "Base", "8.5"), ("", "X", "9.0")]
    rows += [("Hybrid", "Base", "10.0"), ("", "ZX", "10.5")]

    def draw(page: pymupdf.Page) -> None:
        page.draw_line((40, 30), (220, 30), width=1)
        for r, row in enumerate([("Fuel", "Variant", "Price"), *rows]):
            for x, text in zip((40, 110, 180), row, strict=True):
                page.insert_text((x, 43 + 13 * r + (5 if r else 0)), text, fontsize=10)
        page.draw_line((40, 48), (220, 48), width=0.6)
        page.draw_line((40, 134), (220, 134), width=1)

    [table] = read(draw).tables
    assert [(r.cells[1], r.cells[2]) for r in table.rows] == [(b, c) for _, b, c in rows]
