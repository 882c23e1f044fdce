"""Whether a page's text layer can be believed.

A page may carry text that says nothing of what it shows: fonts without a usable encoding,
glyphs in the private use area, or the invisible work of some other OCR. What looks wrong
is a suspicion only; it is held against the page's image before anything is thrown away.
This runs on every page with text, so it needs nothing but the characters.
"""

from __future__ import annotations

import math
import operator
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass

from drac_pipeline.convert.local.text_layer import UNKNOWN, PageText

_LEAST = 20  # characters below which shares mean nothing
_BAD_SHARE = 0.2
_WORD = re.compile(r"[^\W\d_]{4,}")
_VOWELS = frozenset("aeiouyAEIOUY")
# Letters in per cent, a rounded mean over western European languages. Real pages follow it to .88 and
# more (cosine; 510 pages), the same pages with letters exchanged to .78 at most. Other languages in Latin
# script lie anywhere above .5, so a text is suspected where it follows once its letters are moved back.
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_SHARES = (
    *(8.5, 1.5, 3.2, 4.2, 13.5, 1.4, 1.8, 2.8, 7.8, 0.5, 1.2, 4.6, 2.8),
    *(7.4, 6.5, 2.4, 0.5, 6.8, 6.7, 6.5, 4.2, 1.6, 1.0, 0.3, 1.0, 1.0),
)
_FOLLOWS, _FOLLOWS_SURELY, _ENOUGH_LETTERS = 0.83, 0.88, 100
_LATIN_LEAST, _VOWEL_SHARE = 20, 0.72  # words of 4 letters and more; in languages written in Latin ≥ 0.95


@dataclass(frozen=True, slots=True)
class Verdict:
    """`suspect` is why the text layer is doubted, empty where it is not; `unusable`
    where it can say nothing, so that there is nothing to compare."""

    suspect: str = ""
    unusable: bool = False


def judge_text(text: PageText) -> Verdict:
    """What the characters of a page say about its text layer."""
    segments = [s for p in (text, *text.side) for s in p.segments]
    joined = " ".join(s.text for s in segments)
    chars = Counter(c for c in joined if not c.isspace())
    total = sum(chars.values())
    if total == 0:
        return Verdict()
    unknown = sum(
        n for c, n in chars.items() if c in UNKNOWN or unicodedata.category(c) in ("Cc", "Cn", "Cs")
    )
    private = sum(n for c, n in chars.items() if unicodedata.category(c) == "Co")
    if total >= _LEAST or unknown + private == total:
        if unknown > _BAD_SHARE * total:
            return Verdict("the text layer has no encoding for its glyphs", True)
        if unknown + private > _BAD_SHARE * total:
            return Verdict("the text layer is in private-use characters", True)
    if total >= _LEAST:
        odd = sum(n for c, n in chars.items() if not (c.isalnum() or unicodedata.category(c)[0] in "MP"))
        letters = sum(n for c, n in chars.items() if c.isalnum())
        if odd > 0.35 * total and letters < 0.5 * total:
            return Verdict("the text layer is mostly symbols")
    words = [w for w in _WORD.findall(joined) if w.isascii()]
    if len(words) >= _LATIN_LEAST:
        spoken = sum(any(c in _VOWELS for c in w) for w in words)
        if spoken < _VOWEL_SHARE * len(words):
            return Verdict("the text layer is no words")
        if _moved_along(words):
            return Verdict("the text layer is no words")
    if sum(len(s.text) for s in segments if s.hidden) > 0.5 * len(joined):
        return Verdict("the text layer is invisible")
    return Verdict()


def _moved_along(words: list[str]) -> bool:
    """Whether the letters are as frequent as in a western European language once all are moved by the same
    step along the alphabet, and as they stand are not: an encoding that is off by a step."""
    counts = Counter("".join(words).lower())
    if counts.total() < _ENOUGH_LETTERS:
        return False
    seen = [counts[c] for c in _ALPHABET]
    scale = math.hypot(*_SHARES) * math.hypot(*seen)
    likeness = [sum(map(operator.mul, _SHARES, seen[by:] + seen[:by])) / scale for by in range(len(seen))]
    return likeness[0] < _FOLLOWS and max(likeness) >= _FOLLOWS_SURELY
