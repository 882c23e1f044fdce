"""Vectors kept by the content of their texts: a text is embedded once by each embedder."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from drac_pipeline.index import Embedder

_SLICE = 64
_ASKED = 500  # keys in a query to the database


class KeptVectors:
    """An embedder whose vectors are kept in a SQLite file. The file may be deleted at any time; one that
    is damaged is made anew."""

    def __init__(self, embedder: Embedder, path: Path) -> None:
        self.embedder = embedder
        self.name = embedder.name
        self._identity = f"{embedder.name}/{embedder.max_tokens}/{embedder.too_long}"
        self._kept: dict[str, np.ndarray] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        self._db = _opened(path)

    def embed_documents(self, texts: list[str]) -> np.ndarray:
        """A row a text."""
        return self._all(texts, "document")

    def embed_queries(self, texts: list[str]) -> np.ndarray:
        """A row a question."""
        return self._all(texts, "query")

    def missing(self, texts: Iterable[str]) -> list[str]:
        """The texts without a vector, each once."""
        keys = {self._key(t, "document"): t for t in texts}
        self._load([k for k in keys if k not in self._kept])
        return [t for k, t in keys.items() if k not in self._kept]

    def make(self, texts: list[str], on_texts: Callable[[int], None] = lambda _: None) -> None:
        """Embed chunks ahead of time; `on_texts` is told how many more are done."""
        for start in range(0, len(texts), _SLICE):
            part = texts[start : start + _SLICE]
            self._keep(part, self.embedder.embed_documents(part), "document")
            on_texts(len(part))

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _all(self, texts: list[str], kind: str) -> np.ndarray:
        keys = {self._key(t, kind): t for t in texts}
        self._load([k for k in keys if k not in self._kept])
        wanted = [t for k, t in keys.items() if k not in self._kept]
        embed = self.embedder.embed_queries if kind == "query" else self.embedder.embed_documents
        for start in range(0, len(wanted), _SLICE):
            part = wanted[start : start + _SLICE]
            self._keep(part, embed(part), kind)
        return np.stack([self._kept[self._key(t, kind)] for t in texts])

    def _load(self, keys: list[str]) -> None:
        for start in range(0, len(keys), _ASKED):
            part = keys[start : start + _ASKED]
            marks = ",".join("?" * len(part))
            rows = self._db.execute(f"select key, vector from vectors where key in ({marks})", part)
            self._kept.update((k, np.frombuffer(v, np.float32)) for k, v in rows)

    def _keep(self, texts: list[str], vectors: np.ndarray, kind: str) -> None:
        rows = [(self._key(t, kind), v.astype(np.float32)) for t, v in zip(texts, vectors, strict=True)]
        self._kept.update(rows)
        with self._db:
            self._db.executemany(
                "insert or replace into vectors values (?, ?)", [(k, v.tobytes()) for k, v in rows]
            )

    def _key(self, text: str, kind: str) -> str:
        return hashlib.sha256(f"{self._identity}\0{kind}\0{text}".encode()).hexdigest()


def _opened(path: Path) -> sqlite3.Connection:
    try:
        return _connected(path)
    except sqlite3.DatabaseError:
        path.unlink(missing_ok=True)
        return _connected(path)


def _connected(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=60)
    try:
        db.execute("create table if not exists vectors (key text primary key, vector blob not null)")
    except sqlite3.DatabaseError:
        db.close()
        raise
    return db
