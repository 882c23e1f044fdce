"""Where tables stand: by ruling lines, and by rows of aligned cells."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

from drac_pipeline.convert.local.above import EDGE, lines_within, parts_header, rows_above
from drac_pipeline.convert.local.grid import column_ranges, cut_at_gutters, refine
from drac_pipeline.convert.local.grown import (
    columns_filled,
    edges_of_rules,
    grow,
    prose_between,
    same_columns,
)
from drac_pipeline.convert.local.rows import Row, visual_rows
from drac_pipeline.convert.local.stacked import figures, figures_go_on, lines_over, split_stacked
from drac_pipeline.convert.local.text_layer import PageText, Rule, Segment


@dataclass(slots=True, eq=False)
class Draft:
    """The rows and rules of one table, before its cells are known.

    `open_top`/`open_bottom`: no rule closes it there, so it may go on over the page.
    """

    rows: list[Row]
    h_rules: list[Rule] = field(default_factory=list)
    v_rules: list[Rule] = field(default_factory=list)
    shades: list[Rule] = field(default_factory=list)
    ruled: bool = False

    @property
    def x0(self) -> float:
        return min(r.x0 for r in self.rows)

    @property
    def x1(self) -> float:
        return max(r.x1 for r in self.rows)

    @property
    def y0(self) -> float:
        return min([r.y0 for r in self.rows] + [h.y0 for h in self.h_rules])

    @property
    def y1(self) -> float:
        return max([r.y1 for r in self.rows] + [h.y0 for h in self.h_rules])


def ruled_tables(page: PageText, segments: list[Segment]) -> list[Draft]:
    """Tables that horizontal rules of one width enclose."""
    rules = sorted((r for r in page.h_rules if r.x1 - r.x0 >= 40), key=lambda r: r.y0)
    if not rules or not segments:
        return []
    used: set[int] = set()
    taken: set[int] = set()
    out: list[Draft] = []
    for i in range(len(rules)):
        if i in used or any(parts_header(rules[i], r) for r in rules[i + 1 :]):
            continue
        chain = _chain(rules, i, segments, used, page.v_rules)
        found = _drafts(page, [rules[k] for k in chain], segments, taken)
        if not found:
            continue
        used.update(chain)
        for draft in found:
            for r in draft.rows:
                taken.update(id(s) for s in r.segments)
        out += found
    return out


def _chain(
    rules: list[Rule], i: int, segments: list[Segment], used: set[int], v_rules: list[Rule]
) -> list[int]:
    """Indexes of rules below rule i that frame one table with it."""
    chain = [i]
    last = rules[i]
    for k in range(i + 1, len(rules)):
        rule = rules[k]
        if rule.y0 > last.y0 + 3 and _wider(rule, (last.x0, last.x1)):
            break  # a wider table stands in between
        if k in used or abs(rule.x0 - rules[i].x0) > 6 or abs(rule.x1 - rules[i].x1) > 6:
            continue
        if _boxes_apart(last, rule, v_rules) or not same_columns(last, rule):
            break
        between = _between(segments, last.y0, rule.y0, rule)
        if between is None or (not between and _parted(last, rule, v_rules)):
            break
        cells = bool(last.joints) and bool(rule.joints)  # borders drawn cell by cell
        if rule.y0 - last.y0 > 3 and between and not cells and not _tabular(between, last, rule):
            break
        if last.joints and between and not _held(last, rule, v_rules) and prose_between(between, last, rule):
            break
        chain.append(k)
        last = rule
    return chain


def _boxes_apart(top: Rule, bottom: Rule, v_rules: list[Rule]) -> bool:
    """The sides of one box end at the upper rule, those of another begin at the lower one."""
    if bottom.y0 - top.y0 < 4:
        return False
    near = [v for v in v_rules if top.x0 - 4 <= v.x0 <= top.x1 + 4]
    if any(v.y0 < top.y0 + 3 and v.y1 > bottom.y0 - 3 for v in near):
        return False
    ended = [v for v in near if abs(v.y1 - top.y0) < 3 and v.y1 - v.y0 > 14]
    if all(any(abs(v.x0 - x) < 4 for v in ended) for x in (top.x0, top.x1)):
        return True  # both outer sides end
    ends = sum(abs(v.y1 - top.y0) < 3 for v in near)
    return ends > 1 and sum(abs(v.y0 - bottom.y0) < 3 for v in near) > 1


def _parted(top: Rule, bottom: Rule, v_rules: list[Rule]) -> bool:
    """Free space between two rules, with no side to hold it: one table ends, another begins."""
    return bottom.y0 - top.y0 >= 14 and not _held(top, bottom, v_rules)


def _held(top: Rule, bottom: Rule, v_rules: list[Rule]) -> bool:
    """A side runs from the one rule to the other."""
    return any(
        v.y0 < top.y0 + 3 and v.y1 > bottom.y0 - 3 and top.x0 - 4 <= v.x0 <= top.x1 + 4 for v in v_rules
    )


def _between(segments: list[Segment], top: float, bottom: float, rule: Rule) -> list[Segment] | None:
    """Segments between two heights over a rule's width; None if text crosses its ends."""
    found = []
    for s in segments:
        middle = s.base - 0.3 * s.size
        if not top < middle < bottom:
            continue
        if s.x1 < rule.x0 - EDGE or s.x0 > rule.x1 + EDGE:
            continue
        if _stands_out(s, rule.x0, rule.x1):
            if min(s.x1, rule.x1) - max(s.x0, rule.x0) < 0.3 * (s.x1 - s.x0):
                continue
            return None
        found.append(s)
    return found


