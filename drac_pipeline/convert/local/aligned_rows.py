"""Tables without rules: runs of rows whose cells stand in columns."""

from __future__ import annotations

import itertools

from drac_pipeline.convert.local.columns import Block, Flow
from drac_pipeline.convert.local.grid import column_ranges
from drac_pipeline.convert.local.rows import LEADER_RE, Row
from drac_pipeline.convert.local.stacked import figures_go_on, lines_over, split_stacked
from drac_pipeline.convert.local.table_zones import Draft, with_rules, wraps
from drac_pipeline.convert.local.text_layer import PageText


def unruled_tables(page: PageText, flow: Flow) -> list[Draft]:
    """Runs of rows whose cells stand in columns."""
    items = flow.items
    out: list[Draft] = []
    i = 0
    while i < len(items):
        row = items[i]
        if not isinstance(row, Row) or len(row.cells) < 2 or _leader(row):
            i += 1
            continue
        j = _run(items, i)
        rows = [r for r in items[i:j] if isinstance(r, Row)]
        while rows and len(rows[-1].cells) < 2 and not wraps(rows):
            rows.pop()
        if _is_table(rows):
            taken = {id(r) for d in out for r in d.rows}
            parts = split_stacked(rows, page.v_rules)
            parts[0] = lines_over(_free_above(items, i, taken), parts[0]) + parts[0]
            for part in parts:
                span = (min(r.x0 for r in part), max(r.x1 for r in part))
                out.append(with_rules(page, part, span, ruled=False))
            i = items.index(rows[-1]) + 1
        else:
            i += 1
    return out


def _free_above(items: list[Row | Block], i: int, taken: set[int]) -> list[Row]:
    """Up to four rows of no table before item i."""
    out: list[Row] = []
    for item in reversed(items[max(0, i - 4) : i]):
        if not isinstance(item, Row) or id(item) in taken:
            break
        out.insert(0, item)
    return out


def _leader(row: Row) -> bool:
    return bool(LEADER_RE.search(row.text + " "))


def _run(items: list, i: int) -> int:
    """The end of the run of rows from i that share gutters."""
    row = items[i]
    free = _free(row)
    last = row
    j = i + 1
    while j < len(items):
        row = items[j]
        if not isinstance(row, Row):
            break
        far = row.base - last.base > (3.6 if _in_line(last, row) else 2.6) * max(row.size, last.size)
        if far and not figures_go_on(_rows_of(items[i:j]), _rows_of(items[j : j + 3])):
            break
        left = _intersect(free, _free(row), 0.5 * row.size)
        if len(row.cells) > 1:
            if not left:
                break
            free = left
        elif not left:
            # a section line over all columns, if the table goes on below it
            following = next(
                (r for r in items[j + 1 : j + 3] if isinstance(r, Row) and len(r.cells) > 1), None
            )
            if (
                following is None
                or following.base - row.base > 2.2 * row.size
                or len(row.segments[0].words) > 9
                or not _intersect(free, _free(following), 0.5 * row.size)
            ):
                break
        last = row
        j += 1
    return j


def _in_line(above: Row, row: Row) -> bool:
    """All cells of the two rows begin at the same places."""
    if not 1 < len(row.cells) == len(above.cells):
        return False
    return all(abs(a.x0 - b.x0) < 1.5 for a, b in zip(above.cells, row.cells, strict=True))


def _rows_of(items: list[Row | Block]) -> list[Row]:
    """The rows before the first block."""
    return list(itertools.takewhile(lambda i: isinstance(i, Row), items))  # type: ignore[arg-type]


def _free(row: Row) -> list[tuple[float, float]]:
    out, at = [], -1e6
    for s in row.segments:
        if s.x0 > at:
            out.append((at, s.x0))
        at = max(at, s.x1)
    out.append((at, 1e6))
    return out


def _intersect(
    a: list[tuple[float, float]], b: list[tuple[float, float]], width: float
) -> list[tuple[float, float]]:
    """Inner gutters that both leave free; the outer sides are kept for short rows."""
    out = []
    for p in a:
        for q in b:
            lo, hi = max(p[0], q[0]), min(p[1], q[1])
            if hi - lo > width:
                out.append((lo, hi))
    inner = [g for g in out if g[0] > -1e5 and g[1] < 1e5]
    return out if inner else []


def _is_table(rows: list[Row]) -> bool:
    multi = [r for r in rows if len(r.cells) > 1]
    if len(multi) < 2:
        return False
    columns = column_ranges(rows)
    if len(columns) < 2:
        return False
    if len(columns) == 2 and len(multi) < 3 and not _labelled(multi):
        return False
    if len(multi) < 0.34 * len(rows) or _justified(rows):
        return False
    # cells must line up: left, right or middle of most cells at one place per column
    good = total = 0
    for c0, c1 in columns:
        inside = [s for r in multi for s in r.cells if min(s.x1, c1) - max(s.x0, c0) > 0.5 * (s.x1 - s.x0)]
        if len(inside) < 2:
            continue
        total += len(inside)
        good += max(
            _aligned([s.x0 for s in inside]),
            _aligned([s.x1 for s in inside]),
            _aligned([(s.x0 + s.x1) / 2 for s in inside]),
        )
    if total == 0 or good < 0.5 * total:
        return False
    words = sum(len(s.words) for r in multi for s in r.cells) / sum(len(r.cells) for r in multi)
    return words < 12


def _labelled(rows: list[Row]) -> bool:
    """Keys in bold beside values that are not."""
    return all(len(r.cells) == 2 and r.cells[0].bold and not r.cells[1].bold for r in rows)


def _justified(rows: list[Row]) -> bool:
    """Few lines with one that justification has torn apart: running text that goes on with a small
    letter, its words at even gaps."""
    return len(rows) <= 6 and any(_torn(r, above) for above, r in itertools.pairwise(rows))


def _torn(row: Row, above: Row) -> bool:
    gaps = [b.x0 - a.x1 for a, b in itertools.pairwise(row.cells)]
    if len(gaps) < 2 or max(gaps) - min(gaps) > 1.5 or max(gaps) > 2.2 * row.size:
        return False
    return row.cells[0].text[:1].islower() and above.x1 >= row.x1 - 1.5 and not above.text.endswith(".")


def _aligned(values: list[float]) -> int:
    values = sorted(values)
    best = 0
    for i, v in enumerate(values):
        n = 0
        for w in values[i:]:
            if w - v > 3:
                break
            n += 1
        best = max(best, n)
    return best
