"""Where long texts are cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drac_pipeline.long_text import MAX_ELEMENT_CHARS, cut_long


def parts(text: str, **options) -> list[str]:
    return [text[a:b] for a, b in cut_long(text, **options)]


def test_a_text_within_the_limit_is_one_part():
    text = "One. " * (MAX_ELEMENT_CHARS // 5)
    assert parts(text) == [text]


def test_parts_are_whole_sentences_of_about_equal_length():
    text = " ".join(f"This is sentence {k} of a long text!" for k in range(100))
    found = parts(text)
    assert all(p.startswith("This is") and p.endswith("text!") for p in found)
    assert " ".join(found) == text
    assert max(map(len, found)) - min(map(len, found)) < 80


@pytest.mark.parametrize(
    "shortened", ["Dr. Meyer", "e.g. this", "No. 5", "Inc. shares", "J. Doe", "U.S. law"]
)
def test_a_shortened_word_ends_no_sentence(shortened):
    sentence = f"We know about {shortened} and what it may bring to us"
    found = parts(". ".join([sentence] * 8) + ".", limit=150)
    assert all(p.startswith("We know") and p.endswith("to us.") for p in found)


def test_closing_marks_belong_to_the_sentence():
    found = parts('He said: "All of it is really done." ' * 12 + "End.", limit=100)
    assert {p[-7:] for p in found[:-1]} == {' done."'}


@pytest.mark.parametrize(
    ("unit", "end"),
    [("alpha beta gamma; ", ";"), ("alpha beta gamma ", "abeg"), ("Key: some value; ", ";")],
    ids=["clauses", "words", "row"],
)
def test_without_sentences_a_smaller_unit_is_kept(unit, end):
    text = (unit * 40).strip()
    found = parts(text, limit=200)
    assert " ".join(found) == text
    assert all(len(p) <= 200 for p in found) and all(p[-1] in end + "a" for p in found[:-1])


def test_a_text_of_one_word_is_cut_evenly():
    assert [len(p) for p in parts("x" * 1000, limit=300)] == [250] * 4


def test_code_is_cut_between_lines():
    text = "\n".join(f"step_{k}(1. Two. Three)" for k in range(60))
    found = parts(text, by_line=True, limit=300)
    assert "\n".join(found) == text


def test_sentences_without_blanks_are_found_and_wide_letters_count_as_tokens_do():
    text = "これは日本語の文です。" * 100
    found = parts(text)
    assert "".join(found) == text
    assert all(p.endswith("。") and len(p) <= MAX_ELEMENT_CHARS // 3 for p in found)


@given(st.text(st.sampled_from("ab. \n;é\u0301文。"), max_size=400), st.integers(10, 60), st.booleans())
def test_nothing_but_white_space_is_between_parts(text, limit, by_line):
    text = text.strip()
    slices = cut_long(text, limit=limit, by_line=by_line)
    at = 0
    for start, end in slices:
        assert not text[at:start].strip() and at <= start < end and end - start <= limit
        assert text[start:end].strip() == text[start:end]
        at = end
    assert at == len(text)


def test_code_keeps_what_its_lines_begin_with():
    text = "\n".join(f"{'    ' if k else ''}key_{k}: value {k}" for k in range(80))
    found = parts(text, by_line=True)
    assert len(found) > 2 and "\n".join(found) == text
    assert all(p.startswith("    ") for p in found[1:])
