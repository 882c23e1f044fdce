"""Ranking by words: BM25 in Lucene's variant over texts held in memory."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np


class WordIndex:
    """BM25 over `texts` (English stop words left out, k1 1.5 and b 0.75)."""

    def __init__(self, texts: Sequence[str]) -> None:
        import bm25s

        logging.getLogger("bm25s").setLevel(logging.WARNING)  # importing it turns its debug lines on
        self._size = len(texts)
        self._index = bm25s.BM25(method="lucene")
        tokens: Any = bm25s.tokenize(list(texts), stopwords="en", show_progress=False) if texts else None
        self._known: dict[str, int] = {}
        if tokens is not None and tokens.vocab:  # it refuses to index nothing
            self._index.index(tokens, show_progress=False)
            self._known = self._index.vocab_dict

    def scores(self, question: str) -> np.ndarray:
        """The score of each text: float32, 0 where it shares no word with the question."""
        import bm25s

        asked = bm25s.tokenize([question], stopwords="en", return_ids=False, show_progress=False)[0]
        found = [t for t in asked if t in self._known]
        if not found:
            return np.zeros(self._size, np.float32)
        return np.asarray(self._index.get_scores(found), np.float32)
