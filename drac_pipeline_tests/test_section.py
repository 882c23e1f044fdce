"""Elements to sections: levels, budget, merging, and what is not torn apart."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drac_pipeline.config import SectionConfig
from drac_pipeline.model import BlockSpan, Section
from drac_pipeline.parse import parse_markdown
from drac_pipeline.section import sections


def cut(markdown: str, budget: int, spans=()) -> list[Section]:
    return sections(parse_markdown(markdown, spans), SectionConfig(budget=budget))


def paragraphs(n: int) -> str:
    return "".join(f"Text {k}.\n\n" for k in range(n))


def ids(prefix: str, first: int, last: int) -> tuple[str, ...]:
    return tuple(f"{prefix}{k}" for k in range(first, last + 1))


def test_nothing_gives_no_section():
    assert cut("", 60) == []


def test_a_document_within_the_budget_is_one_section():
    assert cut("# A\n\n## B\n\none\n\n## C\n\ntwo", 6) == [Section("s1", ("h1", "h2", "p1", "h3", "p2"))]


def test_default_budget_is_sixty():
    assert [len(s.element_ids) for s in sections(parse_markdown(paragraphs(61)))] == [31, 30]


def test_coarsest_level_that_fits_descending_only_where_needed():
    markdown = (
        "# T\n\n## A\n\n"
        + paragraphs(4)
        + "## B\n\n### B1\n\n"
        + paragraphs(5)
        + "### B2\n\n"
        + paragraphs(5)
    )
    got = cut(markdown, 7)
    assert [s.element_ids for s in got] == [
        ("h1", "h2", *ids("p", 1, 4)),
        ("h3", "h4", *ids("p", 5, 9)),
        ("h5", *ids("p", 10, 14)),
    ]
    assert [s.context_ids for s in got] == [(), ("h1",), ("h1", "h3")]
    assert [s.id for s in got] == ["s1", "s2", "s3"]


def test_small_neighbours_are_merged_siblings_first():
    part = "### {}\n\n" + paragraphs(2)
    markdown = "# T\n\n## A\n\n" + "".join(part.format(x) for x in "abc") + "## B\n\n" + part.format("d") * 3
    # A and B have ten elements each: their parts fit in threes, and B begins a section
    assert [s.element_ids[0] for s in cut(markdown, 10)] == ["h1", "h5", "h6"]
    assert [len(s.element_ids) for s in cut(markdown, 11)] == [11, 10]


def test_without_headings_sections_are_as_few_and_as_even_as_the_budget_lets_them():
    assert [len(s.element_ids) for s in cut(paragraphs(25), 10)] == [9, 8, 8]


def test_lists_are_not_cut_where_the_budget_can_hold_them():
    markdown = paragraphs(6) + "Do this:\n\n" + "".join(f"{k}. step\n" for k in range(1, 7))
    assert [s.element_ids for s in cut(markdown, 10)] == [ids("p", 1, 6), ids("p", 7, 13)]


def test_a_list_longer_than_the_budget_is_cut_between_outer_items():
    markdown = "Do this:\n\n" + "".join(f"{k}. step\n   - why\n   - how\n" for k in range(1, 6))
    assert [len(s.element_ids) for s in cut(markdown, 10)] == [7, 9]


def test_a_table_longer_than_the_budget_is_cut():
    markdown = "\n\n".join(f"Row {k:03}." for k in range(500))
    spans = [BlockSpan(start=k * 10, end=k * 10 + 8, table_id="t1", row=k) for k in range(500)]
    got = cut(markdown, 60, spans)
    assert [len(s.element_ids) for s in got] == [56] * 5 + [55] * 4


def test_a_heading_stays_with_what_follows_it():
    got = cut(paragraphs(9) + "# H\n\n" + paragraphs(3), 10)
    assert [s.element_ids[0] for s in got] == ["p1", "h1"]
    # even if everything before the cut is headings, each section advances
    assert [len(s.element_ids) for s in cut("# a\n# b\n# c\n# d\n# e\n", 2)] == [2, 2, 1]


LINES = st.sampled_from(
    ["# A\n", "## B\n", "#### D\n", "text\n\n", "- a\n", "1. b\n", "<!-- drac:error -->\n"]
)


@settings(max_examples=300, deadline=None, database=None)
@given(st.lists(LINES, max_size=60), st.integers(1, 9))
def test_sections_hold_every_element_once_within_the_budget(lines, budget):
    elements = parse_markdown("".join(lines))
    got = sections(elements, SectionConfig(budget=budget))
    assert [i for s in got for i in s.element_ids] == [e.id for e in elements]
    assert all(0 < len(s.element_ids) <= budget for s in got)
    above = {e.id: e.ancestors for e in elements}
    assert all(s.context_ids == above[s.element_ids[0]] for s in got)


@pytest.mark.parametrize("line", ["###### F\n\n", "- a\n", "text\n\n", "# A\n\ntext\n\n"])
def test_cost_is_linear(line):
    elements = parse_markdown(line * 30_000)
    begun = time.perf_counter()
    assert sections(elements)
    assert time.perf_counter() - begun < 15


def test_parts_of_one_text_are_in_one_section_where_the_budget_allows():
    long = " ".join(f"This is sentence {k} of a long text." for k in range(60))  # three parts
    elements = parse_markdown(f"a\n\nb\n\n{long}\n\nc\n\nd")
    parts = [e.id for e in elements if e.part or len(e.text) > 100]
    assert len(parts) == 3
    for budget in (3, 4, 5):
        assert any(set(parts) <= set(s.element_ids) for s in sections(elements, SectionConfig(budget=budget)))
