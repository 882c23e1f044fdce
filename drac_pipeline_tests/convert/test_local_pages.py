"""Whole pages and documents: turned, blank, broken, locked, long."""

from pathlib import Path

import pymupdf
import pytest

from drac_pipeline.config import ConvertConfig
from drac_pipeline.convert import convert_pdf
from drac_pipeline.convert.markers import parse_error_markers
from drac_pipeline.errors import CorruptDocument, EmptyDocument, EncryptedDocument
from drac_pipeline_tests.convert.pages import FILLER, Doc, blocks

AES_256 = 5  # PDF_ENCRYPT_AES_256
CONFIG = ConvertConfig(ocr=False)


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_a_page_shown_turned_is_read_upright_and_boxes_are_as_displayed(turn):
    doc = Doc().heading("Title").paragraph(*FILLER)
    doc.page.set_rotation(turn)
    out = doc.convert()
    assert blocks(out) == ["# Title", " ".join(FILLER)]
    box = out.spans[0].boxes[0]
    rect = doc.page.rect
    assert 0 <= box.x0 < box.x1 <= rect.width and 0 <= box.y0 < box.y1 <= rect.height
    # the title stands at the top of the sheet: where that is, the rotation says
    inside = {90: box.x0 > rect.width * 0.8, 180: box.y0 > rect.height * 0.8, 270: box.x1 < rect.width * 0.2}
    assert inside[turn]


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_text_set_sideways_on_the_sheet_is_read_upright(turn):
    pdf = pymupdf.open()
    page = pdf.new_page(width=595, height=842)
    start = {90: (100, 700), 180: (500, 700), 270: (400, 100)}[turn]
    step = {90: (14, 0), 180: (0, -14), 270: (-14, 0)}[turn]
    for i, text in enumerate(FILLER):
        page.insert_text((start[0] + i * step[0], start[1] + i * step[1]), text, fontsize=10, rotate=turn)
    doc = Doc()
    doc.pdf = pdf
    assert blocks(doc.convert()) == [" ".join(FILLER)]


def test_a_stamp_up_the_margin_is_left_out_and_reported():
    doc = Doc().paragraph(*FILLER).paragraph(*FILLER)
    doc.page.insert_text((25, 600), "arXiv:2004.04906v3 [cs.CL] 30 Sep 2020", fontsize=14, rotate=90)
    out = doc.convert()
    assert "arXiv" not in out.markdown
    assert [(d.reason, d.text[:5]) for d in out.report.dropped] == [("decoration", "arXiv")]


def test_a_blank_page_says_blank_and_ink_without_text_is_an_error():
    doc = Doc().paragraph(*FILLER)
    doc.new_page()
    doc.new_page()
    pix = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 200, 200))
    pix.clear_with(40)
    doc.page.insert_image((100, 100, 300, 300), pixmap=pix)
    doc.new_page().paragraph("The end of the document.")
    out = doc.convert()
    one, two, three, four = out.report.pages
    assert not one.blank and one.error is None and one.reader == "text layer"
    assert two.blank and two.error is None
    assert three.error and not three.blank
    assert four.error is None and four.n_chars == len("The end of the document.")
    assert [m[:2] for m in parse_error_markers(out.markdown)] == [(3, 3)]
    comments = [out.markdown.index(f"<!-- page {n} -->") for n in (1, 2, 3, 4)]
    assert comments == sorted(comments)
    assert comments[2] < out.markdown.index("<!-- drac:error") < comments[3]


def test_locked_broken_and_empty_files_have_their_own_errors(tmp_path: Path):
    doc = Doc().paragraph(*FILLER)
    locked = doc.pdf.tobytes(encryption=AES_256, user_pw="secret", owner_pw="x")
    with pytest.raises(EncryptedDocument):
        convert_pdf(locked, CONFIG)
    with pytest.raises(EmptyDocument):
        convert_pdf(b"", CONFIG)
    (tmp_path / "zero.pdf").touch()
    with pytest.raises(EmptyDocument):
        convert_pdf(tmp_path / "zero.pdf", CONFIG)
    with pytest.raises(CorruptDocument):
        convert_pdf(b"no pdf at all", CONFIG)


def test_an_owner_password_alone_does_not_lock():
    doc = Doc().paragraph(*FILLER)
    data = doc.pdf.tobytes(encryption=AES_256, user_pw="", owner_pw="x")
    assert " ".join(FILLER) in convert_pdf(data, CONFIG).markdown


def test_one_page_that_cannot_be_read_leaves_the_others(monkeypatch):
    from drac_pipeline.convert.local import document

    doc = Doc()
    for n in range(1, 4):
        if n > 1:
            doc.new_page()
        doc.paragraph(f"This is page number {n} of three.")
    read = document.read_page

    def failing(page, number):
        if number == 2:
            raise RuntimeError("broken stream")
        return read(page, number)

    monkeypatch.setattr(document, "read_page", failing)
    out = doc.convert()
    assert "number 1 of" in out.markdown and "number 3 of" in out.markdown
    assert "broken stream" in (out.report.pages[1].error or "")
    assert parse_error_markers(out.markdown)[0][:2] == (2, 2)


def test_a_window_of_pages_keeps_their_numbers():
    doc = Doc()
    for n in range(1, 6):
        if n > 1:
            doc.new_page()
        doc.paragraph(f"This is page number {n} of five.")
    out = convert_pdf(doc.bytes(), CONFIG, pages=range(2, 4))
    assert out.markdown.startswith("<!-- page 3 -->\n\nThis is page number 3")
    assert [p.page for p in out.report.pages] == [3, 4]
    assert "number 5" not in out.markdown and "<!-- page 2 -->" not in out.markdown


def test_work_grows_with_pages_and_not_faster(effort):
    def document(pages: int) -> bytes:
        doc = Doc()
        for n in range(pages):
            if n:
                doc.new_page()
            for k in range(8):
                doc.paragraph(*FILLER, f"This is line {k} of page {n} in a long document about pumps.")
        return doc.bytes()

    small, large = document(10), document(40)
    convert_pdf(small, CONFIG)  # what is compiled and cached once
    assert effort(lambda: convert_pdf(large, CONFIG)) < 5 * effort(lambda: convert_pdf(small, CONFIG))
