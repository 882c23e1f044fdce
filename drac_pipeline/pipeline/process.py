"""Run the stages of one document against a store."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import logging
import time
import traceback
import uuid
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from drac_pipeline.config import DracConfig
from drac_pipeline.errors import (
    ConfigError,
    DiskFull,
    DocumentError,
    InternalError,
    MissingInput,
    StorageError,
    WrongSetting,
    explain,
    is_disk_full,
)
from drac_pipeline.logs import doing, now_doing
from drac_pipeline.model import SourceDocument
from drac_pipeline.pipeline.circumstances import circumstances
from drac_pipeline.pipeline.freshness import converted_version, parent_versions, stale_reason
from drac_pipeline.pipeline.origin import origin_of
from drac_pipeline.pipeline.stage import SOURCE, Stage, StageContext, StageOutput, code_version
from drac_pipeline.pipeline.stages import STAGES
from drac_pipeline.sources.fingerprint import hash_file
from drac_pipeline.store import (
    ArtifactMissing,
    FailureRecord,
    MakeshiftRecord,
    Manifest,
    StageRecord,
    Store,
)

log = logging.getLogger(__name__)
REPORTED = {"reported": True}  # lines that the outcome says too: who shows outcomes need not show these


@dataclass(frozen=True)
class StageOutcome:
    """What became of one stage: `made`, `reused` or `failed` (then `failure` says why, and a
    `record` is there only where a check refused an output, which was not published)."""

    stage: str
    status: str
    record: StageRecord | None = None
    failure: FailureRecord | None = None
    reason: str = ""


@dataclass(frozen=True)
class DocumentOutcome:
    """The outcomes of a document's stages in order; it ends at the first failure."""

    key: str
    stages: list[StageOutcome] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def failure(self) -> FailureRecord | None:
        """The failure that stopped the document, if any."""
        return self.stages[-1].failure if self.stages else None


def process_document(
    store: Store,
    key: str,
    config: DracConfig,
    stages: Collection[str] | None = None,
    force: bool = False,
    on_stage: Callable[[str, str], None] | None = None,
    run: str = "",
) -> DocumentOutcome:
    """Bring the named stages (default: all) of a registered document up to date.

    A stage whose inputs, code and settings are as recorded is reused, unless `force`. The
    document stops at its first failure, which is recorded in the manifest and in the outcome:
    no exception leaves for anything that is wrong with the document. `on_stage(key, stage)`
    is called before each stage. `run` names what budgets for model calls count by.
    """
    began = time.monotonic()
    config = config.for_document(key)
    outcomes: list[StageOutcome] = []
    named = [s for s in STAGES if stages is None or s.name in stages]
    lost: StorageError | None = None
    try:
        with store.working_on(key), doing(document=key):
            for stage in named:
                if on_stage:
                    on_stage(key, stage.name)
                now_doing(stage=stage.name)
                try:
                    outcome = _run_stage(store, key, stage, config, force, run)
                except StorageError as e:
                    lost = e
                    break
                _log(outcome)
                outcomes.append(outcome)
                if outcome.failure:
                    break
            try:
                store.settle(key)
            except StorageError as e:
                lost = lost or e
            if lost:
                outcomes = _unsettled(store, key, named, outcomes, config, lost)
                _log(outcomes[-1])
    except StorageError as e:
        outcomes = _unsettled(store, key, named, [], config, e)
    return DocumentOutcome(key, outcomes, time.monotonic() - began)


def _log(outcome: StageOutcome) -> None:
    record = outcome.record
    if outcome.failure:
        log_failure(outcome.failure)
    elif outcome.status == "reused":
        log.debug("reused")
    elif record:
        log.info("made in %.2f s (%s)", record.seconds, outcome.reason)
        for warning in record.warnings:
            log.warning("%s", warning, extra=REPORTED)


def log_failure(failure: FailureRecord) -> None:
    """A line of level ERROR: kind, cause and way out."""
    log.error("%s", explain(failure.kind, failure.cause, failure.remedy), extra=REPORTED)


