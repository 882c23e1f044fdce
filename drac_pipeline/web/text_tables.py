"""Tables drawn in plain text: columns under a ruler of dashes, or cells between bars."""

from __future__ import annotations

import re
from itertools import pairwise

from drac_pipeline.convert.row_sentences import row_sentence, unsaid
from drac_pipeline.web.blocks import Block, TableRowText, TableText

_RULER = re.compile(r"\s*[-=]{2,}(?:\s+[-=]{2,})+\s*")
_FULL = re.compile(r"\s*[-=]{5,}\s*")
_RUN = re.compile(r"[-=]+")
_BORDER_SIGNS = frozenset("-=:+| ")
_MAX_HEAD = 6  # lines of a header


def split_tables(lines: list[str]) -> list[list[str] | Block]:
    """The lines cut into runs of text and tables."""
    out: list[list[str] | Block] = []
    text: list[str] = []
    at = 0
    while at < len(lines):
        end = at + 1
        found = None
        if "|" in lines[at] or lines[at].lstrip().startswith("+-"):
            while end < len(lines) and ("|" in lines[end] or _is_border(lines[end])):
                end += 1
            found = _barred(lines[at:end], end)
        elif _RULER.fullmatch(lines[at]):
            found = _ruled(lines, at, text)
        if found is None:
            text += lines[at:end]
            at = end
            continue
        above, at, table = found
        if above:
            del text[-above:]
        out += [text, Block("table", table=table)]
        text = []
    return [*out, text]


# ------------------------------------------------------------------ under a ruler


def _ruled(lines: list[str], at: int, text: list[str]) -> tuple[int, int, TableText] | None:
    """(lines of the text before that belong to it, the line after it, the table)."""
    columns = [(m.start(), m.end()) for m in _RUN.finditer(lines[at])]
    above = 0
    while (
        above < min(len(text), _MAX_HEAD)
        and text[-1 - above].strip()
        and not _FULL.fullmatch(text[-1 - above])
    ):
        above += 1
    head = text[len(text) - above :] if above else []
    framed = len(text) > above and bool(_FULL.fullmatch(text[-1 - above]))
    end = at + 1
    rows: list[list[str]] = [[]]
    while end < len(lines) and not (_FULL.fullmatch(lines[end]) or _RULER.fullmatch(lines[end])):
        if lines[end].strip():
            rows[-1].append(lines[end])
        elif not framed:
            break
        elif rows[-1]:
            rows.append([])
        end += 1
    closed = end < len(lines) and bool(_FULL.fullmatch(lines[end]) or _RULER.fullmatch(lines[end]))
    rows = [r for r in rows if r]
    if not rows or (framed and not closed) or (not head and not closed):
        return None
    if not all(_fits(line, columns) for line in (*head, *(line for r in rows for line in r))):
        return None
    if not framed or len(rows) == 1:
        rows = [[line] for r in rows for line in r]  # a line is a row where no blank line parts them
    table = _table([_sliced(head, columns)] if head else [], [_sliced(r, columns) for r in rows])
    return above + framed, end + closed, table


def _fits(line: str, columns: list[tuple[int, int]]) -> bool:
    """Nothing of the line stands in the gaps between the columns."""
    before = line[: columns[0][0]].strip()
    return not before and not any(line[a[1] : b[0]].strip() for a, b in pairwise(columns))


def _sliced(lines: list[str], columns: list[tuple[int, int]]) -> list[str]:
    ends = [c[0] for c in columns[1:]] + [None]
    return [
        " ".join(filter(None, (line[a:b].strip() for line in lines)))
        for (a, _), b in zip(columns, ends, strict=True)
    ]


# ------------------------------------------------------------------ between bars


def _is_border(line: str) -> bool:
    return ("--" in line or "==" in line) and _BORDER_SIGNS.issuperset(line)


def _barred(lines: list[str], end: int) -> tuple[int, int, TableText] | None:
    parts: list[list[list[str]]] = [[]]
    borders = 0
    for line in lines:
        if _is_border(line):
            borders += 1
            parts.append([])
        else:
            parts[-1].append([c.strip() for c in line.strip().strip("|").split("|")])
    parts = [p for p in parts if p]
    cells = [line for p in parts for line in p]
    if not borders or len(cells) < 2 or len({len(c) for c in cells}) > 1 or len(cells[0]) < 2:
        return None
    if len(parts) > 2:  # a border after each row: its lines are one
        parts = [[[" ".join(filter(None, column)) for column in zip(*p, strict=True)]] for p in parts]
    head = parts[0] if len(parts) > 1 else []
    body = [line for p in parts[1:] for line in p] if head else cells
    return 0, end, _table(head, body)


def _table(head: list[list[str]], rows: list[list[str]]) -> TableText:
    header = [[t for t in column if t] for column in zip(*head, strict=True)] if head else []
    rows = [r for r in rows if any(r)]
    made = [TableRowText(r, row_sentence(header, r)) for r in rows]
    if made and (open_columns := unsaid(header, [(header, r) for r in rows])):
        made.insert(0, TableRowText([], open_columns + "."))
    return TableText(header, rows=made)
