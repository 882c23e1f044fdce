"""Pages upright: quarter turns and skew found from the text, and the way back.

Text lines say how a page lies: their direction tells upright from sideways and gives the
skew, and of two opposite ways to hold the page the recogniser reads one with confidence.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from drac_pipeline.convert.ocr.engine import Engine, Image, Quad, cut

Affine = NDArray[np.float64]  # 2x3

SURE = 0.88  # lines held the right way are recognised with at least this confidence
_LEAST_CHARS = 5
_SAMPLE = 6  # lines read to tell upright from upside down
_LEAST_SKEW = 0.12  # degrees: over the width of a page less than half a line's height
_REDETECT = 1.5  # degrees from which boxes are looked for again in the straightened image
_LONG = 1.5  # a box this many times longer than high has a direction


@dataclass(slots=True)
class Upright:
    """An upright page image, the boxes of its lines, and how it came from the rendering.

    `back` leads from its pixels to the rendering's; `quarters` counts the clockwise
    quarter turns and `skew` the clockwise degrees that were taken out.
    """

    image: Image
    quads: list[Quad]
    back: Affine
    quarters: int = 0
    skew: float = 0.0

    def on_rendering(self, quad: Quad) -> Quad:
        """A box of this image on the rendering that it came from."""
        return cv2.transform(quad[None].astype(np.float64), self.back)[0].astype(np.float32)

    @property
    def turned(self) -> str:
        """What was put right, in words; empty if nothing."""
        parts = []
        if self.quarters:
            parts.append(f"turned by {self.quarters * 90}°")
        if self.skew:
            parts.append(f"straightened by {abs(self.skew):.1f}°")
        return " and ".join(parts)


def make_upright(engine: Engine, image: Image, points: float) -> Upright:
    """Find the text of a rendering and turn it upright."""
    quads = engine.detect(image, points)
    page = Upright(image, quads, np.array([[1.0, 0, 0], [0, 1, 0]]))
    if not quads:
        return page
    sideways = _length(quads, tall=True) > _length(quads, tall=False)
    if sideways:
        page = _quarter(page, 1)
        page.quads = engine.detect(page.image, points)
    if _upside_down(engine, page):
        page = _quarter(page, 2)
        page.quads = engine.detect(page.image, points)
    angle = skew_of(page.quads)
    if abs(angle) < _LEAST_SKEW:
        return page
    page = _straighten(page, angle)
    if abs(angle) >= _REDETECT:
        page.quads = engine.detect(page.image, points)
    return page


def sides(quad: Quad) -> tuple[float, float]:
    """Width and height of a box along its own edges."""
    tl, tr, _, bl = quad
    return float(np.hypot(*(tr - tl))), float(np.hypot(*(bl - tl)))


def skew_of(quads: list[Quad]) -> float:
    """Degrees by which lines fall to the right (clockwise): the median, long lines first."""
    found: list[tuple[float, float]] = []
    for q in quads:
        width, height = sides(q)
        if width > 4 * height:
            dx, dy = (q[1] + q[2] - q[0] - q[3]).tolist()
            found.append((math.degrees(math.atan2(dy, dx)), width))
    if not found:
        return 0.0
    found.sort()
    half, total = sum(w for _, w in found) / 2, 0.0
    for angle, weight in found:
        total += weight
        if total >= half:
            return angle
    return 0.0


def _length(quads: list[Quad], *, tall: bool) -> float:
    total = 0.0
    for q in quads:
        width, height = sides(q)
        long, short = (height, width) if tall else (width, height)
        if long > _LONG * short:
            total += long
    return total


def _upside_down(engine: Engine, page: Upright) -> bool:
    """Whether the longest lines read better upside down."""
    lines = sorted(page.quads, key=lambda q: -sides(q)[0])[:_SAMPLE]
    one, two = _weight(engine, page, lines, 0), 0.0
    if one < SURE:
        two = _weight(engine, page, lines, 2)
    return two > max(1.1 * one, 0.6)


def _weight(engine: Engine, page: Upright, lines: list[Quad], turns: int) -> float:
    """Mean confidence of the lines held one way; little text proves nothing."""
    scores = [s for r in engine.recognise([cut(page.image, q, turns) for q in lines]) for s in r.scores]
    return sum(scores) / len(scores) if len(scores) >= _LEAST_CHARS else 0.0


def _quarter(page: Upright, quarters: int) -> Upright:
    """Turn the image clockwise by quarter turns."""
    height, width = page.image.shape[:2]
    turned = np.ascontiguousarray(np.rot90(page.image, -quarters))
    # where a pixel of the turned image was before
    step: dict[int, list[list[float]]] = {
        1: [[0, 1, 0], [-1, 0, height]],
        2: [[-1, 0, width], [0, -1, height]],
        3: [[0, -1, width], [1, 0, 0]],
    }
    back = _chain(page.back, np.array(step[quarters % 4]))
    return Upright(turned, [], back, (page.quarters + quarters) % 4)


def _straighten(page: Upright, angle: float) -> Upright:
    """Turn the image counter-clockwise by `angle` degrees on a canvas that holds all of it."""
    height, width = page.image.shape[:2]
    matrix = np.asarray(cv2.getRotationMatrix2D((width / 2, height / 2), angle, 1.0), np.float64)
    cos, sin = abs(matrix[0, 0]), abs(matrix[0, 1])
    w, h = round(width * cos + height * sin), round(width * sin + height * cos)
    matrix[0, 2] += (w - width) / 2
    matrix[1, 2] += (h - height) / 2
    paper = float(np.median(page.image[::8, ::8]))
    image = cv2.warpAffine(
        page.image,
        matrix,
        (w, h),
        flags=cv2.INTER_CUBIC,
        borderMode=cv2.BORDER_CONSTANT,
        borderValue=(paper, paper, paper),
    )
    quads = [cv2.transform(q[None].astype(np.float64), matrix)[0].astype(np.float32) for q in page.quads]
    back = _chain(page.back, np.asarray(cv2.invertAffineTransform(matrix), np.float64))
    return Upright(np.asarray(image, np.uint8), quads, back, page.quarters, angle)


def _chain(outer: Affine, inner: Affine) -> Affine:
    """First `inner`, then `outer`."""
    return np.hstack([outer[:, :2] @ inner[:, :2], outer[:, :2] @ inner[:, 2:] + outer[:, 2:]])
