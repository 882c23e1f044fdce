"""Markdown to elements: kinds, levels, lists, tables, pages, and the exactness of every slice."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drac_pipeline.model import BlockSpan, Box, Element, ElementKind
from drac_pipeline.parse import parse_markdown

HEADING, PARAGRAPH, ITEM = ElementKind.HEADING, ElementKind.PARAGRAPH, ElementKind.LIST_ITEM
ROW, CODE, QUOTE, ERROR = ElementKind.TABLE_ROW, ElementKind.CODE, ElementKind.QUOTE, ElementKind.ERROR


def brief(elements: list[Element]) -> list[tuple[str, str]]:
    return [(e.id, e.text) for e in elements]


def kinds(elements: list[Element]) -> list[ElementKind]:
    return [e.kind for e in elements]


@pytest.mark.parametrize(
    "markdown", ["", "\n", "  \n\t\r\n", "---\n\n***", "<!-- page 1 -->\n\n<!-- page 2 -->"]
)
def test_nothing_to_read_gives_no_elements(markdown):
    assert parse_markdown(markdown) == []


def test_ids_levels_ancestors_and_slices():
    markdown = "# A\n\nOne.\n\n### B ###\nTwo\nlines.\n\n## C #1\n\nThree."
    elements = parse_markdown(markdown)
    assert brief(elements) == [
        ("h1", "A"), ("p1", "One."), ("h2", "B"), ("p2", "Two\nlines."), ("h3", "C #1"), ("p3", "Three."),
    ]  # fmt: skip
    assert [e.level for e in elements] == [1, 0, 3, 0, 2, 0]
    assert [e.ancestors for e in elements] == [(), ("h1",), ("h1",), ("h1", "h2"), ("h1",), ("h1", "h3")]
    assert [e.ordinal for e in elements] == list(range(6))


@pytest.mark.parametrize(
    ("markdown", "kind", "text"),
    [
        ("#hashtag", PARAGRAPH, "#hashtag"),
        ("####### seven", PARAGRAPH, "####### seven"),
        ("#", PARAGRAPH, "#"),
        ("## ##", PARAGRAPH, "## ##"),
        ("   ###### six", HEADING, "six"),
        ("#\ttab", HEADING, "tab"),
        ("# C# #", HEADING, "C#"),
        ("# Nothing\\#", HEADING, "Nothing\\#"),
        ("Under\n===", HEADING, "Under"),
        ("Under\n---", HEADING, "Under"),
        ("Under\n-", PARAGRAPH, "Under\n-"),
        ("    indented", PARAGRAPH, "indented"),
        ("<!-- a comment that a page prints -->", PARAGRAPH, "<!-- a comment that a page prints -->"),
        ("<!-- drac: never closed", PARAGRAPH, "<!-- drac: never closed"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", PARAGRAPH, "| a | b |\n|---|---|\n| 1 | 2 |"),
        ("Room\n14. is free", PARAGRAPH, "Room\n14. is free"),
        ("**Bold** starts", PARAGRAPH, "**Bold** starts"),
        ("> quoted\nlazily", QUOTE, "> quoted\nlazily"),
        ("hard break  \nnext  ", PARAGRAPH, "hard break  \nnext"),
    ],
)
def test_single_blocks(markdown, kind, text):
    (element,) = parse_markdown(markdown)
    assert (element.kind, element.text) == (kind, text)


def test_setext_levels_and_a_rule_after_two_lines():
    elements = parse_markdown("Title\n=====\n\nPart\n----\n\ntwo\nlines\n---\nafter")
    assert [(e.kind, e.level, e.text) for e in elements] == [
        (HEADING, 1, "Title"),
        (HEADING, 2, "Part"),
        (PARAGRAPH, 0, "two\nlines"),
        (PARAGRAPH, 0, "after"),
    ]


def test_headings_in_code_are_code():
    elements = parse_markdown("~~~sh\n# no heading\n\n```\n~~~\n# Heading")
    assert brief(elements) == [("p1", "~~~sh\n# no heading\n\n```\n~~~"), ("h1", "Heading")]
    assert kinds(elements) == [CODE, HEADING]


def test_a_fence_never_closed_ends_with_its_page():
    elements = parse_markdown("```\ncode\n<!-- page 2 -->\n# Heading\n\nText.")
    assert brief(elements) == [("p1", "```\ncode"), ("h1", "Heading"), ("p2", "Text.")]
    assert [e.page_start for e in elements] == [0, 2, 2]


def test_code_over_a_page_break_is_cut_there_so_that_no_comment_is_text():
    elements = parse_markdown("<!-- page 1 -->\n```\na\n<!-- page 2 -->\n\n# b\n```\nText.")
    assert [(e.kind, e.text, e.page_start, e.page_end) for e in elements] == [
        (CODE, "```\na", 1, 1),
        (CODE, "# b\n```", 2, 2),
        (PARAGRAPH, "Text.", 2, 2),
    ]


@pytest.mark.parametrize("close", ["```\n", ""])
def test_an_error_marker_is_one_in_code_too(close):
    marker = "<!-- drac:error pages=2 -->"
    elements = parse_markdown(f"```\na\n{marker}\n{close}")
    assert [(e.kind, e.text) for e in elements][:2] == [(CODE, "```\na"), (ERROR, marker)]


def test_nested_list_is_one_group_with_depths():
    markdown = (
        "Steps:\n1. Open\n   the lid.\n   - left\n   - right\n     1. deep\n"
        "2. Close\n\n   Firmly.\n3. Go\n\nEnd."
    )
    elements = parse_markdown(markdown)
    assert [(e.kind, e.level, e.group, e.text) for e in elements] == [
        (PARAGRAPH, 0, "", "Steps:"),
        (ITEM, 1, "l1", "1. Open\n   the lid."),
        (ITEM, 2, "l1", "   - left"),
        (ITEM, 2, "l1", "   - right"),
        (ITEM, 3, "l1", "     1. deep"),
        (ITEM, 1, "l1", "2. Close\n\n   Firmly."),
        (ITEM, 1, "l1", "3. Go"),
        (PARAGRAPH, 0, "", "End."),
    ]


def test_lists_part_at_another_marker_text_or_heading_not_at_blank_lines_or_pages():
    markdown = "- a\n\n- b\n<!-- page 2 -->\n- c\n* d\n1. e\n\nText\n\n1. f\n## H\n1. g"
    elements = parse_markdown(markdown)
    items = [(e.text, e.group) for e in elements if e.kind is ITEM]
    assert items == [
        ("- a", "l1"), ("- b", "l1"), ("- c", "l1"), ("* d", "l2"), ("1. e", "l3"),
        ("1. f", "l4"), ("1. g", "l5"),
    ]  # fmt: skip


def test_code_and_text_inside_a_list_keep_it_open():
    elements = parse_markdown(
        "1. Run:\n   ```\n   # not a heading\n   ```\n<!-- page 2 -->\n   then wait\n2. Done"
    )
    assert [(e.kind, e.group) for e in elements] == [
        (ITEM, "l1"), (CODE, "l1"), (PARAGRAPH, "l1"), (ITEM, "l1"),
    ]  # fmt: skip
    assert [e.page_start for e in elements] == [0, 0, 2, 2]


def test_pages_come_from_comments():
    elements = parse_markdown("<!-- page 1 -->\n# A\n\none\n<!-- page 2 -->\ntwo\n\n<!-- page 4 --> three")
    assert [(e.text, e.page_start, e.page_end) for e in elements] == [
        ("A", 1, 1), ("one", 1, 1), ("two", 2, 2), ("three", 4, 4),
    ]  # fmt: skip


def test_error_markers_are_elements_but_no_content():
    marker = '<!-- drac:error pages=3-5 cause="a > b" -->'
    elements = parse_markdown(f"<!-- page 2 -->\n- a\n\n{marker}\n\n- b\n<!-- page 6 -->\n- c")
    assert brief(elements) == [("p1", "- a"), ("e1", marker), ("p2", "- b"), ("p3", "- c")]
    assert [e.is_content for e in elements] == [True, False, True, True]
    assert (elements[1].page_start, elements[1].page_end) == (3, 5)
    assert [e.group for e in elements] == ["l1", "", "l2", "l2"]


def test_other_comments_of_ours_vanish():
    elements = parse_markdown("one\n<!-- drac:note x --> <!-- page 2 -->two\n<!-- drac:error -->")
    assert brief(elements) == [("p1", "one"), ("p2", "two"), ("e1", "<!-- drac:error -->")]
    assert [e.page_start for e in elements] == [0, 2, 2]


def test_comments_of_ours_within_a_line_part_it():
    elements = parse_markdown('# A <!-- page 2 -->\none <!-- drac:error pages=3 cause="x" --> two <!-- x -->')
    assert [(e.id, e.text, e.page_start) for e in elements] == [
        ("h1", "A", 0),
        ("p1", "one", 2),
        ("e1", '<!-- drac:error pages=3 cause="x" -->', 3),
        ("p2", "two <!-- x -->", 3),
    ]


def test_what_looks_like_a_comment_over_lines_swallows_nothing():
    elements = parse_markdown("<!-- drac:x\n# Heading\n<!-- page 2 -->\ntext")
    assert brief(elements) == [("p1", "<!-- drac:x"), ("h1", "Heading"), ("p2", "text")]


def test_carriage_returns():
    markdown = "# A\r\n\r\none\r\ntwo\r\n\r\n- x\r- y\r\n"
    assert brief(parse_markdown(markdown)) == [
        ("h1", "A"),
        ("p1", "one\r\ntwo"),
        ("p2", "- x"),
        ("p3", "- y"),
    ]


def box(page: int) -> Box:
    return Box(page=page, x0=1, y0=2, x1=3, y1=4)


def test_spans_give_boxes_pages_and_table_rows():
    markdown = "<!-- page 1 -->\nGoes on.\n\nRow one.\nRow two.\nNo row.\n\nRow three."
    at = {
        t: (markdown.index(t), markdown.index(t) + len(t))
        for t in ("Goes on.", "Row one.", "Row two.", "Row three.")
    }
    spans = [
        BlockSpan(start=at["Row three."][0], end=at["Row three."][1], boxes=[box(2)], table_id="t7", row=2),
        BlockSpan(start=at["Goes on."][0], end=at["Goes on."][1], boxes=[box(1), box(2)]),
        BlockSpan(start=at["Row one."][0], end=at["Row one."][1], table_id="t7", row=0),
        BlockSpan(start=at["Row two."][0], end=at["Row two."][1], table_id="t7", row=1),
    ]
    elements = parse_markdown(markdown, spans)
    assert [(e.text, e.kind, e.group, e.row) for e in elements] == [
        ("Goes on.", PARAGRAPH, "", -1),
        ("Row one.", ROW, "t7", 0),
        ("Row two.", ROW, "t7", 1),
        ("No row.", PARAGRAPH, "", -1),
        ("Row three.", ROW, "t7", 2),
    ]
    assert (elements[0].page_start, elements[0].page_end, elements[0].boxes) == (1, 2, (box(1), box(2)))
    assert (elements[1].page_start, elements[1].page_end) == (1, 1)
    assert (elements[4].page_start, elements[4].page_end) == (2, 2)


LINES = st.sampled_from(
    ["", " ", "# A", "## B ##", "#", "#x", "text", "  more", "- a", "  - b", "    + c", "1. s", "7) t",
     "-", "* * *", "---", "===", "```", "```py", "~~~~", "   ```", "> q", "<!-- page 3 -->",
     "<!-- page 4 --> tail", "head <!-- page 5 -->",
     "<!-- x -->", '<!-- drac:error pages=3-5 cause="x" -->', "<!-- drac:open",
     "-->", "\ttab", "a\u2028b", "\u00a0", "| a | b |"]
)  # fmt: skip
DOCUMENTS = st.lists(st.tuples(LINES, st.sampled_from(["\n", "\r\n", "\r"])), max_size=40).map(
    lambda rows: "".join(a + b for a, b in rows)
)
COMMENT = re.compile(r"<!--[ \t]*(?:page[ \t]+\d+[ \t]*|drac:(?:(?!-->)[^\r\n])*)-->")


def uncovered(markdown: str, elements: list[Element]) -> str:
    """What of the text is in no element."""
    rest = list(markdown)
    for e in elements:
        rest[e.start : e.end] = [" "] * (e.end - e.start)
    return "".join(rest)


@settings(max_examples=400, deadline=None, database=None)
@given(st.one_of(DOCUMENTS, st.text(alphabet="#-*`~>1. \n\r\ta<!", max_size=80)))
def test_every_line_is_in_one_element_and_every_text_is_its_slice(markdown):
    elements = parse_markdown(markdown)
    assert all(e.text == markdown[e.start : e.end] and e.text.strip() for e in elements)
    assert all(a.end <= b.start for a, b in pairwise(elements))
    left = COMMENT.sub("", uncovered(markdown, elements))
    # hashes of headings, rules and underlines are all that may be left
    assert not re.sub(r"[#=\-*_\s]", "", left), left
    assert not any(COMMENT.search(e.text) for e in elements if e.kind is not ERROR)


@settings(max_examples=100, deadline=None, database=None)
@given(DOCUMENTS, st.data())
def test_spans_never_change_what_is_covered(markdown, data):
    plain = parse_markdown(markdown)
    starts = data.draw(st.lists(st.integers(0, len(markdown)), max_size=6))
    spans = [
        BlockSpan(start=s, end=s + 9, table_id="t1", row=k, boxes=[box(9)]) for k, s in enumerate(starts)
    ]
    elements = parse_markdown(markdown, spans)
    # a row that ends a paragraph may leave one line above an underline
    bare = str.maketrans("=-", "  ")
    left, left_plain = (uncovered(markdown, x).translate(bare).split() for x in (elements, plain))
    assert left == left_plain
    assert all(e.text == markdown[e.start : e.end] for e in elements)


def test_work_is_linear(effort):
    """Lines that each look like the start of something long."""
    hard = ["```", "<!-- drac:x", "<!-- page", "#" + " " * 500 + "#x", "- " * 200 + "x", "   - a"]

    def work(n: int) -> int:
        markdown = "\n".join(hard * n)
        spans = [BlockSpan(start=i, end=i + 1, table_id="t1", row=0) for i in range(0, len(markdown), 50)]
        return effort(lambda: parse_markdown(markdown, spans))

    work(10)
    assert work(800) < 5 * work(200)


def test_a_long_text_is_several_elements_that_know_their_order():
    long = " ".join(f"This is sentence {k} of a long text." for k in range(50))
    elements = parse_markdown(f"# {'H' * 2000}\n\nshort\n\n- {long}\n- next")
    assert [(e.id, e.kind.value, e.part, e.group) for e in elements] == [
        ("h1", "heading", 0, ""),
        ("p1", "paragraph", 0, ""),
        ("p2", "list_item", 0, "l1"),
        ("p3", "list_item", 1, "l1"),
        ("p4", "list_item", 2, "l1"),
        ("p5", "list_item", 0, "l1"),
    ]
    assert [e.ordinal for e in elements] == list(range(6))
    assert " ".join(e.text for e in elements[2:5]) == f"- {long}"


def test_a_long_row_stays_a_row_of_its_table():
    row = "Name: A; Notes: " + "Much is said of it. " * 60
    row = row.strip()
    spans = [BlockSpan(start=0, end=len(row), table_id="t1", row=4)]
    elements = parse_markdown(row, spans)
    assert len(elements) == 2
    assert {(e.kind.value, e.group, e.row) for e in elements} == {("table_row", "t1", 4)}
