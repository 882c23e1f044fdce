"""Rankings of an index, and vectors that are kept."""

from __future__ import annotations

import numpy as np

from drac_pipeline.evaluate.chunkers import chunk_corpus, chunker
from drac_pipeline.evaluate.corpus import corpus_documents
from drac_pipeline.evaluate.rankers import HYBRID, WORDS, Vectors, Words, fused, rankings
from drac_pipeline.evaluate.vectors import KeptVectors
from drac_pipeline.index import open_embedder
from drac_pipeline.index.embedder import TooLong
from drac_pipeline.index.vector_cache import CACHE_FILE
from drac_pipeline.llm.open import STATE_FOLDER


class Letters:
    """An embedder that counts letters; `asked` is what it had to embed."""

    name = "letters"
    dimensions = 26
    max_tokens = 1000
    too_long: TooLong = "cut"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed_documents(self, texts: list[str]) -> np.ndarray:
        self.asked += texts
        rows = np.array([[t.lower().count(chr(97 + i)) for i in range(26)] for t in texts], np.float32)
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)

    def embed_queries(self, texts: list[str]) -> np.ndarray:
        return self.embed_documents(texts)

    def count_tokens(self, text: str) -> int:
        return len(text)


TEXTS = ["zinc zinc", "alpha pump", "beta tank", "alpha pump"]


def test_each_ranker_and_their_fusion_order_the_whole_index():
    found = dict(rankings(TEXTS, ["pump alpha", "zzz"], [Words(), Vectors(Letters())], hybrid=True))
    assert list(found) == [0, 1]
    assert set(found[0]) == {WORDS, "letters", HYBRID}
    for orders in found.values():
        for order in orders.values():
            assert sorted(order) == [0, 1, 2, 3]
    assert found[0][WORDS][:2].tolist() == [1, 3]  # a tie: as in the set
    assert found[0][HYBRID][:2].tolist() == [1, 3]
    assert found[1]["letters"][0] == 0
    assert found[1][HYBRID][0] == 0  # no word is known: the vectors decide


def test_without_hybrid_or_vectors_there_is_no_fusion():
    assert set(next(rankings(TEXTS, ["pump"], [Words()], hybrid=True))[1]) == {WORDS}
    two = [Words(), Vectors(Letters())]
    assert set(next(rankings(TEXTS, ["pump"], two, hybrid=False))[1]) == {WORDS, "letters"}


def test_fusion_is_the_sum_of_reciprocal_ranks():
    order = fused([np.array([0, 1, 2]), np.array([1, 0])], np.array([3, 1, 0, 2]))
    assert order.tolist() == [0, 1, 2, 3]  # 0 and 1 tie; 2 has one place; 3 none
    assert fused([np.array([], dtype=int), np.array([2, 0])], np.array([2, 0, 1])).tolist() == [2, 0, 1]


def test_a_text_is_embedded_once(tmp_path):
    path = tmp_path / "kept" / "vectors.sqlite"
    first = Letters()
    kept = KeptVectors(first, path)
    assert kept.missing(["a b", "a b", "c"]) == ["a b", "c"]
    steps: list[int] = []
    kept.make(["a b", "c"], steps.append)
    again = kept.embed_documents(["c", "a b", "c"])
    assert (first.asked, steps) == (["a b", "c"], [2])
    second = Letters()
    reopened = KeptVectors(second, path)
    assert np.array_equal(reopened.embed_documents(["c", "a b", "c"]), again)
    assert second.asked == []
    reopened.embed_queries(["c"])  # an embedder may treat questions otherwise
    assert second.asked == ["c"]


def test_vectors_of_other_settings_are_others(tmp_path):
    path = tmp_path / "vectors.sqlite"
    KeptVectors(Letters(), path).make(["a"])
    other = Letters()
    other.too_long = "split"
    assert KeptVectors(other, path).missing(["a"]) == ["a"]


def test_vectors_of_the_home_s_chunks_are_not_made_again(small_home):
    documents = corpus_documents(small_home)
    made = chunk_corpus(chunker("drac"), documents)
    path = small_home.path / STATE_FOLDER / CACHE_FILE
    assert KeptVectors(open_embedder(small_home.config.embed), path).missing(made.texts) == []
