"""Paired bootstrap: how sure a difference between two chunk sets is, given these questions.

Both sets answered the same questions, so the questions are drawn again together: each resample draws as
many questions as there are, with replacement, and takes the mean of the differences. The interval holds the
middle 95 % of the resampled means. An interval without 0 in it is a difference that another choice of
questions of this kind would most likely show too; many comparisons at once make one of 20 such by chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 10_000
SEED = 20_250
CONFIDENCE = 0.95
ENOUGH = 20  # resamples of fewer questions know too little of what others would show
_CELLS = 4_000_000


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with the interval of its resampled values."""

    mean: float
    low: float
    high: float

    @property
    def sure(self) -> bool:
        """Whether 0 lies outside."""
        return self.low > 0 or self.high < 0


def intervals(
    columns: np.ndarray,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    confidence: float = CONFIDENCE,
) -> list[Interval]:
    """The interval of the mean of each column; rows are questions. For a difference give the differences
    of the same questions: that makes it paired. The same seed and number of rows draw the same resamples."""
    n = len(columns)
    if not n:
        return [Interval(0.0, 0.0, 0.0)] * columns.shape[1]
    means = np.concatenate([counts @ columns / n for counts in _draws(n, resamples, seed)])
    tail = (1 - confidence) / 2 * 100
    low, high = np.percentile(means, [tail, 100 - tail], axis=0)
    return [Interval(*map(float, x)) for x in zip(columns.mean(axis=0), low, high, strict=True)]


def paired(
    ours: Sequence[Sequence[float]], theirs: Sequence[Sequence[float]], **how: float
) -> list[Interval]:
    """The intervals of ours minus theirs; rows are the same questions in the same order."""
    a, b = np.array(ours, dtype=float), np.array(theirs, dtype=float)
    if a.shape != b.shape:
        raise ValueError(f"not paired: {a.shape} and {b.shape}")
    return intervals(a - b, **how)  # type: ignore[arg-type]


def _draws(n: int, resamples: int, seed: int) -> Iterator[np.ndarray]:
    """How often each question is in each resample, some resamples at a time."""
    rng = np.random.default_rng(seed)
    step = max(1, _CELLS // n)
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        drawn = rng.integers(0, n, (rows, n)) + n * np.arange(rows)[:, None]
        yield np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)
