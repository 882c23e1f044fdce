"""Pages' blocks to one sequence: joins over page breaks, list depths, footnotes."""

from __future__ import annotations

import re

from drac_pipeline.convert.local.blocks import SENTENCE_END, Block
from drac_pipeline.convert.local.columns import Flow
from drac_pipeline.convert.local.grid import column_ranges, refine
from drac_pipeline.convert.local.headings import outline_rows
from drac_pipeline.convert.local.tables import _squeeze, lines_of

# words that no paragraph ends with
_NEVER_LAST = re.compile(
    "a|an|and|as|at|by|for|from|in|into|of|on|or|than|that|the|their|this|to|via|was|were|which|with|am|auf|aus"
    "|bei|das|dem|den|der|des|die|ein|eine|einem|einer|für|im|ist|mit|oder|und|vom|von|zu|zum|zur|au|aux|avec"
    "|ce|de|du|en|et|la|le|les|ou|par|pour|sur|un|une|al|con|da|del|dei|della|di|e|el|i|il|lo|los|las|o|para"
    "|por|que|y"
)
NOTE = re.compile(r"(?:\d{1,3}|[*†‡§]+|[a-z])\s?\S")


def split_headings(blocks: list[Block], flows: list[Flow], entries: list[tuple[int, str]]) -> list[Block]:
    """Cut rows that the outline names out of their blocks as headings."""
    named = outline_rows(flows, entries)
    if not named:
        return blocks
    out: list[Block] = []
    for b in blocks:
        if b.kind == "table" or not any(id(r) in named for r in b.rows):
            out.append(b)
            continue
        current: Block | None = None
        index = -1
        for r in b.rows:
            hit = named.get(id(r))
            this = hit[1] if hit else -1
            if current is not None and this == index:
                current.rows.append(r)
                continue
            if hit:
                current = Block("heading", [r], r.page, level=min(6, hit[0]), column=b.column)
            else:
                current = Block("paragraph", [r], r.page, column=b.column)
                if r is b.rows[0]:
                    current.kind, current.marker, current.text_x = b.kind, b.marker, b.text_x
            index = this
            out.append(current)
    merged: list[Block] = []
    for b in out:
        # an outline title whose rows fell into two blocks
        if merged and b.kind == "heading" and merged[-1].kind == "heading":
            one, two = named.get(id(merged[-1].rows[-1])), named.get(id(b.rows[0]))
            if one is not None and one == two:
                merged[-1].rows += b.rows
                continue
        merged.append(b)
    return merged


def mark_notes(blocks: list[Block], body: float, height: float) -> list[Block]:
    """Footnotes (smaller type, marker first, low on the page) go last."""
    notes = []
    for b in reversed(blocks):
        if b.kind not in ("paragraph", "item", "note"):
            continue
        if b.size <= 0.93 * body and b.rows[0].base > 0.45 * height and NOTE.match(b.text):
            b.kind = "note"
            notes.append(b)
        elif b.size > 0.93 * body:
            continue
    if not notes:
        return blocks
    notes.reverse()
    gone = {id(b) for b in notes}
    return [b for b in blocks if id(b) not in gone] + notes


_MARK = re.compile(r"(\d{1,3}|[*†‡§])(?=\D)")


def place_notes(blocks: list[Block]) -> list[Block]:
    """Each footnote after the block that refers to it, where one on its page does."""
    out = [b for b in blocks if b.kind != "note"]
    left: list[tuple[Block, Block | None]] = []
    before: Block | None = None
    for b in blocks:
        if b.kind == "note":
            left.append((b, before))
        else:
            before = b
    last: dict[int, Block] = {}
    for note, before in left:
        m = _MARK.match(note.text)
        target = None
        if m:
            refers = re.compile(rf"[^\W\d_][.,;:!?)”’\"]?{re.escape(m[1])}(?![\d.,%])")
            page = note.rows[0].page
            here = [
                b for b in out if b.kind not in ("note", "heading") and any(r.page == page for r in b.rows)
            ]
            # the running text first: `H1` in a table looks like a mark as well
            here.sort(key=lambda b: b.kind == "table")
            target = next(
                (b for b in here if any(refers.search(r.text) for r in b.rows if r.page == page)), None
            )
        # several notes of one block stay in order
        place = last.get(id(target or before), target or before)
        at = out.index(place) + 1 if place is not None else 0
        out.insert(at, note)
        last[id(target or before)] = note
    return out


def join_over_breaks(blocks: list[Block]) -> list[Block]:
    """Join what a column or page break cut: paragraphs, items and tables."""
    out: list[Block] = []
    for b in blocks:
        last = next((x for x in reversed(out) if x.kind != "note"), None)
        if last is not None and _goes_on(last, b):
            if b.kind == "table":
                last.drafts += b.drafts
            last.rows += b.rows
            continue
        out.append(b)
    return out


def _goes_on(last: Block, b: Block) -> bool:
    end, start = last.rows[-1], b.rows[0]
    if b.kind == "table":
        return last.kind == "table" and start.page == end.page + 1 and _same_table(last, b)
    if last.kind not in ("paragraph", "item") or b.kind != "paragraph":
        return False
    new_column = start.page != end.page or start.base < end.base - 2 * end.size
    if not new_column or start.page > end.page + 1:
        return False
    if abs(end.size - start.size) > 0.6 or (last.bold != b.bold and len(b.rows) == 1):
        return False
    text = end.segments[-1].text
    first = start.segments[0].text
    if text.endswith("-"):
        return True
    if SENTENCE_END.search(text):
        return False
    if first[:1].islower():
        return True
    if last.kind == "paragraph" and not b.bold and _NEVER_LAST.fullmatch(text.rpartition(" ")[2]):
        return True  # a name goes on, with its capital letter
    # no stop, and the line ran to its edge
    return (
        end.x1 > 0.9 * max(r.x1 for r in last.rows) and len(last.rows) > 1 and not first[:1].isupper()
    ) or text.endswith(",")


def _same_table(last: Block, b: Block) -> bool:
    """Columns of the two parts match."""
    one, two = last.drafts[-1], b.drafts[0]
    if abs(one.x0 - two.x0) > 12:
        return False
    both = column_ranges(refine(one.rows + two.rows))
    first, second = column_ranges(refine(one.rows)), column_ranges(refine(two.rows))
    if len(both) == len(first) and len(second) <= len(first):
        return True
    if _squeeze(lines_of(one.rows[:1], first)) != _squeeze(lines_of(two.rows[:1], second)):
        return False
    return len(both) >= len(first)


def set_depths(blocks: list[Block]) -> None:
    """Depth of list items by where their text begins."""
    stack: list[float] = []
    for b in blocks:
        if b.kind == "item":
            # right-aligned numbers move the marker, not the text
            x = b.text_x - (b.column[0] if b.column else 0)
            while stack and x < stack[-1] - 4:
                stack.pop()
            if not stack or x > stack[-1] + 4:
                stack.append(x)
            b.depth = len(stack)
        elif b.kind in ("heading", "table") or (
            b.kind == "paragraph" and stack and b.x0 - b.column[0] < stack[0] - 6
        ):
            stack.clear()
