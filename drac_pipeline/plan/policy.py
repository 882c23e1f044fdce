"""What a document is planned by: its settings, and what counts its sizes."""

from __future__ import annotations

from drac_pipeline.config import DracConfig, PlanConfig
from drac_pipeline.plan.size import TokenCounter


def policy_of(config: DracConfig, document_key: str) -> tuple[PlanConfig, TokenCounter | None]:
    """The plan settings of a document, overrides applied, and the counter of the embedder of [embed]
    where they count its tokens. Raises ConfigError as the embedder does."""
    config = config.for_document(document_key)
    policy = config.plan
    if policy.size_unit != "tokens":
        return policy, None
    from drac_pipeline.index.open import open_embedder

    embedder = open_embedder(config.embed)
    return policy, TokenCounter(embedder.count_tokens, embedder.max_tokens)
