"""Pages and boxes of what was read from the file, found in its print."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest
from PIL import Image, ImageDraw, ImageFont

from drac_pipeline.config import ConvertConfig
from drac_pipeline.convert.markers import PAGE_COMMENT
from drac_pipeline.model import BlockSpan, ConversionReport, Converted
from drac_pipeline.model.box import Box
from drac_pipeline.office import convert_office
from drac_pipeline.office.pictures import Merged, Pictured, merge
from drac_pipeline_tests.office.conftest import body, docx_of, item, p, read

LONG = "A paragraph that begins on the first page and is so long that its end stands overleaf."


def placed(done: Converted) -> dict[str, list[int]]:
    return {done.markdown[s.start : s.end]: [b.page for b in s.boxes] for s in done.spans}


def test_blocks_find_their_pages_and_one_over_a_page_break_has_two_boxes(tmp_path: Path) -> None:
    source = docx_of(tmp_path / "a.docx", p("Start here") + p(LONG) + item("an item", 1) + p("The end"))
    pages = [
        ["Start here", "A paragraph that begins on the first page", "and is so long that", "Page 1 of 2"],
        ["Company name", "its end stands overleaf.", "an item", "The end", "Page 2 of 2"],
    ]
    done = read(source, pages)
    assert placed(done) == {"Start here": [1], LONG: [1, 2], "- an item": [2], "The end": [2]}
    (span,) = [s for s in done.spans if len(s.boxes) == 2]
    first, second = span.boxes
    assert (round(first.y0), round(second.y0)) == (80, 80)
    assert second.y1 - second.y0 < 20  # the header above it is not part of it
    assert [m[1] for m in PAGE_COMMENT.finditer(done.markdown)] == ["1", "2"]
    assert done.markdown.index("<!-- page 2 -->") == done.markdown.index("- an item") - 17


def test_a_short_text_is_not_found_inside_a_line_that_says_more(tmp_path: Path) -> None:
    source = docx_of(tmp_path / "a.docx", p("First text of this page") + p("Page 2") + p("Second text of it"))
    pages = [["First text of this page"], ["Header (page 2 onward)", "Page 2", "Second text of it"]]
    done = read(source, pages)
    (box,) = next(s.boxes for s in done.spans if done.markdown[s.start : s.end] == "Page 2")
    assert (box.page, round(box.y0)) == (2, 80)


def test_a_text_found_far_ahead_by_mistake_does_not_lose_what_follows(tmp_path: Path) -> None:
    lost, again = "This sentence is printed later only", "This sentence is printed later only."
    between = [f"Sentence number {n} of a long text in between." for n in range(1200)]
    xml = p(lost) + "".join(map(p, between)) + p(again)
    pages = [between[k : k + 30] for k in range(0, 1200, 30)]
    done = read(docx_of(tmp_path / "a.docx", xml), [*pages, [again]])
    where = placed(done)
    assert [where[text] for text in (between[0], between[29], between[30], between[-1])] == [
        [1],
        [1],
        [2],
        [40],
    ]
    assert where[again] == [41]
    assert done.markdown.index("<!-- page 2 -->") < done.markdown.index(between[30])
    assert done.markdown.index("<!-- page 2 -->") > done.markdown.index(between[29])


def test_spans_say_exactly_their_blocks_and_empty_pages_have_their_comments(tmp_path: Path) -> None:
    source = docx_of(tmp_path / "a.docx", p("one") + item("two", 1) + item("three", 1) + p("four"))
    done = read(source, [["one", "two"], ["three"], [], ["four"], []])
    assert [done.markdown[s.start : s.end] for s in done.spans] == ["one", "- two", "- three", "four"]
    assert done.markdown == (
        "<!-- page 1 -->\n\none\n\n- two\n\n<!-- page 2 -->\n\n- three\n\n"
        "<!-- page 3 -->\n\n<!-- page 4 -->\n\nfour\n\n<!-- page 5 -->\n"
    )
    assert [r.blank for r in done.report.pages] == [False, False, True, False, True]
    assert [r.n_chars for r in done.report.pages] == [8, 7, 0, 4, 0]


def test_a_file_with_much_less_text_than_its_print_is_read_from_the_print(tmp_path: Path) -> None:
    source = docx_of(tmp_path / "a.docx", p("little"))
    with pymupdf.open() as document:
        page = document.new_page()
        for n in range(20):
            page.insert_text((72, 72 + 20 * n), f"a line of text with the number {n} in it")
        document.save(tmp_path / "a.pdf")
    printed = Converted(markdown="by print\n", report=ConversionReport(converter="local"))
    done = convert_office(source, "docx", tmp_path / "a.pdf", ConvertConfig(), lambda: printed)
    assert done.markdown == "by print\n"
    assert done.report.warnings == [
        "read from its PDF: the file itself gave less text than its print",
        "words of the file that were not read: little",
    ]


def test_what_is_in_the_file_and_was_not_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from drac_pipeline.office import docx_runs

    monkeypatch.setattr(docx_runs.Runs, "_leaf", lambda *_: False)
    done = read(docx_of(tmp_path / "a.docx", p("valve pressure")))
    assert done.report.warnings == ["words of the file that were not read: valve, pressure"]


def test_what_pictures_say_stands_behind_the_block_above_them() -> None:
    def box(page: int, y: int) -> list[Box]:
        return [Box(page=page, x0=0, y0=y, x1=9, y1=y + 9)]

    markdown = "one\n\n- two\n- three\n"
    spans = [
        BlockSpan(start=0, end=3, boxes=box(1, 10)),
        BlockSpan(start=5, end=10, boxes=box(1, 30), kind="list_item"),
        BlockSpan(start=11, end=18, boxes=box(2, 10), kind="list_item"),
    ]
    picture = Pictured(1, "pic", [BlockSpan(start=0, end=3, boxes=box(1, 50))], [])
    first = Pictured(1, "top", [BlockSpan(start=0, end=3, boxes=box(1, 0))], [])
    done = merge(Merged(markdown, spans, [None, None, None], []), [picture, first])
    assert done.markdown == "top\n\none\n\n- two\n\npic\n\n- three\n"
    assert [done.markdown[s.start : s.end] for s in done.spans] == ["top", "one", "- two", "pic", "- three"]


def test_text_in_a_picture_is_read(tmp_path: Path) -> None:
    import docx
    from docx.shared import Inches

    image = Image.new("RGB", (1400, 500), "white")
    lines = [
        "The valve must be opened before noon.",
        "Values above eight bar are reported.",
        "Sign it daily.",
    ]
    for n, line in enumerate(lines):
        ImageDraw.Draw(image).text(
            (40, 40 + 100 * n), line, fill="black", font=ImageFont.load_default(size=40)
        )
    image.save(tmp_path / "p.png")
    document = docx.Document()
    document.add_paragraph("Above the picture.")
    document.add_picture(str(tmp_path / "p.png"), width=Inches(6))
    document.add_paragraph("Below the picture.")
    document.save(str(tmp_path / "a.docx"))
    with pymupdf.open() as pdf:
        page = pdf.new_page()
        page.insert_text((72, 72), "Above the picture.")
        page.insert_image(pymupdf.Rect(72, 90, 504, 244), filename=tmp_path / "p.png")
        page.insert_text((72, 270), "Below the picture.")
        pdf.save(tmp_path / "a.pdf")
    done = convert_office(tmp_path / "a.docx", "docx", tmp_path / "a.pdf", ConvertConfig(), lambda: 1 / 0)  # type: ignore[arg-type, return-value]
    found = body(done)
    assert (found[0], found[-1]) == ("Above the picture.", "Below the picture.")
    assert " ".join(found[1:-1]) == " ".join(lines)
    assert done.report.pages[0].reader == "file, ocr"
    without = ConvertConfig(ocr=False)
    done = convert_office(tmp_path / "a.docx", "docx", tmp_path / "a.pdf", without, lambda: 1 / 0)  # type: ignore[arg-type, return-value]
    assert body(done) == ["Above the picture.", "Below the picture."]
    assert "convert.ocr" in done.report.pages[0].warnings[0]
