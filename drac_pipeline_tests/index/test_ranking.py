"""BM25 and the fusion of rankings, against figures worked out by hand."""

import math

import numpy as np

from drac_pipeline.index import WordIndex, fuse

TEXTS = [
    "The inlet valve of the pump is opened by hand.",
    "The pump must stay below 6 bar. The pump stops by itself.",
    "Roof of hall 3.",
    "The inlet valve of the pump is opened by hand.",
]


def test_bm25_is_lucenes():
    index = WordIndex(["pump pump valve", "valve roof", "roof roof roof hall"])
    # idf(pump) = ln(1 + (3 - 1 + 0.5) / (1 + 0.5)); tf 2, length 3 of a mean of 3
    expected = math.log(1 + 2.5 / 1.5) * 2 / (2 + 1.5 * (1 - 0.75 + 0.75 * 3 / 3))
    assert np.allclose(index.scores("pump"), [expected, 0, 0], atol=1e-5)


def test_texts_without_a_word_in_common_are_not_found_and_ties_keep_their_order():
    index = WordIndex(TEXTS)

    def ranked(question: str) -> list[int]:
        scores = index.scores(question)
        return [int(i) for i in np.argsort(-scores, kind="stable") if scores[i] > 0]

    assert ranked("Which valve?") == [0, 3]
    assert ranked("pump") == [1, 0, 3]
    assert ranked("the of is") == ranked("zebra") == ranked("") == []


def test_an_index_may_hold_nothing():
    assert WordIndex([]).scores("pump").shape == (0,)
    assert WordIndex(["the", ""]).scores("pump").tolist() == [0, 0]


def test_fusion_adds_reciprocal_ranks():
    fused = fuse([["a", "b", "c"], ["c", "a"]])
    assert [thing for thing, _ in fused] == ["a", "c", "b"]
    assert math.isclose(fused[0][1], 1 / 61 + 1 / 62)
    assert math.isclose(fused[1][1], 1 / 63 + 1 / 61)
    assert fuse([["x", "y"], ["y", "x"]], k=1)[0][0] == "x"
    assert fuse([["x"], ["y"]], weights=[0.5])[0] == ("y", 1 / 61)
    assert fuse([]) == []
