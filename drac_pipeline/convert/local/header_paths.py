"""The header path of each column: which columns each text of the header stands over."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

from drac_pipeline.convert.local.header_cells import edge_ranges
from drac_pipeline.convert.local.header_texts import Placed, levelled, line_up, one_text, rejoin, widen
from drac_pipeline.convert.local.paragraphs import join_lines
from drac_pipeline.convert.local.rows import readable
from drac_pipeline.convert.local.text_layer import Rule, Segment, Word

if TYPE_CHECKING:
    from drac_pipeline.convert.local.table_zones import Draft
    from drac_pipeline.convert.local.tables import Line

Columns = list[tuple[float, float]]


def header_paths(
    lines: list[Line],
    columns: Columns,
    draft: Draft,
    vocabulary: dict[str, int],
    edges: list[float] | None = None,
) -> tuple[list[list[str]], str]:
    """The header path of each column, outermost first, and a title over the whole table."""
    titles: list[str] = []
    found: list[Placed] = []
    if not edges:
        lines = levelled(lines, columns, draft, vocabulary)
    for n, line in enumerate(lines):
        under = [s for c in lines[n + 1].cells.values() for s in c] if n + 1 < len(lines) else []
        segments = sorted((s for c in line.cells.values() for s in c), key=lambda s: s.x0)
        segments = rejoin(segments, draft, sorted(under, key=lambda s: s.x0))
        if n + 1 == len(lines) and not edges:
            whole = one_text(segments)
            if n and whole and _over_figures(whole, columns, lines[n - 1]):
                # one unit under the headers of all figures
                found.append([(whole, (1, len(columns) - 1))])
                continue
            segments = [p for s in segments for p in _by_word(s, segments, columns)]
        first = len(columns) - len(segments)
        if edges:
            ranges = edge_ranges(segments, columns, draft, lines[n + 1 :], edges)
        elif first == 0 < len(columns) - 1 or (first == 1 < len(segments) and _past_stub(segments, columns)):
            ranges = [(k, k) for k in range(first, len(columns))]
        else:
            ranges = _ranges(segments, columns, draft, lines[n + 1 :])
        if len(columns) > 1 and len(segments) == 1 and ranges[0] == (0, len(columns) - 1):
            titles.append(readable(segments[0].text))  # a title over the whole table
            continue
        found.append(list(zip(segments, ranges, strict=True)))
    if not edges:
        line_up(found, draft, len(columns))
        widen(found, draft)
    stacks: list[list[tuple[tuple[int, int], list[str], float]]] = [[] for _ in columns]
    for placed in found:
        for s, (a, b) in placed:
            text = readable(s.text)
            if not text:
                continue
            for c in range(a, b + 1):
                stack = stacks[c]
                if (
                    stack
                    and stack[-1][0] == (a, b)
                    and not _rule_between(draft, columns, c, stack[-1][2], s.base)
                ):
                    stack[-1][1].append(text)
                    stack[-1] = (stack[-1][0], stack[-1][1], s.base)
                else:
                    stack.append(((a, b), [text], s.base))
    paths = [[join_lines(e[1], vocabulary) for e in stack] for stack in stacks]
    return paths, join_lines(titles, vocabulary)


def _over_figures(s: Segment, columns: Columns, above: Line) -> bool:
    """It stands in the middle of all columns but the labels', and is not the rest of the header above."""
    if len(columns) < 3:
        return False
    middle = [o for o in above.row.segments if abs((o.x0 + o.x1) - (s.x0 + s.x1)) < 5]
    if middle and (len(s.words) == 1 or s.text[:1].islower()) and s.text[:1] != "(":
        return False
    return s.x0 > columns[0][1] - 2 and abs((s.x0 + s.x1) / 2 - (columns[1][0] + columns[-1][1]) / 2) < 10


