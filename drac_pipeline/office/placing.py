"""Blocks of a Markdown looked for in the print of its document: their pages and boxes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from drac_pipeline.model.conversion import BlockSpan, TableData
from drac_pipeline.office.places import Print

_COUNTED = re.compile(r"[#\s-]*(?:[\w.()]{1,12}\s+)?")


def placed(
    spans: Sequence[BlockSpan],
    tables: Sequence[TableData],
    pages: Sequence[int | None],
    printed: Print,
    markdown: str,
) -> list[BlockSpan]:
    """The spans with their boxes; table rows get theirs too. `pages` are those of the spans where they are
    known, None where they are to be found, 0 for what is not printed."""
    by_id = {t.table_id: t for t in tables}
    out = []
    for span, page in zip(spans, pages, strict=True):
        table = by_id.get(span.table_id or "")
        ranges: list[tuple[int, int]] = []
        if page != 0:
            row = table.rows[span.row] if table is not None and span.row is not None else None
            if row is not None and any(row.cells):
                ranges = printed.find_cells(_once(row.cells), page)
            else:
                ranges = _found(printed, markdown[span.start : span.end], page)
        boxes = printed.boxes(ranges)
        if table is not None and span.row is not None and boxes:
            table.rows[span.row].page = boxes[0].page
            table.rows[span.row].box = boxes[0]
        elif table is not None and span.row is not None and page:
            table.rows[span.row].page = page
        out.append(span.model_copy(update={"boxes": boxes}))
    return out


def _found(printed: Print, text: str, page: int | None) -> list[tuple[int, int]]:
    """Numbers that we count and those that are printed may differ."""
    return printed.find(text, page) or printed.find(_COUNTED.sub("", text, count=1), page)


def _once(cells: Sequence[str]) -> list[str]:
    """A value spanned over neighbouring columns is printed once."""
    return [c for n, c in enumerate(cells) if n == 0 or c != cells[n - 1]]
