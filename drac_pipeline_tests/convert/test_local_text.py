"""Running text: paragraphs, hyphens, lists, headings, columns, notes, page furniture."""

import pymupdf
import pytest

from drac_pipeline.convert.fidelity import compare
from drac_pipeline.convert.postprocess import postprocess
from drac_pipeline_tests.convert.pages import BOLD, FILLER, Doc, blocks


def test_line_ends_leave_no_trace_and_paragraphs_stay_apart():
    doc = Doc().paragraph(*FILLER).paragraph("A second paragraph begins here and is short.")
    assert blocks(doc.convert()) == [" ".join(FILLER), "A second paragraph begins here and is short."]


@pytest.mark.parametrize(
    ("first", "second", "right"),
    [
        (
            "and everybody in the company trusts modern tech-",
            "nology more than paper.",
            "modern technology more",
        ),
        ("this is written down as state-of-the-", "art equipment in the plan.", "state-of-the-art equipment"),
        ("a new box with better Wi-", "Fi was put on the wall today.", "better Wi-Fi was"),
        ("the share of readings in-", "side the target band rose.", "readings inside the"),
        ("the part is soft-", "ware, they said, and laughed.", "soft-ware, they"),
    ],
)
def test_a_hyphen_at_the_line_end_goes_only_where_the_word_has_none(first, second, right):
    doc = Doc().paragraph("The word soft-ware is written so on purpose in this text, see below.")
    doc.paragraph(FILLER[0], FILLER[1], first, second)
    assert right in doc.convert().markdown


def test_ligatures_and_soft_hyphens_become_letters():
    pdf = pymupdf.open()
    page = pdf.new_page()
    page.insert_htmlbox((72, 72, 500, 200), "<p>An e\ufb03cient \ufb02ow of co\u00adoperation.</p>")
    doc = Doc()
    doc.pdf = pdf
    assert blocks(doc.convert()) == ["An efficient flow of cooperation."]


def test_headings_rank_by_size_and_numbering():
    doc = Doc().heading("1 Operation", size=18).paragraph(*FILLER)
    doc.heading("1.1 Starting", size=14).paragraph(*FILLER)
    doc.heading("1.1.1 In winter", size=14).paragraph(*FILLER)
    doc.heading("2 Safety", size=18).paragraph(*FILLER)
    heads = [b for b in blocks(doc.convert()) if b.startswith("#")]
    assert heads == ["# 1 Operation", "## 1.1 Starting", "### 1.1.1 In winter", "# 2 Safety"]


def test_the_outline_gives_levels_that_type_does_not():
    doc = Doc().heading("Alpha").paragraph(*FILLER).heading("Beta").paragraph(*FILLER)
    doc.heading("Gamma").paragraph(*FILLER)
    doc.pdf.set_toc([[1, "Alpha", 1], [2, "Beta", 1], [1, "Gamma", 1]])
    heads = [b for b in blocks(doc.convert()) if b.startswith("#")]
    assert heads == ["# Alpha", "## Beta", "# Gamma"]


def test_bold_in_running_text_is_no_heading():
    doc = Doc().heading("Title").paragraph(FILLER[0], FILLER[1]).line("Note:", font=BOLD, after=13)
    doc.paragraph("the level is checked twice a day.")
    assert [b for b in blocks(doc.convert()) if b.startswith("#")] == ["# Title"]


def test_nested_lists_keep_depth_and_markers():
    doc = Doc().paragraph(*FILLER)
    doc.line("1.  Open the valve.").line("a.  slowly,", x=90).line("b.  fully.", x=90)
    doc.line("2.  Press the button and wait until the lamp is lit and the pump has run for at least")
    doc.line("ten seconds.", x=87)
    md = doc.convert().markdown
    assert "1. Open the valve.\n    a. slowly,\n    b. fully.\n2. Press the button and wait" in md
    assert "at least ten seconds." in md


def test_running_headers_footers_and_page_numbers_go_and_are_reported():
    doc = Doc()
    for n in range(1, 5):
        if n > 1:
            doc.new_page()
        doc.text(72, "Quarterly report of the water works", y=36, size=8)
        doc.text(72, "Confidential", y=815, size=8).text(290, str(n), y=815, size=8)
        doc.y = 100
        doc.paragraph(*FILLER).paragraph(f"Only page {n} says this sentence about the number {n}.")
    out = doc.convert()
    assert "Quarterly" not in out.markdown and "Confidential" not in out.markdown
    assert [f"Only page {n} says" in out.markdown for n in range(1, 5)] == [True] * 4
    reasons = {(d.page, d.reason) for d in out.report.dropped}
    assert {(n, "running header") for n in range(1, 5)} <= reasons
    assert {d.text for d in out.report.dropped if d.page == 2} == {
        "Quarterly report of the water works",
        "Confidential 2",
    }


