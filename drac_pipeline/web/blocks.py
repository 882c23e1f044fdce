"""The blocks that a page, a Markdown source or a text is read into, and the writer's input."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

BlockKind = Literal["heading", "paragraph", "list_item", "code", "quote", "table"]


@dataclass(slots=True)
class TableRowText:
    """A body row: its cells as data and the sentence that says them."""

    cells: list[str]
    sentence: str
    after: list[Block] = field(default_factory=list)  # tables that lie in its cells


@dataclass(slots=True)
class TableText:
    """A table: header path per column, caption, rows."""

    header: list[list[str]] = field(default_factory=list)
    caption: str = ""
    rows: list[TableRowText] = field(default_factory=list)


@dataclass(slots=True)
class Block:
    """One block. Lines of `text` are parted by line feeds.

    level   of a heading 1..6
    depth   of a list item from 1; of another block how many list items it stands in
    marker  of a list item (`-`, `3.`); the language of code
    """

    kind: BlockKind
    text: str = ""
    level: int = 0
    depth: int = 0
    marker: str = ""
    table: TableText | None = None
