"""Text inside images on a page that has a text layer otherwise."""

from __future__ import annotations

import numpy as np

from drac_pipeline.config import ConvertConfig
from drac_pipeline.convert.local.text_layer import PageText
from drac_pipeline.convert.ocr.engine import Engine
from drac_pipeline.convert.ocr.raster import render
from drac_pipeline.mupdf import pymupdf

_DPI = 110  # detection only, nothing is recognised


def unread_lines(
    engine: Engine, page: pymupdf.Page, text: PageText, boxes: list[pymupdf.Rect], config: ConvertConfig
) -> int:
    """How many text lines are seen inside `boxes` where the text layer has no words."""
    image, scale = render(page, min(_DPI, config.ocr_dpi))
    known = [p.to_display(s.x0, s.y0, s.x1, s.y1) for p in (text, *text.side) for s in p.segments]
    count = 0
    for box in boxes:
        x0, y0, x1, y1 = (round(v * scale) for v in (box.x0, box.y0, box.x1, box.y1))
        part = np.ascontiguousarray(image[max(0, y0) : y1, max(0, x0) : x1])
        if min(part.shape[:2]) < 16:
            continue
        for quad in engine.detect(part, max(box.width, box.height)):
            cx = (float(quad[:, 0].mean()) + max(0, x0)) / scale
            cy = (float(quad[:, 1].mean()) + max(0, y0)) / scale
            count += not any(k.x0 - 2 <= cx <= k.x1 + 2 and k.y0 - 2 <= cy <= k.y1 + 2 for k in known)
    return count
