"""Which stages of a document are fresh, stale (and why), missing or failed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from drac_pipeline.config import DracConfig
from drac_pipeline.pipeline.attempts import makeshift_reason
from drac_pipeline.pipeline.stage import SOURCE, Stage, code_version
from drac_pipeline.pipeline.stages import STAGES
from drac_pipeline.store import Manifest, StageRecord, Store


class State(StrEnum):
    """The state of a stage's output."""

    FRESH = "fresh"
    STALE = "stale"
    MISSING = "missing"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class StageState:
    """The state of one stage and, unless it is fresh, the reason in words."""

    state: State
    reason: str = ""


def parent_versions(stage: Stage, manifest: Manifest, fingerprint: str) -> dict[str, str] | None:
    """The data version of each parent now, or None where one has no output."""
    out = {}
    for parent in stage.parents:
        if parent == SOURCE:
            out[SOURCE] = fingerprint if stage is STAGES[0] else converted_version(manifest, fingerprint)
        elif parent in manifest.stages:
            out[parent] = manifest.stages[parent].data_version
        else:
            return None
    return out


def converted_version(manifest: Manifest, fingerprint: str) -> str:
    """The fingerprint of the bytes that the document's outputs were made from: not the newest
    where a newer file could not be taken in."""
    first = manifest.stages.get(STAGES[0].name)
    return first.inputs.get(SOURCE, fingerprint) if first else fingerprint


def stale_reason(stage: Stage, record: StageRecord, inputs: dict[str, str] | None, config: DracConfig) -> str:
    """Why the output that `record` describes is not what would be made now; "" where it is. `config` is the
    document's own."""
    if record.code_version != code_version(stage, config):
        old, new = record.code_version.split("-", 1)[0], str(stage.version)
        return "settings changed" if old == new else f"code changed (version {old} to {new})"
    changed = [p for p in stage.parents if inputs is None or record.inputs.get(p) != inputs[p]]
    if changed:
        return f"{' and '.join(changed)} changed"
    return makeshift_reason(stage.name, record, config)


def document_states(
    store: Store, manifest: Manifest, config: DracConfig, fingerprint: str | None = None
) -> dict[str, StageState]:
    """The state of every stage, given the source's fingerprint now (default: as recorded), under the
    document's own settings."""
    config = config.for_document(manifest.document_key)
    fingerprint = fingerprint or manifest.source.fingerprint
    out: dict[str, StageState] = {}
    for stage in STAGES:
        record = manifest.stages.get(stage.name)
        failure = manifest.failure
        upstream = [p for p in stage.parents if p != SOURCE and out[p].state != State.FRESH]
        if failure and failure.stage == stage.name:
            out[stage.name] = StageState(State.FAILED, f"{failure.kind}: {failure.cause}")
        elif record is None:
            out[stage.name] = StageState(State.MISSING, "not made yet")
        elif not store.has_files(manifest.document_key, stage.name, record):
            out[stage.name] = StageState(State.MISSING, "its files are gone from the store")
        elif reason := stale_reason(stage, record, parent_versions(stage, manifest, fingerprint), config):
            out[stage.name] = StageState(State.STALE, reason)
        elif upstream:
            out[stage.name] = StageState(State.STALE, f"{upstream[0]} is {out[upstream[0]].state}")
        else:
            out[stage.name] = StageState(State.FRESH)
    return out


def stages_to_run(states: dict[str, StageState]) -> list[str]:
    """The stages that are not fresh, in order."""
    return [s.name for s in STAGES if states[s.name].state != State.FRESH]
