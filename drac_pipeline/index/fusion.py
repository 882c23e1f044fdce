"""Reciprocal rank fusion: several rankings to one.

A thing's score is the sum of 1 / (k + rank) over the rankings that have it (Cormack, Clarke and
Büttcher 2009, with their k of 60): scores of different kinds need not be comparable.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

K = 60
T = TypeVar("T", bound=Hashable)


def fuse(rankings: Iterable[Sequence[T]], k: int = K) -> list[tuple[T, float]]:
    """All things of the rankings (each best first) with their score, best first.

    Ties are broken by the first ranking that has one of them, so a fusion is the same at any time.
    """
    scores: dict[T, float] = {}
    for ranking in rankings:
        for rank, thing in enumerate(ranking, 1):
            scores[thing] = scores.get(thing, 0.0) + 1.0 / (k + rank)
    return sorted(scores.items(), key=lambda item: -item[1])
