"""The metrics on examples worked out by hand, and what holds for any ranking."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drac_pipeline.evaluate.metrics import KS, NDCG_RULES, question_metrics


def metrics(*covered: str, facts: int, relevant: int | None = None) -> dict[str, float]:
    """`covered` are the facts of each chunk in order, as digits."""
    supports = np.array([[str(f) in c for f in range(facts)] for c in covered])
    return question_metrics(supports, relevant if relevant is not None else int(supports.any(axis=1).sum()))


def test_two_facts_in_the_second_and_fifth_chunk():
    m = metrics("", "0", "", "", "1", "", facts=2)
    assert m["recall@6"] == 1.0
    assert m["recall@3"] == 0.5
    assert m["precision@6"] == pytest.approx(2 / 6)
    assert m["precision@3"] == pytest.approx(1 / 3)
    assert m["mrr"] == 0.5
    assert m["ndcg@6:retrieved"] == pytest.approx((1 / log2(3) + 1 / log2(6)) / (1 + 1 / log2(3)))
    assert m["ndcg@3:retrieved"] == pytest.approx(1 / log2(3))


def test_the_rules_of_ndcg_differ_in_the_ideal():
    m = metrics("0", "0", "", "0", "", "", facts=1, relevant=5)
    gained = 1 + 1 / log2(3) + 1 / log2(5)
    assert m["ndcg@6:retrieved"] == pytest.approx(gained / (1 + 1 / log2(3) + 1 / log2(4)))
    assert m["ndcg@6:full"] == pytest.approx(gained / sum(1 / log2(i + 2) for i in range(5)))
    assert m["ndcg@6:bench"] == 1.0  # one fact: the first chunk is all that counts


def test_the_same_fact_twice_is_precision_but_not_recall():
    m = metrics("0", "0", "0", "", "", "", facts=2)
    assert (m["recall@3"], m["precision@3"], m["mrr"]) == (0.5, 1.0, 1.0)


def test_nothing_found_is_zero_everywhere():
    assert set(metrics("", "", "", facts=3, relevant=4).values()) == {0.0}


def test_an_index_smaller_than_k_still_has_k_places():
    m = metrics("0", facts=1)
    assert (m["recall@6"], m["precision@6"], m["precision@3"]) == (1.0, 1 / 6, 1 / 3)


def test_what_is_beyond_the_sixth_place_does_not_count():
    assert metrics("", "", "", "", "", "", "0", facts=1, relevant=1)["mrr"] == 0.0


@given(
    st.integers(1, 4).flatmap(
        lambda n: st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=1, max_size=8)
    ),
    st.integers(0, 5),
)
def test_what_holds_for_any_ranking(covered: list[list[bool]], more: int):
    supports = np.array(covered)
    m = question_metrics(supports, int(supports[:6].any(axis=1).sum()) + more)
    assert all(0 <= v <= 1 + 1e-12 for v in m.values())
    assert m["recall@3"] <= m["recall@6"]
    for k in KS:
        assert m[f"ndcg@{k}:full"] <= m[f"ndcg@{k}:retrieved"] + 1e-12
        assert (m[f"precision@{k}"] > 0) == (m[f"recall@{k}"] > 0)
        assert {m[f"ndcg@{k}:{r}"] > 0 for r in NDCG_RULES} == {m[f"recall@{k}"] > 0}
    better = np.array(sorted(covered[:6], key=any, reverse=True))
    assert question_metrics(better, 1)["mrr"] >= m["mrr"]
