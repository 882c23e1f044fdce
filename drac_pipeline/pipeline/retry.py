"""Which failed documents are tried again without being asked, and when.

1. A failure whose cause lies in the document (corrupt, encrypted, unsupported, empty, too large)
   is tried again when the file, the settings or the code have changed, and never before.
2. One whose cause may pass (a timeout, a missing program, a full disk, a service that is down) is
   tried again `refresh.retry_attempts` times: `retry_minutes` after the first failure, then
   after twice as long, and so on.
3. `drac run` and a run launched by hand try every failed document.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from drac_pipeline.config import DracConfig
from drac_pipeline.errors import (
    ConversionFailed,
    CorruptDocument,
    DocumentTooLarge,
    EmptyDocument,
    EncryptedDocument,
    UnsupportedDocument,
)
from drac_pipeline.pipeline.freshness import parent_versions, stale_reason
from drac_pipeline.pipeline.stages import SOURCE, STAGES, STAGES_BY_NAME, code_version
from drac_pipeline.store import FailureRecord, Manifest

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
    if changed := _changed(manifest, failure, config.for_document(manifest.document_key)):
        return Retry(True, f"tried again: {changed} changed since it failed")
    if failure.kind in LASTING:
        return Retry(False, "not tried again by itself until the file or the stage's settings change")
    most = config.refresh.retry_attempts
    if failure.attempts > most:
        return Retry(False, f"given up after {failure.attempts} attempts; `drac run` tries it again")
    wait = timedelta(minutes=config.refresh.retry_minutes * 2 ** (failure.attempts - 1))
    at = datetime.fromisoformat(failure.at) + wait
    if at <= (moment or datetime.now(UTC)):
        return Retry(True, f"attempt {failure.attempts + 1} of {most + 1} is due", at)
    return Retry(False, f"next try {at:%Y-%m-%d %H:%M} UTC, attempt {failure.attempts + 1} of {most + 1}", at)


def _changed(manifest: Manifest, failure: FailureRecord, config: DracConfig) -> str:
    """What of the failed stage's inputs, settings or code is not as it was then."""
    stage = STAGES_BY_NAME.get(failure.stage)
    if stage is None:  # the file itself could not be read: only looking at it again can tell
        return ""
    for above in STAGES[: STAGES.index(stage)]:  # what they will make anew may be what it needs
        record = manifest.stages.get(above.name)
        now = parent_versions(above, manifest, manifest.source.fingerprint)
        if record and stale_reason(above, record, now, config):
            same_code = record.code_version == code_version(above, config)
            return "the file has" if same_code and above.parents == (SOURCE,) else "settings or code have"
    if failure.code_version and failure.code_version != code_version(stage, config):
        return "settings or code have"
    now = parent_versions(stage, manifest, manifest.source.fingerprint)
    if failure.inputs and now and now != failure.inputs:
        names = [p for p in stage.parents if now.get(p) != failure.inputs.get(p)]
        return "the file has" if names == [SOURCE] else f"{' and '.join(names)} has"
    return ""
