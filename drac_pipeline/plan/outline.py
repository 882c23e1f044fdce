"""Which headings a chunk shows, derived from the elements it holds.

Planner and repair both build chunks here, so that every chunk carries the full and true
chain of headings of each of its elements, whoever grouped them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from drac_pipeline.model.element import Element, ElementKind
from drac_pipeline.model.plan import PlannedChunk


def bare_headings(elements: Sequence[Element]) -> set[str]:
    """Ids of headings with no content below them: no other element's chain would show them."""
    shown = {a for e in elements if e.is_content for a in e.ancestors}
    bare: set[str] = set()
    for e in reversed(elements):  # of a bare heading's own headings, the chain shows the upper ones
        if e.kind is ElementKind.HEADING and e.id not in shown:
            bare.add(e.id)
            shown.update(e.ancestors)
    return bare


def items_of(elements: Sequence[Element]) -> list[Element]:
    """What chunks are made of: content elements and bare headings, in reading order."""
    bare = bare_headings(elements)
    return [e for e in elements if e.is_content or e.id in bare]


def common_chain(items: Iterable[Element]) -> tuple[str, ...]:
    """The headings above all of the items, outermost first."""
    chain: tuple[str, ...] | None = None
    for e in items:
        if chain is None:
            chain = e.ancestors
        while chain and e.ancestors[: len(chain)] != chain:
            chain = chain[:-1]
    return chain or ()


def chunk_of(
    items: Sequence[Element],
    section_id: str = "",
    origin: Literal["planned", "fallback"] = "planned",
) -> PlannedChunk:
    """The chunk of items in reading order: the headings above all of them on top, each
    other heading in the body before the first item under it."""
    chain = common_chain(items)
    shown = set(chain)
    body: list[str] = []
    for e in items:
        for heading in e.ancestors:
            if heading not in shown:
                shown.add(heading)
                body.append(heading)
        body.append(e.id)
        shown.add(e.id)
    return PlannedChunk(heading_ids=list(chain), body_ids=body, section_id=section_id, origin=origin)
