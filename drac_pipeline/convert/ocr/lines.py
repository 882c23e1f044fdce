"""Recognised lines as the words and segments that text pages have.

Recognition gives characters and roughly where they are. Baseline, type size and weight,
on which rows, headings and columns rest, are measured on the line's ink; then all lines
of a page are compared, for a scan's lines differ by a pixel where the print did not.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from drac_pipeline.convert.local.text_layer import SPLIT_GAP, PageText, Segment, Word
from drac_pipeline.convert.ocr.engine import Image, Quad, Reading, cut
from drac_pipeline.convert.ocr.upright import sides

_TALL = frozenset("bdfhklßþ") | frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789ÄÖÜÉÈÊÀÂÇÑ&%$£€/()[]{}|!?#")
_FLAT = frozenset("acemnorsuvwxz")
_CAP, _X = 0.70, 0.49  # heights of capitals and of small letters, in em
_BOLD = 1.32  # times the page's stroke width
_SAME_SIZE = 0.13


@dataclass(slots=True)
class Line:
    """A line in page points: words with their places, and what its ink says."""

    words: list[Word]
    base: float
    size: float
    stroke: float  # in em
    score: float
    n: int
    tilted: bool = False


def measure(mask: Image, grey: Image, quad: Quad, reading: Reading, scale: float) -> Line:
    """Words and metrics of one line; `mask` is the page's ink without ruling lines."""
    ink = np.asarray(cut(np.asarray(mask * 255, np.uint8), quad) > 127, np.bool_)
    width, height = sides(quad)
    columns = np.flatnonzero(ink.any(axis=0))
    n_rows, n_columns = ink.shape
    tl, tr, _, bl = (p.astype(float) for p in quad)
    along, down = (tr - tl), (bl - tl)

    edges = _word_edges(ink, columns, reading)
    words = []
    for (a, b), (left, right) in zip(reading.words, edges, strict=True):
        x0 = float(tl[0] + along[0] * left / n_columns + down[0] / 2)
        x1 = float(tl[0] + along[0] * right / n_columns + down[0] / 2)
        words.append(Word(reading.chars[a:b], x0 / scale, max(x1, x0 + 1) / scale))
    base_row, em, stroke = _type(ink, cut(grey, quad), reading, n_rows)
    middle = (tl + tr) / 2
    base = float(middle[1] + down[1] * base_row / n_rows)
    return Line(
        words=words,
        base=base / scale,
        size=max(em * height / n_rows / scale, 2.0),
        stroke=stroke,
        score=reading.score,
        n=len(reading.chars),
        tilted=abs(float(along[1])) > 0.05 * width,
    )


def _word_edges(ink: NDArray[np.bool_], columns: NDArray[np.intp], r: Reading) -> list[tuple[float, float]]:
    """Where words begin and end, in the line image: at the widest gap between two words."""
    n = ink.shape[1]
    free = ~ink.any(axis=0)
    first = float(columns[0]) if len(columns) else 0.0
    last = float(columns[-1] + 1) if len(columns) else float(n)
    starts, ends = [first], []
    for (_, end), (begin, _) in zip(r.words, r.words[1:], strict=False):
        a, b = int(r.centres[end - 1] * n), int(np.ceil(r.centres[begin] * n))
        gap = _widest(free[a:b])
        left, right = (a + gap[0], a + gap[1]) if gap else ((a + b) / 2, (a + b) / 2)
        ends.append(float(left))
        starts.append(float(right))
    ends.append(last)
    return list(zip(starts, ends, strict=True))


def _widest(free: NDArray[np.bool_]) -> tuple[int, int] | None:
    best: tuple[int, int] | None = None
    start = None
    for i, f in enumerate([*free.tolist(), False]):
        if f and start is None:
            start = i
        elif not f and start is not None:
            if best is None or i - start > best[1] - best[0]:
                best = (start, i)
            start = None
    return best


def _type(ink: NDArray[np.bool_], grey: Image, r: Reading, rows: int) -> tuple[float, float, float]:
    """Baseline (row), em (rows) and stroke width (em) of a line image."""
    profile = ink.sum(axis=1).astype(float)
    if not profile.any():
        return 0.8 * rows, 0.75 * rows, 0.0
    area = float(profile.sum())
    contours, _ = cv2.findContours(ink.astype(np.uint8), cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE)
    outline = sum(len(c) for c in contours) or 1
    stroke = 2 * area / outline
    # the baseline is where ink drops most in the lower half
    smooth = np.convolve(profile, [0.25, 0.5, 0.25], "same")
    drop = smooth[:-1] - smooth[1:]
    half = rows // 2
    base = half + int(np.argmax(drop[half:])) + 1 if rows > 3 else rows
    tall = sum(c in _TALL for c in r.chars)
    flat = sum(c in _FLAT for c in r.chars)
    if tall:
        need, share = 0.45 * tall * stroke, _CAP
    elif flat:
        need, share = 0.45 * flat * stroke, _X
    else:
        need, share = 0.5 * stroke, 0.6
    enough = np.flatnonzero(profile[:base] >= need)
    top = int(enough[0]) if len(enough) else 0
    em = max((base - top) / share, 0.3 * rows)
    del grey
    return float(base), em, stroke / em


def settle(lines: list[Line]) -> None:
    """Give lines of one print one size, and lines of one row one baseline."""
    ordered = sorted(lines, key=lambda line: line.size)
    group: list[Line] = []
    for line in [*ordered, None]:
        if group and (line is None or line.size > (1 + _SAME_SIZE) * _median(group)):
            size = round(_median(group) * 2) / 2
            for g in group:
                g.size = max(size, 2.0)
            group = []
        if line is not None:
            group.append(line)
    rows = sorted((x for x in lines if not x.tilted), key=lambda line: line.base)
    i = 0
    while i < len(rows):
        j = i + 1
        while j < len(rows) and rows[j].base - rows[i].base < 0.3 * min(rows[i].size, rows[j].size):
            j += 1
        base = float(np.median([r.base for r in rows[i:j]]))
        for r in rows[i:j]:
            r.base = base
        i = j


def _median(lines: list[Line]) -> float:
    total, half = 0, sum(x.n for x in lines) / 2
    for line in lines:  # sorted by size
        total += line.n
        if total >= half:
            return line.size
    return lines[-1].size


def to_segments(lines: list[Line], frame: PageText) -> list[Segment]:
    """Segments in rows from top to bottom, cut where two words may be two cells."""
    weighted = sorted((x.stroke, x.n) for x in lines if x.stroke)
    normal, total = 0.0, 0
    for stroke, n in weighted:
        total += n
        if total * 2 >= sum(n for _, n in weighted):
            normal = stroke
            break
    out: list[Segment] = []
    for line in sorted(lines, key=lambda x: (round(x.base, 1), x.words[0].x0)):
        bold = bool(normal) and line.stroke > _BOLD * normal and line.n > 2
        pieces = [[line.words[0]]]
        for word in line.words[1:]:
            if word.x0 - pieces[-1][-1].x1 > SPLIT_GAP * line.size:
                pieces.append([word])
            else:
                pieces[-1].append(word)
        for words in pieces:
            out.append(
                Segment(
                    words=words,
                    base=line.base,
                    size=line.size,
                    font="ocr",
                    bold=bold,
                    italic=False,
                    order=len(out),
                    frame=frame,
                )
            )
    return out