def _stands_out(s: Segment, x0: float, x1: float) -> bool:
    """A segment reaches past the rules' ends by more than an overfull cell does."""
    outside = max(0.0, x0 - s.x0) + max(0.0, s.x1 - x1)
    if len(s.words) == 1 and x0 - EDGE < s.x0 < x1:
        return False  # an address that cannot wrap
    return outside > EDGE and (outside > 24 or outside > 0.5 * (s.x1 - s.x0))


def _tabular(between: list[Segment], top: Rule, bottom: Rule) -> bool:
    rows = visual_rows(between)
    multi = sum(len(r.cells) > 1 for r in rows)
    # a cell set at the middle of one with two lines
    multi += sum(b.base - a.base < 0.8 * a.size for a, b in itertools.pairwise(rows))
    if rows[0].base - top.y0 > (4 if len(rows[0].cells) > 1 else 1.9) * rows[0].size:
        return False  # text well below a closing rule
    if multi:
        return multi >= 0.2 * len(rows) or len(rows) <= 6
    # a title or section line between two rules of a table is set tight
    return len(rows) <= 2 and bottom.y0 - top.y0 < (1.9 * len(rows) + 0.8) * rows[0].size


def _drafts(page: PageText, rules: list[Rule], segments: list[Segment], taken: set[int]) -> list[Draft]:
    """The tables of a chain of rules: one, unless several stand close under each other."""
    draft = _draft(page, rules, segments, taken)
    if draft is None:
        return []
    span = (min(r.x0 for r in rules), max(r.x1 for r in rules))
    drawn = len(edges_of_rules(rules)) > 2  # all rows keep to the columns of these rules
    parts = [draft.rows] if drawn else split_stacked(draft.rows, draft.v_rules)
    over = rows_above(page, parts[0], rules, [s for s in segments if id(s) not in taken])
    if len(over) + len(draft.rows) < 2:
        return []
    if len(parts) == 1 and not over:
        return [draft]
    parts[0] = over + parts[0]
    return [with_rules(page, part, span, ruled=True) for part in parts]


def _draft(page: PageText, rules: list[Rule], segments: list[Segment], taken: set[int]) -> Draft | None:
    x0, x1 = min(r.x0 for r in rules), max(r.x1 for r in rules)
    top, bottom = rules[0].y0, rules[-1].y0
    v_rules = [v for v in page.v_rules if x0 - 4 <= v.x0 <= x1 + 4 and v.y1 > top - 3 and v.y0 < bottom + 3]
    if len(rules) == 1 and not v_rules:
        return _one_rule(page, rules[0], segments, taken)
    for v in v_rules:  # outer sides reach further than the last rule seen
        if v.y0 < top + 3 < v.y1 and v.y1 - bottom < 400 and abs(v.y0 - top) < 4 and v.y1 > bottom:
            bottom = max(bottom, v.y1)
    inside = [
        s
        for s in segments
        if id(s) not in taken and top - 1 < s.base - 0.3 * s.size < bottom + 1 and not _stands_out(s, x0, x1)
    ]
    rows = visual_rows(inside)
    drawn = len(columns_filled(rows, edges_of_rules(rules))) > 1
    multi = drawn or any(len(r.cells) > 1 for r in rows)
    if not _closed(bottom, x0, x1, v_rules) and _stub_outside(rows, segments, taken, x0, x1):
        return None  # rules over the figures only: the rows' labels stand left of them
    if not multi:
        return None
    inner = any(x0 + 12 < v.x0 < x1 - 12 for v in v_rules)
    if not inner and _boxed_prose(rows, x0, x1):
        return None
    box_of_headers = len(rows) <= 9 and not any(map(figures, rows))
    if box_of_headers or not _closed(bottom, x0, x1, v_rules):
        rows += _below(rows, segments, taken, (x0, x1), bottom, page.h_rules)
        rows += _grown_below(page, rows, rules, segments, taken)
    if not drawn and (len(rows) < 2 or sum(len(r.cells) > 1 for r in rows) < 2):
        return None
    return with_rules(page, rows, (x0, x1), ruled=True)


