"""A flow's rows to blocks: paragraphs, list items, headings, tables."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from typing import Literal

from drac_pipeline.convert.local.columns import Block as Zone
from drac_pipeline.convert.local.columns import Flow
from drac_pipeline.convert.local.rows import BULLETS, LEADER_RE, NUMBER_RE, Row
from drac_pipeline.convert.local.table_zones import Draft

Kind = Literal["paragraph", "item", "heading", "table", "note"]
SENTENCE_END = re.compile(r"[.!?:;。!?؟][\"'”’)\]]*$")


@dataclass(slots=True, eq=False)
class Block:
    """One block of a page; `rows` are its lines, `draft` a table's rows."""

    kind: Kind
    rows: list[Row] = field(default_factory=list)
    page: int = 0
    marker: str = ""
    text_x: float = 0.0  # where an item's text begins
    depth: int = 1
    level: int = 0
    drafts: list[Draft] = field(default_factory=list)
    column: tuple[float, float] = (0.0, 0.0)

    @property
    def x0(self) -> float:
        return min(r.x0 for r in self.rows)

    @property
    def size(self) -> float:
        return self.rows[0].size

    @property
    def text(self) -> str:
        return " ".join(r.text for r in self.rows)

    @property
    def bold(self) -> bool:
        return all(s.bold for r in self.rows for s in r.segments)


def marker_of(row: Row) -> tuple[str, float] | None:
    """(marker, x where the text begins) if the row begins a list item."""
    first = row.segments[0].words[0]
    rest = row.segments[0].words[1:] or (row.segments[1].words if len(row.segments) > 1 else [])
    if not rest:
        return None
    text = first.text
    if len(text) == 1 and text in BULLETS:
        if text == "o" and rest[0].x0 - first.x1 < 0.5 * row.size:
            return None
        if text in "-–—*·" and rest[0].text[:1].isdigit() and rest[0].x0 - first.x1 < 0.3 * row.size:
            return None
        return text, rest[0].x0
    if NUMBER_RE.fullmatch(text):
        return text, rest[0].x0
    # a bullet glued to its word
    if text[0] in "•●○◦▪▫■□‣⁃➢➤❖◆◇►▶\uf0b7\uf0a7\uf0d8\uf0fc" and len(text) > 1:
        return text[0], first.x0 + 0.5 * row.size
    return None


def flow_blocks(flow: Flow, drafts: list[Draft]) -> list[Block]:
    """The blocks of one flow, top to bottom."""
    owner = {id(r): d for d in drafts for r in d.rows}
    out: list[Block] = []
    run: list[Row] = []
    seen: set[int] = set()

    def close() -> None:
        if run:
            out.extend(_text_blocks(run, flow))
            run.clear()

    for item in flow.items:
        if isinstance(item, Zone):
            close()
            out.append(_table(item.payload))  # type: ignore[arg-type]
            continue
        draft = owner.get(id(item))
        if draft is None:
            run.append(item)
        elif id(draft) not in seen:
            seen.add(id(draft))
            close()
            out.append(_table(draft))
    close()
    for b in out:
        b.column = (flow.x0, flow.x1)
    return out


def _table(draft: Draft) -> Block:
    return Block("table", list(draft.rows), draft.rows[0].page, drafts=[draft])


def _text_blocks(rows: list[Row], flow: Flow) -> list[Block]:
    pitches = _pitch(rows)
    for k, row in enumerate(rows):
        row.edge = max(r.x1 for r in rows[max(0, k - 7) : k + 8])
    out: list[Block] = []
    for k, row in enumerate(rows):
        marker = marker_of(row)
        if out and not _starts(out[-1], row, marker, rows[k - 1], pitches, flow):
            out[-1].rows.append(row)
            continue
        if marker:
            out.append(Block("item", [row], row.page, marker=marker[0], text_x=marker[1]))
        else:
            out.append(Block("paragraph", [row], row.page))
    return out


