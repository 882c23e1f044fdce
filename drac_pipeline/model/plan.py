"""A chunk plan: lists of element ids, never text."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from drac_pipeline.model.schema_version import refuse_newer

PLAN_SCHEMA_VERSION = 1


class PlannedChunk(BaseModel):
    """One chunk to be: `heading_ids`, the ancestor headings shown above the body
    (outermost first), and `body_ids`, content elements and inner headings in reading order."""

    model_config = ConfigDict(frozen=True)

    heading_ids: list[str] = Field(default_factory=list)
    body_ids: list[str] = Field(default_factory=list)
    section_id: str = ""
    origin: Literal["planned", "fallback"] = "planned"


class LeftOut(BaseModel):
    """An element of a web page that is in no chunk, since it is the site's and not the page's; its
    `text` (the beginning of it) and why."""

    model_config = ConfigDict(frozen=True)

    id: str
    reason: str
    text: str = ""


class ChunkPlan(BaseModel):
    """The chunks of a document in reading order, who planned them, and what had to be mended.

    `left_out` is empty but for web pages."""

    schema_version: int = PLAN_SCHEMA_VERSION
    document_key: str
    planner: str
    chunks: list[PlannedChunk] = Field(default_factory=list)
    left_out: list[LeftOut] = Field(default_factory=list)
    warnings: list[str] = Field(default_factory=list)

    def model_post_init(self, _: object) -> None:
        """Raises DracError where a newer release wrote it."""
        refuse_newer("chunk plan", self.schema_version, PLAN_SCHEMA_VERSION)