def _closed(bottom: float, x0: float, x1: float, v_rules: list[Rule]) -> bool:
    """Both outer sides end at the last rule."""
    ends = [v for v in v_rules if abs(v.y1 - bottom) < 3 and v.y1 - v.y0 > 14]
    return any(abs(v.x0 - x0) < 4 for v in ends) and any(abs(v.x0 - x1) < 4 for v in ends)


def _boxed_prose(rows: list[Row], x0: float, x1: float) -> bool:
    """Lines of running text from side to side between the rules: a box, no table."""
    full = sum(r.x1 - r.x0 > 0.8 * (x1 - x0) and max(len(s.words) for s in r.segments) >= 7 for r in rows)
    return full >= 0.4 * len(rows) and len(rows) >= 4


def _stub_outside(rows: list[Row], segments: list[Segment], taken: set[int], x0: float, x1: float) -> bool:
    """Most rows go on in short texts beside the rules."""
    bases = {round(r.base) for r in rows}
    beside = [
        s
        for s in segments
        if id(s) not in taken
        and (s.x1 < x0 - 2 or s.x0 > x1 + 2)
        and any(round(s.base) + d in bases for d in (-1, 0, 1))
    ]
    if len({round(s.base) for s in beside}) < 0.6 * len(rows):
        return False
    return sum(len(s.words) for s in beside) <= 6 * len(beside)


def _one_rule(page: PageText, rule: Rule, segments: list[Segment], taken: set[int]) -> Draft | None:
    """A header underlined by a single rule, rows below it (a table that goes on overleaf)."""
    above = [
        s
        for s in segments
        if id(s) not in taken
        and 0 < rule.y0 - s.base < 1.6 * s.size
        and s.x0 >= rule.x0 - EDGE
        and s.x1 <= rule.x1 + EDGE
    ]
    rows = visual_rows(above)
    if not rows or len(rows[-1].cells) < 2 or rule.x1 - rule.x0 < 0.8 * (rows[-1].x1 - rows[-1].x0):
        return None
    if figures(rows[-1]) > 1 and not rule.joints:
        free = [s for s in segments if id(s) not in taken]
        if figures_go_on(lines_within(rows[-1].y0, free, (rule.x0, rule.x1), 60)[-1:], rows[-1:]):
            return None  # a rule over the total of a table without rules
    below = _below(rows, segments, taken, (rule.x0, rule.x1), rule.y0, page.h_rules)
    below += _grown_below(page, rows + below, [rule], segments, taken)
    if _stub_outside(rows + below, segments, taken, rule.x0, rule.x1):
        return None
    if sum(len(r.cells) > 1 for r in below) < 1:
        return None
    free = [s for s in segments if id(s) not in taken]
    above = [] if rule.joints else lines_within(rows[0].base - 1, free, (rule.x0, rule.x1), 60)
    over = lines_over(above, rows + below)
    return with_rules(page, over + rows + below, (rule.x0, rule.x1), ruled=True)


def _grown_below(
    page: PageText, rows: list[Row], rules: list[Rule], segments: list[Segment], taken: set[int]
) -> list[Row]:
    """Rows further down that keep to the columns as drawn, to the next rule as wide as the table."""
    edges = edges_of_rules(rules)
    if len(edges) < 3:
        return []
    last = max(rows[-1].base, rules[-1].y0)
    limit = min(
        (r.y0 for r in page.h_rules if r.y0 > last + 4 and r.x0 < edges[0] + 6 and r.x1 > edges[-1] - 6),
        default=1e9,
    )
    later = [
        s
        for s in segments
        if id(s) not in taken
        and rows[-1].base + 2 < s.base < limit
        and s.x1 > edges[0] - EDGE
        and s.x0 < edges[-1] + EDGE
    ]
    return grow(rows, visual_rows(later), edges, up=False)


