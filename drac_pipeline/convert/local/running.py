"""Running headers, footers and page numbers: what repeats by place and text."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict

from drac_pipeline.convert.local.rows import YEAR_RE, Row, visual_rows
from drac_pipeline.convert.local.text_layer import PageText, Segment
from drac_pipeline.model.conversion import Dropped, DropReason

ZONE = 0.14  # of the page's height, at top and bottom
PAGE_NUMBER = re.compile(
    r"[^\w(]*(?:(?:page|p\.|pg\.?|seite|página|страница)\s*)?"
    r"(?:[A-Z]{1,2}[-–.])?(?:\d{1,4}|[ivxlc]{1,7})"
    r"(?:\s*(?:of|/|von|de|из)\s*\d{1,4})?[^\w)]*",
    re.I,
)


FOOTNOTE = re.compile(r"(?:\d{1,2}|[*†‡§])\s?[A-Z“\"(].*[.)]$")


class Edge:
    """A row in the top or bottom zone of a page."""

    __slots__ = ("key", "page", "row", "top", "y")

    def __init__(self, row: Row, page: PageText, top: bool) -> None:
        self.row, self.page, self.top = row, page, top
        self.y = round(row.base if top else row.base - page.height)
        self.key = re.sub(r"\d+", "#", re.sub(r"\b[ivxlc]+\b", "#", " ".join(row.text.lower().split())))


def drop_running(pages: list[PageText]) -> list[Dropped]:
    """Take running rows out of the pages' segments and say what was taken."""
    by_page = {id(p): _edges(p) for p in pages}
    edges = [e for found in by_page.values() for e in found]
    reasons, titles = _repeated(edges, len(pages))
    numbers = _page_numbers(edges, len(pages))
    heights = {(e.top, e.y) for e in edges if id(e.row) in reasons or id(e.row) in numbers}
    dropped: list[Dropped] = []
    kept: dict[int, list[Segment]] = {}
    for p in pages:
        gone: set[int] = set()
        for top in (True, False):
            # from the edge inwards: a row is running only if all beyond it are
            outer = sorted((e for e in by_page[id(p)] if e.top == top), key=lambda e: e.y if top else -e.y)
            lone = _lone_rows(p, outer, alone=len(pages) <= 2, heights=heights)
            for e in outer:
                reason: DropReason | None = reasons.get(id(e.row))
                if id(e.row) in numbers or (reason and PAGE_NUMBER.fullmatch(e.row.text.strip())):
                    reason = "page number"
                elif reason is None and id(e.row) in lone and id(e.row) not in titles:
                    reason = "running header" if top else "running footer"
                if reason is None:
                    break
                gone.update(id(s) for s in e.row.segments)
                dropped.append(Dropped(page=p.page, text=e.row.text, reason=reason))
        kept[id(p)] = [s for s in p.segments if id(s) not in gone]
    if not any(kept.values()):
        return []  # nothing but "running" rows: they are the text
    for p in pages:
        p.segments = kept[id(p)]
    return dropped


def _repeated(edges: list[Edge], n_pages: int) -> tuple[dict[int, DropReason], set[int]]:
    """Rows to drop, with the reason, and rows kept as titles.

    Running rows have their text at the same height on several pages. One that stands
    close over the text below it is the title of what the pages hold: its first occurrence
    is kept.
    """
    groups: dict[tuple[bool, str], list[Edge]] = defaultdict(list)
    for e in edges:
        groups[e.top, e.key].append(e)
    reasons: dict[int, DropReason] = {}
    titles: set[int] = set()
    for (top, _), found in groups.items():
        for members in _by_height(found):
            on = {e.page.page for e in members}
            if len(on) < 2 or (len(on) < 3 and n_pages > 6 and len(on) < 0.3 * n_pages):
                continue
            members = [e for e in members if not _is_table_row(e) and not _is_prose(e)]
            members.sort(key=lambda e: e.page.page)
            if top and members and _body_gap(members[0]) < 2.3:
                titles.add(id(members[0].row))
                members = members[1:]
            for e in members:
                reasons[id(e.row)] = "running header" if top else "running footer"
    return reasons, titles


