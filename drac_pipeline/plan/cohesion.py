"""How much two neighbouring blocks speak of the same thing, by the words they share.

The cosine of the blocks' word vectors, words weighted by how few blocks use them (Hearst's
TextTiling compares neighbours in this way; here a block is the window). Needs no model and
no language.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import log, sqrt

from drac_pipeline.plan.blocks import Piece

_WORD = re.compile(r"[^\W_]{3,}")  # shorter ones are mostly grammar


def cohesion(pieces: Sequence[Piece]) -> list[float]:
    """For each piece its likeness to the one before, from 0 (no word in common) to 1; first 0."""
    counts = [Counter(_WORD.findall(" ".join(e.text for e in p.items).lower())) for p in pieces]
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
