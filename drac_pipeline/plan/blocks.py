"""Elements to blocks: what a planner should keep in one piece.

A block is a paragraph, a list with the paragraph that leads in to it, a run of rows of one
table, a code block. A block longer than a chunk may be comes as several pieces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from drac_pipeline.model.element import Element, ElementKind

_EMPHASIS = "*_ \t"
_LABEL_CHARS = 80  # a line this short without a full stop names what follows
_LIST_GAP, _BLOCK_GAP = 1, 2  # line breaks between items of a list, between blocks


class Cut(StrEnum):
    """What is torn where a piece is parted from the one before it in its block."""

    NOTHING = "nothing"
    TABLE = "table"
    LIST = "list"
    PROCEDURE = "procedure"


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of elements that is never cut: a block or a part of one.

    `n_chars` counts the text with its separators, without headings; `cut` says what parting
    it from the piece before would tear, NOTHING where a block begins.
    """

    items: tuple[Element, ...]
    n_chars: int
    cut: Cut = Cut.NOTHING

    @property
    def chain(self) -> tuple[str, ...]:
        return self.items[0].ancestors


def blocks(items: Sequence[Element], max_chars: int, heading_chars: dict[str, int]) -> list[Piece]:
    """The pieces of `items` (content and bare headings in reading order).

    `max_chars` is the hard size of a chunk and `heading_chars` what each heading takes of
    it; a piece of more than one element fits it together with its headings.
    """
    out: list[Piece] = []
    start = 0
    for i in range(1, len(items) + 1):
        if i == len(items) or not _joined(items[i - 1], items[i]):
            block = items[start:i]
            room = max_chars - sum(heading_chars[h] for h in block[0].ancestors)
            out += _pieces(block, room)
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
    if above.ancestors != here.ancestors or ElementKind.HEADING in (above.kind, here.kind):
        return False
    if here.group:
        return above.group == here.group or (not above.group and leads_in(above))
    return leads_in(above) and not leads_in(here)


def _pieces(block: Sequence[Element], room: int) -> list[Piece]:
    """A procedure whole if it fits; else a piece for each row and outer item, or each element."""
    cut = _torn_by_cutting(block)
    if len(block) == 1 or (cut is Cut.PROCEDURE and _n_chars(block) <= room):
        return [Piece(tuple(block), _n_chars(block))]
    out: list[Piece] = []
    for part in _parts(block):
        whole = _n_chars(part) <= room
        for some in [part] if whole else [[e] for e in part]:
            out.append(Piece(tuple(some), _n_chars(some), cut if out else Cut.NOTHING))
    return out


def _torn_by_cutting(block: Sequence[Element]) -> Cut:
    if any(_is_step(e) for e in block):
        return Cut.PROCEDURE
    return Cut.TABLE if block[-1].kind is ElementKind.TABLE_ROW else Cut.LIST


def _parts(block: Sequence[Element]) -> list[list[Element]]:
    """The block cut before each paragraph, row and outer list item; a lead-in stays with the first."""
    out: list[list[Element]] = []
    for e in block:
        nested = e.kind is ElementKind.LIST_ITEM and e.level > 1
        if out and (nested or (len(out[-1]) == 1 and leads_in(out[-1][0]))):
            out[-1].append(e)
        else:
            out.append([e])
    return out


def _is_step(element: Element) -> bool:
    return element.kind is ElementKind.LIST_ITEM and element.text.lstrip()[:1].isdigit()


def _n_chars(items: Sequence[Element]) -> int:
    total = 0
    for k, e in enumerate(items):
        in_list = k > 0 and same_list(items[k - 1], e)
        hashes = e.level + 1 if e.kind is ElementKind.HEADING else 0
        total += hashes + len(e.text) + (_LIST_GAP if in_list else _BLOCK_GAP)
    return total


def same_list(above: Element, here: Element) -> bool:
    """True for two items of one list, which a single line break keeps together."""
    return (
        above.kind is ElementKind.LIST_ITEM
        and here.kind is ElementKind.LIST_ITEM
        and above.group == here.group
    )