def _unsettled(
    store: Store,
    key: str,
    named: Sequence[Stage],
    outcomes: list[StageOutcome],
    config: DracConfig,
    error: StorageError,
) -> list[StageOutcome]:
    """The outcomes where the store could not take what was made: those stages that it has, and a failure
    at the first that it has not."""
    try:
        manifest = store.manifest(key)
    except StorageError:
        manifest, outcomes = None, []
    there = manifest.stages if manifest else {}
    kept = list(
        itertools.takewhile(lambda o: o.record is not None and there.get(o.stage) == o.record, outcomes)
    )
    if len(kept) == len(named):
        return kept
    stage = named[len(kept)]
    inputs = manifest and parent_versions(stage, manifest, manifest.source.fingerprint)
    failure = record_failure(store, key, stage, inputs or {}, config, error)
    with doing(document=key, stage=stage.name):
        log_failure(failure)
    return [*kept, StageOutcome(stage.name, "failed", failure=failure)]


def _run_stage(
    store: Store, key: str, stage: Stage, config: DracConfig, force: bool, run: str
) -> StageOutcome:
    began = time.monotonic()
    manifest = store.manifest(key)
    if manifest is None:
        raise ArtifactMissing(f"{key}: not registered in this home; run `drac run SOURCE` first")
    inputs: dict[str, str] = {}
    try:
        inputs = _inputs(store, stage, manifest)
        record = manifest.stages.get(stage.name)
        if record and not force and not stale_reason(stage, record, inputs, config):
            if store.has_files(key, stage.name, record):
                _clear_failure(store, key, stage.name, manifest)
                return StageOutcome(stage.name, "reused", record)
            reason = "its files were gone"
        else:
            reason = (stale_reason(stage, record, inputs, config) or "forced") if record else "new"
        with store.workspace(key) as out, _document(store, manifest, stage) as document:
            ctx = StageContext(
                document=document,
                read=lambda parent, name: store.path(key, parent, name, manifest),
                out=out,
                config=config,
                state=store.state,
                run=run,
            )
            output = stage.run(ctx)
            blocked = [n for n, c in output.checks.items() if c.blocking and not c.passed]
            record = _record(stage, out, output, inputs, config, time.monotonic() - began, manifest)
            if blocked:
                error = InternalError(
                    f"check {blocked[0]} failed: {output.checks[blocked[0]].detail}",
                    remedy="The output before, if any, was kept. This is a fault of drac_pipeline.",
                )
                return StageOutcome(
                    stage.name, "failed", record, record_failure(store, key, stage, inputs, config, error)
                )
            store.publish(key, stage.name, out, record, lambda m: _without_failure(m, stage.name))
        return StageOutcome(stage.name, "made", record, reason=reason)
    except StorageError:  # it may be of an output before: who goes over all of them says which
        raise
    except DocumentError as e:
        error = e
    except ConfigError as e:
        error = WrongSetting(
            str(e), remedy="Mend drac.toml or the environment (`drac config check`), and run again."
        )
    except MemoryError:
        error = InternalError("out of memory", remedy="Give the run more memory or split the document.")
    except Exception as e:
        if is_disk_full(e):
            error = DiskFull(
                f"no room left for what the stage writes ({store.address})",
                remedy="Free some space and run again: what was finished is kept.",
            )
            return StageOutcome(
                stage.name, "failed", failure=record_failure(store, key, stage, inputs, config, error)
            )
        log.debug("it failed", exc_info=e)
        frame = traceback.extract_tb(e.__traceback__)[-1]
        error = InternalError(
            f"{type(e).__name__}: {e} ({Path(frame.filename).name}:{frame.lineno})",
            remedy="This is a fault of drac_pipeline; the other documents are not affected.",
        )
    return StageOutcome(
        stage.name, "failed", failure=record_failure(store, key, stage, inputs, config, error)
    )


def _inputs(store: Store, stage: Stage, manifest: Manifest) -> dict[str, str]:
    """The parents' data versions; raises where a parent has no output or the source moved on."""
    source = manifest.source
    if stage is STAGES[0]:  # later stages need to know the source's version, not its bytes
        origin_of(source, store.remote).check()
    inputs = parent_versions(stage, manifest, source.fingerprint)
    if inputs is None:
        missing = next(p for p in stage.parents if p != SOURCE and p not in manifest.stages)
        failure = manifest.failure
        why = f": it failed at {failure.stage} ({failure.kind}: {failure.cause})" if failure else ""
        raise MissingInput(
            f"{stage.name} needs {missing}, which this document does not have{why}",
            remedy="Run `drac run` to make all its stages.",
        )
    return inputs


