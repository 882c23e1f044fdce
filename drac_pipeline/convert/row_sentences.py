"""A table row as a sentence, in one fixed grammar.

    row     = [section " — "] item *("; " item) "."
            | key ": " value "."    two cells of a table without header
    item    = label ": " value      a column with a header
            | value                 a column without a header
    label   = header *(", " header) the header path, outermost first

    Country: Austria; 2001, Schools: 160; 2001, Pupils: 4,976.

    Owner: Tomasz Lis.

Every non-empty cell is an item, in column order, so the first item is the row's
subject; each value follows its own header directly. Headers lose a closing colon, the
closing full stop is left out where the last value ends a sentence itself. A section is
the text of a row that titles the rows below it ("Actual — Year: 2001; …").
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_CLOSED = (".", "!", "?", "。", "!", "?", "؟", "…")


def label_of(path: Sequence[str]) -> str:
    """The header path as it stands before a value."""
    parts: list[str] = []
    for header in path:
        header = " ".join(header.split()).rstrip(":;,").rstrip()
        if header and (not parts or parts[-1] != header):
            parts.append(header)
    return ", ".join(parts)


def unsaid(
    header: Sequence[Sequence[str]], rows: Iterable[tuple[Sequence[Sequence[str]], Sequence[str]]]
) -> str:
    """The header texts that no row's sentence holds, as their columns have no value in any of `rows`
    (header paths and cells of each); "" where all are said. They are content all the same: what a form
    asks for, what a list leaves open."""
    said = {
        label_of([h])
        for paths, cells in rows
        for path, cell in zip(paths, cells, strict=False)
        if cell.strip()
        for h in path
    }
    texts = dict.fromkeys(label_of([h]) for path in header for h in path)
    return "; ".join(t for t in texts if t and t not in said)


def row_sentence(header: Sequence[Sequence[str]], cells: Sequence[str], section: str = "") -> str:
    """The sentence of one body row; "" where every cell is empty.

    `header[c]` is the header path of column c; columns past its end have none. A value
    that is spanned over neighbouring columns (the same cell repeated) is the caller's
    to give once.
    """
    items = []
    bare = not any(label_of(path) for path in header)
    if bare and sum(bool(c.strip()) for c in cells) == 2:
        key, value = (" ".join(c.split()) for c in cells if c.strip())
        items = [f"{key.rstrip(':').rstrip()}: {value}"]
        cells = []
    for c, cell in enumerate(cells):
        value = " ".join(cell.split())
        if not value:
            continue
        label = label_of(header[c]) if c < len(header) else ""
        items.append(f"{label}: {value}" if label else value)
    if not items:
        return ""
    text = "; ".join(items)
    if not text.endswith(_CLOSED):
        text = text.rstrip(";:,") + "."
    section = " ".join(section.split()).rstrip(":")
    return f"{section} — {text}" if section else text
