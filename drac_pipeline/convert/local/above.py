"""The rows of a table that stand over its first rule.

A rule that closes each row leaves the first row, most often the header, above all rules.
"""

from __future__ import annotations

import itertools

from drac_pipeline.convert.local.grown import edges_of_rules, grow
from drac_pipeline.convert.local.rows import Row, visual_rows
from drac_pipeline.convert.local.stacked import figures, lines_over
from drac_pipeline.convert.local.text_layer import PageText, Rule, Segment

EDGE = 8.0  # points by which text may stand out of the rules
REACH = 110.0  # points above the first rule in which a header is looked for


def rows_above(page: PageText, rows: list[Row], rules: list[Rule], free: list[Segment]) -> list[Row]:
    """Rows over the first of a table's rules that belong to it, top to bottom.

    `rows` are those below; `free` are segments of no table yet. What tells: a shade that
    reaches down to the rule, the same distance to the rule below as in the other rows, or
    figures in the first row below, which must have a header somewhere.
    """
    rule = rules[0]
    span = (min(r.x0 for r in rules), max(r.x1 for r in rules))
    if rule.y0 > rows[0].base:
        if not rule.joints:
            return lines_over(lines_within(rows[0].y0, free, span, 60), rows)
        return grow(rows, lines_within(rows[0].y0, free, span, REACH)[::-1], edges_of_rules(rules), up=True)
    above = lines_within(rule.y0, free, span, REACH)
    if not above:
        return []
    shaded = _shaded(page, above, rule)
    if shaded:
        return shaded
    if any(r.joints for r in rules):
        return [] if _begins(page, rule) else grow(rows, above[::-1], edges_of_rules(rules), up=True)
    closing = _closing(page, above, rows, rules)
    if closing:
        return closing
    if not figures(next((r for r in rows[:3] if len(r.cells) > 1), rows[0])):
        return []
    above = [r for r in above if r.base > rule.y0 - 60]
    if not above or rule.y0 - above[-1].base > 1.6 * above[-1].size:
        return []
    last = above.pop()
    if len(last.cells) < 2 or figures(last):
        return []
    return [*lines_over(above, [last, *rows]), last]


def parts_header(rule: Rule, below: Rule) -> bool:
    """A shorter rule over the joints of a longer one: it parts two lines of that one's header."""
    if not 3 < below.y0 - rule.y0 < REACH or not below.joints:
        return False
    ends = (below.x0, *below.joints, below.x1)
    on = all(any(abs(x - e) < 2 for e in ends) for x in (rule.x0, rule.x1))
    return on and rule.x1 - rule.x0 < below.x1 - below.x0 - 6


def lines_within(y: float, free: list[Segment], span: tuple[float, float], reach: float) -> list[Row]:
    """Lines above a height and within the table's sides."""
    inside = [s for s in free if y - reach < s.base < y and s.x1 > span[0] - EDGE and s.x0 < span[1] + EDGE]
    return visual_rows(inside)


def _shaded(page: PageText, above: list[Row], rule: Rule) -> list[Row]:
    """Lines on shades that lie on the rule and are as wide as it."""
    top = rule.y0
    while True:
        on = [
            s
            for s in page.shades
            if s.y0 < top - 3 and abs(s.y1 - top) < 2 and s.x0 > rule.x0 - 4 and s.x1 < rule.x1 + 4
        ]
        if sum(s.x1 - s.x0 for s in on) < (0.8 if top == rule.y0 else 0.2) * (rule.x1 - rule.x0):
            break
        # cells over several lines of the header reach furthest up
        top = min(s.y0 for s in on)
    found = [r for r in above if r.base > top]
    return found if any(len(r.cells) > 1 for r in found) else []


def _begins(page: PageText, rule: Rule) -> bool:
    """Sides begin at the rule: it is the table's top."""
    return any(abs(v.y0 - rule.y0) < 3 and rule.x0 - 4 < v.x0 < rule.x1 + 4 for v in page.v_rules)


def _closing(page: PageText, above: list[Row], rows: list[Row], rules: list[Rule]) -> list[Row]:
    """The lines over the first rule, where each rule closes the row above it."""
    rule = rules[0]
    if _begins(page, rule):
        return []
    gaps = []
    for top, bottom in itertools.pairwise(rules):
        inside = [r for r in rows if top.y0 < r.base < bottom.y0]
        if inside:
            gaps.append(bottom.y0 - inside[-1].base)
    last = above[-1]
    if len(last.cells) < 2 or not any(abs(rule.y0 - last.base - g) < 1.6 for g in gaps):
        return []
    return [*_more_above(page, above, rule), last]


def _more_above(page: PageText, above: list[Row], rule: Rule) -> list[Row]:
    """Further lines of the row, and of a header over it that a shorter rule parts from it."""
    out: list[Row] = []
    below = above[-1]
    for row in reversed(above[:-1]):
        between = [
            r
            for r in page.h_rules
            if row.base < r.y0 < below.base and r.x0 > rule.x0 - 4 and r.x1 < rule.x1 + 4
        ]
        part = [r for r in between if r.x1 - r.x0 < 0.95 * (rule.x1 - rule.x0)]
        if len(between) > len(part):
            break
        gap = below.base - row.base
        if not part and gap > 1.6 * max(row.size, below.size):
            break
        if part and gap > 3.2 * max(row.size, below.size):
            break
        if abs(row.size - below.size) > 0.6 and len(row.cells) < 2:
            break  # a heading
        out.insert(0, row)
        below = row
    return out
