"""The paper's judge: a chunk supports a fact when it holds at least 60 % of the fact's content words.

The document's name plays no part: a fact is supported wherever its words stand. Since a long chunk holds
more of any fact's words, figures by chunk go with `budget_support`, which is the same for every chunk size.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from drac_pipeline.evaluate.questions import Fact
from drac_pipeline.evaluate.words import content_words

THRESHOLD = 0.6
_EPSILON = 1e-9  # 60 % of 5 words is 3 words, whatever floats make of it


class Judge:
    """Judges the chunks of one index."""

    def __init__(self, texts: Sequence[str], threshold: float = THRESHOLD) -> None:
        self.threshold = threshold
        self.n_chunks = len(texts)
        holders: defaultdict[str, list[int]] = defaultdict(list)
        for i, text in enumerate(texts):
            for word in content_words(text):
                holders[word].append(i)
        self._holders = {word: np.array(found) for word, found in holders.items()}

    def shares(self, facts: Sequence[Fact]) -> np.ndarray:
        """Share of each fact's content words in each chunk, facts × chunks."""
        out = np.zeros((len(facts), self.n_chunks))
        for row, fact in zip(out, facts, strict=True):
            counted = content_words(fact.text)
            for word in counted:
                if word in self._holders:
                    row[self._holders[word]] += 1
            row /= len(counted)
        return out

    def supports(self, facts: Sequence[Fact]) -> np.ndarray:
        """Whether each chunk supports each fact, facts × chunks."""
        counts = np.array([[len(content_words(f.text))] for f in facts])
        return np.rint(self.shares(facts) * counts) >= self.threshold * counts - _EPSILON


def budget_support(
    ranked: Iterable[str], facts: Sequence[Fact], budget: int, threshold: float = THRESHOLD
) -> np.ndarray:
    """Whether the ranked texts, joined up to `budget` characters (the last one cut), support each fact."""
    taken: list[str] = []
    left = budget
    for text in ranked:
        taken.append(text[:left])
        left -= len(text)
        if left <= 0:
            break
    have = content_words("\n".join(taken))
    wanted = [content_words(f.text) for f in facts]
    return np.array([len(w & have) >= threshold * len(w) - _EPSILON for w in wanted])
