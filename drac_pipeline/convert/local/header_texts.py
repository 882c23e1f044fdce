"""What of a header's lines is one cell: words that a column border cut, and wrapped texts."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

from drac_pipeline.convert.local.grid import column_of
from drac_pipeline.convert.local.paragraphs import join_lines
from drac_pipeline.convert.local.rows import make_row
from drac_pipeline.convert.local.text_layer import Rule, Segment, Word

if TYPE_CHECKING:
    from drac_pipeline.convert.local.table_zones import Draft
    from drac_pipeline.convert.local.tables import Line

Range = tuple[int, int]
Placed = list[tuple[Segment, Range]]
_SPACE = 0.45  # em: no wider space lies between the words of one text
_PITCH = 1.4  # em: the lines of one text are no further apart


def rejoin(segments: list[Segment], draft: Draft, below: list[Segment]) -> list[Segment]:
    """Segments of one line that were cut at a column's border within one box, over one rule, or in
    the middle over headers of the next line."""
    out: list[Segment] = []
    for s in segments:
        last = out[-1] if out else None
        if (
            last is not None
            and s.order == last.order
            and s.x0 - last.x1 < _SPACE * s.size
            and (_held_together(last, s, draft) or _over_leaves(last, s, below))
        ):
            out[-1] = replace(last, words=last.words + s.words)
        else:
            out.append(s)
    return out


def one_text(segments: list[Segment]) -> Segment | None:
    """The segments as one if they were written as one with a space between, else None."""
    for a, b in itertools.pairwise(segments):
        if a.order != b.order or b.x0 - a.x1 > 0.35 * a.size:
            return None
    return replace(segments[0], words=[w for s in segments for w in s.words]) if segments else None


def _over_leaves(a: Segment, b: Segment, below: list[Segment]) -> bool:
    """A space apart, each over a text of the next line with which it does not line up."""
    lefts = [o for o in below if min(o.x1, a.x1) - max(o.x0, a.x0) > 0]
    rights = [o for o in below if min(o.x1, b.x1) - max(o.x0, b.x0) > 0]
    if not lefts or not rights or lefts[0] is rights[-1] or b.x0 - a.x1 > 0.35 * a.size:
        return False
    return not (any(_aligned(a, o) for o in lefts) and any(_aligned(b, o) for o in rights))


def _aligned(a: Segment, b: Segment, off: float = 1.5) -> bool:
    middle = abs((a.x0 + a.x1) - (b.x0 + b.x1)) / 2
    return min(middle, abs(a.x0 - b.x0), abs(a.x1 - b.x1)) < off


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


def levelled(
    lines: list[Line], columns: list[tuple[float, float]], draft: Draft, vocabulary: dict[str, int]
) -> list[Line]:
    """Header lines of which some stand at the middle of others as one line a level: wrapped texts
    whole, the lowest level last. Other headers as they are."""
    if not any(0 < b.base - a.base < 0.8 * min(a.row.size, b.row.size) for a, b in itertools.pairwise(lines)):
        return lines
    blocks: list[list[Segment]] = []
    for s in (s for line in lines for s in line.row.segments):
        home = next((b for b in blocks if _goes_under(s, b[-1], draft)), None)
        if home is None:
            blocks.append([s])
        else:
            home.append(s)
    texts = [_joined(b, vocabulary) for b in blocks]
    level = [0] * len(texts)
    for i in sorted(range(len(texts)), key=lambda i: -blocks[i][0].base):
        under = [
            level[k]
            for k, o in enumerate(texts)
            if blocks[k][0].base > blocks[i][-1].base and min(o.x1, texts[i].x1) - max(o.x0, texts[i].x0) > 0
        ]
        level[i] = 1 + max(under) if under else 0
    out = []
    for n in range(max(level), -1, -1):
        own = [t for t, k in zip(texts, level, strict=True) if k == n]
        cells: dict[int, list[Segment]] = {}
        for t in own:
            cells.setdefault(column_of(t, columns), []).append(t)
        out.append(replace(lines[0], row=make_row(own), cells=cells, spanning=set()))
    return out


def _joined(lines: list[Segment], vocabulary: dict[str, int]) -> Segment:
    """The lines of one text as a segment over all their width."""
    if len(lines) == 1:
        return lines[0]
    x0, x1 = min(s.x0 for s in lines), max(s.x1 for s in lines)
    text = join_lines((s.text for s in lines), vocabulary)
    return replace(lines[-1], words=[Word(t, x0, x1) for t in text.split()])


def _goes_under(s: Segment, above: Segment, draft: Draft) -> bool:
    tight = 0 < s.base - above.base < _PITCH * min(s.size, above.size)
    if not tight or above.bold != s.bold or not _aligned(s, above, 2.5):
        return False
    x0, x1 = max(s.x0, above.x0), min(s.x1, above.x1)
    return x1 > x0 and not any(
        above.base < r.y0 < s.base and r.x0 <= (x0 + x1) / 2 <= r.x1 for r in draft.h_rules
    )


def line_up(found: list[Placed], draft: Draft, width: int) -> None:
    """Texts of other header lines go to the column of the text that they line up with in the one
    line that has a text for each column, in place."""
    full = next((k for k, p in enumerate(found) if len(p) >= max(3, width - 1)), None)
    if full is None or any(a != b for _, (a, b) in found[full]):
        return
    for way in (range(full + 1, len(found)), range(full - 1, -1, -1)):
        last = found[full]
        for k in way:
            if not last or not found[k] or not _tight(last, found[k]):
                break
            # a unit below, over several columns, keeps these
            moved = [
                (s, own if k > full and own[0] < own[1] else _column_of(s, last, draft) or own)
                for s, own in found[k]
            ]
            if len({r for _, r in moved}) < len(moved):
                break
            found[k] = moved
            # further lines line up with this one, or where it has none, with the line before
            own = {r for _, r in moved}
            last = moved + [(s, r) for s, r in last if r not in own]


def _tight(a: Placed, b: Placed) -> bool:
    return min(abs(s.base - o.base) for s, _ in a for o, _ in b) < _PITCH * b[0][0].size


def _column_of(s: Segment, lined: Placed, draft: Draft) -> Range | None:
    for o, own in lined:
        edges = (abs(s.x0 - o.x0), abs(s.x1 - o.x1), abs((s.x0 + s.x1) - (o.x0 + o.x1)) / 2)
        alone = not any(p is not o and min(p.x1, s.x1) - max(p.x0, s.x0) > 0 for p, _ in lined)
        upper, lower = sorted((s, o), key=lambda t: t.base)
        x = (max(s.x0, o.x0) + min(s.x1, o.x1)) / 2
        ruled = any(upper.base < r.y0 < lower.base and r.x0 <= x <= r.x1 for r in draft.h_rules)
        if min(edges) < 1.5 and alone and not ruled:
            return own
    return None


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
