"""Rank the chunks of an index for questions: by words (BM25), by vectors, and by both.

Ties are broken by the chunk's place in the set, so that a ranking is the same at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import numpy as np

HYBRID = "hybrid"
_CELLS = 20_000_000  # scores held at once: 80 MB

Scores = Callable[[Sequence[str]], np.ndarray]


class Ranker(Protocol):
    """`index` takes the chunks and gives a function from questions to scores, questions × chunks; a score
    that is not above `floor` counts as not found."""

    name: str
    floor: float

    def index(self, texts: Sequence[str]) -> Scores: ...


class Embedder(Protocol):
    """Texts to vectors of length 1, one a row, in the order of the texts."""

    name: str

    def embed_documents(self, texts: list[str]) -> np.ndarray: ...

    def embed_queries(self, texts: list[str]) -> np.ndarray: ...


class Bm25:
    """Words by BM25 (Lucene's variant and its defaults, English stopwords)."""

    name = "BM25"
    floor = 0.0

    def index(self, texts: Sequence[str]) -> Scores:
        """Build the index of words."""
        import bm25s

        index = bm25s.BM25(method="lucene")
        index.index(bm25s.tokenize(list(texts), stopwords="en", show_progress=False), show_progress=False)
        known = index.vocab_dict

        def scores(questions: Sequence[str]) -> np.ndarray:
            out = np.zeros((len(questions), len(texts)), np.float32)
            asked = bm25s.tokenize(list(questions), stopwords="en", return_ids=False, show_progress=False)
            for row, tokens in zip(out, asked, strict=True):
                found = [t for t in tokens if t in known]
                if found:
                    row[:] = index.get_scores(found)
            return out

        return scores


class Vectors:
    """Cosine of the vectors of an embedder."""

    floor = -np.inf

    def __init__(self, embedder: Embedder) -> None:
        self.name = embedder.name
        self.embedder = embedder

    def index(self, texts: Sequence[str]) -> Scores:
        """Embed the chunks."""
        vectors = self.embedder.embed_documents(list(texts))
        return lambda questions: self.embedder.embed_queries(list(questions)) @ vectors.T


def rankings(
    texts: Sequence[str], questions: Sequence[str], rankers: Sequence[Ranker], hybrid: bool
) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
    """For each question its place and, by ranker, all chunks in order, best first. With `hybrid` also the
    reciprocal rank fusion of all rankers, where there are several."""
    indexed = [(r, r.index(texts)) for r in rankers]
    step = max(1, _CELLS // max(len(texts), 1))
    for start in range(0, len(questions), step):
        part = questions[start : start + step]
        scored = [(r, scores(part)) for r, scores in indexed]
        for i in range(len(part)):
            orders = {r.name: np.argsort(-s[i], kind="stable") for r, s in scored}
            if hybrid and len(rankers) > 1:
                found = [orders[r.name][s[i][orders[r.name]] > r.floor] for r, s in scored]
                orders[HYBRID] = fused(found, len(texts))
            yield start + i, orders


def fused(rankings: Sequence[np.ndarray], n: int, k: int = 60) -> np.ndarray:
    """Reciprocal rank fusion: n chunks by the sum of 1 / (k + place) over the rankings that found them."""
    total = np.zeros(n)
    for order in rankings:
        total[order] += 1 / (k + 1 + np.arange(len(order)))
    return np.argsort(-total, kind="stable")
