"""From outcomes to Dagster's events: materializations, checks, and the tags that keep staleness true."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from dagster import (
    AssetCheckEvaluation,
    AssetCheckKey,
    AssetExecutionContext,
    AssetKey,
    AssetMaterialization,
    AssetObservation,
    MetadataValue,
)
from dagster._core.definitions.data_version import (
    CODE_VERSION_TAG,
    DATA_VERSION_TAG,
    get_input_data_version_tag,
    get_input_event_pointer_tag,
)

from drac_pipeline.defs.instance_events import latest_materialization_ids, write_together
from drac_pipeline.defs.metadata import check_metadata, stage_metadata
from drac_pipeline.defs.names import asset_named
from drac_pipeline.defs.versions import made_versions
from drac_pipeline.errors import explain
from drac_pipeline.pipeline import STAGES, DocumentOutcome, Stage, StageOutcome
from drac_pipeline.pipeline.stage import SOURCE
from drac_pipeline.store import FailureRecord, Home, Manifest, StageRecord, Store

SOURCE_CODE_VERSION = "1"


def asset_key(stage: str, corpus: str = "") -> AssetKey:
    """The asset of a stage, or of the source, of a corpus."""
    return asset_named("source_document" if stage == SOURCE else stage, corpus)


SOURCE_KEY = asset_key(SOURCE)


def source_materialization(manifest: Manifest, corpus: str = "") -> AssetMaterialization:
    """The source's fingerprint as it is now; what was made from another one shows as stale."""
    source = manifest.source
    return AssetMaterialization(
        asset_key(SOURCE, corpus),
        partition=manifest.document_key,
        metadata={
            "path": MetadataValue.path(source.path),
            "bytes": source.size,
            "sha256": source.fingerprint,
            "modified": MetadataValue.timestamp(source.modified),
        },
        tags={DATA_VERSION_TAG: source_version(manifest), CODE_VERSION_TAG: SOURCE_CODE_VERSION},
    )


def source_version(manifest: Manifest) -> str:
    """The data version of a source: enough of its fingerprint for Dagster's index."""
    return manifest.source.fingerprint[:32]


def write_outcomes(context: AssetExecutionContext, home: Home, outcomes: list[DocumentOutcome]) -> None:
    """Store the events of these documents stage by stage: one write a stage, since the
    events of a stage name the stored ids of its parents' events."""
    instance = context.instance
    pointers: dict[str, dict[str, int]] = {}
    found = home.store.manifests_of(o.key for o in outcomes)
    versions = {key: made_versions(m, home.config) for key, m in found.items()}
    for stage in STAGES:
        ended = [(o.key, s) for o in outcomes for s in o.stages if s.stage == stage.name and s.record]
        if not ended:
            continue
        for parent in stage.parents:
            if parent not in pointers:
                keys = [o.key for o in outcomes]
                pointers[parent] = latest_materialization_ids(instance, asset_key(parent, home.corpus), keys)
        events = []
        for key, outcome in ended:
            if outcome.status != "failed":
                version = versions[key][stage.name]
                events.append(_materialization(home, key, stage, outcome, version, pointers))
            assert outcome.record is not None
            events.extend(_evaluations(key, stage.name, outcome.record, home.corpus))
        write_together(context, events)
    write_together(context, [failure_observation(o, home.corpus) for o in outcomes if o.failure])


def failure_observation(outcome: DocumentOutcome, corpus: str = "") -> AssetObservation:
    """What shows on the failed partition itself: Dagster says no more there than which run failed."""
    f = outcome.failure
    assert f is not None
    return AssetObservation(
        asset_key(f.stage, corpus),
        partition=outcome.key,
        description=reason(f),
        metadata={"failure": reason(f), "kind": f.kind, "attempts": f.attempts},
    )


def reason(failure: FailureRecord) -> str:
    """Kind, cause and remedy in a line."""
    return explain(failure.kind, failure.cause, failure.remedy)


def _materialization(
    home: Home,
    key: str,
    stage: Stage,
    outcome: StageOutcome,
    version: str,
    pointers: dict[str, dict[str, int]],
) -> AssetMaterialization:
    record = outcome.record
    assert record is not None
    tags = {DATA_VERSION_TAG: record.data_version, CODE_VERSION_TAG: version}
    for parent in stage.parents:
        parent_key = asset_key(parent, home.corpus)
        tags[get_input_data_version_tag(parent_key)] = record.inputs.get(parent, "")[:32]
        if key in pointers[parent]:
            tags[get_input_event_pointer_tag(parent_key)] = str(pointers[parent][key])
    return AssetMaterialization(
        asset_key(stage.name, home.corpus),
        partition=key,
        metadata=stage_metadata(home, key, outcome),
        tags=tags,
    )


def stale_materialization(home: Home, manifest: Manifest, stage: Stage, version: str) -> AssetMaterialization:
    """What there is of a stage once more, under the version it was made with: it then shows as stale."""
    record = manifest.stages[stage.name]
    outcome = StageOutcome(stage.name, "stale", record, reason="this document has other settings now")
    pointers: dict[str, dict[str, int]] = {parent: {} for parent in stage.parents}
    return _materialization(home, manifest.document_key, stage, outcome, version, pointers)


def recorded_checks(
    store: Store, keys: Iterable[str], wanted: Collection[AssetCheckKey], corpus: str = ""
) -> list[AssetCheckEvaluation]:
    """The verdicts on the outputs there are, as found when each was made."""
    return [
        evaluation
        for manifest in map(store.manifest, keys)
        if manifest
        for stage, record in manifest.stages.items()
        for evaluation in _evaluations(manifest.document_key, stage, record, corpus)
        if evaluation.asset_check_key in wanted
    ]


def _evaluations(key: str, stage: str, record: StageRecord, corpus: str) -> Iterator[AssetCheckEvaluation]:
    for name, check in record.checks.items():
        yield AssetCheckEvaluation(
            asset_key(stage, corpus),
            name,
            check.passed,
            metadata=check_metadata(check.detail),
            partition=key,
            blocking=check.blocking,
        )
