"""Likeness of neighbouring blocks."""

from __future__ import annotations

import pytest

from drac_pipeline.parse import parse_markdown
from drac_pipeline.plan.blocks import blocks
from drac_pipeline.plan.cohesion import cohesion
from drac_pipeline.plan.size import Sizes


def likeness(*paragraphs: str) -> list[float]:
    return cohesion(blocks(parse_markdown("\n\n".join(paragraphs)), Sizes(600, 1000), {}))


def test_nothing_and_one():
    assert cohesion([]) == []
    assert likeness("Alone.") == [0.0]


def test_no_word_in_common_is_zero_and_the_same_words_are_one():
    assert likeness("Pumps and valves.", "Invoices, terms.", "TERMS: invoices.", "An ox is so.") == [
        0.0,
        0.0,
        pytest.approx(1.0),
        0.0,
    ]


def test_rare_words_count_more_than_common_ones():
    first, _, third, _, fifth = likeness(
        "company valve.", "company gauge.", "company gauge pump.", "company paper.", "company desk."
    )
    assert first == 0.0
    assert third > 3 * fifth > 0
