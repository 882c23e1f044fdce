"""OCR inside the local converter, with the real models."""

from __future__ import annotations

import io
import re
import subprocess
import sys

import pymupdf
import pytest
from PIL import Image, ImageDraw, ImageFilter

from drac_pipeline.config import ConvertConfig
from drac_pipeline.convert import convert_pdf
from drac_pipeline.model import Converted
from drac_pipeline_tests.convert.scans import DPI, PROSE, TITLE, letter, printed, scan, scribble, text_over

LETTER = f"<!-- page 1 -->\n\n# {TITLE}\n\n{PROSE}\n"
WHITE = {"fillcolor": "white", "resample": Image.Resampling.BICUBIC}


def convert(pdf: bytes, **settings: bool) -> Converted:
    return convert_pdf(pdf, ConvertConfig.model_validate(settings))


def test_a_scan_is_read_with_its_structure() -> None:
    result = convert(scan(printed(letter)))
    assert result.markdown == LETTER
    page = result.report.pages[0]
    assert (page.reader, page.reason, page.error, page.warnings) == ("ocr", "no text layer", None, [])
    assert page.confidence > 0.98


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_a_turned_scan_is_set_upright_and_boxes_stay_on_the_page(degrees: int) -> None:
    image = printed(letter)
    result = convert(scan(image.rotate(degrees, expand=True)))
    assert result.markdown == LETTER
    assert f"turned by {degrees}°" in result.report.pages[0].reason
    [box] = result.spans[0].boxes
    # the title's place, turned like the image
    with pymupdf.open() as document:
        page = document.new_page(width=420, height=300)
        letter(page)
        want = pymupdf.Rect(page.search_for(TITLE)[0])
    w, h = (v * 72 / DPI for v in image.size)
    for corner in ((want.x0 + 2, want.y0 + 8), (want.x1 - 2, want.y1 - 8)):
        x, y = {
            90: (corner[1], w - corner[0]),
            180: (w - corner[0], h - corner[1]),
            270: (h - corner[1], corner[0]),
        }[degrees]
        assert box.x0 <= x <= box.x1
        assert box.y0 <= y <= box.y1
    assert min(box.x1 - box.x0, box.y1 - box.y0) < 25


@pytest.mark.parametrize("degrees", [2, -1])
def test_a_skewed_scan_is_straightened(degrees: float) -> None:
    result = convert(scan(printed(letter).rotate(degrees, **WHITE)))
    assert result.markdown == LETTER
    assert "straightened by" in result.report.pages[0].reason


def test_columns_are_read_one_after_the_other() -> None:
    left = "The left column is about pumps. They run all day and are oiled once a week by hand. " * 2
    right = "The right column is about valves. They are closed at night and opened before six. " * 2

    def draw(page: pymupdf.Page) -> None:
        page.insert_textbox((30, 40, 200, 290), left, fontsize=9)
        page.insert_textbox((220, 40, 390, 290), right, fontsize=9)

    assert convert(scan(printed(draw))).markdown == (
        f"<!-- page 1 -->\n\n{left.strip()}\n\n{right.strip()}\n"
    )


def test_a_ruled_table_is_read_cell_by_cell() -> None:
    rows = [
        ("Part", "Quantity", "Price"),
        ("Pump", "1", "120.00"),
        ("Valve", "12", "7.50"),
        ("Hose", "3", "18"),
    ]

    def draw(page: pymupdf.Page) -> None:
        for r, row in enumerate(rows):
            for c, text in enumerate(row):
                x, y = 40 + c * 110, 60 + r * 22
                page.draw_rect((x, y, x + 110, y + 22), width=0.8)
                page.insert_text((x + 6, y + 15), text, fontsize=11)

    result = convert(scan(printed(draw)))
    [table] = result.tables
    assert table.header == [["Part"], ["Quantity"], ["Price"]]
    assert [row.cells for row in table.rows] == [list(r) for r in rows[1:]]


