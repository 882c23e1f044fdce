"""What the library asks of an embedder, and how a text longer than it reads is dealt with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

import numpy as np

from drac_pipeline.errors import DocumentTooLarge

TooLong = Literal["split", "cut", "refuse"]
Count = Callable[[str], int]


class Embedder(Protocol):
    """Texts to vectors of length 1: float32, one a row, in the order of the texts.

    `name` tells vectors that can be compared from ones that cannot: model, variant, dimensions.
    A text of more than `max_tokens` is split, cut or refused as the embedder was told to (`too_long`);
    `count_tokens` says what it counts for, with all that the model adds.
    """

    name: str
    max_tokens: int
    too_long: TooLong

    @property
    def dimensions(self) -> int: ...

    def embed_documents(self, texts: list[str]) -> np.ndarray: ...

    def embed_queries(self, texts: list[str]) -> np.ndarray: ...

    def count_tokens(self, text: str) -> int: ...


def normalized(vectors: np.ndarray) -> np.ndarray:
    """The rows with length 1; a row of zeros stays one."""
    vectors = np.asarray(vectors, np.float32)
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)


def fitting(text: str, count: Count, limit: int, too_long: TooLong) -> list[str]:
    """The text in parts of at most `limit` tokens: all of it, or with "cut" its beginning.

    Parts end between words where they can. Raises DocumentTooLarge with "refuse".
    """
    if (tokens := count(text)) <= limit:
        return [text]
    if too_long == "refuse":
        raise DocumentTooLarge(
            f"a text of {tokens} tokens is longer than the {limit} that the embedder reads: {text[:60]!r}…",
            remedy="Plan smaller chunks ([plan] max_chars), or set [embed] too_long to split or cut.",
        )
    parts = []
    rest = text
    while rest:
        end = len(rest) if count(rest) <= limit else _longest(rest, count, limit)
        parts.append(rest[:end])
        if too_long == "cut":
            break
        rest = rest[end:].lstrip()
    return parts


def _longest(text: str, count: Count, limit: int) -> int:
    """Characters of the longest beginning that counts for at most `limit` and ends after a word
    where one does; never none."""
    low, high = 1, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if count(text[:middle]) <= limit:
            low = middle
        else:
            high = middle - 1
    space = max(text.rfind(c, low // 2, low) for c in " \n\t")
    return space if space > 0 else low


def mean_of_parts(vectors: np.ndarray, owners: Sequence[int], weights: Sequence[int], n: int) -> np.ndarray:
    """One vector for each of `n` texts from those of its parts: their mean by tokens, length 1."""
    out = np.zeros((n, vectors.shape[1]), np.float32)
    for vector, owner, weight in zip(vectors, owners, weights, strict=True):
        out[owner] += vector * weight
    return normalized(out)
