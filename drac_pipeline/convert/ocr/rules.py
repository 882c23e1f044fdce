"""Ruling lines of an upright page image: what draws a table in a scan."""

from __future__ import annotations

import cv2
import numpy as np

from drac_pipeline.convert.local.text_layer import Rule
from drac_pipeline.convert.ocr.engine import Image, Quad

_H_LEAST, _V_LEAST = 24.0, 13.0  # points: longer than strokes of letters
_THICK = 3.5  # points: more is a bar or a filled area
_GAP = 5.0  # points a scan may tear into a line


def find_rules(mask: Image, scale: float, quads: list[Quad]) -> tuple[list[Rule], list[Rule]]:
    """Horizontal and vertical lines in pixels, from a mask of ink.

    Strokes of large letters are long enough to pass for lines: what lies within a text
    box for most of its length is none, unless the box is much higher than a letter.
    """
    horizontal = _lines(mask, scale, _H_LEAST)
    vertical = [Rule(r.y0, r.x0, r.y1, r.x1) for r in _lines(np.ascontiguousarray(mask.T), scale, _V_LEAST)]
    boxes = [
        (float(q[:, 0].min()), float(q[:, 1].min()), float(q[:, 0].max()), float(q[:, 1].max()))
        for q in quads
    ]
    return (
        [r for r in horizontal if not _in_text(r, boxes)],
        [r for r in vertical if not _in_text(r, boxes)],
    )


def without_rules(mask: Image, horizontal: list[Rule], vertical: list[Rule], scale: float) -> Image:
    """The mask with its lines wiped out, so that they are not taken for letters."""
    out = mask.copy()
    half = max(2, round(0.9 * scale))
    for r in horizontal + vertical:
        x0, x1 = round(r.x0) - half, round(r.x1) + half
        y0, y1 = round(r.y0) - half, round(r.y1) + half
        out[max(0, y0) : y1 + 1, max(0, x0) : x1 + 1] = 0
    return out


def split_at_rules(quads: list[Quad], vertical: list[Rule], scale: float) -> list[Quad]:
    """Cut boxes that run over a vertical line: cells are read one by one."""
    out: list[Quad] = []
    for q in quads:
        x0, x1 = float(q[:, 0].min()), float(q[:, 0].max())
        y0, y1 = float(q[:, 1].min()), float(q[:, 1].max())
        height = y1 - y0
        at = sorted(
            r.x0
            for r in vertical
            if x0 + 0.5 * height < r.x0 < x1 - 0.5 * height and min(r.y1, y1) - max(r.y0, y0) > 0.7 * height
        )
        rest = q
        for x in at:
            left, rest = _cut(rest, x, 1.2 * scale)
            out.append(left)
        out.append(rest)
    return out


def _cut(quad: Quad, x: float, margin: float) -> tuple[Quad, Quad]:
    tl, tr, br, bl = (np.asarray(p, np.float64) for p in quad)

    def at(a: np.ndarray, b: np.ndarray, where: float) -> np.ndarray:
        t = (where - a[0]) / ((b[0] - a[0]) or 1.0)
        return a + min(max(t, 0.0), 1.0) * (b - a)

    left = np.array([tl, at(tl, tr, x - margin), at(bl, br, x - margin), bl], np.float32)
    right = np.array([at(tl, tr, x + margin), tr, br, at(bl, br, x + margin)], np.float32)
    return left, right


def _lines(mask: Image, scale: float, least: float) -> list[Rule]:
    """Horizontal lines of a mask."""
    # rest skew moves a line by a pixel now and then: join neighbours before asking for length
    thick = cv2.dilate(mask, np.ones((3, 1), np.uint8))
    length = max(9, round(least * scale))
    runs = cv2.morphologyEx(thick, cv2.MORPH_OPEN, np.ones((1, length), np.uint8))
    runs = cv2.dilate(runs, np.ones((1, 2 * max(1, round(_GAP * scale / 2)) + 1), np.uint8))
    count, _, stats, _ = cv2.connectedComponentsWithStats(runs, connectivity=8)
    grown = max(1, round(_GAP * scale / 2))
    out: list[Rule] = []
    for x, y, w, h, area in stats[1:count].tolist():
        w, x = w - 2 * grown, x + grown
        # thickness by area: a line that rises over its length is still thin
        if w < length or area / max(1, w + 2 * grown) - 2 > _THICK * scale:
            continue
        if h > _THICK * scale + 2 + 0.02 * w:
            continue
        middle = y + h / 2
        out.append(Rule(float(x), middle, float(x + w), middle))
    return out


def _in_text(r: Rule, boxes: list[tuple[float, float, float, float]]) -> bool:
    length = max(r.x1 - r.x0, r.y1 - r.y0)
    horizontal = r.x1 - r.x0 > r.y1 - r.y0
    for x0, y0, x1, y1 in boxes:
        if horizontal:
            # an underline lies at the box's lower edge: no border either, it belongs to the words
            inside = (
                min(r.x1, x1) - max(r.x0, x0) if y0 + 0.1 * (y1 - y0) < r.y0 < y1 - 0.1 * (y1 - y0) else 0
            )
        else:
            inside = min(r.y1, y1) - max(r.y0, y0) if x0 < r.x0 < x1 else 0
        if inside > 0.7 * length:
            return True
    return False
