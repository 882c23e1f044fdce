"""Where one run of rows holds several tables, one under the other, and what stands over each."""

from __future__ import annotations

import itertools

from drac_pipeline.convert.local.grid import column_ranges
from drac_pipeline.convert.local.rows import CAPTION, Row, numeric
from drac_pipeline.convert.local.text_layer import Rule


def split_stacked(rows: list[Row], v_rules: list[Rule]) -> list[list[Row]]:
    """The rows of each table; lines that title the next one belong to none.

    A new table begins where the distance is larger than between rows, no side runs on, and
    the next lines look like a header: words over figures, or bold over regular type.
    """
    if len(rows) < 4:
        return [rows]
    gaps = sorted(b.base - a.base for a, b in itertools.pairwise(rows))
    usual = gaps[len(gaps) // 2]
    parts: list[list[Row]] = []
    start = 0
    i = 2
    while i < len(rows) - 1:
        wide = rows[i].base - rows[i - 1].base
        if wide > 1.35 * usual and wide - usual > 3 and not _held(rows[i - 1], rows[i], v_rules):
            first = _header_at(rows, start, i)
            if first == len(rows) - 1:
                parts.append(rows[start:i])
                return parts  # the header of a table whose rows are not among these
            if first is not None:
                parts.append(rows[start:i])
                start = first
                i = first + 2
                continue
        i += 1
    parts.append(rows[start:])
    return parts


def _held(above: Row, below: Row, v_rules: list[Rule]) -> bool:
    top, bottom = above.base + 1, below.y0 - 1
    x0, x1 = min(above.x0, below.x0) - 12, max(above.x1, below.x1) + 12
    return any(v.y0 <= top and v.y1 >= bottom and x0 <= v.x0 <= x1 for v in v_rules)


def _header_at(rows: list[Row], start: int, i: int) -> int | None:
    """The row from i on that begins a header, past up to two lines of title."""
    for k in range(i, min(i + 3, len(rows))):
        row = rows[k]
        if len(row.cells) > 1:
            return k if _heads(rows, start, i, k) else None
        if k + 1 < len(rows) and rows[k + 1].base - row.base > 2.6 * row.size:
            return None
    return None


def _heads(rows: list[Row], start: int, i: int, k: int) -> bool:
    head, below = rows[k], rows[k + 1 : k + 5]
    if figures(head):
        return False
    if not below:
        return CAPTION.match(rows[i].text) is not None
    if bold(head) and not all(bold(r) for r in rows[start + 1 : i]) and not bold(below[-1]):
        return True
    return any(figures(r) for r in rows[max(start, i - 3) : i]) and any(figures(r) for r in below)


def figures(row: Row) -> int:
    """How many cells hold figures."""
    return sum(numeric(s.text) for s in row.cells)


def figures_go_on(above: list[Row], below: list[Row]) -> bool:
    """Below a wider gap the figures stand under those above it, perhaps after a section's title."""
    if not above or not below or below[0].y0 - above[-1].y1 > 3 * above[-1].size:
        return False
    before = next((r for r in reversed(above) if figures(r) > 1), None)
    after = next((r for r in below[:3] if len(r.cells) > 1), None)
    if before is None or after is None or figures(after) < 2:
        return False
    ends = [s.x1 for s in before.cells[1:]]
    level = sum(any(abs(s.x1 - x) < 2.5 for x in ends) for s in after.cells[1:])
    return level >= 0.6 * max(len(ends), len(after.cells) - 1)


def bold(row: Row) -> bool:
    return all(s.bold for s in row.segments)


def lines_over(candidates: list[Row], rows: list[Row]) -> list[Row]:
    """The spanning header lines right above the first row; candidates top to bottom."""
    if not candidates:
        return []
    columns = column_ranges(rows)
    out: list[Row] = []
    below = rows[0]
    for row in reversed(candidates[-8:]):
        words = len(row.cells) > 1 and not figures(row)
        if not 0 < below.base - row.base <= (2.4 if words else 1.9) * max(row.size, below.size):
            break
        # over the labels' column stands a header only where the line below, of units, has none
        labelled = words and below.x0 > columns[0][1] - 2 and not figures(below)
        if _names_labels(row, below, columns) or _wraps_above(row, below, columns):
            out.insert(0, row)
            if row.base < below.base - 0.95 * row.size:
                below = row
            continue  # else it stands between two lines of the other headers
        # a header that wraps over the labels' column as over the others
        wrapped = words and not figures(below) and below.base - row.base <= 1.35 * row.size
        if (row.x0 <= columns[0][1] - 2 and not (labelled or wrapped)) or row.x1 > columns[-1][1] + 20:
            break
        pitch = rows[1].base - rows[0].base if len(rows) > 1 else 1.2 * row.size
        if len(row.segments) == 1 and is_title(row, below, columns, pitch):
            break
        out.insert(0, row)
        below = row
    return out


def _names_labels(row: Row, below: Row, columns: list[tuple[float, float]]) -> bool:
    """The header of the labels' column, set less than a line above the others or beside two of theirs."""
    if len(row.cells) != 1 or len(columns) < 2 or figures(row) or row.x1 > columns[1][0]:
        return False
    return below.x0 > columns[0][1] - 2 and below.base - row.base < 0.95 * max(row.size, below.size)


def _wraps_above(row: Row, below: Row, columns: list[tuple[float, float]]) -> bool:
    """The first line of the labels' header, whose last line is beside the other headers."""
    if (
        len(row.cells) != 1
        or len(below.cells) < 2
        or figures(row)
        or figures(below)
        or CAPTION.match(row.text)
    ):
        return False
    tight = 0 < below.base - row.base < 1.35 * min(row.size, below.size)
    short = len(row.segments[0].words) <= 3
    alike = short and bold(row) == below.segments[0].bold and abs(row.size - below.size) < 0.3
    return tight and alike and abs(row.x0 - below.x0) < 1.5 and row.x1 < columns[min(1, len(columns) - 1)][0]


def is_title(row: Row, below: Row, columns: list[tuple[float, float]], pitch: float) -> bool:
    """A line over the whole table rather than over its figures: by its words, its type, or its middle."""
    if CAPTION.match(row.text) or row.size > below.size + 0.6:
        return True
    if bold(row) and not bold(below) and not figures(below):
        return True
    if below.base - row.base <= 1.15 * pitch and bold(row) == bold(below):
        return False  # set like one more line of the header
    middle = (row.x0 + row.x1) / 2
    whole = (columns[0][0] + columns[-1][1]) / 2
    figs = (columns[min(1, len(columns) - 1)][0] + columns[-1][1]) / 2
    return abs(middle - whole) < 8 and abs(middle - figs) > 12


def section_rows(rows: list[Row]) -> set[int]:
    """ids of lines of one text in the middle of the table that title the rows below them."""
    full = [r for r in rows if len(r.cells) > 1]
    if len(full) < 3:
        return set()
    left, right = min(r.x0 for r in full), max(r.x1 for r in full)
    second = sorted(r.cells[1].x0 for r in full)[len(full) // 20]
    found: list[Row] = []
    for above, row, below in zip(rows, rows[1:], rows[2:], strict=False):
        if len(row.cells) != 1 or len(row.segments) != 1 or len(below.cells) < 2 or figures(row):
            continue
        middle = (row.x0 + row.x1) / 2
        if min(row.base - above.base, below.base - row.base) < 0.8 * row.size:
            continue  # a cell at the middle of its row
        if row.x0 < left + 6 or not any(c.isalpha() for c in row.text):
            continue
        if min(abs(middle - (a + right) / 2) for a in (left, second)) > 4:
            continue
        if row.base - above.base < 1.25 * row.size and row.base - above.base < 0.8 * (below.base - row.base):
            continue  # the rest of a cell
        if below.x0 > left + 40 or any(abs(s.x0 - row.x0) < 1.5 for s in above.cells + below.cells):
            continue
        found.append(row)
    if len(found) < 2:
        found = [r for r in found if bold(r) or r.text.isupper() or r.x1 - r.x0 > 0.3 * (right - left)]
    return {id(r) for r in found}
