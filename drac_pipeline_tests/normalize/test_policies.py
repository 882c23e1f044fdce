"""What of an office file is printed: tracked changes, hidden things, wide sheets, lost words."""

from __future__ import annotations

import datetime
import zipfile
from pathlib import Path

import docx
import openpyxl
import pptx
import pymupdf
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from pptx.util import Inches

from drac_pipeline.config import NormalizeConfig
from drac_pipeline.normalize.comments import strip_comments
from drac_pipeline.normalize.office import office_converter
from drac_pipeline.normalize.tracked import resolve_docx, resolve_odt
from drac_pipeline.office.missing import missing_words
from drac_pipeline_tests.normalize.conftest import make_zip, pdf_text
from drac_pipeline_tests.office.conftest import with_notes

BODY = """
<w:p><w:r><w:t xml:space="preserve">The limit is </w:t></w:r>
 <w:del w:id="1" w:author="a"><w:r><w:delText>six</w:delText></w:r></w:del>
 <w:ins w:id="2" w:author="a"><w:r><w:t>eight</w:t></w:r></w:ins>
 <w:r><w:t xml:space="preserve"> bar.</w:t></w:r></w:p>
<w:p><w:pPr><w:rPr><w:del w:id="3" w:author="a"/></w:rPr></w:pPr>
 <w:r><w:t xml:space="preserve">First half </w:t></w:r></w:p>
<w:p><w:r><w:t>second half.</w:t></w:r></w:p>
<w:p><w:pPr><w:rPr><w:del w:id="4" w:author="a"/></w:rPr></w:pPr>
 <w:del w:id="5" w:author="a"><w:r><w:delText>gone paragraph</w:delText></w:r></w:del></w:p>
<w:tbl><w:tblPr/><w:tblGrid><w:gridCol/></w:tblGrid>
 <w:tr><w:tc><w:p><w:r><w:t>kept row</w:t></w:r></w:p></w:tc></w:tr>
 <w:tr><w:trPr><w:del w:id="6" w:author="a"/></w:trPr>
  <w:tc><w:p><w:del w:id="7" w:author="a"><w:r><w:delText>gone row</w:delText></w:r></w:del></w:p></w:tc>
 </w:tr></w:tbl>
<w:p><w:moveFrom w:id="8" w:author="a"><w:r><w:t>old place</w:t></w:r></w:moveFrom></w:p>
<w:p><w:moveTo w:id="9" w:author="a"><w:r><w:t>new place</w:t></w:r></w:moveTo></w:p>
"""


def tracked(path: Path) -> Path:
    document = docx.Document()
    for element in parse_xml(f"<w:body {nsdecls('w')}>{BODY}</w:body>"):
        document.element.body.insert(len(document.element.body) - 1, element)
    document.save(str(path))
    return path


def paragraphs(path: Path) -> list[str]:
    document = docx.Document(str(path))
    rows = [cell.text for table in document.tables for row in table.rows for cell in row.cells]
    return [" ".join(p.text.split()) for p in document.paragraphs if p.text.strip()] + rows


def test_tracked_changes_accepted_and_rejected(tmp_path: Path) -> None:
    source = tracked(tmp_path / "a.docx")
    counts = resolve_docx(source, tmp_path / "yes.docx", "accepted")
    assert (counts["insertion"], counts["deletion"]) == (2, 4)
    assert paragraphs(tmp_path / "yes.docx") == [
        "The limit is eight bar.",
        "First half second half.",
        "new place",
        "kept row",
    ]
    resolve_docx(source, tmp_path / "no.docx", "rejected")
    assert paragraphs(tmp_path / "no.docx") == [
        "The limit is six bar.",
        "First half",
        "second half.",
        "gone paragraph",
        "old place",
        "kept row",
        "gone row",
    ]


def test_a_document_without_changes_is_not_rewritten(tmp_path: Path) -> None:
    docx.Document().save(str(tmp_path / "a.docx"))
    assert not resolve_docx(tmp_path / "a.docx", tmp_path / "b.docx", "accepted")
    assert not (tmp_path / "b.docx").exists()


def test_odt_changes_are_accepted(tmp_path: Path) -> None:
    content = (
        '<c xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><text:tracked-changes>'
        "<text:changed-region><text:deletion><text:p>gone</text:p></text:deletion></text:changed-region>"
        "</text:tracked-changes><text:p>kept<text:change/> tail</text:p></c>"
    )
    counts = resolve_odt(make_zip(tmp_path / "a.odt", {"content.xml": content}), tmp_path / "b.odt")
    assert counts["deletion"] == 1
    with zipfile.ZipFile(tmp_path / "b.odt") as z:
        result = z.read("content.xml").decode()
    assert "gone" not in result
    assert "kept tail" in result


@pytest.mark.office
def test_deleted_text_is_not_printed_and_the_record_says_so(tmp_path: Path, run) -> None:
    done = run(tracked(tmp_path / "a.docx"))
    text = pdf_text(done.pdf)
    assert "eight bar" in text
    assert "six" not in text
    assert "gone" not in text
    assert done.taken == ["2 tracked insertions"]
    assert done.left_out == ["4 tracked deletions"]
    assert done.warnings == []


