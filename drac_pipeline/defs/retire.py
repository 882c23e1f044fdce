"""Retire documents that left their source, and let Dagster know: no partition, no records, an event."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from dagster import AssetObservation, DagsterInstance, MetadataValue

from drac_pipeline.counted import counted
from drac_pipeline.defs.events import asset_key
from drac_pipeline.defs.instance_events import forget_partitions, report_runless
from drac_pipeline.defs.names import partition_set
from drac_pipeline.defs.vector_index import index_without_run
from drac_pipeline.pipeline import STAGES_BY_NAME
from drac_pipeline.pipeline.removal import delete_expired, retire
from drac_pipeline.pipeline.stage import SOURCE
from drac_pipeline.store import Home, Manifest

MOST_EVENTS = 50


def retire_documents(instance: DagsterInstance, home: Home, reasons: Mapping[str, str]) -> list[str]:
    """Retire these documents (key to reason), delete retired ones whose time is over; gives the keys
    that were retired. Each is an observation of `source_document`, as long as they are few."""
    retired = retire(home, dict(reasons))
    keys = [m.document_key for m in retired]
    if keys:
        forget(instance, keys, home.corpus)
        report_runless(instance, [_observation(m, home.corpus) for m in retired[:MOST_EVENTS]])
        if len(keys) > MOST_EVENTS:
            rest = keys[MOST_EVENTS:]
            told = AssetObservation(
                asset_key(SOURCE, home.corpus),
                description=f"{counted(len(rest), 'more document')} retired",
                metadata={"documents": MetadataValue.json(rest)},
            )
            report_runless(instance, [told])
        index_without_run(instance, home)
    delete_expired(home)
    return keys


def forget(instance: DagsterInstance, keys: Collection[str], corpus: str = "") -> None:
    """Remove the partitions of these keys, and what Dagster has recorded of them."""
    if not keys:
        return
    partitions = partition_set(corpus)
    for key in set(instance.get_dynamic_partitions(partitions)).intersection(keys):
        instance.delete_dynamic_partition(partitions, key)
    forget_partitions(instance, [asset_key(n, corpus) for n in (SOURCE, *STAGES_BY_NAME)], keys)


def _observation(manifest: Manifest, corpus: str) -> AssetObservation:
    retired = manifest.retired
    assert retired is not None
    return AssetObservation(
        asset_key(SOURCE, corpus),
        description=f"retired: {manifest.document_key} ({retired.reason})",
        metadata={
            "document": manifest.document_key,
            "reason": retired.reason,
            "path": MetadataValue.path(manifest.source.path),
            "artifacts deleted at": retired.delete_at,
        },
    )