def _below(
    rows: list[Row],
    segments: list[Segment],
    taken: set[int],
    span: tuple[float, float],
    bottom: float,
    rules: list[Rule],
) -> list[Row]:
    """Rows under the last rule that go on in the table's columns."""
    later = [
        s
        for s in segments
        if id(s) not in taken
        and s.base - 0.3 * s.size >= bottom + 1
        and s.x1 > span[0] - EDGE
        and s.x0 < span[1] + EDGE
    ]
    near: list[Row] = []
    edge = bottom
    wider = [r.y0 for r in rules if r.y0 > bottom + 3 and _wider(r, span)]
    limit = min(wider, default=1e9)
    following = visual_rows(later)
    for k, r in enumerate(following):
        if r.base > limit - 2 * r.size:
            break  # the header of another table
        far = r.y0 - edge > (1.3 if not near else 2.2) * r.size
        if _any_out(r, span) or (far and not figures_go_on(near, following[k : k + 3])):
            break
        near.append(r)
        edge = r.y1
    if not near or (len(near[0].cells) < 2 and not _section_first(rows, near)):
        return []
    columns: list[tuple[float, float]] = []
    cut: list[Row] = []
    count = len(near)
    while count:
        cut = refine(rows + near[:count])
        columns = column_ranges(cut)
        if len(columns) >= 2:
            break
        # text further down that is no table may hide the columns
        count = min(count - 1, max(3, _before_text(rows + near[:3], near[:count])))
    if not count:
        return []
    out: list[Row] = []
    for r, parts in zip(near[:count], cut[len(rows) :], strict=True):
        if not _fits(cut_at_gutters(parts, columns), columns, span):
            break
        out.append(r)
    while out and len(out[-1].cells) < 2 and not wraps(out):
        out.pop()
    return out


def _section_first(rows: list[Row], near: list[Row]) -> bool:
    """The rows below a header begin with a section's title over the labels."""
    if len(near) < 3 or len(near[1].cells) < 2 or not figures(near[1]):
        return False
    first = near[0].segments[0]
    return first.x0 <= near[1].x0 + 2 and len(first.words) <= 6 and first.x1 < rows[-1].x1


def _before_text(sample: list[Row], near: list[Row]) -> int:
    """How many rows come before a line of text over several columns of the sample."""
    columns = column_ranges(refine(sample))
    for k, r in enumerate(near):
        over = sum(min(x1, r.x1) - max(x0, r.x0) > 2 for x0, x1 in columns)
        if len(r.cells) == 1 and over > 1 and len(r.segments[0].words) > 3:
            return k
    return len(near)


def _wider(rule: Rule, span: tuple[float, float]) -> bool:
    """A rule that reaches past the table's sides is another table's."""
    inside = min(rule.x1, span[1]) - max(rule.x0, span[0])
    return inside > 40 and (rule.x0 < span[0] - 6 or rule.x1 > span[1] + 6)


def wraps(rows: list[Row]) -> bool:
    """The last row is close enough to be the rest of a wrapped cell."""
    if len(rows) < 2:
        return False
    return rows[-1].base - rows[-2].base < 1.35 * rows[-1].size


def _any_out(row: Row, span: tuple[float, float]) -> bool:
    return any(_stands_out(s, *span) for s in row.segments)


def _fits(row: Row, columns: list[tuple[float, float]], span: tuple[float, float]) -> bool:
    """No segment lies across two columns or out of the table."""
    if _any_out(row, span):
        return False
    crossing = 0
    for s in row.segments:
        hit = [c for c in columns if min(c[1], s.x1) - max(c[0], s.x0) > 2]
        if len(hit) > 1 and any(o is not s and o.x0 > s.x0 and o.x0 < hit[1][1] for o in row.segments):
            continue  # it runs over into a column that has its own cell
        if len(s.words) == 1 and hit and abs(s.x0 - hit[0][0]) < 2.5:
            continue  # a word that cannot wrap
        if len(hit) > 1 and s.x1 > hit[1][0] + 0.5 * (hit[1][1] - hit[1][0]):
            crossing += 1
    return crossing == 0


def with_rules(page: PageText, rows: list[Row], span: tuple[float, float], *, ruled: bool) -> Draft:
    x0, x1 = span
    y0 = min(r.y0 for r in rows) - 6
    y1 = max(r.y1 for r in rows) + 6
    h = [
        r
        for r in page.h_rules
        if y0 - 4 <= r.y0 <= y1 + 4 and min(r.x1, x1) - max(r.x0, x0) > 0.5 * (r.x1 - r.x0)
    ]
    v = [r for r in page.v_rules if x0 - 6 <= r.x0 <= x1 + 6 and min(r.y1, y1) - max(r.y0, y0) > 4]
    shades = [
        s for s in page.shades if min(s.x1, x1) - max(s.x0, x0) > 4 and min(s.y1, y1) - max(s.y0, y0) > 3
    ]
    return Draft(rows, h, v, shades, ruled)