def workbook(path: Path) -> Path:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Wide"
    sheet.append([f"column {n}" for n in range(40)])
    for row in range(3):
        sheet.append([f"cell {row}-{n}" for n in range(40)])
    sheet.print_area = "A1:B2"
    narrow = book.create_sheet("Narrow")
    narrow.append(["Day", "Amount", "Remark"])
    narrow.append([datetime.date(2024, 3, 31), 123456789012.5, "a long remark that would be cut off", "end"])
    narrow["A2"].number_format = "dddd, d mmmm yyyy"
    narrow["B2"].number_format = '#,##0.00 "EUR"'
    narrow.column_dimensions["A"].width = 2
    narrow.column_dimensions["B"].width = 3
    narrow.append(["hidden row"])
    narrow.row_dimensions[3].hidden = True
    narrow["F2"] = "hidden column"
    narrow.column_dimensions["F"].hidden = True
    secret = book.create_sheet("Secret")
    secret["A1"] = "hidden sheet"
    secret.sheet_state = "hidden"
    book.save(path)
    return path


@pytest.mark.office
def test_sheets_are_printed_whole_and_legible(tmp_path: Path, run) -> None:
    done = run(workbook(tmp_path / "a.xlsx"))
    with pymupdf.open(done.pdf) as doc:
        pages = [str(page.get_text()) for page in doc]
    assert len(pages) == 2
    for row in range(3):
        assert all(f"cell {row}-{n}" in pages[0] for n in range(40))
    text = " ".join(pages[1].split())
    assert "###" not in text
    for shown in ("31 March 2024", "123,456,789,012.50 EUR", "a long remark that would be cut off"):
        assert shown in text
    assert "hidden" not in text
    assert done.taken == ["sheet Wide", "sheet Narrow"]
    assert done.left_out == ["hidden sheet Secret", "1 hidden row", "1 hidden column"]


@pytest.mark.office
@pytest.mark.parametrize("kind", ["xls", "ods"])
def test_sheets_of_other_formats_are_printed_whole_too(tmp_path: Path, run, kind: str) -> None:
    converter = office_converter(NormalizeConfig())  # the one that `run` uses
    source = converter.convert(workbook(tmp_path / "a.xlsx"), tmp_path / "made", to=kind)
    done = run(source)
    with pymupdf.open(done.pdf) as doc:
        first = str(doc[0].get_text())
    assert all(f"cell 2-{n}" in first for n in range(40))
    assert (done.format, done.pages) == (kind, 2)
    assert "hidden sheet Secret" in done.left_out


@pytest.mark.office
def test_hidden_slides_and_notes_are_left_out_and_counted(tmp_path: Path, run) -> None:
    deck = pptx.Presentation()
    for n in range(3):
        slide = deck.slides.add_slide(deck.slide_layouts[6])
        slide.shapes.add_textbox(
            Inches(0), Inches(0), Inches(3), Inches(1)
        ).text_frame.text = f"slide number{n}"
        assert slide.notes_slide.notes_text_frame
        slide.notes_slide.notes_text_frame.text = "said aloud" if n else ""
    deck.slides[1]._element.set("show", "0")
    deck.save(str(tmp_path / "a.pptx"))
    done = run(tmp_path / "a.pptx")
    assert done.pages == 2
    assert "number1" not in pdf_text(done.pdf)
    assert done.left_out == ["1 hidden slide", "speaker notes of 2 slides"]
    assert done.warnings == []


def test_lost_words_are_found_across_runs_line_breaks_and_ligatures(tmp_path: Path) -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("Confi")
    paragraph.add_run("guration of the overflow valve, übermäßig and vanished")
    document.save(str(tmp_path / "a.docx"))
    text = "CON\ufb01GURATION of the over-\nflow valve, u\u0308berma\u0308ßig and"
    assert missing_words(tmp_path / "a.docx", "docx", text) == ["vanished"]


def commented(path: Path) -> Path:
    document = docx.Document()
    paragraph = document.add_paragraph("kept text")
    document.add_comment(paragraph.runs, text="a remark", author="Ann")
    document.save(str(path))
    return path


def test_anchors_of_comments_go_and_the_text_stays(tmp_path: Path) -> None:
    assert strip_comments(commented(tmp_path / "a.docx"), tmp_path / "b.docx")
    with zipfile.ZipFile(tmp_path / "b.docx") as z:
        data = z.read("word/document.xml")
    assert b"kept text" in data
    assert b"w:comment" not in data
    docx.Document().save(str(tmp_path / "c.docx"))
    assert not strip_comments(tmp_path / "c.docx", tmp_path / "d.docx")
    assert not (tmp_path / "d.docx").exists()


@pytest.mark.office
def test_comments_are_counted_not_printed_and_still_in_the_file_that_is_read(tmp_path: Path, run) -> None:
    done = run(commented(tmp_path / "a.docx"))
    assert pdf_text(done.pdf) == "kept text"
    assert done.left_out == ["1 comment"]
    with zipfile.ZipFile(done.own) as z:
        assert b"a remark" in z.read("word/comments.xml")
        assert b"commentReference" in z.read("word/document.xml")


@pytest.mark.office
def test_the_footnote_behind_a_comment_keeps_its_own_text(tmp_path: Path, run) -> None:
    done = run(with_notes(tmp_path / "a.docx"))
    text = pdf_text(done.pdf)
    assert text.count("footnote text 1") == 1
    assert text.count("footnote text 2") == 1


@pytest.mark.office
@pytest.mark.parametrize("kind", ["doc", "rtf", "odt"])
def test_other_text_formats_are_read_as_docx(tmp_path: Path, run, kind: str) -> None:
    converter = office_converter(NormalizeConfig())  # the one that `run` uses
    document = docx.Document()
    document.add_heading("A heading", 1)
    document.add_paragraph("A paragraph.")
    document.save(str(tmp_path / "a.docx"))
    done = run(converter.convert(tmp_path / "a.docx", tmp_path / "made", to=kind))
    assert (done.format, done.own_format) == (kind, "docx")
    read = docx.Document(str(done.own))
    assert [(p.text, p.style.name) for p in read.paragraphs if p.style][:1] == [("A heading", "Heading 1")]
