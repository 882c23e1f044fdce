"""Chunks to vectors: each text once, and none shortened in silence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from drac_pipeline.index.embedder import Embedder
from drac_pipeline.index.vector_cache import VectorCache, vector_key
from drac_pipeline.model import Chunk

AT_ONCE = 64  # texts embedded before their vectors are kept: what a killed run loses at most


@dataclass(frozen=True)
class Embedded:
    """Vectors and token counts of chunks, in their order; `reused` texts were embedded before."""

    vectors: np.ndarray
    tokens: list[int]
    reused: int


def embed_chunks(chunks: Sequence[Chunk], embedder: Embedder, cache: Path) -> Embedded:
    """The vectors of the chunks' texts; those that the file `cache` has are not made again.

    Raises DocumentTooLarge where the embedder refuses a text, and what a model service raises.
    """
    how = f"{embedder.max_tokens} {embedder.too_long}"
    keys = [vector_key(embedder.name, how, c.text) for c in chunks]
    with VectorCache(cache) as kept:
        found = kept.get(keys)
        missing = {k: c.text for k, c in zip(keys, chunks, strict=True) if k not in found}
        waiting = list(missing.items())
        for start in range(0, len(waiting), AT_ONCE):
            part = waiting[start : start + AT_ONCE]
            made = embedder.embed_documents([text for _, text in part])
            fresh = {key: vector for (key, _), vector in zip(part, made, strict=True)}
            kept.put(fresh)
            found.update(fresh)
    vectors = np.stack([found[k] for k in keys]) if keys else np.zeros((0, embedder.dimensions), np.float32)
    return Embedded(vectors, [embedder.count_tokens(c.text) for c in chunks], len(set(keys)) - len(missing))


def length_report(chunks: Sequence[Chunk], tokens: Sequence[int], embedder: Embedder) -> dict[str, Any]:
    """Which chunks are longer than the embedder reads, and what was done about it."""
    over = [(c, n) for c, n in zip(chunks, tokens, strict=True) if n > embedder.max_tokens]
    longest = sorted(over, key=lambda pair: -pair[1])[:20]
    return {
        "embedder": embedder.name,
        "limit": embedder.max_tokens,
        "over_the_limit": len(over),
        "what_was_done": {"split": "embedded in parts", "cut": "cut", "refuse": "refused"}[embedder.too_long],
        "longest": [
            {"chunk": c.ordinal, "tokens": n, "page": c.page_start, "breadcrumb": c.breadcrumb[:200]}
            for c, n in longest
        ],
    }
