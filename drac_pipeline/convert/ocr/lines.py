"""Recognised lines as the words and segments that text pages have.

Recognition gives characters and roughly where they are. Baseline, type size and weight,
on which rows, headings and columns rest, are measured on the line's ink; then all lines
of a page are compared, for a scan's lines differ by a pixel where the print did not.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from drac_pipeline.convert.local.text_layer import READ_FONT, SPLIT_GAP, PageText, Segment, Word
from drac_pipeline.convert.ocr.engine import Image, Quad, Reading, cut
from drac_pipeline.convert.ocr.order import number
from drac_pipeline.convert.ocr.upright import sides

Flags = NDArray[np.bool_]

_TALL = frozenset("bdfhklßþ") | frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789ÄÖÜÉÈÊÀÂÇÑ&%$£€/()[]{}|!?#")
_FLAT = frozenset("acemnorsuvwxz")
_OPENING, _CLOSING = "([{£$€“‘", ",.;:!?)]}%”’"  # no word ends after, or begins with, one of these
_SIGNS, _BULLETS = "&+/×=·", "•●○◦▪■□–"
_CAP, _X = 0.70, 0.49  # heights of capitals and of small letters, in em
_TILT = 0.06  # three and a half degrees off the page's own lines
_BOLD = 1.22  # times the page's stroke width; upright print of one weight stays within 1.1
_SAME_SIZE = 0.13
_STROKE_HEIGHT, _REACH = 0.25, 0.45  # of a line's height: of strokes; of a character around its centre
_EDGE = 0.92  # of a line's box: what is full below is no letter, for they have room around them
_SHEARS = range(-9, 22, 3)  # degrees at which a line's columns are compared
_SLANTED, _CLEARER = 6, 1.005  # italics stand straightest from here; by this much more than as they are


@dataclass(slots=True)
class Line:
    """A line in page points: words with their places, and what its ink says.

    `low` and `high` are the heights of small letters and of capitals as measured, 0
    where the line has too few of them; `stroke` is the width of its strokes.
    """

    words: list[Word]
    base: float
    low: float
    high: float
    stroke: float
    score: float
    n: int
    tilted: bool = False
    slanted: bool = False
    size: float = 0.0


def measure(mask: Image, grey: Image, quad: Quad, reading: Reading, scale: float) -> Line:
    """Words and metrics of one line; `mask` is the page's ink without ruling lines."""
    flat_mask = cut(mask, quad)
    soft = 255.0 - cut(grey, quad).astype(np.float64)
    paper = float(np.median(soft))
    # the soft edges of letters place a line more exactly than a pixel does
    ink = np.where(cv2.dilate(flat_mask, np.ones((3, 3), np.uint8)) > 0, np.maximum(soft - paper, 0), 0.0)
    hard: Flags = flat_mask > 0
    n_rows, n_columns = hard.shape
    tl, tr, _, bl = (p.astype(float) for p in quad)
    along, down = (tr - tl), (bl - tl)

    gaps = _gaps(hard, reading)
    starts = _starts(reading, gaps, n_rows)
    columns = np.flatnonzero(hard.any(axis=0))
    lefts = [float(columns[0]) if len(columns) else 0.0, *(gaps[k - 1][1] for k in starts[1:])]
    rights = [*(gaps[k - 1][0] for k in starts[1:]), float(columns[-1] + 1) if len(columns) else n_columns]
    words = []
    for a, b, left, right in zip(starts, [*starts[1:], len(reading.chars)], lefts, rights, strict=True):
        x0 = float(tl[0] + along[0] * left / n_columns + down[0] / 2) / scale
        x1 = float(tl[0] + along[0] * right / n_columns + down[0] / 2) / scale
        words.append(Word(reading.chars[a:b], x0, max(x1, x0 + 0.5)))
    base, low, high = _heights(ink, reading)
    point = sides(quad)[1] / n_rows / scale
    middle = (tl + tr) / 2
    return Line(
        words=words,
        base=float(middle[1] + down[1] * base / n_rows) / scale,
        low=low * point,
        high=high * point,
        stroke=_stroke(ink, hard) * point,
        score=reading.score,
        n=len(reading.chars),
        slanted=_slanted(hard),
        tilted=abs(float(along[1])) > _TILT * sides(quad)[0] and sides(quad)[0] > 2.5 * sides(quad)[1],
    )


def unread(mask: Image, quad: Quad, reading: Reading) -> tuple[int, int]:
    """How many columns of a line hold strokes, and how many of these stand by no recognised
    character: a model passes over letters that it does not know and is sure of the others.

    Dots of leaders and rules are no strokes.
    """
    ink: Flags = cut(mask, quad) > 0
    height, width = ink.shape
    extent = np.where(ink.any(axis=0), height - np.argmax(ink[::-1], axis=0) - np.argmax(ink, axis=0), 0)
    at = np.flatnonzero(extent > _STROKE_HEIGHT * height)
    if not len(at) or not reading.chars:
        return len(at), len(at)
    centres = np.array(reading.centres) * width
    away = np.abs(at[:, None] - centres[None, :]).min(axis=1)
    return len(at), int((away > _REACH * height).sum())


def _gaps(ink: Flags, r: Reading) -> list[tuple[float, float]]:
    """The widest free run between each two characters, in columns of the line image."""
    n = ink.shape[1]
    free: Flags = np.logical_not(ink.max(axis=0))
    out = []
    for one, two in itertools.pairwise(r.centres):
        a, b = int(one * n), int(np.ceil(two * n))
        run = _widest(free[a:b])
        middle = (one + two) / 2 * n
        out.append((float(a + run[0]), float(a + run[1])) if run else (middle, middle))
    return out


def _widest(free: Flags) -> tuple[int, int] | None:
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


