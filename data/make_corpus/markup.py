"""A small markup for the longer documents, parsed to blocks that the PDF and DOCX writers render.

# 1 Heading          one to three #, the number (if any) is part of the text
paragraph lines      joined until a blank line; **bold**, *italic*, [^1] footnote mark
- item, 1. item      nested by two spaces per level; "a." starts a lettered list
| cell | cell |      table row; "^" continues the cell above, "<" the cell to the left
@table header=1 repeat=1 total=0 widths=20,40,40 keep=0
!note text           boxed note; also !warning
[^1]: text           text of footnote 1
@page                page break
@anything else       handed to the writer as a directive
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

SOURCES = Path(__file__).with_name("sources")
ITEM = re.compile(r"^( *)(-|\d{1,2}\.|[a-z]\.) (.*)$")


@dataclass
class Block:
    """One block: heading, para, list, table, note, page or directive."""

    kind: str
    text: str = ""
    level: int = 0
    items: list = field(default_factory=list)  # list: (level, marker, text); table: rows of cells
    opts: dict = field(default_factory=dict)


@dataclass
class Cell:
    """A table cell with the columns and rows it covers."""

    row: int
    col: int
    text: str
    rowspan: int = 1
    colspan: int = 1


def parse(name: str) -> tuple[list[Block], dict[str, str]]:
    """Read a source file; return its blocks and its footnotes by number."""
    blocks: list[Block] = []
    notes: dict[str, str] = {}
    opts: dict = {}
    open_kind = ""
    for raw in (SOURCES / name).read_text(encoding="utf-8").splitlines():
        line = raw.rstrip()
        item = ITEM.match(line)
        if line.startswith(("#", "@", "!", "[^")):
            open_kind = ""
        if not line:
            open_kind = ""
        elif note := re.match(r"^\[\^(\d+)\]: (.*)$", line):
            notes[note[1]] = note[2]
        elif head := re.match(r"^(#{1,3}) (.*)$", line):
            blocks.append(Block("heading", head[2], len(head[1])))
        elif line.startswith("@table"):
            opts = dict(pair.split("=", 1) for pair in line.split()[1:])
        elif line.startswith("@"):
            word, _, rest = line[1:].partition(" ")
            blocks.append(Block("page" if word == "page" else "directive", rest, opts={"name": word}))
        elif line.startswith("!"):
            word, _, rest = line[1:].partition(" ")
            blocks.append(Block("note", rest, opts={"name": word}))
        elif line.startswith("|"):
            if open_kind != "table":
                blocks.append(Block("table", opts=opts))
                opts, open_kind = {}, "table"
            blocks[-1].items.append([c.strip() for c in line.strip("|").split("|")])
        elif item and open_kind != "para":
            if open_kind != "list":
                blocks.append(Block("list"))
                open_kind = "list"
            blocks[-1].items.append((len(item[1]) // 2, item[2], item[3]))
        elif open_kind == "list":
            level, marker, text = blocks[-1].items[-1]
            blocks[-1].items[-1] = (level, marker, f"{text} {line.strip()}")
        elif open_kind == "para":
            blocks[-1].text += " " + line
        else:
            blocks.append(Block("para", line))
            open_kind = "para"
    return blocks, notes


def cells(rows: list[list[str]]) -> list[Cell]:
    """Resolve the span marks of a table to cells."""
    owner: dict[tuple[int, int], Cell] = {}
    out: list[Cell] = []
    for r, row in enumerate(rows):
        for c, text in enumerate(row):
            if text == "^":
                cell = owner[r - 1, c]
                cell.rowspan = r - cell.row + 1
            elif text == "<":
                cell = owner[r, c - 1]
                cell.colspan = max(cell.colspan, c - cell.col + 1)
            else:
                cell = Cell(r, c, text)
                out.append(cell)
            owner[r, c] = cell
    return out


def runs(text: str) -> list[tuple[str, str]]:
    """Split inline markup to (style, text): style is "", "b", "i" or "note"."""
    out = []
    for part in re.split(r"(\*\*.+?\*\*|\*.+?\*|\[\^\d+\])", text):
        if part.startswith("**"):
            out.append(("b", part[2:-2]))
        elif part.startswith("*") and len(part) > 2:
            out.append(("i", part[1:-1]))
        elif part.startswith("[^"):
            out.append(("note", part[2:-1]))
        elif part:
            out.append(("", part))
    return out
