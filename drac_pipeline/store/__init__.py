"""Artifacts by (stage, document), with a manifest per document."""

from drac_pipeline.store.home import Home
from drac_pipeline.store.manifest import (
    MANIFEST_SCHEMA_VERSION,
    FailureRecord,
    Manifest,
    SourceRecord,
    StageRecord,
)
from drac_pipeline.store.store import ArtifactMissing, Store

__all__ = [
    "MANIFEST_SCHEMA_VERSION",
    "ArtifactMissing",
    "FailureRecord",
    "Home",
    "Manifest",
    "SourceRecord",
    "StageRecord",
    "Store",
]
