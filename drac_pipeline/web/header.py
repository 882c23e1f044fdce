"""Which rows of a table are its header, told by mark-up or by what the cells look like."""

from __future__ import annotations

import re

from drac_pipeline.web.grid import Cell, cells_of

_NUMBER = re.compile(r"[\s$€£¥%+\-–−~<>≤≥()]*\d[\d.,:/\s\-–%]*\s*(?:[A-Za-zµ°%€$]{1,4}\.?)?")
_PURE = re.compile(r"[\s$€£¥+\-–−]*\d[\d.,\s]*%?")
_YEAR = re.compile(r"(?:19|20)\d\d")
_LABEL_CHARS = 60


def is_header_row(row: list[Cell | None]) -> bool:
    """All of the row's cells are header cells of columns."""
    cells = [c for _, _, c in cells_of(row)]
    if not cells or not all(c.heading or not c.text for c in cells) or not any(c.heading for c in cells):
        return False
    return sum(bool(c.text) for c in cells) > 1 and not all(c.scope == "row" for c in cells if c.text)


def guess_header(grid: list[list[Cell | None]]) -> int:
    """How many rows are the header of a table without header cells.

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
    if (some_plain and all(c.bold for c in first if c.text)) or _named(grid, texts):
        return _depth(grid)
    return 0


def _named(grid: list[list[Cell | None]], texts: list[str]) -> bool:
    """The first row names columns, by what stands below it."""
    body = grid[1:]
    plain = any(not c.bold for row in grid for c in row if c and c.text)
    keys = [row[0] for row in grid if row[0] is not None]
    if sum((plain and k.bold) or k.text.endswith(":") for k in keys) * 2 > len(keys):
        return False
    numbers = [t for t in texts[1:] if _NUMBER.fullmatch(t)]
    if numbers and not all(map(_YEAR.fullmatch, numbers)):
        return False
    columns = [[row[c].text for row in body if row[c]] for c in range(1, len(grid[0]))]  # type: ignore[union-attr]
    if len(columns) == 1:
        # two columns are more often names and values: sure signs only
        values = [v for v in columns[0] if v]
        long = all(len(v.split()) > 3 for v in values) and len(texts[1].split()) < 3
        return bool(values) and (all(map(_PURE.fullmatch, values)) or (long and len(values) > 1))
    return any(map(_mostly_numbers, columns)) or len(body) >= 2


def _depth(grid: list[list[Cell | None]]) -> int:
    """Rows of a header that begins with groups of columns: 2 or more, else 1."""
    groups = [c for _, _, c in cells_of(grid[0])]
    if not any(c.columns > 1 for c in groups) or len(grid) < 3:
        return 1
    down = max(c.rows for c in groups)
    if 1 < down < len(grid):
        return down
    below = [c.text for _, _, c in cells_of(grid[1])]
    return 1 if any(_NUMBER.fullmatch(t) and not _YEAR.fullmatch(t) for t in below) else 2


def _mostly_numbers(texts: list[str]) -> bool:
    texts = [t for t in texts if t]
    return bool(texts) and sum(bool(_NUMBER.fullmatch(t)) for t in texts) * 3 >= len(texts) * 2
