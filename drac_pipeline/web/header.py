"""Which rows of a table are its header, told by mark-up or by what the cells look like."""

from __future__ import annotations

import re

from drac_pipeline.web.grid import Cell, cells_of

_NUMBER = re.compile(r"[\s$€£¥%+\-–−~<>≤≥()]*\d[\d.,:/\s\-–%]*\s*(?:[A-Za-zµ°%€$]{1,4}\.?)?")
_LABEL_CHARS = 60


def is_header_row(row: list[Cell | None]) -> bool:
    """All of the row's cells are header cells of columns."""
    cells = [c for _, _, c in cells_of(row)]
    if not cells or not all(c.heading or not c.text for c in cells) or not any(c.heading for c in cells):
        return False
    return sum(bool(c.text) for c in cells) > 1 and not all(c.scope == "row" for c in cells if c.text)


def guess_header(grid: list[list[Cell | None]]) -> int:
    """Header rows of a table without header cells: 1 or 0.

    Bold labels over plain values, names over numbers, or short different names over at
    least two rows. A column of keys (`th`, bold, with a colon) says there is none.
    """
    first = [c for _, _, c in cells_of(grid[0])]
    if any(c.heading for row in grid for c in row if c is not None):
        return 0  # row headers only
    texts = [c.text for c in first]
    corner = len(texts) > 2 and not texts[0]  # an empty corner is usual
    if len(texts) < 2 or not all(texts[corner:]) or any(len(t) > _LABEL_CHARS for t in texts):
        return 0
    if len({t.casefold() for t in texts}) < len(texts):
        return 0
    body = grid[1:]
    some_plain = not all(c.bold for row in body for c in row if c and c.text)
    if some_plain and all(c.bold for c in first if c.text):
        return 1
    plain = any(not c.bold for row in grid for c in row if c and c.text)
    keys = [row[0] for row in grid if row[0] is not None]
    if sum((plain and k.bold) or k.text.endswith(":") for k in keys) * 2 > len(keys):
        return 0
    if any(_is_number(t) for t in texts[1:]):
        return 0
    columns = range(1, len(grid[0]))
    numeric = sum(_mostly_numbers([row[c] for row in body]) for c in columns)
    if numeric:
        return 1
    return int(len(texts) > 2 and len(body) >= 2)


def _is_number(text: str) -> bool:
    return bool(_NUMBER.fullmatch(text))


def _mostly_numbers(cells: list[Cell | None]) -> bool:
    texts = [c.text for c in cells if c and c.text]
    return bool(texts) and sum(map(_is_number, texts)) * 3 >= len(texts) * 2
