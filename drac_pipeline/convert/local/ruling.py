"""Ruling lines, shades and drawn bullets of a page, and the turning of coordinates into the reading frame."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drac_pipeline.mupdf import pymupdf

if TYPE_CHECKING:
    from drac_pipeline.convert.local.text_layer import PageText

STACKED = 3  # rows of shades right under each other that a header may have


@dataclass(slots=True)
class Rule:
    """A straight ruling line; horizontal ones have y0 == y1.

    `joints` are the places where the pieces of a horizontal line meet: browsers draw the
    border of each cell by itself.
    """

    x0: float
    y0: float
    x1: float
    y1: float
    joints: tuple[float, ...] = ()
    tone: float = 0.0  # of a shade: its colour, as one number


def turned(x: float, y: float, turn: tuple[int, int], w: float, h: float) -> tuple[float, float]:
    """A point of the page (w by h) in the reading frame."""
    dx, dy = turn
    if dx:
        return (x, y) if dx == 1 else (w - x, h - y)
    return (y, w - x) if dy == 1 else (h - y, x)


def unturned(x: float, y: float, turn: tuple[int, int], w: float, h: float) -> tuple[float, float]:
    """The way back from `turned`."""
    dx, dy = turn
    if dx:
        return (x, y) if dx == 1 else (w - x, h - y)
    return (w - y, x) if dy == 1 else (y, h - x)


def read_rules(page: pymupdf.Page, out: PageText) -> None:
    """Ruling lines (strokes, thin filled rectangles, the sides of stroked boxes), shades and dots."""
    horizontal: list[Rule] = []
    vertical: list[Rule] = []

    def add(x0: float, y0: float, x1: float, y1: float) -> None:
        ax, ay = turned(x0, y0, out.turn, *out.size)
        bx, by = turned(x1, y1, out.turn, *out.size)
        ax, bx = min(ax, bx), max(ax, bx)
        ay, by = min(ay, by), max(ay, by)
        w, h = bx - ax, by - ay
        if h <= 3 and w >= 6 and w > 3 * h:
            horizontal.append(Rule(ax, (ay + by) / 2, bx, (ay + by) / 2))
        elif w <= 3 and h >= 6 and h > 3 * w:
            vertical.append(Rule((ax + bx) / 2, ay, (ax + bx) / 2, by))

    try:
        drawings = page.get_cdrawings() or []
    except Exception:  # a broken content stream still has text worth reading
        return
    for drawing in drawings:
        kind = drawing.get("type", "")
        filled = "f" in kind
        fill = drawing.get("fill")
        if dot := _dot(drawing):
            ax, ay = turned(*dot[:2], out.turn, *out.size)
            bx, by = turned(*dot[2:], out.turn, *out.size)
            out.dots.append(Rule(min(ax, bx), min(ay, by), max(ax, bx), max(ay, by)))
            continue
        for item in drawing.get("items", ()):
            if item[0] == "l":
                if "s" in kind or filled:
                    add(*item[1], *item[2])
            elif item[0] == "re":
                x0, y0, x1, y1 = item[1][:4]
                if min(x1 - x0, y1 - y0) <= 3:
                    add(x0, y0, x1, y1)
                    continue
                if "s" in kind:
                    add(x0, y0, x1, y0)
                    add(x0, y1, x1, y1)
                    add(x0, y0, x0, y1)
                    add(x1, y0, x1, y1)
                if filled and fill is not None and min(fill) < 0.97:
                    ax, ay = turned(x0, y0, out.turn, *out.size)
                    bx, by = turned(x1, y1, out.turn, *out.size)
                    tone = sum(c * w for c, w in zip(fill, (1, 10, 100, 1000), strict=False))
                    out.shades.append(
                        Rule(min(ax, bx), min(ay, by), max(ax, bx), max(ay, by), tone=round(tone, 2))
                    )
            elif item[0] == "qu" and "s" in kind:
                q = item[1]
                for p, r in ((q[0], q[1]), (q[1], q[3]), (q[3], q[2]), (q[2], q[0])):
                    add(*p, *r)
    drawn = _merge(horizontal, True)
    edges = [e for e in _merge(_shade_edges(out.shades), True) if not _framed(e, drawn)]
    out.h_rules = _merge(horizontal + _pieces(edges), True) if edges else drawn
    out.v_rules = _merge(vertical, False)


def _shade_edges(shades: list[Rule]) -> list[Rule]:
    """Upper and lower edges of shades that adjoin at one height: cells of a row, parted from the next.

    Only of headers and of every other row: where all rows are shaded, the colours say something else.
    """
    rows: dict[tuple[int, int], list[Rule]] = {}
    for s in shades:
        if 6 < s.y1 - s.y0 < 200 and s.x1 - s.x0 > 6:
            rows.setdefault((round(s.y0), round(s.y1)), []).append(s)
    levels = sorted(rows.items(), key=lambda level: level[0])
    out: list[Rule] = []
    stack: list[tuple[tuple[int, int], list[Rule]]] = []
    for key, on in [*levels, ((10**6, 10**6), [])]:
        if stack and key[0] > max(k[1] for k, _ in stack) + 2:
            if len({k[0] for k, _ in stack}) <= STACKED:
                out += _edges_of_stack([s for _, own in stack for s in own])
            stack = []
        stack.append((key, on))
    return out


def _framed(edge: Rule, rules: list[Rule]) -> bool:
    """Between rules drawn in one piece over and under it: these part the rows, the shade does not."""
    near = [r for r in rules if not r.joints and r.x0 < edge.x0 + 6 and r.x1 > edge.x1 - 6]
    return any(r.y0 < edge.y0 for r in near) and any(r.y0 > edge.y0 for r in near)


def _pieces(rules: list[Rule]) -> list[Rule]:
    return [Rule(a, r.y0, b, r.y0) for r in rules for a, b in itertools.pairwise((r.x0, *r.joints, r.x1))]


def _edges_of_stack(shades: list[Rule]) -> list[Rule]:
    out: list[Rule] = []
    for lower in (False, True):
        rows: dict[int, list[Rule]] = {}
        for s in shades:
            rows.setdefault(round(s.y1 if lower else s.y0), []).append(s)
        for on in rows.values():
            on.sort(key=lambda s: s.x0)
            if any(abs(a.x1 - b.x0) < 1.6 for a, b in itertools.pairwise(on)):
                out += [Rule(s.x0, s.y1, s.x1, s.y1) if lower else Rule(s.x0, s.y0, s.x1, s.y0) for s in on]
    return out


def _dot(drawing: dict[str, Any]) -> tuple[float, float, float, float] | None:
    """The box of a disc, ring or square no larger than a bullet: browsers draw these, not print them."""
    x0, y0, x1, y1 = drawing["rect"]
    w, h = x1 - x0, y1 - y0
    if not 1.2 < w < 9 or not 0.8 < w / max(h, 0.1) < 1.25:
        return None
    kinds = {item[0] for item in drawing.get("items", ())}
    square = kinds == {"re"} and len(drawing["items"]) == 1 and "f" in drawing.get("type", "")
    return (x0, y0, x1, y1) if kinds == {"c"} or square else None


def _merge(rules: list[Rule], horizontal: bool) -> list[Rule]:
    """Join pieces that lie on one line and touch: borders are drawn cell by cell."""
    if horizontal:
        rules.sort(key=lambda r: (r.y0, r.x0))
    else:
        rules.sort(key=lambda r: (r.x0, r.y0))
    out: list[Rule] = []
    groups: list[list[Rule]] = []
    for rule in rules:
        at = rule.y0 if horizontal else rule.x0
        if groups and at - (groups[-1][0].y0 if horizontal else groups[-1][0].x0) <= 1.6:
            groups[-1].append(rule)
        else:
            groups.append([rule])
    for group in groups:
        group.sort(key=lambda r: r.x0 if horizontal else r.y0)
        current: Rule | None = None
        for rule in group:
            if current is None:
                current = Rule(rule.x0, rule.y0, rule.x1, rule.y1)
            elif horizontal and rule.x0 <= current.x1 + 2.5:
                if rule.x0 > current.x1 - 1.6 and rule.x1 > current.x1 + 3:
                    current.joints += ((rule.x0 + current.x1) / 2,)
                current.x1 = max(current.x1, rule.x1)
            elif not horizontal and rule.y0 <= current.y1 + 2.5:
                current.y1 = max(current.y1, rule.y1)
            else:
                out.append(current)
                current = Rule(rule.x0, rule.y0, rule.x1, rule.y1)
        if current is not None:
            out.append(current)
    return out
