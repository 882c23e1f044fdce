"""Elements to sections: the runs that are planned in one call.

A document that fits the budget is one section. Otherwise it is cut at its coarsest
heading level, and a part that is still too long at the next level below, and so on; text
without headings is cut by size. Adjacent small sections are then merged. Cost is linear in
the number of elements, for each heading level.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

from drac_pipeline.config import SectionConfig
from drac_pipeline.model.element import Element, ElementKind
from drac_pipeline.model.section import Section

_HEADING_LEVELS = 6


def sections(elements: Sequence[Element], config: SectionConfig | None = None) -> list[Section]:
    """Sections s1… that together hold every element once, in order (error markers too).

    No section has more than `config.budget` elements. A heading is not parted from what
    follows it, a list not from its lead-in, and neither list nor table is cut, unless the
    budget leaves no other way.
    """
    budget = (config or SectionConfig()).budget
    ends = _merged(_split(elements, 0, len(elements), 1, budget, _cut_points(elements)), elements, budget)
    out: list[Section] = []
    start = 0
    for end in ends:
        ids = tuple(e.id for e in elements[start:end])
        out.append(Section(f"s{len(out) + 1}", ids, elements[start].ancestors))
        start = end
    return out


def _split(
    elements: Sequence[Element], start: int, end: int, level: int, budget: int, cuts: _Cuts
) -> list[int]:
    """Where the sections of elements[start:end] end, cut at headings of `level` or below it."""
    if start == end:
        return []
    if end - start <= budget:
        return [end]
    if level > _HEADING_LEVELS:
        return _by_size(start, end, budget, cuts)
    starts = [
        i
        for i in range(start + 1, end)
        if elements[i].kind is ElementKind.HEADING and elements[i].level <= level and cuts.whole[i] == i
    ]
    ends: list[int] = []
    for a, b in zip([start, *starts], [*starts, end], strict=True):
        ends += _split(elements, a, b, level + 1, budget, cuts)
    return ends


def _by_size(start: int, end: int, budget: int, cuts: _Cuts) -> list[int]:
    """As few parts as the budget asks for, of about equal size, cut where it does least harm."""
    ends: list[int] = []
    while end - start > budget:
        parts = ceil((end - start) / budget)
        even = ceil((end - start) / parts)
        places = (points[start + reach] for points in (cuts.whole, cuts.outer) for reach in (even, budget))
        start = next((cut for cut in places if cut > start), start + even)
        ends.append(start)
    return [*ends, end]


class _Cuts(NamedTuple):
    """For each position the last one, not after it, where a cut parts nothing that belongs together.

    `whole` keeps lists and tables in one piece, `outer` only an item with its sub-items; both
    keep headings with what follows, lead-ins with what they lead in to and the parts of one text.
    """

    whole: list[int]
    outer: list[int]


def _cut_points(elements: Sequence[Element]) -> _Cuts:
    cuts = _Cuts([0], [0])
    for i in range(1, len(elements)):
        above, here = elements[i - 1], elements[i]
        led = bool(here.group) and above.kind is ElementKind.PARAGRAPH and not above.group
        bound = above.kind is ElementKind.HEADING or led
        inside = bool(here.part) or (bool(here.group) and above.group == here.group)
        nested = bool(here.part) or (inside and here.kind is ElementKind.LIST_ITEM and here.level > 1)
        cuts.whole.append(cuts.whole[-1] if bound or inside else i)
        cuts.outer.append(cuts.outer[-1] if bound or nested else i)
    return cuts


def _merged(ends: list[int], elements: Sequence[Element], budget: int) -> list[int]:
    """The ends without those between neighbours that fit the budget together.

    Neighbours under one parent are merged first: a section then starts at a coarse heading
    wherever it can.
    """
    for same_parent in (True, False):
        kept: list[int] = []
        start = 0
        for end in ends:
            if kept and end - start <= budget and _may_merge(elements, kept[-1], same_parent):
                kept[-1] = end
                continue
            start = kept[-1] if kept else 0
            kept.append(end)
        ends = kept
    return ends


def _may_merge(elements: Sequence[Element], cut: int, same_parent: bool) -> bool:
    """True unless the cut is to be kept because another parent begins there."""
    if not same_parent:
        return True
    above, here = elements[cut - 1], elements[cut]
    return len(here.ancestors) > 1 and above.ancestors[: len(here.ancestors)] == here.ancestors
