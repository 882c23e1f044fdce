"""Whether a page's text layer can be believed.

A page may carry text that says nothing of what it shows: fonts without a usable encoding,
glyphs in the private use area, or the invisible work of some other OCR. What looks wrong
is a suspicion only; it is held against the page's image before anything is thrown away.
This runs on every page with text, so it needs nothing but the characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass

from drac_pipeline.convert.local.text_layer import UNKNOWN, PageText

_LEAST = 20  # characters below which shares mean nothing
_BAD_SHARE = 0.2
_WORD = re.compile(r"[^\W\d_]{4,}")
_VOWELS = frozenset("aeiouyAEIOUY")
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
    if sum(len(s.text) for s in segments if s.hidden) > 0.5 * len(joined):
        return Verdict("the text layer is invisible")
    return Verdict()
