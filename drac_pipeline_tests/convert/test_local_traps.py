"""Traps that other converters are known to fall into, each in a small document."""

from __future__ import annotations

import subprocess
import sys

import pymupdf

from drac_pipeline.config import ConvertConfig
from drac_pipeline.convert import convert_pdf
from drac_pipeline.convert.local.direction import from_the_right
from drac_pipeline.convert.local.text_layer import Word
from drac_pipeline.convert.ocr.raster import MAX_PIXELS, render
from drac_pipeline.errors import DocumentError
from drac_pipeline_tests.convert.pages import BOLD, FILLER, Doc, blocks


def test_right_to_left_text_is_in_reading_order():
    doc = Doc()
    text = "המשאבה מזרימה מים מן המכל התחתון אל המכל העליון."
    doc.page.insert_htmlbox(pymupdf.Rect(72, 72, 520, 300), f'<p dir="rtl">{text}</p>')
    assert blocks(doc.convert()) == [text]


def test_a_latin_name_in_right_to_left_text_keeps_its_order():
    placed = (("ביום", 10), ("Lindmoor", 40), ("Instruments", 90), ("של", 150))
    run = [(Word(text, x, x + 8), {}) for text, x in placed]
    assert [w.text for w, _ in from_the_right(run)] == ["של", "Lindmoor", "Instruments", "ביום"]


def test_letters_set_apart_are_a_word():
    doc = Doc()
    x = 72.0
    for letter in "BACKGROUND":
        doc.text(x, letter, font=BOLD, size=12)
        x += pymupdf.get_text_length(letter, fontname=BOLD, fontsize=12) + 4
    doc.y += 30
    doc.paragraph(*FILLER)
    assert blocks(doc.convert())[0].lstrip("# ") == "BACKGROUND"


def test_a_sidebar_stays_out_of_the_text_beside_it():
    doc = Doc().heading("Pumps")
    top = doc.y
    for k in range(10):
        doc.text(72, f"Line {k} of the main text runs over most of the width, like this", y=top + 13 * k)
    for k in range(6):
        doc.text(430, f"Note {k} beside the text", y=top + 6 + 13 * k, size=8)
    found = " ".join(blocks(doc.convert()))
    first, last = found.index("Line 0"), found.index("Line 9")
    assert not any(first < found.index(f"Note {k}") < last for k in range(6))


def test_text_outside_the_sheet_is_not_read():
    doc = Doc().paragraph(*FILLER)
    doc.page.insert_text((-400, 300), "Printer marks outside the sheet", fontsize=20)
    found = blocks(doc.paragraph(*FILLER).convert())
    assert not any("Printer marks" in b for b in found)


def test_a_giant_page_is_drawn_small():
    pdf = pymupdf.open()
    page = pdf.new_page(width=14_000, height=14_000)
    page.insert_text((500, 900), "A plan of the works", fontsize=300)
    image, _ = render(page, 200)
    assert image.shape[0] * image.shape[1] <= 1.01 * MAX_PIXELS
    assert blocks(convert_pdf(pdf.tobytes(), ConvertConfig(ocr=False))) == ["A plan of the works"]


def test_real_hyphens_stay_within_a_line():
    doc = Doc().paragraph(
        "The state-of-the-art X-ray unit of Mary-Jane is well-known in the town of Aix-les-Bains."
    )
    assert blocks(doc.convert()) == [
        "The state-of-the-art X-ray unit of Mary-Jane is well-known in the town of Aix-les-Bains."
    ]


def test_the_layout_model_is_not_loaded_for_a_plain_page():
    data = Doc().paragraph(*FILLER).bytes()
    code = (
        "import sys; from drac_pipeline.config import ConvertConfig;"
        "from drac_pipeline.convert import convert_pdf;"
        "convert_pdf(sys.stdin.buffer.read(), ConvertConfig()); print('pymupdf.layout' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], input=data, capture_output=True, check=True)
    assert done.stdout.strip() == b"False"


THREE = (
    ("the left column is read", "from its top down to its", "end before the next one", "is begun by readers"),
    ("the middle column comes", "second, and it must not", "be mixed with the lines", "that stand beside it"),
    ("the right column follows", "at the very end of them,", "for that is how a page", "of three columns is"),
)


def test_three_columns_are_read_one_after_the_other():
    doc = Doc()
    for x, lines in zip((60, 224, 388), THREE, strict=True):
        for i, t in enumerate(lines * 3):
            doc.text(x, t, y=100 + 14 * i, size=12.5)
    md = doc.convert().markdown
    assert md.rindex("begun by readers") < md.index("the middle column comes")
    assert md.rindex("stand beside it") < md.index("the right column follows")


def test_a_table_without_a_header_keeps_all_its_rows():
    doc = Doc().paragraph(*FILLER)
    doc.rule(70, 450, y=doc.y - 12)
    rows = [("LP-12", "tubing set", "38.50"), ("LP-17", "filter", "9.20"), ("LP-18", "brush", "14.00")]
    for cells in rows:
        doc.row((72, 200, 330), *cells)
    doc.rule(70, 450, y=doc.y - 12)
    doc.y += 20
    out = doc.paragraph(*FILLER).convert()
    assert blocks(out)[1:-1] == ["LP-12; tubing set; 38.50.", "LP-17; filter; 9.20.", "LP-18; brush; 14.00."]
    assert out.tables[0].header == [[], [], []]


def test_no_heading_is_more_than_one_level_below_the_one_over_it():
    doc = Doc()
    for title in ("Alpha", "Beta", "Gamma", "Delta"):
        doc.heading(title).paragraph(*FILLER)
    # an outline that leaves out a level
    doc.pdf.set_toc([[1, "Alpha", 1], [2, " ", 1], [3, "Gamma", 1], [3, "Beta", 1], [1, "Delta", 1]])
    heads = [b for b in blocks(doc.convert()) if b.startswith("#")]
    assert heads == ["# Alpha", "## Beta", "## Gamma", "# Delta"]


def test_a_page_tree_that_holds_itself_ends_in_a_typed_error_or_the_other_pages():
    doc = Doc().paragraph(*FILLER).new_page().paragraph(*FILLER)
    tree = int(doc.pdf.xref_get_key(doc.pdf.pdf_catalog(), "Pages")[1].split()[0])
    first = doc.pdf[0].xref
    doc.pdf.xref_set_key(tree, "Kids", f"[{first} 0 R {tree} 0 R]")
    try:
        out = convert_pdf(doc.bytes(), ConvertConfig(ocr=False))
    except DocumentError as e:
        assert e.remedy or str(e)
    else:
        assert out.report.pages[0].error is None and FILLER[0] in out.markdown
        assert all(p.error for p in out.report.pages[1:])
