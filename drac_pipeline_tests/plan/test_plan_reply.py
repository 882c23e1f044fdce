"""A model's plan read and mended."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drac_pipeline.plan.reply import Unusable, read_plan


@pytest.mark.parametrize(
    "text",
    [
        "1 3 4 /6",
        "p1, p3, p4 / p6",
        "1-2 3 4-6",
        "p1-p2, p3, p4-p6",
        "```\n1-2 3 4-6\n```",
        "chunks: 1–2 3 4–6",
        '{"chunks": [["h1", "p1", "p2"], ["h1", "p3"], ["p4", "p5", "p6"]]}',
        '[["p1","p2"],["p3"],["p4","p5","p6"]]',
        'Here it is:\n```json\n{"chunks": [[1, 2], [3], [4, 5, 6]]}\n```',
    ],
)
def test_both_formats_are_read(text: str):
    assert read_plan(text, 6).groups == [[1, 2], [3], [4, 5, 6]]
    assert read_plan(text, 6).mended == []


@pytest.mark.parametrize(
    ("text", "groups", "mended"),
    [
        ("1-3 4-9", [[1, 2, 3], [4, 5, 6]], "unknown ids dropped: p7"),
        ("1 4 9 /6", [[1, 2, 3], [4, 5, 6]], "unknown ids dropped: p9"),
        ("4 1 /6", [[1, 2, 3], [4, 5, 6]], "ids out of reading order, sorted"),
        ("1-3 3-6", [[1, 2, 3], [4, 5, 6]], "ids planned twice, the first kept: p3"),
        ("4-6 1-3", [[1, 2, 3], [4, 5, 6]], "ids out of reading order, sorted"),
        (
            '[["p1","p4"],["p2","p3"],["p5","p6"]]',
            [[1], [2, 3], [4], [5, 6]],
            "ids out of reading order, sorted",
        ),
    ],
)
def test_what_is_clear_is_mended(text: str, groups: list[list[int]], mended: str):
    plan = read_plan(text, 6)
    assert plan.groups == groups
    assert plan.mended == [mended]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Sure! I grouped them by topic.",
        "1-2 4-6",
        "6-1",
        "1 3 /5",
        "2 3 /6",
        "1 /6\n3 /6",
        "{}",
        '{"chunks": []}',
    ],
)
def test_what_is_not_a_plan_is_not_taken_for_one(text: str):
    with pytest.raises(Unusable):
        read_plan(text, 6)


@given(st.text(alphabet='p0123456789-[], {}"chunks:\n', max_size=60), st.integers(1, 12))
def test_a_plan_holds_everything_once_whatever_was_written(text: str, n: int):
    try:
        plan = read_plan(text, n)
    except Unusable:
        return
    assert [i for g in plan.groups for i in g] == list(range(1, n + 1))
    assert all(plan.groups)


def test_numbers_alone_are_chunks_whatever_stands_between_them():
    """A bar may separate chunks, too: what is left out of a web page is what has a reason."""
    assert read_plan("1-4 | 5 | 6-11", 11).groups == [[1, 2, 3, 4], [5], [6, 7, 8, 9, 10, 11]]
    plan = read_plan("1-9 | 10, 11", 11, {10, 11})
    assert plan.left_out == {} and {i for g in plan.groups for i in g} == set(range(1, 12))
