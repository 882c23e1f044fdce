"""Rank the chunks of an index for questions: by words (BM25), by vectors, and by both.

Ties are broken by the chunk's place in the set, so that a ranking is the same at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import numpy as np

from drac_pipeline.index import WordIndex, fuse
from drac_pipeline.index.fusion import K

WORDS = "BM25"
HYBRID = "hybrid"
_CELLS = 20_000_000  # scores held at once: 80 MB
_FUSED = 1000  # places of each ranking that are fused

Scores = Callable[[Sequence[str]], np.ndarray]


class Ranker(Protocol):
    """`index` takes the chunks and gives a function from questions to scores, questions × chunks; a score
    that is not above `floor` counts as not found."""

    name: str
    floor: float

    def index(self, texts: Sequence[str]) -> Scores: ...


class TextEmbedder(Protocol):
    """What ranking by vectors needs of an embedder."""

    name: str

    def embed_documents(self, texts: list[str]) -> np.ndarray: ...

    def embed_queries(self, texts: list[str]) -> np.ndarray: ...


class Words:
    """By words: BM25 without stems, where the home's index cuts English endings too."""

    name = WORDS
    floor = 0.0

    def index(self, texts: Sequence[str]) -> Scores:
        """Build the index of words."""
        words = WordIndex(texts)
        return lambda questions: np.stack([words.scores(q) for q in questions])


class Vectors:
    """By the cosine of an embedder's vectors."""

    floor = -np.inf

    def __init__(self, embedder: TextEmbedder, name: str = "") -> None:
        self.name = name or embedder.name
        self.embedder = embedder

    def index(self, texts: Sequence[str]) -> Scores:
        """Embed the chunks."""
        vectors = self.embedder.embed_documents(list(texts))
        return lambda questions: self.embedder.embed_queries(list(questions)) @ vectors.T


def rankings(
    texts: Sequence[str],
    questions: Sequence[str],
    rankers: Sequence[Ranker],
    hybrid: bool,
    rrf_k: float = K,
    vector_weight: float = 1.0,
) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
    """For each question its place and, by ranker, all chunks in order, best first. With `hybrid` each
    ranker but that by words is also fused with it (`rrf_k` and `vector_weight` as in [index]); the fused
    one's name says with which, where there are several."""
    indexed = [(r, r.index(texts)) for r in rankers]
    fusions = fused_names(rankers) if hybrid else {}
    step = max(1, _CELLS // max(len(texts), 1))
    for start in range(0, len(questions), step):
        part = questions[start : start + step]
        scored = [(r, scores(part)) for r, scores in indexed]
        for i in range(len(part)):
            orders = {r.name: np.argsort(-s[i], kind="stable") for r, s in scored}
            found = {r.name: orders[r.name][s[i][orders[r.name]] > r.floor] for r, s in scored}
            for name, other in fusions.items():
                orders[name] = fused([found[WORDS], found[other]], orders[other], rrf_k, vector_weight)
            yield start + i, orders


def fused_names(rankers: Sequence[Ranker]) -> dict[str, str]:
    """The fused rankings and the ranker that each joins with words."""
    others = [r.name for r in rankers if r.name != WORDS]
    if len(others) == len(rankers):
        return {}
    return {HYBRID: others[0]} if len(others) == 1 else {f"{HYBRID} {o}": o for o in others}


def fused(
    rankings: Sequence[np.ndarray], rest: np.ndarray, rrf_k: float = K, second_weight: float = 1.0
) -> np.ndarray:
    """Reciprocal rank fusion of rankings (those first found in each); chunks that none has near its top
    follow in the order of `rest`."""
    tops = [r[:_FUSED].tolist() for r in rankings]
    first = np.array([i for i, _ in fuse(tops, rrf_k, (1.0, second_weight))], dtype=np.intp)
    return np.concatenate([first, rest[~np.isin(rest, first)]])
