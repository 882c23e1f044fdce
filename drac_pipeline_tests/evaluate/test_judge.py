"""The word rule and the judge."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from drac_pipeline.evaluate.judge import Judge, budget_support
from drac_pipeline.evaluate.questions import Fact
from drac_pipeline.evaluate.words import content_words, words

TEXT = st.text(alphabet="abcde 12.,-", max_size=60)


def test_words_are_runs_of_letters_and_digits():
    assert words("Don't use 2.5 mm_keys, ﬁt Ångström!") == [
        "don",
        "t",
        "use",
        "2",
        "5",
        "mm",
        "keys",
        "fit",
        "ångström",
    ]


def test_stopwords_do_not_count_and_others_count_once():
    assert content_words("The pump isn't the pump of THE tank") == {"pump", "tank"}
    assert content_words("It was not.") == frozenset()


def test_three_of_five_words_are_enough_and_two_are_not():
    fact = Fact("alpha beta gamma delta epsilon")
    judge = Judge(["alpha beta gamma", "alpha beta zeta", "EPSILON, delta; gamma: beta"])
    assert judge.supports([fact]).tolist() == [[True, False, True]]
    assert judge.shares([fact])[0].tolist() == [0.6, 0.4, 0.8]


def test_the_threshold_can_be_set():
    fact = Fact("alpha beta gamma delta")
    assert Judge(["alpha beta"], 0.5).supports([fact]).tolist() == [[True]]
    assert Judge(["alpha beta"], 0.51).supports([fact]).tolist() == [[False]]


def test_the_budget_cuts_the_last_text():
    facts = [Fact("alpha beta"), Fact("gamma delta")]
    ranked = ["alpha beta", "gamma delta"]
    assert budget_support(ranked, facts, 100).tolist() == [True, True]
    assert budget_support(ranked, facts, 10).tolist() == [True, False]
    assert budget_support(ranked, facts, 15).tolist() == [True, False]  # "gamma" alone is half of it


def test_a_text_cut_in_two_chunks_is_one_within_the_budget():
    fact = Fact("alpha beta gamma delta")
    assert not Judge(["alpha beta", "gamma delta"]).supports([fact]).any()
    assert budget_support(["alpha beta", "gamma delta"], [fact], 4000).all()


@given(TEXT, TEXT, TEXT)
def test_more_text_never_supports_less(chunk: str, more: str, fact: str):
    if not content_words(fact):
        return
    alone, longer, itself = Judge([chunk, f"{chunk} {more}", fact]).supports([Fact(fact)])[0]
    assert itself
    assert longer or not alone


@given(st.lists(TEXT, min_size=1, max_size=6), st.lists(TEXT, min_size=1, max_size=3))
def test_the_index_counts_as_sets_do(chunks: list[str], told: list[str]):
    facts = [Fact(t) for t in told if content_words(t)]
    if not facts:
        return
    wanted = [
        [len(content_words(f.text) & content_words(c)) / len(content_words(f.text)) for c in chunks]
        for f in facts
    ]
    assert np.allclose(Judge(chunks).shares(facts), wanted)
    assert Judge(chunks).supports(facts).tolist() == [[s >= 0.6 - 1e-9 for s in row] for row in wanted]
