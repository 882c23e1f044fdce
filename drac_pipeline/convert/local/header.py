"""Which lines of a table are its header, and the header path of each column."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from drac_pipeline.convert.local.header_cells import edge_ranges
from drac_pipeline.convert.local.header_texts import Placed, levelled, line_up, rejoin, widen
from drac_pipeline.convert.local.paragraphs import join_lines
from drac_pipeline.convert.local.rows import numeric, readable
from drac_pipeline.convert.local.text_layer import Rule, Segment, Word

if TYPE_CHECKING:
    from drac_pipeline.convert.local.table_zones import Draft
    from drac_pipeline.convert.local.tables import Line

Columns = list[tuple[float, float]]
_Type = tuple[str, int, bool]  # font, size, italic
_MOSTLY = 0.9
_HIGHEST = 7.5  # em: of a header's lines that stand at each other's middle, there may be many


def full_rules(draft: Draft, columns: Columns) -> list[float]:
    """Heights of rules over at least 80 % of the table's width, pieces counted together."""
    x0, x1 = columns[0][0], columns[-1][1]
    stub = (columns[0][0] + columns[0][1]) / 2
    found: list[tuple[float, bool]] = []
    rules = sorted(draft.h_rules, key=lambda r: r.y0)
    i = 0
    while i < len(rules):
        group = [rules[i]]
        while i + 1 < len(rules) and rules[i + 1].y0 - group[0].y0 <= 2:
            i += 1
            group.append(rules[i])
        i += 1
        covered = sum(max(0.0, min(r.x1, x1) - max(r.x0, x0)) for r in group)
        if covered >= 0.8 * (x1 - x0):
            found.append((group[0].y0, any(r.x0 - 3 <= stub <= r.x1 + 3 for r in group)))
    # rules under spanning headers may cover most of the width, but not the labels' column
    whole = any(over for _, over in found)
    return [y for y, over in found if over or not whole]


def header_rows(lines: list[Line], draft: Draft, columns: Columns) -> int:
    """How many first lines are the header; 0 where the table has none."""
    k = _header_rows(lines, draft, columns)
    if 0 < k < len(lines) - 1 and 0 not in lines[k].cells and len(lines[k].cells) > 1:
        # units, each in brackets under its header
        k += all(t[:1] == "(" and t[-1:] == ")" for t in map(lines[k].text, lines[k].cells))
    return k


def _header_rows(lines: list[Line], draft: Draft, columns: Columns) -> int:
    if len(lines) < 2 or _key_value(lines, columns) or labels_by_type(lines, columns):
        return 0
    shaded = _shaded(lines, draft, columns)
    if shaded:
        return shaded
    full = full_rules(draft, columns)
    first, last = lines[0].row, lines[-1].row
    inner = [y for y in full if first.base < y < last.y0 + 1]
    outer_top = any(y <= first.y0 + 1 for y in full)
    if inner:
        k = sum(line.base < inner[0] for line in lines)
        # a title line alone in the first band: the header is the next band
        if len(inner) > 1 and all(len(line.cells) == 1 for line in lines[:k]):
            k2 = sum(line.base < inner[1] for line in lines)
            if k2 < len(lines):
                k = k2
        bold = [all(s.bold for s in line.row.segments) for line in lines[: k + 1]]
        if bold[0] and not all(bold[:k]) and not any(bold[bold.index(False) :]):
            n = bold.index(False)
            if len({c for line in lines[:n] for c in line.cells} | {0}) > 0.6 * len(columns):
                return n  # set apart by its type, above the rule below the first row
        if k <= 8 and k < len(lines) and not (k > 1 and _has_figures(lines[:k], columns)):
            return k + (_more(lines, k, inner) if len(inner) > 1 else 0)
    elif outer_top and draft.ruled and any(y >= last.base for y in full) and not draft.v_rules:
        # rules above and below and none between: a table without a header, unless its
        # first lines are set apart by their type
        styled = _styled(lines, 1)
        if not styled:
            return 0
    k = 0
    while k < len(lines) - 1 and k < 8 and _styled(lines, k + 1):
        tight = k and lines[k].base - lines[k - 1].base < 1.35 * lines[k].row.size
        alone = (
            k
            and not tight
            and list(lines[k].cells) == [0]
            and any(list(line.cells) != [0] for line in lines[:k])
        )
        if alone or lines[k].band:
            break  # a section's title below the header
        k += 1
    if k:
        return k
    return _by_content(lines, columns)


def _shaded(lines: list[Line], draft: Draft, columns: Columns) -> int:
    """How many first lines lie on shades over all columns, in a tone that no row below has."""
    y = lines[0].middle
    bottoms: list[float] = []
    tones: set[float] = set()
    for x0, x1 in columns:
        bottom = y
        for s in sorted(draft.shades, key=lambda s: s.y0):
            if (
                s.x0 - 1 <= (x0 + x1) / 2 <= s.x1 + 1
                and s.y0 <= bottom + 2 < s.y1
                and (not tones or s.tone in tones)
            ):
                bottom = s.y1
                tones.add(s.tone)
        bottoms.append(bottom)
    end = max(bottoms)
    if end - min(bottoms) > 3 or min(bottoms) == y:
        return 0
    if any(s.tone in tones and s.y0 > end - 2 for s in draft.shades):
        return 0
    k = sum(line.middle < end for line in lines)
    return k if k < len(lines) else 0


