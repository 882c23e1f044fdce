"""What of a header's lines is one cell: words that a column border cut, and wrapped texts."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

from drac_pipeline.convert.local.text_layer import Rule, Segment

if TYPE_CHECKING:
    from drac_pipeline.convert.local.table_zones import Draft

Range = tuple[int, int]
Placed = list[tuple[Segment, Range]]
_SPACE = 0.45  # em: no wider space lies between the words of one text
_PITCH = 1.4  # em: the lines of one text are no further apart


def rejoin(segments: list[Segment], draft: Draft) -> list[Segment]:
    """Segments of one line that were cut at a column's border within one box, or over one rule."""
    out: list[Segment] = []
    for s in segments:
        last = out[-1] if out else None
        if (
            last is not None
            and s.order == last.order
            and s.x0 - last.x1 < _SPACE * s.size
            and _held_together(last, s, draft)
        ):
            out[-1] = replace(last, words=last.words + s.words)
        else:
            out.append(s)
    return out


def _held_together(a: Segment, b: Segment, draft: Draft) -> bool:
    y = a.base - 0.3 * a.size
    sides = [v.x0 for v in draft.v_rules if v.y0 - 1 <= y <= v.y1 + 1]
    if any(x <= a.x0 + 2 for x in sides) and any(x >= b.x1 - 2 for x in sides):
        return not any(a.x1 - 1 < x < b.x0 + 1 for x in sides)
    widest = max((r.x1 - r.x0 for r in draft.h_rules), default=0.0)
    return any(_under(r, a, b, widest) for r in draft.h_rules)


def _under(r: Rule, a: Segment, b: Segment, widest: float) -> bool:
    near = 0 < r.y0 - a.base < 1.5 * a.size and r.x1 - r.x0 < 0.9 * widest
    return near and r.x0 - 3 <= a.x0 and b.x1 <= r.x1 + 3


def widen(found: list[Placed], draft: Draft) -> None:
    """Give the upper lines of a wrapped spanning header the columns of its last line, in place."""
    for upper, lower in itertools.pairwise(found[::-1]):
        upper, lower = lower, upper  # from below upwards
        for i, (s, own) in enumerate(upper):
            for o, wide in lower:
                if own != wide and wide[0] <= own[0] and own[1] <= wide[1] and _one_text(s, o, draft):
                    others = any(
                        k != i and r[0] <= wide[1] and r[1] >= wide[0] for k, (_, r) in enumerate(upper)
                    )
                    if not others:
                        upper[i] = (s, wide)
                    break


def _one_text(upper: Segment, lower: Segment, draft: Draft) -> bool:
    if not 0 < lower.base - upper.base < _PITCH * min(upper.size, lower.size) or upper.bold != lower.bold:
        return False
    middle = abs((upper.x0 + upper.x1) - (lower.x0 + lower.x1)) / 2
    if min(middle, abs(upper.x0 - lower.x0), abs(upper.x1 - lower.x1)) > 2.5:
        return False
    x = (max(upper.x0, lower.x0) + min(upper.x1, lower.x1)) / 2
    return not any(upper.base < r.y0 < lower.base and r.x0 <= x <= r.x1 for r in draft.h_rules)