def _pitch(rows: list[Row]) -> dict[int, float]:
    """Line distance by type size: the commonest one."""
    gaps: dict[int, list[float]] = {}
    for a, b in itertools.pairwise(rows):
        d = b.base - a.base
        if abs(a.size - b.size) < 0.6 and 0.8 * a.size < d < 2.5 * a.size:
            gaps.setdefault(round(a.size), []).append(d)
    out = {}
    for size, found in gaps.items():
        found.sort()
        # the lower quartile: paragraphs of one line must not pass for line distance
        out[size] = found[len(found) // 4] if len(found) > 3 else min(found[0], 1.5 * size)
    return out


def _starts(
    block: Block,
    row: Row,
    marker: tuple[str, float] | None,
    above: Row,
    pitches: dict[int, float],
    flow: Flow,
) -> bool:
    """Whether the row begins a new block."""
    if marker and not _marker_in_text(block, row, above, marker):
        return True
    if LEADER_RE.search(above.text + " "):
        return True  # an entry of a table of contents ends with its leader and page
    size = row.size
    if abs(size - above.size) > 0.12 * size:
        # a mark or formula in other type on a line of its own stays with its paragraph
        return True
    gap = row.base - above.base
    pitch = pitches.get(round(size), 1.25 * size)
    if gap > 1.28 * pitch + 0.5 or gap < 0:
        return True
    bold_row = all(s.bold for s in row.segments)
    bold_above = all(s.bold for s in block.rows[-1].segments)
    if (
        block.kind != "item"
        and bold_row != bold_above
        and (len(block.rows) == 1 or bold_row)
        and not _runs_on(above, row, block, flow)
    ):
        return True
    if block.kind == "item":
        if abs(row.x0 - block.text_x) < 0.6 * size:
            return False  # under the item's text: a wrapped or broken line of it
        if row.x0 < block.text_x and row.x0 <= block.rows[0].x0 + 1:
            # back at the marker: a hanging item only if its text ran to the edge
            return not _runs_on(above, row, block, flow)
        if row.x0 > block.text_x + 2.5 * size:
            return True
        return _hard_break(block, above, row, flow)
    first = block.rows[0]
    left = block.rows[1].x0 if len(block.rows) > 1 else first.x0
    if row.x0 > left + 0.8 * size and len(block.rows) > 1:
        centered = abs((row.x0 + row.x1) - (above.x0 + above.x1)) < 6
        return not centered
    if len(block.rows) == 1 and row.x0 > first.x0 + 0.8 * size:
        centered = abs((row.x0 + row.x1) - (above.x0 + above.x1)) < 6
        return not centered and not _runs_on(above, row, block, flow)
    return _hard_break(block, above, row, flow)


def _marker_in_text(block: Block, row: Row, above: Row, marker: tuple[str, float]) -> bool:
    """A dash or number at a line's start that belongs to the sentence."""
    text = marker[0]
    if text in "•●○◦▪■□‣":
        return False
    aligned = abs(row.x0 - (block.text_x if block.kind == "item" else block.x0)) < 2
    if not aligned:
        return False
    before = above.segments[-1].text
    if SENTENCE_END.search(before):
        return False
    if block.kind == "item":
        return True
    return len(block.rows) > 1 or (text in "-–—*·" or (before[-1:].isalnum() and above.x1 > 0.8 * row.x1))


def _right(block: Block, flow: Flow) -> float:
    """The right edge that the block's lines run to."""
    own = max(r.x1 for r in block.rows)
    return max(own, block.rows[-1].edge) if len(block.rows) < 3 else min(flow.x1, max(own, block.rows[-1].x1))


def _runs_on(above: Row, row: Row, block: Block, flow: Flow) -> bool:
    """The row's first word would not have fitted on the line above."""
    word = row.segments[0].words[0]
    edge = max(_right(block, flow), row.x1)
    return above.x1 + 0.3 * row.size + (word.x1 - word.x0) > edge - 0.5 * row.size


def _hard_break(block: Block, above: Row, row: Row, flow: Flow) -> bool:
    """The line above ends early though the next word had room: a line break on purpose."""
    text = above.segments[-1].text
    if text.endswith(("-", "\u00ad", ",")) or row.segments[0].text[:1].islower():
        return False
    word = row.segments[0].words[0]
    edge = max(_right(block, flow), row.x1)
    room = edge - above.x1 - 0.3 * row.size - (word.x1 - word.x0)
    if room < 1.5 * row.size:
        return False
    # ragged or narrower text: only a clear stop
    if SENTENCE_END.search(text):
        return room > 2 * row.size
    return room > 0.25 * (edge - row.x0)