def test_a_blank_page_is_blank_dust_and_shadow_or_not() -> None:
    dusty = Image.new("L", (875, 625), 246)
    draw = ImageDraw.Draw(dusty)
    draw.rectangle((0, 0, 6, 625), fill=110)  # the shadow of the sheet's edge
    for k in range(40):
        draw.point((k * 211 % 875, k * 97 % 625), fill=60)
    for image in (Image.new("L", (875, 625), 255), dusty):
        page = convert(scan(image)).report.pages[0]
        assert (page.blank, page.error, page.warnings) == (True, None, [])


def test_ink_that_cannot_be_read_is_an_error() -> None:
    result = convert(scan(scribble()))
    error = result.report.pages[0].error or ""
    assert error.startswith("the page has ink but no text that could be read: ")
    assert "convert.ocr_models" in error
    assert '<!-- drac:error pages=1 cause="the page has ink' in result.markdown


def test_a_picture_without_words_is_a_warning() -> None:
    image = Image.linear_gradient("L").resize((700, 500)).filter(ImageFilter.GaussianBlur(3))
    sheet = Image.new("L", (875, 625), 255)
    sheet.paste(image, (80, 60))
    page = convert(scan(sheet)).report.pages[0]
    assert page.error is None
    assert page.warnings == ["the page shows a picture without readable text: nothing was taken from it"]


def test_without_ocr_a_scan_is_an_error_that_says_the_way_out() -> None:
    result = convert(scan(printed(letter)), ocr=False)
    assert result.report.pages[0].error == (
        "the page has ink but no text, and OCR is off: set convert.ocr = true to read it"
    )
    assert "set convert.ocr = true" in result.markdown


def test_a_text_layer_without_sense_is_replaced() -> None:
    result = convert(scan(printed(letter), text_over(lambda text: re.sub("[aeiouyAEIOUY]", "x", text))))
    page = result.report.pages[0]
    assert result.markdown == LETTER
    assert (page.reader, page.reason) == ("ocr", "the text layer is no words")


def test_invisible_text_is_used_if_the_image_says_the_same() -> None:
    result = convert(scan(printed(letter), text_over(lambda text: text)))
    page = result.report.pages[0]
    assert result.markdown == LETTER
    assert page.reader == "text layer"
    assert page.reason == "the text layer is invisible, but agrees with the page's image"

    other = "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich und noch weiter"
    result = convert(scan(printed(letter), text_over(lambda text: other[: len(text)])))
    assert result.markdown == LETTER
    assert result.report.pages[0].reason == "the text layer is invisible"


def test_a_font_that_does_not_say_its_letters_is_read_from_the_page() -> None:
    with pymupdf.open() as document:
        page = document.new_page(width=420, height=300)
        page.insert_font(fontname="F0", fontbuffer=pymupdf.Font("helv").buffer)
        page.insert_text((40, 60), TITLE, fontsize=18, fontname="F0")
        page.insert_textbox((40, 90, 380, 280), PROSE, fontsize=11, fontname="F0")
        for xref in range(1, document.xref_length()):
            if document.xref_get_key(xref, "ToUnicode")[0] != "null":
                document.xref_set_key(xref, "ToUnicode", "null")
        pdf = document.tobytes(no_new_id=True)
    result = convert(pdf)
    assert result.markdown == LETTER
    assert result.report.pages[0].reason == "the text layer has no encoding for its glyphs"


def test_letters_exchanged_for_others_are_read_from_the_page() -> None:
    after = str.maketrans("abcdefghijklmnopqrstuvwxyz", "bcdefghijklmnopqrstuvwxyza")
    result = convert(scan(printed(letter), text_over(lambda text: text.translate(after), visible=False)))
    assert result.markdown == LETTER
    assert result.report.pages[0].reason == "the text layer is no words"


def test_an_image_of_a_page_with_a_stamp_is_read() -> None:
    result = convert(scan(printed(letter), lambda p: p.insert_text((300, 292), "DOC-0001", fontsize=6)))
    assert PROSE in result.markdown
    assert result.report.pages[0].reader == "ocr"


