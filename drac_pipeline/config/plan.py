"""How chunks are planned, for all documents and for those of an override."""

from __future__ import annotations

import unicodedata
from typing import Literal

from pydantic import Field, SerializerFunctionWrapHandler, field_validator, model_serializer

from drac_pipeline.config.base import Settings, check_globs
from drac_pipeline.globs import glob_pattern


class PlanPolicy(Settings):
    """How chunks are cut; a change re-runs `chunk_plan` and what follows, nothing before."""

    min_blocks: int = Field(default=3, ge=1, description="content blocks a chunk should have at least")
    max_blocks: int = Field(default=8, ge=1, description="content blocks a chunk should have at most")
    size_unit: Literal["characters", "tokens"] = Field(
        default="characters", description="what sizes count: characters, or tokens of the embedder of [embed]"
    )
    target_chars: int = Field(
        default=600,
        ge=100,
        description="characters, headings counted, below which a chunk takes in its neighbours; "
        "whole sections, lists and tables stay whole above it, so the mean lies about half as high again",
    )
    max_chars: int = Field(
        default=1800, ge=200, description="characters a chunk of several elements never exceeds"
    )
    leave_out_boilerplate: bool = Field(
        default=True,
        description="of web pages, leave out what is only the site's (share links, consent notices, "
        "copyright lines) and report it; other sources are always planned whole",
    )
    target_tokens: int = Field(default=140, ge=20, description="the same as target_chars, in tokens")
    max_tokens: int = Field(
        default=0,
        ge=0,
        description="the same as max_chars, in tokens; 0: all that the embedder reads of a text",
    )
    table_rows: Literal["together", "single"] = Field(
        default="together", description="rows of a table in as few chunks as sizes allow, or a chunk for each"
    )
    group_by: Literal["topic", "entity"] = Field(
        default="topic",
        description="what joins neighbours: the words they share, or the names, codes and numbers they share",
    )


class PlanOverride(PlanPolicy):
    """Other settings for the documents whose key matches the glob `match`, written as in [source]: any of
    those above but `planner`. What it does not set stays as it is; of several that match, the last counts"""

    match: str

    @model_serializer(mode="wrap")
    def _only_what_is_set(self, handler: SerializerFunctionWrapHandler) -> dict[str, object]:
        return {k: v for k, v in handler(self).items() if k in self.model_fields_set}


class PlanConfig(PlanPolicy):
    """Sections to chunk plans."""

    planner: Literal["local", "model"] = "local"
    override: list[PlanOverride] = Field(default=[])

    @field_validator("override")
    @classmethod
    def _globs(cls, overrides: list[PlanOverride]) -> list[PlanOverride]:
        check_globs(one.match for one in overrides)
        return overrides

    def for_document(self, key: str) -> PlanConfig:
        """The settings for the document of this key, with the overrides that match it applied."""
        changed: dict[str, object] = {}
        for one in self.override:
            if glob_pattern(one.match).fullmatch(unicodedata.normalize("NFC", key)):
                changed.update(one.model_dump(exclude={"match"}))
        return self.model_copy(update={**changed, "override": []}) if self.override else self

    @property
    def counts_tokens(self) -> bool:
        """Whether any document is planned by tokens: the embedder then bears on plans."""
        return "tokens" in (self.size_unit, *(o.size_unit for o in self.override))