def test_a_stamp_of_several_pieces_over_the_running_header_of_a_single_page_goes():
    doc = Doc().text(72, "Downloaded from", y=22, size=8).text(160, "http://journal.example", y=22, size=8)
    doc.text(300, "on July 12, 2017", y=22, size=8).text(72, "Water and health", y=34, size=8)
    doc.text(520, "447", y=34, size=8)
    doc.y = 80
    out = doc.paragraph(*FILLER).paragraph(*FILLER).convert()
    assert "Downloaded" not in out.markdown and "447" not in out.markdown
    assert {d.reason for d in out.report.dropped} == {"running header"}


def test_real_text_at_the_page_foot_stays():
    doc = Doc()
    for n in range(1, 4):
        if n > 1:
            doc.new_page()
        doc.paragraph(*FILLER)
        doc.text(72, f"The last line of page {['one', 'two', 'three'][n - 1]} is content.", y=800)
    out = doc.convert()
    assert out.markdown.count("is content.") == 3 and not out.report.dropped


def test_a_lone_line_is_the_page_and_no_header():
    out = Doc().text(72, "Only this line stands here.", y=40).convert()
    assert blocks(out) == ["Only this line stands here."]


def test_a_paragraph_over_a_page_break_is_one_with_boxes_on_both_pages():
    doc = Doc().paragraph(*FILLER)
    doc.y = 740
    doc.paragraph(FILLER[0], "between the two marks that the operator")
    doc.new_page().paragraph("has set at the box.").paragraph("Then a new one begins.")
    out = doc.convert()
    joined = FILLER[0] + " between the two marks that the operator has set at the box."
    at = out.markdown.index(joined)
    span = next(s for s in out.spans if s.start == at)
    assert [b.page for b in span.boxes] == [1, 2]
    assert out.markdown.index("<!-- page 2 -->") > at + len(joined) - 1
    assert "<!-- page 2 -->\n\nThen a new one begins." in out.markdown


def test_spans_give_each_block_back():
    doc = Doc().heading("Title").paragraph(*FILLER).line("- item one").line("- item two")
    out = doc.convert()
    assert [out.markdown[s.start : s.end] for s in out.spans] == [
        "# Title",
        " ".join(FILLER),
        "- item one",
        "- item two",
    ]
    assert [s.kind for s in out.spans] == ["heading", "paragraph", "list_item", "list_item"]
    box = out.spans[0].boxes[0]
    assert (box.page, round(box.x0)) == (1, 72) and 60 < box.y0 < box.y1 < 100


LEFT = (
    "the left column is read",
    "from its top down to its",
    "end before the right one",
    "is begun, as every reader",
)
RIGHT = (
    "the right column follows",
    "after it and must not be",
    "mixed into the lines of",
    "its neighbour on the left",
)


@pytest.mark.parametrize("order", ["by column", "by line"])
def test_two_columns_are_read_one_after_the_other(order):
    doc = Doc()
    doc.line("A title over both columns of the page", size=16, font=BOLD, after=40)
    top = doc.y
    left, right = LEFT * 3, RIGHT * 3
    cells = [(72.0, i, t) for i, t in enumerate(left)] + [(310.0, i, t) for i, t in enumerate(right)]
    if order == "by line":
        cells.sort(key=lambda c: (c[1], c[0]))
    for x, i, t in cells:
        doc.text(x, t, y=top + 13 * i, size=16.5)
    md = doc.convert().markdown
    assert md.index("A title") < md.index("the left column is read")
    assert md.rindex("as every reader") < md.index("the right column follows")
    assert "as every reader the left column" in md


def test_a_footnote_follows_the_paragraph_that_refers_to_it():
    doc = (
        Doc()
        .paragraph(FILLER[0], "and the level is checked.1")
        .paragraph("Another paragraph, after the first.")
    )
    doc.text(72, "1 Checked means read and written down.", y=780, size=7.5)
    assert blocks(doc.convert()) == [
        f"{FILLER[0]} and the level is checked.1",
        "1 Checked means read and written down.",
        "Another paragraph, after the first.",
    ]


