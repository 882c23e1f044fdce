"""Rows of a table by the order in which their cells were written.

Browsers and office programs write a table row by row and each row cell by cell, so a row ends
where the next text stands further left, or below all that the row holds.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from drac_pipeline.convert.local.text_layer import Segment

if TYPE_CHECKING:
    from drac_pipeline.convert.local.tables import Line

Cells = dict[int, list[Segment]]


def rows_by_stream(lines: list[Line]) -> list[Cells]:
    """The rows' cells by column, top to bottom; none where the order is not that of rows."""
    found = sorted(
        ((s, c) for line in lines for c, cell in line.cells.items() for s in cell), key=lambda t: t[0].order
    )
    rows: list[Cells] = []
    last = -1
    for s, c in found:
        row = rows[-1] if rows else {}
        if not row or c < last or _below(row, s, c):
            rows.append({c: [s]})
        else:
            row.setdefault(c, []).append(s)
        last = c
    wrong = sum(_bottom(a) > _top(b) for a, b in itertools.pairwise(rows))
    return rows if not wrong else []


def _below(row: Cells, s: Segment, c: int) -> bool:
    """The text stands below what the row holds: no wrapped line of it, no cell beside it."""
    if c in row:
        return s.base - row[c][-1].base > 1.75 * s.size
    return s.base - _bottom(row) > 0.8 * s.size


def _top(row: Cells) -> float:
    return min(s.base for cell in row.values() for s in cell)


def _bottom(row: Cells) -> float:
    return max(s.base for cell in row.values() for s in cell)
