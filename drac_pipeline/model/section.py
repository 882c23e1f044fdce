"""A run of elements that is planned in one call."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Section:
    """Consecutive elements under a budget, with the headings above them as context.

    `element_ids` are in reading order, headings included; `context_ids` are the
    ancestor headings of the first element that lie outside the section, outermost first.
    """

    id: str
    element_ids: tuple[str, ...]
    context_ids: tuple[str, ...] = ()