def _past_stub(segments: list[Segment], columns: Columns) -> bool:
    """One text for each column but the labels': the first is well right of these."""
    return segments[0].x0 > columns[0][1] - 2 or segments[0].x0 > (columns[0][0] + columns[1][0]) / 2


def _by_word(s: Segment, segments: list[Segment], columns: Columns) -> list[Segment]:
    """A lowest header over several columns with a word for each of them."""
    over = [k for k, (x0, x1) in enumerate(columns) if min(x1, s.x1) - max(x0, s.x0) > 1]
    if len(over) < 2 or len(s.words) < len(over) or len(segments) >= len(columns):
        return [s]
    if any(
        o is not s and min(o.x1, columns[k][1]) - max(o.x0, columns[k][0]) > 1 for o in segments for k in over
    ):
        return [s]
    groups: dict[int, list[Word]] = {}
    for w in s.words:
        middle = (w.x0 + w.x1) / 2
        k = min(over, key=lambda k: abs((columns[k][0] + columns[k][1]) / 2 - middle))
        groups.setdefault(k, []).append(w)
    if len(groups) != len(over):
        return [s]
    return [replace(s, words=groups[k]) for k in over]


def _rule_between(draft: Draft, columns: Columns, c: int, top: float, bottom: float) -> bool:
    middle = (columns[c][0] + columns[c][1]) / 2
    return any(top < r.y0 < bottom and r.x0 <= middle <= r.x1 for r in draft.h_rules)


def _ranges(
    segments: list[Segment], columns: Columns, draft: Draft, below: list[Line]
) -> list[tuple[int, int]]:
    """The columns each header segment stands over."""
    out: list[tuple[int, int]] = []
    taken: list[tuple[int, int]] = []
    for s in segments:
        following = [o.x0 for o in segments if o.x0 > s.x0 + 2]
        end = min(following, default=1e9)
        hit = [
            k
            for k, (x0, x1) in enumerate(columns)
            if min(x1, s.x1) - max(x0, s.x0) > 1 and (x0 < end - 2 or x0 <= s.x0)
        ]
        if len(hit) > 1 and abs(s.x0 - columns[hit[0]][0]) < 2 and s.x1 < sum(columns[hit[1]]) / 2:
            hit = hit[:1]  # it begins with its column and only runs over
        if not hit:
            mid = (s.x0 + s.x1) / 2
            hit = [min(range(len(columns)), key=lambda k: abs((columns[k][0] + columns[k][1]) / 2 - mid))]
        taken.append((hit[0], hit[-1]))
    for i, (left, right) in enumerate(itertools.pairwise(taken)):
        if left[1] == right[0] and right[0] < right[1]:
            x0, x1 = columns[left[1]]
            mine, other = (min(x1, s.x1) - max(x0, s.x0) for s in segments[i : i + 2])
            if mine > other:
                taken[i + 1] = (right[0] + 1, right[1])
    leaves = {c for b in below for c in b.cells}
    for i, s in enumerate(segments):
        a, b = taken[i]
        rule = _rule_under(draft, s, below[0].base if below else s.base + 2.5 * s.size)
        if rule is not None:
            under = [k for k, (x0, x1) in enumerate(columns) if rule.x0 - 3 <= (x0 + x1) / 2 <= rule.x1 + 3]
            if _free(under, a, b, i, taken) and len(under) < len(columns):
                out.append((under[0], under[-1]))
                continue
        box = _between_v_rules(draft, s)
        if box is not None:
            under = [k for k, (x0, x1) in enumerate(columns) if box[0] - 2 <= (x0 + x1) / 2 <= box[1] + 2]
            whole = len(under) == len(columns) > 2  # the table's own sides
            if _free(under, a, b, i, taken) and not (whole and _aside(s, box)):
                out.append((under[0], under[-1]))
                continue
        if not below or len(segments) >= len(columns):
            if a != b:
                a = b = _leaf(s, columns, a, b)
            out.append((a, b))
            continue
        shared = _shared_out(i, segments, columns, leaves, below[0].base)
        if shared is not None and shared[0] <= a and shared[1] >= b:
            out.append(shared)
            continue
        lo = taken[i - 1][1] + 1 if i else (0 if a == 0 else 1)
        hi = taken[i + 1][0] - 1 if i + 1 < len(segments) else len(columns) - 1
        best, miss = (a, b), _off(s, columns, a, b)
        if a == b and (miss < 3 or abs(s.x0 - columns[a][0]) < 2 or abs(s.x1 - columns[b][1]) < 2):
            out.append((a, b))  # it lines up with its own column
            continue
        for p in range(lo, a + 1):
            for q in range(b, hi + 1):
                if any(k not in leaves for k in range(p, q + 1)) and (p, q) != (a, b):
                    continue
                off = _off(s, columns, p, q)
                if off < miss - 2:
                    best, miss = (p, q), off
        out.append(best)
    return out


