"""Elements to blocks: what a planner should keep in one piece.

A block is a paragraph, a list with the paragraph that leads in to it, a run of rows of one
table, a code block. A list, a table, and a block longer than a chunk may be come as several
pieces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from drac_pipeline.model.element import Element, ElementKind
from drac_pipeline.plan.size import Sizes

_EMPHASIS = "*_ \t"
_LABEL_CHARS = 80  # a line this short without a full stop names what follows


class Cut(StrEnum):
    """What is torn where a piece is parted from the one before it in its block."""

    NOTHING = "nothing"
    TABLE = "table"
    LIST = "list"
    PROCEDURE = "procedure"
    TEXT = "text"  # one paragraph, item or row, too long for one element


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of elements that is never cut: a block or a part of one.

    `size` counts the text with its separators, without headings; `cut` says what parting it
    from the piece before would tear, NOTHING where a block begins. A piece that is `alone`
    shares its chunk with bare headings at most.
    """

    items: tuple[Element, ...]
    size: int
    cut: Cut = Cut.NOTHING
    alone: bool = False

    @property
    def chain(self) -> tuple[str, ...]:
        return self.items[0].ancestors


def blocks(
    items: Sequence[Element], sizes: Sizes, headings: dict[str, int], *, single_rows: bool = False
) -> list[Piece]:
    """The pieces of `items` (content and bare headings in reading order).

    `headings` is what each heading takes of a chunk; a piece of more than one element fits
    the hard size together with its headings. With `single_rows` every table row is alone, the
    first with what leads in to the table.
    """
    out: list[Piece] = []
    start = 0
    for i in range(1, len(items) + 1):
        if i == len(items) or not _joined(items[i - 1], items[i]):
            block = items[start:i]
            room = sizes.hard - sum(headings[h] for h in block[0].ancestors)
            out += _pieces(block, room, sizes, single_rows)
            start = i
    return out


def leads_in(element: Element) -> bool:
    """True if the paragraph announces what follows: it ends in a colon or is a mere label."""
    if element.kind is not ElementKind.PARAGRAPH:
        return False
    text = element.text.rstrip(_EMPHASIS)
    return text.endswith(":") or (len(text) <= _LABEL_CHARS and not text.endswith((".", "!", "?", ";")))


def _joined(above: Element, here: Element) -> bool:
    """True if the two are of one block."""
    if here.part:
        return above.ordinal == here.ordinal - 1
    if above.ancestors != here.ancestors or ElementKind.HEADING in (above.kind, here.kind):
        return False
    if here.group:
        return above.group == here.group or (not above.group and leads_in(above))
    return leads_in(above) and not leads_in(here)


def _pieces(block: Sequence[Element], room: int, sizes: Sizes, single_rows: bool) -> list[Piece]:
    """A procedure whole if it fits; else a piece for each row and outer item, or each element."""
    cut = _torn_by_cutting(block)
    if len(block) == 1 or (cut is Cut.PROCEDURE and sizes.of(block) <= room):
        return [_piece(block, sizes, Cut.NOTHING, single_rows)]
    out: list[Piece] = []
    for part in _parts(block, by_row=single_rows):
        whole = sizes.of(part) <= room
        for some in [part] if whole else [[e] for e in part]:
            torn = Cut.TEXT if some[0].part else cut
            out.append(_piece(some, sizes, torn if out else Cut.NOTHING, single_rows))
    return out


def _piece(items: Sequence[Element], sizes: Sizes, cut: Cut, single_rows: bool) -> Piece:
    alone = single_rows and items[-1].kind is ElementKind.TABLE_ROW
    return Piece(tuple(items), sizes.of(items), cut, alone)


def _torn_by_cutting(block: Sequence[Element]) -> Cut:
    if any(_is_step(e) for e in block):
        return Cut.PROCEDURE
    return Cut.TABLE if block[-1].kind is ElementKind.TABLE_ROW else Cut.LIST


def _parts(block: Sequence[Element], *, by_row: bool) -> list[list[Element]]:
    """The block cut before each paragraph, row, outer list item and later part of a long text;
    a lead-in stays with the first. `by_row`: not within a row."""
    out: list[list[Element]] = []
    for e in block:
        nested = e.kind is ElementKind.LIST_ITEM and e.level > 1 and not e.part
        same_row = by_row and bool(e.part) and e.kind is ElementKind.TABLE_ROW
        if out and (nested or same_row or (len(out[-1]) == 1 and leads_in(out[-1][0]) and not e.part)):
            out[-1].append(e)
        else:
            out.append([e])
    return out


def _is_step(element: Element) -> bool:
    return element.kind is ElementKind.LIST_ITEM and not element.part and element.text.lstrip()[:1].isdigit()
