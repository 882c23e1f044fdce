"""A look at all sources of a home: what is new, changed, gone, and what of it is due."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from drac_pipeline.config import DracConfig
from drac_pipeline.errors import ConfigError, DocumentError, DracError
from drac_pipeline.pipeline.circumstances import all_circumstances
from drac_pipeline.pipeline.removal import Removals, removals
from drac_pipeline.pipeline.retry import Retry, retry
from drac_pipeline.pipeline.stage import code_version
from drac_pipeline.pipeline.stages import STAGES
from drac_pipeline.pipeline.worklist import SOURCE_STAGE, Work, WorkList, find_work
from drac_pipeline.sources.address import SourceAddress, source_address
from drac_pipeline.sources.open import open_source
from drac_pipeline.store import Home


@dataclass
class Looked:
    """What a look at the sources gave: a list per source, what that means for documents that are
    gone, and the sources that could not be listed."""

    found: list[WorkList] = field(default_factory=list)
    removals: list[Removals] = field(default_factory=list)
    unreachable: dict[str, str] = field(default_factory=dict)

    @property
    def work(self) -> Iterator[Work]:
        """Documents that need something."""
        return (w for f in self.found for w in f.work)

    @property
    def unreadable(self) -> dict[str, DocumentError]:
        """Documents whose file could not be read, and why."""
        return {k: e for f in self.found for k, e in f.unreadable.items()}

    @property
    def retire(self) -> dict[str, str]:
        """Documents to retire, and why each: not those that only moved from one source to another."""
        there = {k for f in self.found for k in f.keys}
        return {k: reason for r in self.removals for k, reason in r.retire.items() if k not in there}

    @property
    def refused(self) -> list[str]:
        """Why documents that are gone were not retired."""
        return [r.refused for r in self.removals if r.refused]

    @property
    def settling(self) -> list[str]:
        """Files that may still be written."""
        return [k for f in self.found for k in f.settling]


def look_at_sources(
    home: Home,
    sources: Iterable[str | SourceAddress] = (),
    *,
    settle_seconds: float = 0.0,
    confirmed: bool = False,
    dry: bool = False,
) -> Looked:
    """Register what is new or changed in the sources (default: those the home remembers), unless `dry`.

    One that cannot be listed does not keep the others from being looked at. `confirmed` says that
    what is gone is meant to be. Raises ConfigError where there is no source to look at.
    """
    looked = Looked()
    for source in _chosen(home, sources):
        try:
            found = find_work(home, source, home.config, settle_seconds=settle_seconds, dry=dry)
        except DracError as e:
            looked.unreachable[str(source)] = str(e)
            continue
        looked.found.append(found)
        looked.removals.append(removals(found, home.config.refresh, confirmed=confirmed))
    return looked


@dataclass
class Due:
    """What a refresh that nobody asked for may do now: documents with the reason of each; those that
    failed and wait; the first moment at which one of them is due."""

    documents: dict[str, str] = field(default_factory=dict)
    waiting: dict[str, Retry] = field(default_factory=dict)

    @property
    def next_at(self) -> datetime | None:
        """When the first of those that wait is due; None where none ever is by itself."""
        return min((r.at for r in self.waiting.values() if r.at), default=None)


def due_documents(home: Home, looked: Looked, moment: datetime | None = None) -> Due:
    """Which documents of a look are due at `moment` (default: now) by the retry policy."""
    moment = moment or datetime.now(UTC)
    out = Due()
    for work in looked.work:
        verdict = retry(work.manifest, home.config, moment)
        if verdict.due:
            out.documents[work.key] = verdict.reason or work.reason
        else:
            out.waiting[work.key] = verdict
    for key, error in looked.unreadable.items():
        manifest = home.store.manifest(key)
        if manifest is None:
            continue  # nothing is known of it but that it cannot be read: each look says so
        failed = manifest.failure is not None and manifest.failure.stage == SOURCE_STAGE
        verdict = retry(manifest, home.config, moment) if failed else Retry(True, error.cause)
        if verdict.due:
            out.documents[key] = verdict.reason
        else:
            out.waiting[key] = verdict
    return out


@dataclass(frozen=True, slots=True)
class Glance:
    """What a listing of the sources shows: a digest of names, sizes, times, settings, installed programs and
    versions of the code (the same digest, the same finding), and how many documents there are."""

    digest: str
    documents: int


def glance(home: Home, sources: Iterable[str | SourceAddress] = ()) -> Glance:
    """Everything that a look would see without opening a file, a manifest or a fingerprint."""
    digest = hashlib.sha256()
    n = 0
    for source in _chosen(home, sources):
        digest.update(f"{source}\n".encode(errors="surrogateescape"))
        try:
            folder = open_source(source, home.config.source, home.remote)
            for e in folder.list():
                n += 1
                digest.update(f"{e.key}\0{e.size}\0{e.mtime_ns}\0{e.version}\n".encode())
            for s in folder.skipped:
                digest.update(f"{s.path}\0{s.reason}\n".encode(errors="surrogateescape"))
        except DracError as e:
            digest.update(str(e).encode(errors="surrogateescape"))
    digest.update(_versions(home.config).encode())
    return Glance(digest.hexdigest(), n)


def _versions(config: DracConfig) -> str:
    versions = " ".join(code_version(s, config) for s in STAGES)
    return f"{versions} {all_circumstances(config)}"


def _chosen(home: Home, sources: Iterable[str | SourceAddress]) -> list[SourceAddress]:
    chosen = [source_address(s) for s in sources] or home.sources()
    if not chosen:
        raise ConfigError(
            "this home remembers no source yet: name one under `sources`, or start with `drac run SOURCE`"
        )
    return chosen
