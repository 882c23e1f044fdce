"""Artifacts by (stage, document), with a manifest per document."""

from drac_pipeline.store.home import Home
from drac_pipeline.store.local import LocalStore
from drac_pipeline.store.manifest import (
    MANIFEST_SCHEMA_VERSION,
    FailureRecord,
    MakeshiftRecord,
    Manifest,
    RetiredRecord,
    SourceRecord,
    StageRecord,
)
from drac_pipeline.store.store import ArtifactMissing, Store

__all__ = [
    "MANIFEST_SCHEMA_VERSION",
    "ArtifactMissing",
    "FailureRecord",
    "Home",
    "LocalStore",
    "MakeshiftRecord",
    "Manifest",
    "RetiredRecord",
    "SourceRecord",
    "StageRecord",
    "Store",
]
