"""Vectors that a double gives: no model, but texts that share words are alike."""

from __future__ import annotations

import hashlib
import math
import re

_WORD = re.compile(r"[^\W_]+")


def vector_of(text: str, dimensions: int) -> list[float]:
    """A bag of hashed words, length 1."""
    out = [0.0] * dimensions
    for word in _WORD.findall(text.lower()) or [" "]:
        number = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
        out[number % dimensions] += 1.0 if number >> 63 else -1.0
    length = math.sqrt(sum(x * x for x in out)) or 1.0
    return [x / length for x in out]
