"""Running headers, footers and page numbers: what repeats by place and text."""

from __future__ import annotations

import re
from collections import defaultdict

from drac_pipeline.convert.local.rows import Row, numeric, visual_rows
from drac_pipeline.convert.local.text_layer import PageText
from drac_pipeline.model.conversion import Dropped, DropReason

ZONE = 0.14  # of the page's height, at top and bottom
PAGE_NUMBER = re.compile(
    r"[^\w(]*(?:(?:page|p\.|pg\.?|seite|página|страница)\s*)?"
    r"(?:[A-Z]{1,2}[-–.])?(?:\d{1,4}|[ivxlc]{1,7})"
    r"(?:\s*(?:of|/|von|de|из)\s*\d{1,4})?[^\w)]*",
    re.I,
)


class Edge:
    """A row in the top or bottom zone of a page."""

    __slots__ = ("key", "page", "row", "top", "y")

    def __init__(self, row: Row, page: PageText, top: bool) -> None:
        self.row, self.page, self.top = row, page, top
        self.y = round(row.base if top else row.base - page.height)
        self.key = re.sub(r"\d+", "#", re.sub(r"\b[ivxlc]+\b", "#", " ".join(row.text.lower().split())))


def drop_running(pages: list[PageText]) -> list[Dropped]:
    """Take running rows out of the pages' segments and say what was taken."""
    edges = [e for p in pages for e in _edges(p)]
    groups: dict[tuple[bool, str], list[Edge]] = defaultdict(list)
    for e in edges:
        groups[e.top, e.key].append(e)
    running: set[int] = set()
    reasons: dict[int, DropReason] = {}
    n = len(pages)
    for (top, _key), found in groups.items():
        clusters = _by_height(found)
        for members in clusters:
            on = {e.page.page for e in members}
            if len(on) >= 2 and (len(on) >= 3 or n <= 6 or len(on) >= 0.3 * n):
                for e in members:
                    if _is_table_header(e):
                        continue
                    running.add(id(e.row))
                    reasons[id(e.row)] = "running header" if top else "running footer"
    numbers = _page_numbers(edges, n)
    dropped: list[Dropped] = []
    for p in pages:
        own = [e for e in edges if e.page is p]
        gone: set[int] = set()
        for top in (True, False):
            # from the edge inwards: a row is running only if all beyond it are
            outer = sorted((e for e in own if e.top == top), key=lambda e: e.y if top else -e.y)
            depth = 0
            for k, e in enumerate(outer):
                reason: DropReason | None = reasons.get(id(e.row))
                if (
                    PAGE_NUMBER.fullmatch(e.row.text.strip())
                    and (id(e.row) in numbers or id(e.row) in running)
                ) or (reason is None and id(e.row) in numbers):
                    reason = "page number"
                if reason is None and k <= 1 and _isolated(e, outer, k):
                    reason = "running header" if top else "running footer"
                if reason is None:
                    depth += 1
                    if depth > 0:
                        break
                    continue
                gone.update(id(s) for s in e.row.segments)
                dropped.append(Dropped(page=p.page, text=e.row.text, reason=reason))
        if gone:
            p.segments = [s for s in p.segments if id(s) not in gone]
    return dropped


def _edges(page: PageText) -> list[Edge]:
    rows = visual_rows(page.segments)
    top = [Edge(r, page, True) for r in rows if r.base < ZONE * page.height][:5]
    bottom = [Edge(r, page, False) for r in rows if r.base > (1 - ZONE) * page.height][-6:]
    return top + bottom


def _by_height(edges: list[Edge]) -> list[list[Edge]]:
    edges = sorted(edges, key=lambda e: e.y)
    out: list[list[Edge]] = []
    for e in edges:
        if out and e.y - out[-1][-1].y <= 4:
            out[-1].append(e)
        else:
            out.append([e])
    return out


def _next_gap(e: Edge) -> float:
    """Distance to the nearest row on the page's inner side, in the row's type size."""
    best = 1e6
    for s in e.page.segments:
        if e.top and s.base > e.row.base + 0.4 * e.row.size:
            best = min(best, s.base - e.row.base)
        elif not e.top and s.base < e.row.base - 0.4 * e.row.size:
            best = min(best, e.row.base - s.base)
    return best / max(1.0, e.row.size)


def _is_table_header(e: Edge) -> bool:
    """Several cells close over the rows below: a table's repeated header."""
    return e.top and len(e.row.cells) >= 3 and _next_gap(e) < 1.9


def _page_numbers(edges: list[Edge], n_pages: int) -> set[int]:
    """Rows holding only a number that counts with the pages."""
    offsets: dict[int, list[Edge]] = defaultdict(list)
    for e in edges:
        m = re.search(r"\d+", e.row.text)
        if PAGE_NUMBER.fullmatch(e.row.text.strip()):
            if m:
                offsets[int(m[0]) - e.page.page].append(e)
            elif re.fullmatch(r"[^\w]*[ivxlc]{1,7}[^\w]*", e.row.text.strip()):
                offsets[-999].append(e)
    out: set[int] = set()
    for offset, found in offsets.items():
        pages = {e.page.page for e in found}
        for e in found:
            alone = _next_gap(e) > 1.6 and len(e.row.segments) == 1
            if alone and (
                len(pages) >= max(2, 0.3 * n_pages) or offset == 0 or n_pages <= 2 or offset == -999
            ):
                out.add(id(e.row))
    return out


def _isolated(e: Edge, outer: list[Edge], k: int) -> bool:
    """A short line of its own in the page's margin, smaller or no larger than the text.

    Only a page without neighbours to compare with is judged so.
    """
    page = e.page
    margin = 0.075 * page.height
    inside = e.row.base < margin if e.top else e.row.base > page.height - margin
    if not inside or len(e.row.text) > 160:
        return False
    rest = [s.size for s in page.segments]
    rest.sort()
    body = rest[len(rest) // 2] if rest else e.row.size
    if e.row.size > 1.15 * body or (len(page.segments) < 4 and numeric(e.row.text)):
        return False
    del outer, k
    return _next_gap(e) > 1.7
