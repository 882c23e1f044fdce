"""The tables of a page as PyMuPDF's layout model sees them.

The model takes half a second for a page and a hundred megabytes, so it is loaded by the first
page that needs it. Measured on pages with known tables, it tells tables side by side that the
text layer alone does not; tables close under each other it runs together, and some it takes
for text. So only the former is used, and every word comes from the text layer.
"""

from __future__ import annotations

import importlib
import itertools

from drac_pipeline.convert.local.text_layer import PageText, Segment
from drac_pipeline.mupdf import pymupdf

Region = tuple[float, float, float, float]


def tables_beside(page: pymupdf.Page, text: PageText) -> list[Region]:
    """Boxes of tables that stand side by side, in the reading frame; none where there is no model."""
    if page.rotation or text.turn != (1, 0):
        return []
    try:
        importlib.import_module("pymupdf.layout")
        page.get_layout()
        found = page.layout_information or []
    except Exception:  # no model, or it fails: the page is read all the same
        return []
    boxes = [(float(b[0]), float(b[1]), float(b[2]), float(b[3])) for b in found if b[4] == "table"]
    beside: set[Region] = set()
    for a, b in itertools.combinations(boxes, 2):
        height = min(a[3], b[3]) - max(a[1], b[1])
        apart = a[2] < b[0] + 2 or b[2] < a[0] + 2
        if apart and height > 0.5 * min(a[3] - a[1], b[3] - b[1]):
            beside |= {a, b}
    return sorted(beside)


def inside(region: Region, segments: list[Segment]) -> list[Segment]:
    """Segments whose middle lies in the region, with a little air."""
    x0, y0, x1, y1 = region
    return [
        s for s in segments if x0 - 3 < (s.x0 + s.x1) / 2 < x1 + 3 and y0 - 3 < s.base - 0.3 * s.size < y1 + 3
    ]
