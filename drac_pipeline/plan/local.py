"""The planner that needs no model."""

from __future__ import annotations

from collections.abc import Sequence

from drac_pipeline.config import PlanConfig
from drac_pipeline.model.element import Element, ElementKind
from drac_pipeline.model.plan import ChunkPlan, PlannedChunk
from drac_pipeline.model.section import Section
from drac_pipeline.plan.blocks import blocks
from drac_pipeline.plan.outline import chunk_of, items_of
from drac_pipeline.plan.pack import pack

PLANNER = "local"
_HEADING_EXTRA = 3  # a blank after the hashes, and line breaks


def plan_local(
    document_key: str,
    elements: Sequence[Element],
    sections: Sequence[Section],
    config: PlanConfig | None = None,
) -> ChunkPlan:
    """Chunks of whole blocks around one topic, section by section, in reading order.

    Lists stay with the paragraph that leads in to them and rows with their table where the
    hard size allows; every chunk has the full chain of headings of what it holds.
    """
    config = config or PlanConfig()
    by_id = {e.id: e for e in items_of(elements)}
    headings = heading_chars(elements)
    chunks: list[PlannedChunk] = []
    for section in sections:
        items = [by_id[i] for i in section.element_ids if i in by_id]
        chunks += plan_items(items, config, headings, section.id)
    return ChunkPlan(document_key=document_key, planner=PLANNER, chunks=chunks)


def plan_items(
    items: Sequence[Element], config: PlanConfig, headings: dict[str, int], section_id: str = ""
) -> list[PlannedChunk]:
    """The chunks of a run of items (content elements and bare headings in reading order)."""
    pieces = blocks(items, config.max_chars, headings)
    return [
        chunk_of([e for piece in chunk for e in piece.items], section_id)
        for chunk in pack(pieces, config, headings)
    ]


def heading_chars(elements: Sequence[Element]) -> dict[str, int]:
    """Characters that each heading takes in a chunk's text, hashes and line breaks counted."""
    return {e.id: e.level + len(e.text) + _HEADING_EXTRA for e in elements if e.kind is ElementKind.HEADING}
