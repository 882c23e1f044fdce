"""How much two neighbouring blocks speak of the same thing, by the words or the names they share.

The cosine of the blocks' word vectors, words weighted by how few blocks use them (Hearst's
TextTiling compares neighbours in this way; here a block is the window). Needs no model and
no language.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import log, sqrt
from typing import Literal

from drac_pipeline.plan.blocks import Piece

_WORD = re.compile(r"[^\W_]{3,}")  # shorter ones are mostly grammar
_NAME = re.compile(r"[^\W_]+(?:[-./][^\W_]+)*")


def cohesion(pieces: Sequence[Piece], by: Literal["topic", "entity"] = "topic") -> list[float]:
    """For each piece its likeness to the one before, from 0 (nothing in common) to 1; first 0.

    By "topic" all words are compared, by "entity" only names, codes and numbers.
    """
    texts = [" ".join(e.text for e in p.items) for p in pieces]
    words = _names(texts) if by == "entity" else [_WORD.findall(t.lower()) for t in texts]
    counts = [Counter(w) for w in words]
    used_by = Counter(word for c in counts for word in c)
    vectors = [
        {word: (1 + log(n)) * log((len(counts) + 1) / (used_by[word] + 0.5)) for word, n in c.items()}
        for c in counts
    ]
    lengths = [sqrt(sum(x * x for x in v.values())) for v in vectors]
    out = [0.0] * min(1, len(pieces))
    for i in range(1, len(vectors)):
        a, b = vectors[i - 1], vectors[i]
        product = sum(x * b[word] for word, x in a.items() if word in b)
        out.append(product / (lengths[i - 1] * lengths[i]) if product else 0.0)
    return out


def _names(texts: Sequence[str]) -> list[list[str]]:
    """The words of each text that name something: written with a capital letter or a digit, and
    nowhere in these texts all in small letters (which leaves out words that merely begin a sentence)."""
    words = [_NAME.findall(t) for t in texts]
    small = {w for ws in words for w in ws if w == w.lower() and not any(c.isdigit() for c in w)}
    return [
        [w for w in ws if (w != w.lower() or any(c.isdigit() for c in w)) and w.lower() not in small]
        for ws in words
    ]
