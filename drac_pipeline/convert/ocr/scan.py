"""A rendered page read by OCR, in the same structure as a text layer."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import cv2
import numpy as np

from drac_pipeline.config import ConvertConfig
from drac_pipeline.convert.local.text_layer import PageText, Rule
from drac_pipeline.convert.ocr.engine import Engine, Image, Quad, Reading, cut
from drac_pipeline.convert.ocr.lines import Line, measure, settle, to_segments, unread
from drac_pipeline.convert.ocr.raster import ink_mask, render, strengthened
from drac_pipeline.convert.ocr.rules import find_rules, split_at_rules, without_rules
from drac_pipeline.convert.ocr.upright import Affine, make_upright, sides
from drac_pipeline.model.box import Box
from drac_pipeline.mupdf import pymupdf


@dataclass(slots=True)
class ScannedPage(PageText):
    """A page of recognised text. `back` leads from its frame to the page as displayed."""

    back: tuple[float, ...] = (1, 0, 0, 0, 1, 0)

    def to_display(self, x0: float, y0: float, x1: float, y1: float) -> Box:
        a, b, c, d, e, f = self.back
        corners = [(x, y) for x in (x0, x1) for y in (y0, y1)]
        xs = [min(max(a * x + b * y + c, 0.0), self.display[0]) for x, y in corners]
        ys = [min(max(d * x + e * y + f, 0.0), self.display[1]) for x, y in corners]
        return Box(
            page=self.page,
            x0=round(min(xs), 2),
            y0=round(min(ys), 2),
            x1=round(max(xs), 2),
            y1=round(max(ys), 2),
        )


_UNKNOWN_LINE, _UNKNOWN_PAGE = 0.4, 0.5  # shares of strokes by no character; on pages that are read: < 0.01
_SUSPECT_PAGE, _UNSURE_PAGE = 0.06, 0.85  # a share that with such a confidence is another script too
_VIETNAMESE = "ươƯƠ"


@dataclass(slots=True)
class Scan:
    """What OCR made of a page. `found` counts lines seen, `unsure` holds those left out for their
    confidence, `unknown` those left out since most of their strokes are no characters of the models;
    `strokes` and `unread` count columns of all lines, and those by no recognised character."""

    page: ScannedPage
    confidence: float = 0.0
    found: int = 0
    unsure: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    strokes: int = 0
    unread: int = 0
    turned: str = ""
    seconds: float = 0.0
    mean: float = 0.0  # confidence of all that was recognised, also of what was left out

    @property
    def readable(self) -> bool:
        """Whether this is text rather than scratches that were taken for some."""
        letters = sum(c.isalnum() for p in (self.page, *self.page.side) for s in p.segments for c in s.text)
        return letters > 2 and self.page.n_chars > sum(len(t) for t in (*self.unsure, *self.unknown))

    @property
    def foreign(self) -> bool:
        """Whether the page is print in a script that the models do not read."""
        share = self.unread / max(1, self.strokes)
        return share > _UNKNOWN_PAGE or (share > _SUSPECT_PAGE and self.mean < _UNSURE_PAGE)

    @property
    def accents_lost(self) -> bool:
        """Whether this is Vietnamese, of whose letters with two marks most are passed over."""
        return sum(c in _VIETNAMESE for s in self.page.segments for c in s.text) > 1


def read_scan(
    engine: Engine,
    page: pymupdf.Page,
    number: int,
    config: ConvertConfig,
    clip: pymupdf.Rect | None = None,
) -> Scan:
    """Render a page, or the part of it in `clip`, turn it upright, and read its lines."""
    began = time.perf_counter()
    image, scale = render(page, config.ocr_dpi, clip)
    image = strengthened(image)
    rect = clip or page.rect
    upright = make_upright(engine, image, max(rect.width, rect.height))
    grey = np.asarray(cv2.cvtColor(upright.image, cv2.COLOR_RGB2GRAY), np.uint8)
    mask = ink_mask(grey, 2 * round(6 * scale) + 1)
    lying = [q for q in upright.quads if not _standing(q)]
    horizontal, vertical = find_rules(mask, scale, lying)
    clean = without_rules(mask, horizontal, vertical, scale)
    out = ScannedPage(
        page=number,
        width=upright.image.shape[1] / scale,
        height=upright.image.shape[0] / scale,
        segments=[],
        display=(page.rect.width, page.rect.height),
        back=_in_points(upright.back, scale, clip),
    )
    out.size = (out.width, out.height)
    out.h_rules, out.v_rules = _points(horizontal, scale), _points(vertical, scale)
    scan = Scan(out, found=len(upright.quads), turned=upright.turned)
    quads = split_at_rules(lying, vertical, scale)
    # letters are cut from the rendering itself: each resampling costs sharpness
    readings = engine.recognise([cut(image, upright.on_rendering(q)) for q in quads])
    lines = _keep(scan, config, clean, grey, quads, readings, scale)
    settle(lines)
    out.segments = to_segments([x for x in lines if not x.tilted], out)
    if any(x.tilted for x in lines):  # a stamp set across the page shares no rows with the print
        aside = replace(out, segments=[], side=[], h_rules=[], v_rules=[])
        aside.segments = to_segments([x for x in lines if x.tilted], aside)
        out.side.append(aside)
    lines += _side_text(engine, scan, config, upright.image, clean, grey, scale, upright.quads)
    out.n_chars = sum(x.n for x in lines)
    if lines:
        scan.confidence = round(sum(x.score * x.n for x in lines) / out.n_chars, 4)
    scored = [(r.score, len(r.chars)) for r in readings]
    scan.mean = sum(s * n for s, n in scored) / max(1, sum(n for _, n in scored))
    scan.seconds = time.perf_counter() - began
    return scan


def _keep(
    scan: Scan,
    config: ConvertConfig,
    mask: Image,
    grey: Image,
    quads: list[Quad],
    readings: list[Reading],
    scale: float,
) -> list[Line]:
    """Lines recognised surely enough."""
    out = []
    for quad, reading in zip(quads, readings, strict=True):
        strokes, lost = unread(mask, quad, reading)
        scan.strokes += strokes
        scan.unread += lost
        if not reading.chars:
            continue
        if lost > _UNKNOWN_LINE * strokes:
            scan.unknown.append(reading.text)
        elif reading.score < config.ocr_min_confidence:
            scan.unsure.append(reading.text)
        else:
            out.append(measure(mask, grey, quad, reading, scale))
    return out


def _standing(quad: Quad) -> bool:
    """Text set at right angles: clearly higher than wide, and too long for one letter."""
    width, height = sides(quad)
    return height > 2.2 * width


def _side_text(
    engine: Engine,
    scan: Scan,
    config: ConvertConfig,
    image: Image,
    mask: Image,
    grey: Image,
    scale: float,
    quads: list[Quad],
) -> list[Line]:
    """Standing text goes into a frame of its own, turned by a quarter; which way is the
    way that reads better. A thin letter on its own is no standing text."""
    standing = [q for q in quads if _standing(q)]
    if not standing:
        return []
    ways = {t: engine.recognise([cut(image, q, t) for q in standing]) for t in (0, 1, 3)}
    weight = {t: sum(sum(s * s for s in r.scores) for r in ways[t] if len(r.chars) > 1) for t in (1, 3)}
    turns = 1 if weight[1] >= weight[3] else 3
    lines: list[Line] = []
    upright_lines: list[Line] = []
    height, width = image.shape[:2]
    if turns == 1:  # reads downwards: x of the frame is y of the page
        corner, inner = (1, 2, 3, 0), np.array([[0.0, -1.0, width], [1.0, 0.0, 0.0]])
    else:
        corner, inner = (3, 0, 1, 2), np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, height]])
    side_mask = np.ascontiguousarray(np.rot90(mask, turns))
    side_grey = np.ascontiguousarray(np.rot90(grey, turns))
    for q, flat, turned in zip(standing, ways[0], ways[turns], strict=True):
        if flat.chars and len(flat.chars) <= 2 and flat.score >= turned.score:
            upright_lines += _keep(scan, config, mask, grey, [q], [flat], scale)
            continue
        there = cv2.invertAffineTransform(inner)
        moved = cv2.transform(q[None].astype(np.float64), there)[0].astype(np.float32)
        moved = moved[list(corner)]
        lines += _keep(scan, config, side_mask, side_grey, [moved], [turned], scale)
    if upright_lines:
        main = scan.page
        main.segments += to_segments(upright_lines, main)
    if lines:
        settle(lines)
        back = np.array(scan.page.back).reshape(2, 3)
        points = inner.copy()
        points[:, 2] /= scale
        whole = np.hstack([back[:, :2] @ points[:, :2], back[:, :2] @ points[:, 2:] + back[:, 2:]])
        frame = ScannedPage(
            page=scan.page.page,
            width=scan.page.height,
            height=scan.page.width,
            segments=[],
            display=scan.page.display,
            back=tuple(whole.reshape(-1).tolist()),
        )
        frame.segments = to_segments(lines, frame)
        scan.page.side.append(frame)
    return lines + upright_lines


def _in_points(back: Affine, scale: float, clip: pymupdf.Rect | None) -> tuple[float, ...]:
    out = back.copy()
    out[:, 2] /= scale  # both sides are scaled alike, so only the shift changes
    if clip is not None:
        out[:, 2] += (clip.x0, clip.y0)
    return tuple(out.reshape(-1).tolist())


def _points(rules: list[Rule], scale: float) -> list[Rule]:
    return [Rule(r.x0 / scale, r.y0 / scale, r.x1 / scale, r.y1 / scale) for r in rules]