def _is_prose(e: Edge) -> bool:
    """A full line in the text's own type: a sentence that happens to repeat."""
    if len(e.row.segments) > 1 or len(e.row.segments[0].words) < 9:
        return False
    sizes = sorted(s.size for s in e.page.segments)
    return e.row.size > 0.97 * sizes[len(sizes) // 2]


def _body_gap(e: Edge) -> float:
    """The widest gap between this row and the text well below it, in type sizes."""
    rows = sorted({round(s.base, 1) for s in e.page.segments if s.base >= e.row.base - 1})
    near = [y for y in rows if y < e.row.base + 60]
    gaps = [b - a for a, b in itertools.pairwise(near)]
    after = [y for y in rows if y >= e.row.base + 60]
    if near and after:
        gaps.append(after[0] - near[-1])
    return max(gaps, default=99.0) / max(1.0, e.row.size)


def _heads_table(e: Edge) -> bool:
    """Three or more cells, each over a cell of the next row."""
    below = [s for s in e.page.segments if s.base > e.row.base + 0.4 * e.row.size]
    if len(e.row.cells) < 3 or not below:
        return False
    top = min(s.base for s in below)
    row = [s for s in below if s.base < top + 0.4 * s.size]
    over = sum(any(min(s.x1, c.x1) - max(s.x0, c.x0) > 0 for s in row) for c in e.row.cells)
    return len(row) >= 3 and over >= len(e.row.cells) - 1


def _median_size(page: PageText, *, by_letters: bool) -> float:
    """The usual type size, of segments or of letters: small tables have most of the segments."""
    sizes = sorted((s.size, len(s.text) if by_letters else 1) for s in page.segments)
    half = sum(n for _, n in sizes) / 2
    at = itertools.accumulate(n for _, n in sizes)
    return next((size for (size, _), n in zip(sizes, at, strict=True) if n >= half), 10.0)


def _lone_rows(page: PageText, outer: list[Edge], *, alone: bool, heights: set[tuple[bool, int]]) -> set[int]:
    """Up to three short lines in the page's margin with a clear gap to the text.

    Judged so only where there are no pages to compare with, or where other pages have
    their running rows at the same height.
    """
    body = max(_median_size(page, by_letters=False), _median_size(page, by_letters=True))
    margin = 0.078 * page.height
    found: list[Edge] = []
    for e in outer[:3]:
        inside = e.row.base < margin if e.top else e.row.base > page.height - margin
        ends = (e.row.segments[0].text, e.row.segments[-1].text)
        # a page number beside words; a row of figures is a table's
        numbered = (
            len(e.row.segments) > 1
            and any(PAGE_NUMBER.fullmatch(t) and not YEAR_RE.fullmatch(t) for t in ends)
            and sum(map(str.isalpha, e.row.text)) > 5
        )
        same = any((e.top, e.y + d) in heights for d in (-1, 0, 1))
        if e.top and _heads_table(e):
            break
        if not e.top and FOOTNOTE.match(e.row.text) and len(e.row.text.split()) > 4:
            break
        if (
            not (inside or numbered)
            or not (alone or same)
            or len(e.row.text) > 160
            or e.row.size > (1.2 if e.top and not numbered else 1.5) * body
            or _is_drawn_row(e)
        ):
            break
        found.append(e)
        if _next_gap(e) > 1.7:
            left = {id(s) for x in found for s in x.row.segments}
            rest = [s for s in page.segments if id(s) not in left]
            # something must remain: a page of one line is that line
            middle = any(margin < s.base < page.height - margin for s in rest)
            return {id(x.row) for x in found} if middle else set()
    return set()


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


def _is_table_row(e: Edge) -> bool:
    """Several cells close over the rows below: a table's repeated header; or any row of a table whose
    borders are drawn cell by cell."""
    return (e.top and len(e.row.cells) >= 3 and _next_gap(e) < 1.9) or _is_drawn_row(e)


def _is_drawn_row(e: Edge) -> bool:
    """Cells between borders that are drawn cell by cell."""
    if len(e.row.cells) < 2:
        return False
    reach = 2.5 * e.row.size
    near = [r for r in e.page.h_rules if r.joints and abs(r.y0 - e.row.base + 0.3 * e.row.size) < reach]
    return any(r.x0 - 4 < e.row.x0 and e.row.x1 < r.x1 + 4 for r in near)


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