@contextlib.contextmanager
def _document(store: Store, manifest: Manifest, stage: Stage) -> Iterator[SourceDocument]:
    """What a stage is told of the document; the first has its bytes as a file of this machine."""
    s = manifest.source
    key = manifest.document_key
    if stage is STAGES[0]:
        with origin_of(s, store.remote).file() as path:
            yield SourceDocument(key, path, s.fingerprint, s.size, s.modified)
    else:
        yield SourceDocument(key, Path(), converted_version(manifest, s.fingerprint), s.size, s.modified)


def _record(
    stage: Stage,
    out: Path,
    output: StageOutput,
    inputs: dict[str, str],
    config: DracConfig,
    seconds: float,
    manifest: Manifest,
) -> StageRecord:
    files = sorted(p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file())
    digest = hashlib.sha256()
    for name in files:
        digest.update(f"{name}\0{hash_file(out / name)[0]}\n".encode())
    return StageRecord(
        version=f"{digest.hexdigest()[:12]}-{uuid.uuid4().hex[:6]}",
        data_version=digest.hexdigest()[:32],
        code_version=code_version(stage, config),
        inputs=inputs,
        files=files,
        sizes={name: (out / name).stat().st_size for name in files},
        made_at=now(),
        seconds=round(seconds, 3),
        counts=output.counts,
        facts=output.facts,
        checks=output.checks,
        warnings=output.warnings,
        makeshift=_makeshift(stage, output, inputs, config, manifest.stages.get(stage.name)),
    )


def _makeshift(
    stage: Stage, output: StageOutput, inputs: dict[str, str], config: DracConfig, before: StageRecord | None
) -> MakeshiftRecord | None:
    """What the output had to be made without, counting attempts under the same conditions."""
    if output.lack is None:
        return None
    kind, cause = output.lack
    lack = MakeshiftRecord(kind=kind, cause=cause, circumstances=circumstances(stage.name, config))
    old = before.makeshift if before else None
    again = before and old and (before.inputs, before.code_version) == (inputs, code_version(stage, config))
    if again and old and (old.kind, old.circumstances) == (kind, lack.circumstances):
        lack = lack.model_copy(update={"attempts": old.attempts + 1})
    return lack


_STAGE_ORDER = {s.name: i for i, s in enumerate(STAGES)}


def record_failure(
    store: Store, key: str, stage: Stage, inputs: dict[str, str], config: DracConfig, error: DocumentError
) -> FailureRecord:
    """Write into the manifest why the document stopped, counting attempts under the same conditions."""
    config = config.for_document(key)
    version = code_version(stage, config)
    failure = FailureRecord(
        stage=stage.name,
        kind=error.kind,
        cause=error.cause,
        remedy=error.remedy,
        at=now(),
        inputs=inputs,
        code_version=version,
        circumstances=circumstances(stage.name, config),
    )

    def change(current: Manifest | None) -> Manifest:
        if current is None:
            raise ArtifactMissing(f"{key}: its manifest is gone from the store")
        old = current.failure
        if (
            old
            and failure.kind == MissingInput.kind
            and _STAGE_ORDER.get(old.stage, -1) < _STAGE_ORDER[stage.name]
        ):
            return current  # that one is why, and its remedy is the way out
        same = ("stage", "inputs", "code_version", "circumstances")
        again = old and all(getattr(old, n) == getattr(failure, n) for n in same)
        attempts = old.attempts + 1 if old and again else 1
        return current.model_copy(update={"failure": failure.model_copy(update={"attempts": attempts})})

    try:
        written = store.update_manifest(key, change).failure
        return written if written and written.stage == stage.name else failure
    except OSError as e:
        if is_disk_full(
            e
        ):  # no room to write it down either: the outcome says it, and the next run tries again
            return failure
        raise
    except StorageError:  # likewise
        return failure


def _without_failure(manifest: Manifest, stage: str) -> Manifest:
    if manifest.failure and manifest.failure.stage == stage:
        return manifest.model_copy(update={"failure": None})
    return manifest


def _clear_failure(store: Store, key: str, stage: str, manifest: Manifest) -> None:
    if manifest.failure and manifest.failure.stage == stage:
        store.update_manifest(key, lambda m: _without_failure(m or manifest, stage))


def now() -> str:
    """The time as manifests write it: UTC, ISO 8601, seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")
