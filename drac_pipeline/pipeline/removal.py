"""Documents that left their source: which may be retired, retiring them, and bringing them back.

A retired document is at once out of exports, index and partitions. Its artifacts stay for
`refresh.keep_removed_days`, so that one that returns costs nothing; then they are deleted.
A source that looks emptied by accident retires nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from drac_pipeline.config import RefreshConfig
from drac_pipeline.errors import ConfigError
from drac_pipeline.pipeline.origin import origin_of
from drac_pipeline.pipeline.process import now
from drac_pipeline.pipeline.worklist import WorkList
from drac_pipeline.sources.remote import Remote
from drac_pipeline.store import Home, Manifest, RetiredRecord

REMOVED = "removed from the source"
EXCLUDED = "excluded by the settings"
FEW = 10  # so many may go at once from any source, whatever share that is


@dataclass
class Removals:
    """What a look at a source means for documents that are gone: key to reason for those to
    retire, or why none is (`refused`)."""

    retire: dict[str, str] = field(default_factory=dict)
    refused: str = ""


def removals(found: WorkList, config: RefreshConfig, *, confirmed: bool = False) -> Removals:
    """Decide over `found.gone`. Where the source has nothing left, or more than
    `refresh.max_removed_share` of it is gone at once, nothing is retired unless `confirmed`."""
    renamed = {old: f"renamed to {new}" for new, old in found.renamed.items()}
    gone = [k for k in found.gone if k not in renamed]
    if not gone or config.removed == "keep":
        return Removals(renamed)
    before = len(gone) + len(found.keys)
    if not confirmed:
        told = ""
        if not found.keys:
            told = f"{found.source} has no document any more, and had {before}"
        elif len(gone) > FEW and len(gone) > config.max_removed_share * before:
            told = f"{len(gone)} of {before} documents of {found.source} are gone at once"
        if told:
            return Removals(
                renamed,
                f"{told}: none was retired. Is everything mounted? If they are meant to go,"
                " `drac run SOURCE --confirm-removals` retires them.",
            )
    return Removals({**renamed, **{k: EXCLUDED if k in found.excluded else REMOVED for k in gone}})


def retire(home: Home, reasons: dict[str, str]) -> list[Manifest]:
    """Mark these documents as retired; gives their manifests. What was renamed, and everything
    where `keep_removed_days` is 0, is deleted at once."""
    days = home.config.refresh.keep_removed_days
    moment = datetime.now(UTC)
    out = []
    manifests = home.store.manifests_of(reasons)
    for key, reason in sorted(reasons.items()):
        manifest = manifests.get(key)
        if manifest is None or manifest.retired is not None:
            continue
        keep = 0.0 if reason.startswith("renamed") else days
        record = RetiredRecord(
            at=now(),
            reason=reason,
            delete_at=(moment + timedelta(days=keep)).isoformat(timespec="seconds"),
        )
        changed = home.store.update_manifest(key, lambda m, r=record: _retired(m, r, home.remote))
        if changed.retired != record:
            continue
        out.append(changed)
        if not keep:
            home.store.forget(key, _is_retired)
    return out


def delete_expired(home: Home, retired: Iterable[Manifest] | None = None) -> list[str]:
    """Delete the artifacts of retired documents whose time is over; gives their keys."""
    moment = now()
    found = home.store.manifests(retired=True) if retired is None else retired
    keys = [m.document_key for m in found if _is_over(m, moment)]
    for key in keys:
        home.store.forget(key, lambda m: _is_over(m, moment))
    return sorted(keys)


def _is_retired(manifest: Manifest) -> bool:
    return manifest.retired is not None


def _is_over(manifest: Manifest, moment: str) -> bool:
    return manifest.retired is not None and manifest.retired.delete_at <= moment


def _retired(manifest: Manifest | None, record: RetiredRecord, remote: Remote) -> Manifest:
    if manifest is None:
        raise ConfigError("the document's manifest is gone")
    if record.reason == REMOVED and origin_of(manifest.source, remote).exists():
        return manifest  # it has come back, or was taken in from another source, since the look
    return manifest.model_copy(update={"retired": record})
