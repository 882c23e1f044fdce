"""Text inside images on a page that has a text layer otherwise.

A pasted screenshot or a scanned table is content; the labels of a chart are words without
sentence or row. What reads like text or a table joins the page's own text at its place.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from drac_pipeline.config import ConvertConfig
from drac_pipeline.convert.local.table_zones import ruled_tables
from drac_pipeline.convert.local.text_layer import PageText, Rule, Segment, Word
from drac_pipeline.convert.ocr.engine import Engine
from drac_pipeline.convert.ocr.raster import render
from drac_pipeline.convert.ocr.scan import Scan, read_scan
from drac_pipeline.model.box import Box
from drac_pipeline.mupdf import pymupdf

_DPI = 110  # to see whether there is text; read at the full resolution
_LEAST = 3  # lines
_WORDS = 2.5  # pieces of text have more words than labels


@dataclass(slots=True)
class Pictures:
    """Lines taken from images (`scores` by their characters), and lines seen but not taken."""

    taken: int = 0
    left: int = 0
    chars: int = 0
    scores: float = 0.0


def unread_lines(
    engine: Engine, page: pymupdf.Page, text: PageText, boxes: list[pymupdf.Rect], config: ConvertConfig
) -> list[int]:
    """For each of `boxes`, how many lines are seen in it where the text layer has no words."""
    image, scale = render(page, min(_DPI, config.ocr_dpi))
    known = _known(text)
    out = []
    for box in boxes:
        x0, y0, x1, y1 = (max(0, round(v * scale)) for v in (box.x0, box.y0, box.x1, box.y1))
        part = np.ascontiguousarray(image[y0:y1, x0:x1])
        quads = engine.detect(part, max(box.width, box.height)) if min(part.shape[:2], default=0) > 15 else []
        centres = [
            ((float(q[:, 0].mean()) + x0) / scale, (float(q[:, 1].mean()) + y0) / scale) for q in quads
        ]
        out.append(sum(not _covered(x, y, known) for x, y in centres))
    return out


def take_in(
    engine: Engine,
    page: pymupdf.Page,
    text: PageText,
    boxes: list[pymupdf.Rect],
    seen: list[int],
    config: ConvertConfig,
) -> Pictures:
    """Read the images that hold text and add what reads like text to `text`."""
    out = Pictures()
    upright = text.turn == (1, 0) and text.matrix[:4] == (1, 0, 0, 1)
    for box, lines in zip(boxes, seen, strict=True):
        if lines < _LEAST or not upright:
            out.left += lines
            continue
        scan = read_scan(engine, page, text.page, config, box)
        segments = _new(scan, _known(text))
        words = sum(len(s.words) for s in segments)
        rows = len({round(s.base) for s in segments})
        text_like = words >= _WORDS * len(segments) or _tabled(scan, segments)
        if scan.page.back[0] < 0.9 or not scan.readable or not text_like:
            out.left += lines
            continue
        _join(text, scan, segments)
        out.taken += rows
        out.chars += sum(len(s.text) for s in segments)
        out.scores += scan.confidence * sum(len(s.text) for s in segments)
    return out


def _tabled(scan: Scan, segments: list[Segment]) -> bool:
    """Whether most of the text stands in a ruled table."""
    drafts = ruled_tables(scan.page, segments)
    return sum(len(row.segments) for d in drafts for row in d.rows) > 0.6 * len(segments)


def _known(text: PageText) -> list[Box]:
    return [p.to_display(s.x0, s.y0, s.x1, s.y1) for p in (text, *text.side) for s in p.segments]


def _covered(x: float, y: float, known: list[Box]) -> bool:
    return any(k.x0 - 2 <= x <= k.x1 + 2 and k.y0 - 2 <= y <= k.y1 + 2 for k in known)


def _new(scan: Scan, known: list[Box]) -> list[Segment]:
    """Recognised segments that the text layer does not have."""
    out = []
    for s in scan.page.segments:
        box = scan.page.to_display(s.x0, s.y0, s.x1, s.y1)
        if not _covered((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2, known):
            out.append(s)
    return out


def _join(text: PageText, scan: Scan, segments: list[Segment]) -> None:
    """Move segments and rules from the image's frame into the page's.

    They are shifted, not turned, so that rows stay rows in a slightly skewed image.
    """
    a, b, c, d, e, f = scan.page.back
    x, y = scan.page.width / 2, scan.page.height / 2
    dx, dy = a * x + b * y + c - x - text.matrix[4], d * x + e * y + f - y - text.matrix[5]
    after = max((s.order for s in text.segments), default=0) + 1
    for s in segments:
        text.segments.append(
            replace(
                s,
                words=[Word(w.text, w.x0 + dx, w.x1 + dx) for w in s.words],
                base=s.base + dy,
                order=after + s.order,
                frame=text,
            )
        )
    for mine, theirs in ((text.h_rules, scan.page.h_rules), (text.v_rules, scan.page.v_rules)):
        mine += [Rule(r.x0 + dx, r.y0 + dy, r.x1 + dx, r.y1 + dy) for r in theirs]
