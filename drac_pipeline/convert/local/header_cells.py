"""The columns under each header text, where the edges of the columns are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drac_pipeline.convert.local.cells import drawn_range
from drac_pipeline.convert.local.text_layer import Segment

if TYPE_CHECKING:
    from drac_pipeline.convert.local.table_zones import Draft
    from drac_pipeline.convert.local.tables import Line

CENTRED = 1.5  # points between the middle of a text and that of its cell


def edge_ranges(
    segments: list[Segment],
    columns: list[tuple[float, float]],
    draft: Draft,
    below: list[Line],
    edges: list[float],
) -> list[tuple[int, int]]:
    """First and last column of each text of a header line, left to right.

    What is drawn round the text decides; else what it lies over, and from there the columns
    in which its cell would be centred, or those up to the next text that have headers of
    their own below and a rule in between.
    """
    touched = [_touched(s, columns) for s in segments]
    out: list[tuple[int, int]] = []
    for i, s in enumerate(segments):
        a, b = touched[i]
        drawn = drawn_range(s, draft, edges)
        others = touched[:i] + touched[i + 1 :]
        alone = drawn is not None and not any(t[0] <= drawn[1] and t[1] >= drawn[0] for t in others)
        if drawn is not None and alone and drawn[0] <= a and drawn[1] >= b:
            out.append(drawn)
            continue
        lo = max((t[1] + 1 for t in touched[:i]), default=0)
        hi = min((t[0] - 1 for t in touched[i + 1 :]), default=len(columns) - 1)
        out.append(_widest(s, (a, b), (min(lo, a), max(hi, b)), columns, draft, below))
    return out


def _touched(s: Segment, columns: list[tuple[float, float]]) -> tuple[int, int]:
    over = [k for k, (x0, x1) in enumerate(columns) if min(x1, s.x1) - max(x0, s.x0) > 1]
    if not over:
        middle = (s.x0 + s.x1) / 2
        over = [min(range(len(columns)), key=lambda k: abs(sum(columns[k]) / 2 - middle))]
    return over[0], over[-1]


def _widest(
    s: Segment,
    own: tuple[int, int],
    free: tuple[int, int],
    columns: list[tuple[float, float]],
    draft: Draft,
    below: list[Line],
) -> tuple[int, int]:
    a, b = own
    leaves = {c for line in below for c in line.cells}
    if a == b and (a not in leaves or _wraps(s, a, below)):
        return own

    def off(p: int, q: int) -> float:
        return abs((columns[p][0] + columns[q][1] - s.x0 - s.x1) / 2)

    ruled = _ruled(s, columns, draft, below)
    wider = [
        (p, q)
        for p in range(free[0], a + 1)
        for q in range(b, free[1] + 1)
        if all(k in leaves for k in range(p, q + 1))
    ]
    if ruled:
        wider = [(p, q) for p, q in wider if all(k in ruled for k in range(p, q + 1))]
    centred = [w for w in wider if off(*w) < CENTRED]
    left = s.x0 - columns[a][0]
    if centred and not (left < 9 and off(*own) > CENTRED and min(off(*w) for w in centred) > 0.8):
        # several spaces are centred alike only round a middle column: the larger one has headers below
        return max(centred, key=lambda w: w[1] - w[0]) if a in leaves else centred[0]
    if left < 14 and a:
        # set at the left of its cell: up to the next text
        right = [q for p, q in wider if p == a]
        return (a, max(right)) if right else own
    return own


def _wraps(s: Segment, column: int, below: list[Line]) -> bool:
    """The next line in this column goes on with the text, right after it in the stream."""
    for line in below:
        cell = line.cells.get(column)
        if cell:
            near = line.base - s.base < 1.6 * s.size
            return near and cell[0].order == s.order + 1
    return False


def _ruled(s: Segment, columns: list[tuple[float, float]], draft: Draft, below: list[Line]) -> set[int]:
    """Columns with a rule between this line and the next lines that does not cross the whole table."""
    limit = max(line.base for line in below) if below else s.base
    width = columns[-1][1] - columns[0][0]
    out: set[int] = set()
    for r in draft.h_rules:
        if s.base < r.y0 < limit and r.x1 - r.x0 < 0.97 * width:
            out |= {k for k, (x0, x1) in enumerate(columns) if r.x0 - 1 <= (x0 + x1) / 2 <= r.x1 + 1}
    return out
