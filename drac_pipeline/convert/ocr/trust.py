"""Whether a page's text layer can be believed.

A page may carry text that says nothing of what it shows: fonts without a usable encoding,
glyphs in the private use area, or the invisible work of some other OCR. What looks wrong
is a suspicion only; it is held against the page's image before anything is thrown away.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pymupdf

from drac_pipeline.config import ConvertConfig
from drac_pipeline.convert.local.text_layer import UNKNOWN, PageText, Segment
from drac_pipeline.convert.ocr.engine import Engine, cut
from drac_pipeline.convert.ocr.raster import render

_LEAST = 20  # characters below which shares mean nothing
_BAD_SHARE = 0.2
_WORD = re.compile(r"[^\W\d_]{4,}")
_VOWELS = frozenset("aeiouyAEIOUY")
_LATIN_LEAST, _VOWEL_SHARE = 25, 0.72  # words of 4 letters and more; in languages written in Latin ≥ 0.95
_SAMPLE = 10
AGREES = 0.8


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


def agreement(engine: Engine, page: pymupdf.Page, text: PageText, config: ConvertConfig) -> float:
    """How far a text layer says what its page shows, 0..1: its longest lines, spread over
    the page, are read from the image where the layer says they are."""
    lines = sorted((s for s in text.segments if len(s.text) > 2), key=lambda s: -len(s.text))
    lines = sorted(lines[: 3 * _SAMPLE], key=lambda s: s.base)
    lines = lines[:: max(1, len(lines) // _SAMPLE)][:_SAMPLE]
    if not lines:
        return 0.0
    image, scale = render(page, config.ocr_dpi)
    crops = [cut(image, _quad(s, text, scale)) for s in lines]
    good = total = 0
    for s, reading in zip(lines, engine.recognise(crops), strict=True):
        want, got = _letters(s.text), _letters(reading.text)
        total += sum(want.values())
        good += sum((want & got).values()) if reading.score > 0.5 else 0
    return good / total if total else 0.0


def _letters(text: str) -> Counter[str]:
    """Pairs of letters and digits: a bag of single ones is alike in any text."""
    run = [c for c in unicodedata.normalize("NFKC", text).casefold() if c.isalnum()]
    return Counter(a + b for a, b in itertools.pairwise(run))


def _quad(s: Segment, text: PageText, scale: float) -> np.ndarray:
    """The line's corners on the rendering, in its own reading direction."""
    x0, y0, x1, y1 = s.x0 - 1, s.base - 0.95 * s.size, s.x1 + 1, s.base + 0.3 * s.size
    corners = []
    for x, y in ((x0, y0), (x1, y0), (x1, y1), (x0, y1)):
        box = text.to_display(x, y, x, y)
        corners.append((box.x0 * scale, box.y0 * scale))
    return np.array(corners, np.float32)
