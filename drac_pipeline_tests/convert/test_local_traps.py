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