def _aside(s: Segment, box: tuple[float, float]) -> bool:
    """Neither at the left nor in the middle of the box."""
    off = abs((s.x0 + s.x1) - (box[0] + box[1])) / 2
    return off > 0.04 * (box[1] - box[0]) and s.x0 > box[0] + 0.1 * (box[1] - box[0])


def _free(under: list[int], a: int, b: int, i: int, taken: list[tuple[int, int]]) -> bool:
    """The columns hold those the text stands over, and no other header of the line."""
    if not under or under[0] > a or under[-1] < b:
        return False
    return not any(j != i and t[0] <= under[-1] and t[1] >= under[0] for j, t in enumerate(taken))


def _shared_out(
    i: int, segments: list[Segment], columns: Columns, leaves: set[int], below: float
) -> tuple[int, int] | None:
    """Columns of one of several headers on a line well above the next: each takes the columns
    nearest to it, up to half the way to its neighbours."""
    s = segments[i]
    if len(segments) < 2 or below - s.base < 1.9 * s.size:
        return None
    centres = [(o.x0 + o.x1) / 2 for o in segments]
    reach = min(b - a for a, b in itertools.pairwise(centres)) / 2 + 2
    own = [
        k
        for k, (x0, x1) in enumerate(columns)
        if k in leaves
        and abs((x0 + x1) / 2 - centres[i]) <= reach
        and min(range(len(centres)), key=lambda j: abs((x0 + x1) / 2 - centres[j])) == i
    ]
    return (own[0], own[-1]) if own and own == list(range(own[0], own[-1] + 1)) else None


def _leaf(s: Segment, columns: Columns, a: int, b: int) -> int:
    """The one column that a lowest header stands over most."""
    return max(range(a, b + 1), key=lambda k: min(columns[k][1], s.x1) - max(columns[k][0], s.x0))


def _off(s: Segment, columns: Columns, a: int, b: int) -> float:
    return abs((columns[a][0] + columns[b][1]) / 2 - (s.x0 + s.x1) / 2)


def _rule_under(draft: Draft, s: Segment, limit: float) -> Rule | None:
    """A partial rule right below a header text."""
    widest = max((r.x1 - r.x0 for r in draft.h_rules), default=0)
    for r in draft.h_rules:
        if r.x1 - r.x0 > 0.9 * widest:
            continue
        if s.base < r.y0 < limit and r.x0 - 3 <= s.x0 and s.x1 <= r.x1 + 3:
            return r
    return None


def _between_v_rules(draft: Draft, s: Segment) -> tuple[float, float] | None:
    y = s.base - 0.3 * s.size
    left = [v.x0 for v in draft.v_rules if v.y0 - 1 <= y <= v.y1 + 1 and v.x0 <= s.x0 + 2]
    right = [v.x0 for v in draft.v_rules if v.y0 - 1 <= y <= v.y1 + 1 and v.x0 >= s.x1 - 2]
    return (max(left), min(right)) if left and right else None
