"""The planner that needs no model."""

from __future__ import annotations

from collections.abc import Sequence

from drac_pipeline.config import PlanConfig
from drac_pipeline.model.element import Element
from drac_pipeline.model.plan import ChunkPlan, PlannedChunk
from drac_pipeline.model.section import Section
from drac_pipeline.plan.blocks import blocks
from drac_pipeline.plan.outline import chunk_of, items_of
from drac_pipeline.plan.pack import pack
from drac_pipeline.plan.size import Sizes, TokenCounter, sizes_of
from drac_pipeline.title import document_title

PLANNER = "local"


def plan_local(
    document_key: str,
    elements: Sequence[Element],
    sections: Sequence[Section],
    config: PlanConfig | None = None,
    counter: TokenCounter | None = None,
) -> ChunkPlan:
    """Chunks of whole blocks around one topic, section by section, in reading order.

    Lists stay with the paragraph that leads in to them and rows with their table where the
    hard size allows; every chunk has the full chain of headings of what it holds. `counter`
    is needed where the policy counts tokens.
    """
    policy = config or PlanConfig()
    sizes = sizes_of(policy, counter, document_title(document_key, elements))
    by_id = {e.id: e for e in items_of(elements)}
    headings = sizes.headings(elements)
    chunks: list[PlannedChunk] = []
    for section in sections:
        items = [by_id[i] for i in section.element_ids if i in by_id]
        chunks += plan_items(items, policy, sizes, headings, section.id)
    return ChunkPlan(document_key=document_key, planner=PLANNER, chunks=chunks)


def plan_items(
    items: Sequence[Element],
    policy: PlanConfig,
    sizes: Sizes,
    headings: dict[str, int],
    section_id: str = "",
) -> list[PlannedChunk]:
    """The chunks of a run of items (content elements and bare headings in reading order);
    `headings` are the document's, as `sizes.headings` gives them."""
    pieces = blocks(items, sizes, headings, single_rows=policy.table_rows == "single")
    return [
        chunk_of([e for piece in chunk for e in piece.items], section_id)
        for chunk in pack(pieces, policy, sizes, headings)
    ]
