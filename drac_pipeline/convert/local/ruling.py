"""Ruling lines of a page, and the turning of coordinates into the reading frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from drac_pipeline.mupdf import pymupdf

if TYPE_CHECKING:
    from drac_pipeline.convert.local.text_layer import PageText


@dataclass(slots=True)
class Rule:
    """A straight ruling line; horizontal ones have y0 == y1."""

    x0: float
    y0: float
    x1: float
    y1: float


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
    """Ruling lines: strokes, thin filled rectangles and the sides of stroked boxes."""
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
                    out.shades.append(Rule(min(ax, bx), min(ay, by), max(ax, bx), max(ay, by)))
            elif item[0] == "qu" and "s" in kind:
                q = item[1]
                for p, r in ((q[0], q[1]), (q[1], q[3]), (q[3], q[2]), (q[2], q[0])):
                    add(*p, *r)
    out.h_rules = _merge(horizontal, True)
    out.v_rules = _merge(vertical, False)


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
                current.x1 = max(current.x1, rule.x1)
            elif not horizontal and rule.y0 <= current.y1 + 2.5:
                current.y1 = max(current.y1, rule.y1)
            else:
                out.append(current)
                current = Rule(rule.x0, rule.y0, rule.x1, rule.y1)
        if current is not None:
            out.append(current)
    return out
