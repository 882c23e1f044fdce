"""Vectors of texts that were embedded before, by what they are vectors of.

SQLite, shared by all processes of a home: it outlives a killed process, and what a service was
paid for is paid once. Deleting the file loses nothing but time, and money with a service.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

CACHE_FILE = "vectors.sqlite"
_AT_ONCE = 500
_TABLE = "CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, vector BLOB) WITHOUT ROWID"


def vector_key(embedder: str, how: str, text: str) -> str:
    """The name of a vector: embedder, how it deals with length, and text."""
    digest = hashlib.sha256(f"{embedder}\0{how}\0".encode())
    digest.update(text.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


class VectorCache:
    """Float32 vectors in `path`; a context manager."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(path, timeout=60.0, isolation_level=None)
        # SQLite's first journal and no WAL, which shares memory: nodes of a cluster share the file itself
        self._db.execute("PRAGMA synchronous=NORMAL")
        self._db.execute(_TABLE)

    def __enter__(self) -> VectorCache:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def get(self, keys: Iterable[str]) -> dict[str, np.ndarray]:
        """The vectors that are there."""
        wanted = list(dict.fromkeys(keys))
        found: dict[str, np.ndarray] = {}
        for start in range(0, len(wanted), _AT_ONCE):
            part: Sequence[str] = wanted[start : start + _AT_ONCE]
            marks = ",".join("?" * len(part))
            query = f"SELECT key, vector FROM vectors WHERE key IN ({marks})"
            found.update((k, np.frombuffer(v, np.float32)) for k, v in self._db.execute(query, part))
        return found

    def put(self, vectors: Mapping[str, np.ndarray]) -> None:
        """Keep vectors."""
        rows = [(k, np.asarray(v, np.float32).tobytes()) for k, v in vectors.items()]
        self._db.execute("BEGIN IMMEDIATE")
        self._db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
        self._db.execute("COMMIT")
