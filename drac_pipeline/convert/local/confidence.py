"""How sure the cheap reading of a page is, by what it left odd behind."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from drac_pipeline.convert.local.blocks import Block
from drac_pipeline.convert.local.grid import column_ranges
from drac_pipeline.convert.local.rows import Row, numeric
from drac_pipeline.convert.local.table_zones import Draft

_LOOSE_FIGURES = 3  # figures on a line from which on it belongs to a table


@dataclass(slots=True)
class Doubt:
    """Shares of a page's lines that speak against its reading, each 0..1."""

    interleaved: float = 0.0  # lines of one table at less than line distance: two tables in one
    crossing: float = 0.0  # lines of a table with a text across its columns
    loose: float = 0.0  # lines of figures in no table
    jumps: float = 0.0  # blocks that begin above the one before, beyond one for each column

    @property
    def confidence(self) -> float:
        doubt = 1.6 * self.interleaved + 0.5 * self.crossing + 0.8 * self.loose + 0.5 * self.jumps
        return round(max(0.2, 1 - doubt), 2)

    @property
    def reason(self) -> str:
        said = {
            "lines of tables overlap": self.interleaved,
            "texts lie across columns": self.crossing,
            "lines of figures in no table": self.loose,
            "the reading order jumps": self.jumps,
        }
        return max(said, key=lambda k: said[k])


def doubt_of(blocks: list[Block]) -> Doubt:
    """What is odd about the blocks of one page."""
    total = sum(len(b.rows) for b in blocks) or 1
    drafts = [d for b in blocks for d in b.drafts]
    loose = sum(_figures(r) for b in blocks if b.kind != "table" for r in b.rows)
    tops = [b.rows[0].base for b in blocks]
    columns = len({round(b.column[0] / 20) for b in blocks})
    back = sum(b < a - 20 for a, b in itertools.pairwise(tops))
    return Doubt(
        interleaved=sum(_close(d) for d in drafts) / total,
        crossing=sum(_crossed(d) for d in drafts) / total,
        loose=loose / total,
        jumps=max(0, back - columns) / max(1, len(blocks)),
    )


def _figures(row: Row) -> bool:
    return len(row.cells) > 1 and sum(numeric(s.text) for s in row.cells) >= _LOOSE_FIGURES


def _close(draft: Draft) -> int:
    return sum(b.base - a.base < 0.8 * min(a.size, b.size) for a, b in itertools.pairwise(draft.rows))


def _crossed(draft: Draft) -> int:
    """Lines below the first with a text over several columns that has others beside it."""
    if len(draft.rows) > 40:
        return 0  # as regular as long
    columns = column_ranges(draft.rows)
    n = 0
    for r in draft.rows[2:]:
        n += len(r.cells) > 1 and any(
            sum(min(b, s.x1) - max(a, s.x0) > 4 for a, b in columns) > 1 for s in r.cells
        )
    return n