def _key_value(lines: list[Line], columns: Columns) -> bool:
    """Two columns, of which the first is set as labels from the first row on."""
    if len(columns) != 2:
        return False
    keys = [s for line in lines for s in line.cells.get(0, ())]
    values = [s for line in lines for s in line.cells.get(1, ())]
    if keys and values and all(s.bold for s in keys) and sum(s.bold for s in values) < 0.3 * len(values):
        return not values[0].bold
    if not {0, 1} <= set(lines[0].cells):
        return False
    labels = [line.text(0) for line in lines if 0 in line.cells]
    said = [line.text(1) for line in lines if 1 in line.cells]
    coded = any(c.isdigit() for c in said[0]) and any(c.isalpha() for c in said[0])
    if len(lines) > 3 and coded and not any(c.isdigit() for c in "".join(labels)):
        # a scan tells no type: labels are words, and what stands beside the first is no header
        styled = any(s.bold for s in lines[0].row.segments)
        if not styled and sum(map(numeric, said)) < 0.5 * len(said):
            return True
    ends = [line.text(0).endswith(":") for line in lines if 0 in line.cells and 1 in line.cells]
    return len(ends) > 1 and sum(ends) > 0.7 * len(ends) and ends[0]


def labels_by_type(lines: list[Line], columns: Columns) -> bool:
    """Labels in one type and their values in another, side by side from the first row on: a form.

    A scan's types are measured, so a few characters may pass for another.
    """
    if len(columns) not in (2, 4) or len(lines) < 2 or len(lines[0].cells) < len(columns):
        return False
    counts: tuple[Counter[_Type], Counter[_Type]] = Counter(), Counter()
    for line in lines:
        for c, cell in line.cells.items():
            for s in cell:
                counts[c % 2][_type(s)] += len(s.text)
    labels, values = counts
    own = labels.most_common(1)[0][0]
    first = [(c, _type(s)) for c, cell in lines[0].cells.items() for s in cell]
    return (
        labels[own] >= _MOSTLY * labels.total()
        and values[own] <= (1 - _MOSTLY) * values.total()
        and all((t == own) == (c % 2 == 0) for c, t in first)
    )


def _type(s: Segment) -> _Type:
    return s.font, round(s.size), s.italic


def _more(lines: list[Line], k: int, inner: list[float]) -> int:
    """Header lines of a second band, where the first holds spanning headers."""
    if not any(line.spanning for line in lines[:k]):
        return 0
    n = sum(inner[0] < line.base < inner[1] for line in lines)
    band = lines[k : k + n]
    if n and n <= 3 and k + n < len(lines) and all(0 not in line.cells for line in band):
        return n
    return 0


def _styled(lines: list[Line], k: int) -> bool:
    """Line k-1 is bold and the lines below mostly are not."""
    head = [s for s in lines[k - 1].row.segments if s.text]
    if not head or not all(s.bold for s in head):
        return False
    rest = [s for line in lines[k:] for s in line.row.segments]
    return bool(rest) and sum(s.bold for s in rest) < 0.5 * len(rest) and len(lines[k - 1].cells) >= 1


def _has_figures(lines: list[Line], columns: Columns) -> bool:
    """Several lines that each hold figures: no header."""
    n = 0
    for line in lines:
        n += any(numeric(line.text(c)) for c in range(1, len(columns)) if c in line.cells)
    return n > 1


def _by_content(lines: list[Line], columns: Columns) -> int:
    """Without rules or type: the lines before the first figures, else the first line."""
    for k, line in enumerate(lines):
        figures = [c for c in line.cells if numeric(line.text(c))]
        below = lines[k + 1] if k + 1 < len(lines) else None
        if figures and not (k and _under_words(line, lines[k - 1], figures, below)):
            if k == 0:
                return 0
            # a stub that wraps above its figures belongs to the body
            while k > 1 and list(lines[k - 1].cells) == [0]:
                k -= 1
            low = lines[k - 1].base - lines[0].base < _HIGHEST * line.row.size
            return k if k <= 6 or low else 1
    if len(columns) == 2 and sum(line.text(0).endswith(":") for line in lines) > 0.6 * len(lines):
        return 0
    return 1


def _under_words(line: Line, above: Line, figures: list[int], below: Line | None) -> bool:
    """The figures are the rest of a wrapped header, "Rate per / 100,000", among other headers."""
    if line.base - above.base > 1.35 * line.row.size or 0 in above.cells:
        return False
    if not all(c in above.cells and not numeric(above.text(c)) for c in figures):
        return False
    if len(line.cells) == 1 and below is not None and len(above.cells) > 1:
        # alone on its line, and the rows are further apart
        further = below.base - line.base > 1.2 * (line.base - above.base)
        return further or not any(numeric(below.text(c)) for c in below.cells)
    return any(c and c not in figures and line.text(c)[-1:].isalpha() for c in line.cells)


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
        lines = levelled(lines, columns, draft)
    for n, line in enumerate(lines):
        under = [s for c in lines[n + 1].cells.values() for s in c] if n + 1 < len(lines) else []
        segments = sorted((s for c in line.cells.values() for s in c), key=lambda s: s.x0)
        segments = rejoin(segments, draft, sorted(under, key=lambda s: s.x0))
        if n + 1 == len(lines) and not edges:
            if n and len(segments) == 1 and _over_figures(segments[0], columns, lines[n - 1]):
                # one unit under the headers of all figures
                found.append([(segments[0], (1, len(columns) - 1))])
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


def body_columns(lines: list[Line], k: int, columns: Columns) -> Columns:
    """The columns without those that hold headers alone, where the headers are as many as the rest:
    each stands at the left, or in the middle, of a wide column with its figures at the right."""
    filled = {c for line in lines[k:] if not line.band for c in line.cells}
    kept = [r for c, r in enumerate(columns) if c in filled]
    if not k or not 1 < len(kept) < len(columns):
        return columns
    most = max(len(line.row.segments) for line in lines[:k])
    return kept if most <= len(kept) else columns


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
    return off > 0.1 * (box[1] - box[0]) and s.x0 > box[0] + 0.1 * (box[1] - box[0])


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
