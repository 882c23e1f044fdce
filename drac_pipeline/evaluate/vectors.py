"""Vectors of chunks and questions, each made once: they are kept in the home by the content of their text,
where the chunks' own vectors are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from drac_pipeline.index import Embedder
from drac_pipeline.index.embed import AT_ONCE
from drac_pipeline.index.vector_cache import VectorCache, vector_key

_QUESTION = "question"


class KeptVectors:
    """An embedder whose vectors are kept in the file `path`, and in memory once they were used."""

    def __init__(self, embedder: Embedder, path: Path) -> None:
        self.embedder = embedder
        self.name = embedder.name
        self._how = f"{embedder.max_tokens} {embedder.too_long}"
        self._path = path
        self._used: dict[str, np.ndarray] = {}

    def embed_documents(self, texts: list[str]) -> np.ndarray:
        """A row a text."""
        return self._rows(texts, self._how, self.embedder.embed_documents)

    def embed_queries(self, texts: list[str]) -> np.ndarray:
        """A row a question."""
        return self._rows(texts, f"{self._how} {_QUESTION}", self.embedder.embed_queries)

    def missing(self, texts: Iterable[str]) -> list[str]:
        """The texts without a vector, each once."""
        return list(self._missing(texts, self._how).values())

    def make(self, texts: list[str], on_texts: Callable[[int], None] = lambda _: None) -> None:
        """Embed chunks ahead of time; `on_texts` is told how many more are done."""
        self._make(texts, self._how, self.embedder.embed_documents, on_texts)

    def _rows(self, texts: list[str], how: str, embed: Callable[[list[str]], np.ndarray]) -> np.ndarray:
        self._make(list(self._missing(texts, how).values()), how, embed)
        return np.stack([self._used[vector_key(self.name, how, t)] for t in texts])

    def _missing(self, texts: Iterable[str], how: str) -> dict[str, str]:
        keys = {vector_key(self.name, how, t): t for t in texts}
        with VectorCache(self._path) as cache:
            self._used.update(cache.get(k for k in keys if k not in self._used))
        return {k: t for k, t in keys.items() if k not in self._used}

    def _make(
        self,
        texts: list[str],
        how: str,
        embed: Callable[[list[str]], np.ndarray],
        on_texts: Callable[[int], None] = lambda _: None,
    ) -> None:
        for start in range(0, len(texts), AT_ONCE):
            part = texts[start : start + AT_ONCE]
            made = {
                vector_key(self.name, how, t): np.asarray(v, np.float32)
                for t, v in zip(part, embed(part), strict=True)
            }
            with VectorCache(self._path) as cache:
                cache.put(made)
            self._used.update(made)
            on_texts(len(part))
