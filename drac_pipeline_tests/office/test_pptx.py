"""Slides: titles, continuations, bullets, tables, policies."""

from __future__ import annotations

from pathlib import Path

from pptx import Presentation
from pptx.presentation import Presentation as Deck
from pptx.slide import Slide
from pptx.util import Inches, Pt

from drac_pipeline_tests.office.conftest import body, read

TITLE, CONTENT, SECTION, BLANK = 0, 1, 2, 6


def add(deck: Deck, layout: int, title: str = "", *lines: tuple[int, str]) -> Slide:
    slide = deck.slides.add_slide(deck.slide_layouts[layout])
    if slide.shapes.title is not None:
        slide.shapes.title.text = title
    if lines:
        frame = slide.placeholders[1].text_frame  # type: ignore[attr-defined]
        for n, (level, text) in enumerate(lines):
            paragraph = frame.paragraphs[0] if n == 0 else frame.add_paragraph()
            paragraph.text, paragraph.level = text, level
    return slide


def box(slide: Slide, *lines: str, bold: tuple[int, ...] = ()) -> None:
    frame = slide.shapes.add_textbox(Inches(1), Inches(5), Inches(5), Inches(1)).text_frame
    for n, text in enumerate(lines):
        paragraph = frame.paragraphs[0] if n == 0 else frame.add_paragraph()
        run = paragraph.add_run()
        run.text = text
        run.font.bold = n in bold


def test_titles_are_headings_and_a_continuation_keeps_its_title(tmp_path: Path) -> None:
    deck = Presentation()
    add(deck, TITLE, "Handbook")
    add(deck, SECTION, "Engine")
    add(deck, CONTENT, "Oil", (0, "Check it weekly"), (1, "cold"), (0, "Refill"))
    add(deck, CONTENT, "Oil", (0, "Use 5W-30"))
    add(deck, CONTENT, "Oil (cont.)", (0, "Dispose of it"))
    add(deck, CONTENT, "", (0, "No title here"))
    add(deck, CONTENT, "Air", (0, "Filter"))
    deck.save(str(tmp_path / "a.pptx"))
    done = read(tmp_path / "a.pptx", [[]] * 7)
    assert body(done) == [
        "# Handbook",
        "## Engine",
        "### Oil",
        "- Check it weekly",
        "    - cold",
        "- Refill",
        "- Use 5W-30",
        "- Dispose of it",
        "- No title here",
        "### Air",
        "- Filter",
    ]
    assert [line for line in done.markdown.splitlines() if line.startswith("<!--")] == [
        f"<!-- page {n} -->" for n in range(1, 8)
    ]
    assert [(d.page, d.reason, d.text) for d in done.report.dropped] == [
        (4, "running header", "Oil"),
        (5, "running header", "Oil (cont.)"),
    ]
    assert done.report.warnings == []


def test_of_several_titles_on_a_slide_the_first_is_its_heading_and_none_is_lost(tmp_path: Path) -> None:
    deck = Presentation()
    slide = add(deck, TITLE, "Same words", (0, "Same words"))
    slide.placeholders[1]._element.nvSpPr.nvPr.find("{*}ph").set("type", "title")
    deck.save(str(tmp_path / "a.pptx"))
    assert body(read(tmp_path / "a.pptx")) == ["# Same words", "Same words"]


def test_lines_in_bold_over_text_are_headings_below_the_title(tmp_path: Path) -> None:
    deck = Presentation()
    slide = add(deck, 5, "Care")
    box(slide, "Every day", "Wipe the screen.", "Every week", "Wash the band.", "Ask us!", bold=(0, 2, 4))
    deck.save(str(tmp_path / "a.pptx"))
    assert body(read(tmp_path / "a.pptx")) == [
        "# Care",
        "## Every day",
        "Wipe the screen.",
        "## Every week",
        "Wash the band.",
        "Ask us!",
    ]


def test_the_first_line_in_bold_of_a_slide_without_title_leads_it(tmp_path: Path) -> None:
    deck = Presentation()
    add(deck, TITLE, "Guide")
    lines = ("Booking", "How it goes.", "1. By phone", "Call us.", "2. At the desk", "Come by.")
    box(add(deck, 6, ""), *lines, bold=(0, 2, 4))
    box(add(deck, 6, ""), "3. In the app", "Tap on it.", "Refunds", "Ask us.", bold=(0, 2))
    box(add(deck, 6, ""), "1. Filter", "Clean.", "Price", "Low.", "2. Plug", "New.", bold=(0, 2, 4))
    deck.save(str(tmp_path / "a.pptx"))
    assert [line for line in body(read(tmp_path / "a.pptx", [[]] * 4)) if line.startswith("#")] == [
        "# Guide",
        "## Booking",
        "### 1. By phone",
        "### 2. At the desk",
        "### 3. In the app",
        "### Refunds",
        "## 1. Filter",
        "### Price",
        "## 2. Plug",
    ]


