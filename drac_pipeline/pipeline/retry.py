"""Which failed documents are tried again without being asked, and when.

1. A failure whose cause lies in the document (corrupt, encrypted, unsupported, empty, too large)
   is tried again when the file, the settings or the code have changed, where it can help also limits,
   passwords or the programs that are installed; and never before.
2. One whose cause may pass (a timeout, a missing program, a full disk, a service that is down) is
   tried again then too, and besides `refresh.retry_attempts` times: `retry_minutes` after the first
   failure, then after twice as long, and so on.
3. `drac run` and a run launched by hand try every failed document.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from drac_pipeline.config import DracConfig
from drac_pipeline.counted import counted
from drac_pipeline.pipeline.attempts import INHERENT, LASTING, next_attempt
from drac_pipeline.pipeline.circumstances import circumstances
from drac_pipeline.pipeline.freshness import parent_versions, stale_reason
from drac_pipeline.pipeline.stage import SOURCE, code_version
from drac_pipeline.pipeline.stages import STAGES, STAGES_BY_NAME
from drac_pipeline.store import Manifest


@dataclass(frozen=True, slots=True)
class Retry:
    """Whether a failed document is due now, and in words why or when it will be."""

    due: bool
    reason: str
    at: datetime | None = None


def retry(manifest: Manifest, config: DracConfig, moment: datetime | None = None) -> Retry:
    """What the policy says of a document with a failure, at `moment` (default: now)."""
    failure = manifest.failure
    if failure is None:
        return Retry(True, "")
    if changed := changed_since(manifest, config):
        return Retry(True, f"tried again: {changed} changed since it failed")
    if failure.kind in LASTING:
        return Retry(False, "not tried again by itself until the file or the stage's settings change")
    most = config.refresh.retry_attempts
    at = next_attempt(config.refresh, failure.at, failure.attempts)
    if at is None:
        return Retry(
            False, f"given up after {counted(failure.attempts, 'attempt')}; `drac run` tries it again"
        )
    if at <= (moment or datetime.now(UTC)):
        return Retry(True, f"attempt {failure.attempts + 1} of {most + 1} is due", at)
    return Retry(False, f"next try {at:%Y-%m-%d %H:%M} UTC, attempt {failure.attempts + 1} of {most + 1}", at)


def changed_since(manifest: Manifest, config: DracConfig) -> str:
    """What of a failed stage's inputs, settings, circumstances or code is not as it was when it failed, with
    its verb ("the file has"); "" where all is."""
    failure, config = manifest.failure, config.for_document(manifest.document_key)
    if failure is None:
        return ""
    stage = STAGES_BY_NAME.get(failure.stage)
    if stage is None:  # the file itself could not be read: only looking at it again can tell
        return ""
    for above in STAGES[: STAGES.index(stage)]:  # what they will make anew may be what it needs
        record = manifest.stages.get(above.name)
        now = parent_versions(above, manifest, manifest.source.fingerprint)
        if record and stale_reason(above, record, now, config):
            if record.code_version != code_version(above, config) or above.parents != (SOURCE,):
                return "settings or code have"
            return "the file has" if record.inputs != now else "programs or limits have"
    if failure.code_version and failure.code_version != code_version(stage, config):
        return "settings or code have"
    told = failure.circumstances and failure.kind not in INHERENT
    if told and failure.circumstances != circumstances(stage.name, config):
        return "programs, limits or passwords have"
    now = parent_versions(stage, manifest, manifest.source.fingerprint)
    if failure.inputs and now and now != failure.inputs:
        names = [p for p in stage.parents if now.get(p) != failure.inputs.get(p)]
        return "the file has" if names == [SOURCE] else f"{' and '.join(names)} has"
    return ""
