"""Reciprocal rank fusion: several rankings to one.

A thing's score is the sum of weight / (k + rank) over the rankings that have it (Cormack, Clarke and
Büttcher 2009): scores of different kinds need not be comparable.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

K = 60
T = TypeVar("T", bound=Hashable)


def fuse(
    rankings: Iterable[Sequence[T]], k: float = K, weights: Sequence[float] = ()
) -> list[tuple[T, float]]:
    """All things of the rankings (each best first) with their score, best first. `weights` has a
    factor for each ranking, 1 where it has none.

    Ties are broken by the first ranking that has one of them, so a fusion is the same at any time.
    """
    scores: dict[T, float] = {}
    for n, ranking in enumerate(rankings):
        weight = weights[n] if n < len(weights) else 1.0
        for rank, thing in enumerate(ranking, 1):
            scores[thing] = scores.get(thing, 0.0) + weight / (k + rank)
    return sorted(scores.items(), key=lambda item: -item[1])