def test_shapes_in_groups_tables_and_numbered_lines(tmp_path: Path) -> None:
    deck = Presentation()
    slide = add(deck, 5, "All")
    group = slide.shapes.add_group_shape().shapes.add_group_shape()
    group.shapes.add_textbox(Inches(1), Inches(1), Inches(2), Inches(1)).text_frame.text = "deep in groups"
    grid = slide.shapes.add_table(4, 3, Inches(1), Inches(2), Inches(6), Inches(2)).table
    texts = ["", "2023", "", "", "Plan", "Done", "North", "4", "3", "South", "5", "5"]
    for n, text in enumerate(texts):
        grid.cell(n // 3, n % 3).text = text
    grid.cell(0, 1).merge(grid.cell(0, 2))
    deck.save(str(tmp_path / "a.pptx"))
    assert body(read(tmp_path / "a.pptx")) == [
        "# All",
        "deep in groups",
        "North; 2023, Plan: 4; 2023, Done: 3.",
        "South; 2023, Plan: 5; 2023, Done: 5.",
    ]


def test_numbered_lines_count_and_begin_where_they_are_told(tmp_path: Path) -> None:
    from pptx.oxml import parse_xml
    from pptx.oxml.ns import nsdecls

    deck = Presentation()
    slide = add(deck, 5, "Steps")
    box(slide, "open", "close", "plain", "note")
    frame = slide.shapes[-1].text_frame  # type: ignore[attr-defined]
    for n, paragraph in enumerate(frame.paragraphs):
        if n != 2:
            kind = 'type="arabicPeriod" startAt="3"' if n < 2 else 'type="alphaLcParenR"'
            paragraph._p.get_or_add_pPr().append(parse_xml(f"<a:buAutoNum {nsdecls('a')} {kind}/>"))
        paragraph.font.size = Pt(12)
    deck.save(str(tmp_path / "a.pptx"))
    assert body(read(tmp_path / "a.pptx")) == ["# Steps", "3. open", "4. close", "plain", "- a. note"]


def policies(path: Path) -> Path:
    deck = Presentation()
    add(deck, CONTENT, "Shown", (0, "visible"))
    slide = add(deck, CONTENT, "Hidden", (0, "kept back"))
    slide._element.set("show", "0")
    last = add(deck, CONTENT, "Last", (0, "end"))
    assert last.notes_slide.notes_text_frame is not None
    last.notes_slide.notes_text_frame.text = "say it slowly"
    deck.save(str(path))
    return path


def test_hidden_slides_and_notes_are_left_out_and_reported(tmp_path: Path) -> None:
    done = read(policies(tmp_path / "a.pptx"), [[], []])
    assert body(done) == ["# Shown", "- visible", "# Last", "- end"]
    assert [(d.reason, d.text) for d in done.report.dropped] == [
        ("hidden", "Hidden kept back"),
        ("speaker notes", "say it slowly"),
    ]
    assert done.report.taken == []


def test_hidden_slides_and_notes_are_taken_in_if_asked(tmp_path: Path) -> None:
    done = read(policies(tmp_path / "a.pptx"), [[], []], hidden_slides=True, speaker_notes=True)
    assert body(done) == [
        "# Shown",
        "- visible",
        "# Hidden",
        "- kept back",
        "# Last",
        "- end",
        "say it slowly",
    ]
    assert done.report.taken == ["1 hidden slide", "1 speaker notes of a slide"]
    assert done.report.dropped == []
    assert done.markdown.index("<!-- page 2 -->") > done.markdown.index("kept back")


def test_text_that_runs_off_the_slide_is_read_and_belongs_to_its_page(tmp_path: Path) -> None:
    deck = Presentation()
    add(deck, CONTENT, "Long", *[(0, f"line number {n}") for n in range(40)])
    add(deck, CONTENT, "Next", (0, "line number 3"))
    deck.save(str(tmp_path / "a.pptx"))
    done = read(tmp_path / "a.pptx", [["Long", "line number 0", "line number 1"], ["Next", "line number 3"]])
    assert body(done).count("- line number 39") == 1
    where = {done.markdown[s.start : s.end]: [b.page for b in s.boxes] for s in done.spans}
    assert where["- line number 1"] == [1]
    assert where["- line number 39"] == []
    second = done.markdown.index("<!-- page 2 -->")
    assert done.markdown.index("- line number 39") < second < done.markdown.index("# Next")


def test_a_free_line_stands_in_for_a_title_if_it_is_alone_or_larger(tmp_path: Path) -> None:
    deck = Presentation()
    box(add(deck, BLANK), "Section one")
    large = add(deck, BLANK)
    box(large, "small print that goes on")
    box(large, "Big line")
    for shape, size in zip(large.shapes, (14, 28), strict=True):
        shape.text_frame.paragraphs[0].runs[0].font.size = Pt(size)  # type: ignore[attr-defined]
    plain = add(deck, BLANK)
    box(plain, "one of two")
    box(plain, "two of two")
    add(deck, CONTENT, "", (0, "a lone point"))
    deck.save(str(tmp_path / "a.pptx"))
    assert body(read(tmp_path / "a.pptx", [[]] * 4)) == [
        "# Section one",
        "## Big line",
        "small print that goes on",
        "one of two",
        "two of two",
        "- a lone point",
    ]