def test_results_are_the_same_each_time() -> None:
    pdf = scan(printed(letter).rotate(1, **WHITE))
    assert convert(pdf) == convert(pdf)


def test_models_are_not_loaded_for_pages_with_text() -> None:
    code = (
        "import sys, pymupdf; from drac_pipeline.config import ConvertConfig;"
        "from drac_pipeline.convert import convert_pdf; d = pymupdf.open();"
        "d.new_page().insert_text((72, 72), 'Some words on a page.');"
        "assert 'Some words' in convert_pdf(d.tobytes(), ConvertConfig()).markdown;"
        "assert 'rapidocr' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_stamp_set_across_the_page_stays_out_of_the_lines_beside_it() -> None:
    def stamped(page: pymupdf.Page) -> None:
        for k, text in enumerate(
            ("Lindmoor Instruments Ltd.", "Service and Quality", "Caton Mill, Low Road")
        ):
            page.insert_text((30, 70 + 14 * k), text, fontsize=11)
        turn = pymupdf.Matrix(1, 1).prerotate(8)
        for k, text in enumerate(("RECEIVED", "17 MAR 2025")):
            at = pymupdf.Point(280, 75 + 16 * k)
            page.insert_text(at, text, fontsize=12, fontname="hebo", morph=(at, turn))

    assert convert(scan(printed(stamped))).markdown == (
        "<!-- page 1 -->\n\nLindmoor Instruments Ltd. Service and Quality Caton Mill, Low Road\n\n"
        "RECEIVED 17 MAR 2025\n"
    )


def with_image(image: Image.Image) -> bytes:
    """A page with a text layer and an image pasted into it."""
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    with pymupdf.open() as document:
        page = document.new_page(width=420, height=400)
        page.insert_textbox((30, 30, 390, 80), "Before the picture. " * 12, fontsize=9)
        page.insert_image((30, 100, 390, 300), stream=buffer.getvalue())
        page.insert_textbox((30, 330, 390, 390), "After the picture. " * 12, fontsize=9)
        return document.tobytes(no_new_id=True)


def test_text_in_a_pasted_image_joins_the_page_at_its_place() -> None:
    def draw(page: pymupdf.Page) -> None:
        page.insert_textbox((20, 20, 400, 200), PROSE, fontsize=14)

    result = convert(with_image(printed(draw, (420, 233))))
    before, at, after = (result.markdown.index(x) for x in ("Before the", PROSE, "After the"))
    assert before < at < after
    assert "#" not in result.markdown  # larger print in an image is no title
    page = result.report.pages[0]
    assert (page.reader, page.warnings) == ("text layer", [])
    assert "lines of images were read by OCR" in page.reason


def test_labels_in_a_pasted_chart_are_left_out_with_a_warning() -> None:
    def draw(page: pymupdf.Page) -> None:
        for k, name in enumerate(("Winter", "Spring", "Summer", "Autumn")):
            page.draw_rect((60 + 80 * k, 180 - 30 * k, 100 + 80 * k, 180), fill=(0.2, 0.4, 0.8))
            page.insert_text((58 + 80 * k, 200), name, fontsize=12)

    result = convert(with_image(printed(draw, (420, 233))))
    assert "Winter" not in result.markdown
    assert result.report.pages[0].warnings == [
        "images on the page hold about 4 lines of text that were not read"
    ]


def test_print_hardly_darker_than_its_paper_is_read() -> None:
    faint = printed(letter).convert("L").point([178 + round(v * 18 / 255) for v in range(256)])
    result = convert(scan(faint))
    assert PROSE in result.markdown
    assert result.report.pages[0].warnings == []


def test_paper_alone_is_not_strengthened_into_print() -> None:
    page = convert(scan(Image.effect_noise((875, 625), 6).point(lambda v: v + 90))).report.pages[0]
    assert page.blank
