"""How chunks are planned."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from drac_pipeline.config.overrides import ByDocument


class PlanConfig(ByDocument):
    """How chunks are cut."""

    ordered = (("min_blocks", "max_blocks"), ("target_chars", "max_chars"), ("target_tokens", "max_tokens"))

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
    planner: Literal["local", "model"] = Field(
        default="local", description="who plans: a program, or the model of [model]"
    )

    @property
    def counts_tokens(self) -> bool:
        """Whether any document is planned by tokens: the embedder then bears on plans."""
        return "tokens" in self.values("size_unit")
