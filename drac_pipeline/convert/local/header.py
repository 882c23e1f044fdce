"""Which lines of a table are its header."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from drac_pipeline.convert.local.rows import numeric
from drac_pipeline.convert.local.text_layer import Segment

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
    if line.base - above.base > 1.35 * line.row.size or 0 in above.cells.keys() & line.cells.keys():
        return False
    if not all(c in above.cells and not numeric(above.text(c)) for c in figures):
        return False
    if len(line.cells) == 1 and below is not None and len(above.cells) > 1:
        # alone on its line, and the rows are further apart
        further = below.base - line.base > 1.2 * (line.base - above.base)
        return further or not any(numeric(below.text(c)) for c in below.cells)
    return any(c and c not in figures and line.text(c)[-1:].isalpha() for c in line.cells)


def body_columns(lines: list[Line], k: int, columns: Columns) -> Columns:
    """The columns without those that hold headers alone, where the headers are as many as the rest:
    each stands at the left, or in the middle, of a wide column with its figures at the right."""
    filled = {c for line in lines[k:] if not line.band for c in line.cells}
    kept = [r for c, r in enumerate(columns) if c in filled]
    if not k or not 1 < len(kept) < len(columns):
        return columns
    most = max(len(line.row.segments) for line in lines[:k])
    return kept if most <= len(kept) else columns
