"""A text layer held against the page's image."""

from __future__ import annotations

import itertools
import unicodedata
from collections import Counter

import numpy as np

from drac_pipeline.config import ConvertConfig
from drac_pipeline.convert.local.text_layer import PageText, Segment
from drac_pipeline.convert.ocr.engine import Engine, Quad, cut
from drac_pipeline.convert.ocr.raster import render
from drac_pipeline.mupdf import pymupdf

AGREES = 0.8
_SAMPLE = 10


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


def _quad(s: Segment, text: PageText, scale: float) -> Quad:
    """The line's corners on the rendering, in its own reading direction."""
    x0, y0, x1, y1 = s.x0 - 1, s.base - 0.95 * s.size, s.x1 + 1, s.base + 0.3 * s.size
    corners = []
    for x, y in ((x0, y0), (x1, y0), (x1, y1), (x0, y1)):
        box = text.to_display(x, y, x, y)
        corners.append((box.x0 * scale, box.y0 * scale))
    return np.array(corners, np.float32)
