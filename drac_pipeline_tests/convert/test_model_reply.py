"""Replies cut into pages, and what is carried on."""

from __future__ import annotations

import pytest

from drac_pipeline.convert.model.carry import carry, row_items
from drac_pipeline.convert.model.reply import read_reply
from drac_pipeline.llm.prompts import CONVERT, prompt
from drac_pipeline.llm.protocol import Reply, Stop

BOTH = (4, 5)
LEAK = prompt(CONVERT).lines()[2]
TWO = "<!-- page 4 -->\n\n# A\n\nText of four.\n\n<!-- page 5 -->\n\nText of five."


def read(text: str, stop: Stop = Stop.END, asked: tuple[int, ...] = (4, 5)):
    return read_reply(Reply(text, stop), asked, prompt(CONVERT).lines())


def test_pages_are_told_apart():
    assert read(TWO).good == {4: "# A\n\nText of four.", 5: "Text of five."}


def test_a_fence_around_the_reply_is_taken_off():
    assert read(f"```markdown\n{TWO}\n```").good[5] == "Text of five."


def test_the_page_that_was_cut_off_is_not_kept():
    found = read(TWO, Stop.LENGTH)
    assert list(found.good) == [4]
    assert found.bad == {5: "truncated"}


def test_pages_after_the_cut_are_asked_for_again():
    found = read(TWO, Stop.LENGTH, (4, 5, 6))
    assert found.bad == {5: "truncated", 6: "truncated"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("<!-- page 4 -->\n\nText.", {5: "page left out"}),
        (
            "<!-- page 5 -->\n\nA\n\n<!-- page 4 -->\n\nB",
            dict.fromkeys(BOTH, "pages out of order or twice"),
        ),
        ("I'm sorry, but I can't read this.", dict.fromkeys(BOTH, "refused")),
        (TWO + "\n\nThe same line again." * 8, {5: "looping"}),
        (
            TWO + "\n\n" + prompt(CONVERT).lines()[2],
            dict.fromkeys(BOTH, "the reply repeats its instructions"),
        ),
        ("", dict.fromkeys(BOTH, "page left out")),
    ],
)
def test_what_is_wrong_is_named(text: str, why: dict[int, str]):
    assert read(text).bad == why


def test_a_page_asked_for_alone_needs_no_comment():
    assert read("Just text.", asked=(9,)).good == {9: "Just text."}


def test_headings_and_the_open_table_are_carried_on():
    text = "# A\n\n## B\n\nText.\n\nPart: x; Price: 3.\n\n<!-- page 2 -->\n\nPart: y; Price: 4."
    carried = carry(text)
    assert carried.outline == ("# A", "## B")
    assert carried.header == ("Part", "Price")
    assert carry(text + "\n\nEnd of the table.").header == ()


def test_open_headings_stay_in_a_long_outline():
    text = "# Book\n\n## Part\n\n" + "\n\n".join(f"### {i}" for i in range(100))
    assert carry(text).outline[:3] == ("# Book", "## Part", "### 60")


def test_row_sentences_are_known_and_prose_is_not():
    assert row_items("North — Part: x; Price: 3.") == [("Part", "x"), ("Price", "3")]
    assert row_items("He came; he saw; he left.") == []
    assert row_items("- Part: x; Price: 3.") == []