def test_a_footnote_goes_to_the_text_and_not_to_a_figure_in_a_table():
    doc = Doc().paragraph(*FILLER)
    doc.row((72, 200, 330), "Line", "2024 H1", "2024 H2", font=BOLD)
    doc.row((72, 200, 330), "Meters", "1,940", "2,110").row((72, 200, 330), "Pumps", "3,310", "3,645")
    doc.y += 10
    doc.paragraph("The second half was helped by the frame contract.1")
    doc.text(72, "1 Of 1 July; up to 60 pieces.", y=780, size=7.5)
    assert blocks(doc.convert())[-2:] == [
        "The second half was helped by the frame contract.1",
        "1 Of 1 July; up to 60 pieces.",
    ]


def test_a_sentence_over_a_page_break_goes_on_with_a_name():
    doc = Doc().paragraph(*FILLER)
    doc.y = 730
    doc.paragraph("A certificate is needed from the fourth day in Germany and from the first day on in")
    doc.new_page().line("Poland.", after=30).paragraph(*FILLER)
    assert "from the first day on in Poland." in doc.convert().markdown


def test_the_table_of_contents_is_left_out_and_reported():
    doc = Doc().heading("Contents")
    titles = ["1 Safety", "2 Operation", "3 Faults", "4 Service", "5 Warranty"]
    for n, title in enumerate(titles, 2):
        doc.line(f"{title} {'. ' * 40}{n}")
    for title in titles:
        doc.new_page().heading(title).paragraph(*FILLER)
    out = doc.convert()
    assert [b for b in blocks(out) if not b.startswith(FILLER[0])] == [f"# {t}" for t in titles]
    left = [d for d in out.report.dropped if d.reason == "table of contents"]
    assert [d.page for d in left] == [1] * 6 and left[0].text == "Contents"
    assert compare(doc.bytes(), out).pages[0].recall == 1.0


def test_a_list_of_readings_is_no_table_of_contents():
    doc = Doc().heading("Readings")
    for name in ("Inlet", "Outlet", "Bypass", "Return", "Waste"):
        doc.line(f"{name} {'. ' * 40}12")
    doc.paragraph(*FILLER)
    assert "Outlet 12" in doc.convert().markdown


def test_a_title_that_the_outline_leaves_out_stands_over_its_chapters():
    doc = Doc().heading("LM-640", size=30).line("Manual of operation", size=18, after=40)
    for title in ("Alpha", "Beta"):
        doc.heading(title).paragraph(*FILLER)
    doc.pdf.set_toc([[1, "Alpha", 1], [1, "Beta", 1]])
    assert [b for b in blocks(doc.convert()) if FILLER[0] not in b] == [
        "# LM-640",
        "Manual of operation",
        "## Alpha",
        "## Beta",
    ]


def test_a_line_over_the_title_and_an_edition_under_it_are_no_headings():
    doc = Doc().line("APPLICATION NOTE 17", font=BOLD, after=20).heading("Control of chlorine", size=24)
    doc.line("Edition 2025, valid from January", size=13, after=30)
    doc.heading("Summary").paragraph(*FILLER).heading("The site").paragraph(*FILLER)
    heads = [b for b in blocks(doc.convert()) if b.startswith("#")]
    assert heads == ["# Control of chlorine", "## Summary", "## The site"]


def test_a_large_first_letter_belongs_to_its_word():
    doc = Doc()
    doc.text(72, "O", y=100, size=34)
    for i, t in enumerate(["ver the years the works", "has grown by one tank", "and by two pumps."]):
        doc.text(100, t, y=80 + 12 * i)
    doc.y = 130
    doc.paragraph(*FILLER).paragraph(*FILLER)
    assert "Over the years the works" in doc.convert().markdown


def test_markup_in_the_text_stays_text():
    doc = (
        Doc()
        .paragraph("Write <table> or ![x](y.png) or <!-- page 9 --> to see them.")
        .paragraph("# no heading")
    )
    out = doc.convert()
    assert out.markdown.count("<!-- page") == 2  # the page's own, and the escaped one
    assert "\\<!-- page 9" in out.markdown and "\\# no heading" in out.markdown
    assert postprocess(out.markdown) == out.markdown