def _starts(r: Reading, gaps: list[tuple[float, float]], height: int) -> list[int]:
    """Where words begin: at recognised spaces, and at gaps as wide as those."""
    known = set(r.starts[1:])
    wide = sorted(b - a for k, (a, b) in enumerate(gaps, 1) if k in known)
    narrow = sorted(b - a for k, (a, b) in enumerate(gaps, 1) if k not in known)
    if not narrow:
        return r.starts
    letters = max(narrow[len(narrow) // 2], 0.04 * height)
    space = wide[len(wide) // 2] if wide else max(0.3 * height, 3.5 * letters)
    starts = [0]
    for k, (a, b) in enumerate(gaps, 1):
        before, after = r.chars[k - 1], r.chars[k]
        # figures and stops have more room around them than letters
        share = 0.7 if before.isalpha() and after.isalpha() else 0.85
        if before in _SIGNS or after in _SIGNS:
            share = 0.6
        if (
            k in known
            or (k == 1 and before in _BULLETS)
            or (
                b - a >= max(share * space, 2 * letters)
                and before not in _OPENING
                and after not in _CLOSING
                and not (before.isalnum() and k - starts[-1] == 1)
                and not (after.isalnum() and _last_letter(r, k, known))
            )
        ):
            starts.append(k)
    return starts


def _last_letter(r: Reading, k: int, known: set[int]) -> bool:
    """Whether the character at `k` ends its word: letters are not left on their own."""
    return k + 1 == len(r.chars) or k + 1 in known


def _heights(ink: NDArray[np.float64], r: Reading) -> tuple[float, float, float]:
    """Baseline (row from the top), height of small letters, height of capitals.

    Rows of print are dark between the baseline and the top of small letters, less so up
    to the top of capitals, and light elsewhere.
    """
    rows = ink.shape[0]
    profile = np.interp(np.arange(0, rows, 0.25), np.arange(rows), ink.sum(axis=1))
    dark = profile[profile > 0.05 * profile.max()] if profile.max() > 0 else profile
    if not len(dark) or dark.max() <= 0:
        return 0.8 * rows, 0.0, 0.55 * rows
    plateau = float(np.percentile(dark, 75))
    full = np.flatnonzero(profile >= 0.45 * plateau) / 4
    if float(full[-1]) > _EDGE * rows:
        # what is left of a ruling line at the box's edge is as dark, but apart from the letters
        *letters, last = np.split(full, np.flatnonzero(np.diff(full) > 1.0) + 1)
        if letters and len(last) < 0.12 * 4 * rows:
            full = np.concatenate(letters)
    base = float(full[-1]) + 0.25
    tall = sum(c in _TALL for c in r.chars)
    flat = sum(c in _FLAT for c in r.chars)
    share = tall / max(1, tall + flat)
    some = np.flatnonzero(profile >= max(0.04, 0.12 * share) * plateau) / 4
    low, high = base - float(full[0]), base - float(some[0])
    if share >= 0.7:  # brackets reach higher than capitals, but are few
        return base, 0.0, low
    if high > 1.2 * low and flat:
        return base, low, high if tall and high < 1.65 * low else 0.0
    return (base, 0.0, high) if share >= 0.4 or not flat else (base, low, 0.0)


def _slanted(ink: Flags) -> bool:
    """Whether the strokes lean to the right: columns of a line sheared back are more unlike
    each other, for stems then stand in one column."""
    ys, xs = np.nonzero(ink)
    if len(xs) < 20:
        return False
    best, at, upright = 0.0, 0, 0.0
    for degrees in _SHEARS:
        x = xs + np.round((ys - ink.shape[0] / 2) * np.tan(np.radians(degrees))).astype(np.int64)
        columns = np.bincount(x - int(x.min())).astype(np.float64)
        clear = float((columns * columns).sum())
        if clear > best:
            best, at = clear, degrees
        if degrees == 0:
            upright = clear
    return at >= _SLANTED and best > _CLEARER * upright


def _stroke(ink: NDArray[np.float64], hard: Flags) -> float:
    """Width of strokes in pixels: area by half the outline."""
    contours, _ = cv2.findContours(hard.astype(np.uint8), cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE)
    outline = sum(len(c) for c in contours)
    full = float(np.percentile(ink[hard], 90)) if hard.any() else 0.0
    return 2 * float(ink.sum()) / full / outline if outline and full else 0.0


def settle(lines: list[Line]) -> None:
    """Give lines of one print one size, and lines of one row one baseline."""
    both = sorted(x.low / x.high for x in lines if x.low and x.high)
    ratio = both[len(both) // 2] if len(both) > 2 else _X / _CAP
    for x in lines:
        # the top of capitals is a few letters' ink and the line above may touch it
        height = x.low / ratio if x.low and (x.n > 8 or not x.high) else x.high
        x.size = max(height / _CAP, 2.0) if height else 8.0
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
    straight = sorted((x for x in lines if not x.tilted), key=lambda line: line.size)
    for x in lines:
        if x.tilted and straight:  # stamps are no titles
            x.size = _median(straight)
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
    """Segments in reading order, cut where two words may be two cells."""
    weighted = sorted((x.stroke / x.size, x.n) for x in lines if x.stroke)
    normal, total = 0.0, 0
    for stroke, n in weighted:
        total += n
        if total * 2 >= sum(n for _, n in weighted):
            normal = stroke
            break
    out: list[Segment] = []
    for line in sorted(lines, key=lambda x: (round(x.base, 1), x.words[0].x0)):
        bold = bool(normal) and line.stroke / line.size > _BOLD * normal and line.n > 2
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
                    font=READ_FONT,
                    bold=bold,
                    italic=line.slanted,
                    order=0,
                    frame=frame,
                )
            )
    return number(out)
