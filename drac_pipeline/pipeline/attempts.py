"""When what did not succeed is tried again by itself."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from drac_pipeline.config import DracConfig, RefreshConfig
from drac_pipeline.errors import (
    ConversionFailed,
    CorruptDocument,
    DocumentTooLarge,
    EmptyDocument,
    EncryptedDocument,
    MissingTool,
    UnsupportedDocument,
)
from drac_pipeline.pipeline.circumstances import circumstances
from drac_pipeline.store import StageRecord

LASTING = frozenset(
    e.kind
    for e in (
        ConversionFailed,
        CorruptDocument,
        DocumentTooLarge,
        EmptyDocument,
        EncryptedDocument,
        UnsupportedDocument,
    )
)
INHERENT = frozenset({CorruptDocument.kind, EmptyDocument.kind, UnsupportedDocument.kind})
"""Of these, what no other limit, password or program would help."""


def next_attempt(refresh: RefreshConfig, at: str, attempts: int) -> datetime | None:
    """When the attempt after the one that ended `at` is due; None where there were enough of them."""
    if attempts > refresh.retry_attempts:
        return None
    return datetime.fromisoformat(at) + timedelta(minutes=refresh.retry_minutes * 2 ** (attempts - 1))


def makeshift_reason(stage: str, record: StageRecord, config: DracConfig) -> str:
    """Why an output that was made as well as could be is due to be made again; "" where it is not, or was
    made as it should be.

    It is due where programs, limits or passwords have changed since, and, as failures are, after a while
    where the cause may pass.
    """
    lack = record.makeshift
    if lack is None:
        return ""
    if lack.circumstances != circumstances(stage, config):
        return f"made without what it needs ({lack.cause}); programs or limits have changed since"
    if lack.kind in LASTING or lack.kind == MissingTool.kind:
        return ""
    due = next_attempt(config.refresh, record.made_at, lack.attempts)
    if due is None or due > datetime.now(UTC):
        return ""
    return f"made without what it needs ({lack.cause}); attempt {lack.attempts + 1} is due"
