"""Compare a source with a home: which documents need which stages, and why."""

from __future__ import annotations

import contextlib
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from drac_pipeline.config import DracConfig
from drac_pipeline.errors import DocumentError, DracError, SourceChanged
from drac_pipeline.pipeline.freshness import StageState, State, document_states, stages_to_run
from drac_pipeline.pipeline.origin import origin_of
from drac_pipeline.pipeline.process import DocumentOutcome, StageOutcome, now
from drac_pipeline.s3.address import BucketAddress
from drac_pipeline.sources.address import SourceAddress
from drac_pipeline.sources.fingerprint import FingerprintCache
from drac_pipeline.sources.open import open_source
from drac_pipeline.sources.remote import Remote
from drac_pipeline.sources.settling import young
from drac_pipeline.sources.source import Source, SourceEntry
from drac_pipeline.store import FailureRecord, Home, Manifest, SourceRecord, Store

SOURCE_STAGE = "source_document"  # where a failure happened that came before the first stage
NAMELESS = frozenset({"normalized_pdf", "page_images", "markdown", "elements"})  # hold no document key


@dataclass(frozen=True, slots=True)
class Work:
    """A document and the stages it needs. `change` is new, changed, renamed, moved (the source lies
    elsewhere), touched (another time stamp, the same bytes), returned (after it was retired) or
    unchanged; `renamed_from` is the key it had before."""

    key: str
    change: str
    stages: list[str]
    states: dict[str, StageState]
    manifest: Manifest
    renamed_from: str = ""

    @property
    def state(self) -> str:
        """What makes it work, in the words of `drac status`: the change in the source, or else failed, stale
        or incomplete."""
        if self.change in _SAID:
            return self.change
        if self.manifest.failure:
            return "failed"
        stale = bool(self.stages) and self.states[self.stages[0]].state == State.STALE
        return "stale" if stale else "incomplete"

    @property
    def reason(self) -> str:
        """Why, in words: the first stage that is not fresh says it."""
        if self.change in _SAID:
            return _SAID[self.change].format(self.renamed_from)
        first = self.states[self.stages[0]] if self.stages else None
        return f"{self.stages[0]}: {first.reason}" if first else ""


_SAID = {
    "new": "new in the source",
    "changed": "changed in the source",
    "renamed": "renamed from {}; its work is kept",
    "returned": "returned to the source",
}


@dataclass
class WorkList:
    """What a look at the source found.

    `keys` are its documents; `work` holds those that need something and `unchanged` counts
    those that do not; `unreadable` are files that could not be read and why; `skipped` are
    paths passed over that deserve a word; `settling` are files that may still be written, to be
    looked at again; `changes` counts new, changed, renamed, touched … documents. `gone` are keys of
    this source that the home knows and the source no longer has, `excluded` those of them whose
    file is there and left out by the settings, `returned` retired ones that are back; `renamed` maps
    a new key to the gone one whose bytes it has. `blocked` are paths that cannot be read, and why:
    what lies below them is in none of these. `fingerprints` are those of the documents that were read.
    """

    source: str
    keys: list[str] = field(default_factory=list)
    work: list[Work] = field(default_factory=list)
    unchanged: int = 0
    unreadable: dict[str, DocumentError] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    settling: list[str] = field(default_factory=list)
    changes: Counter[str] = field(default_factory=Counter)
    gone: list[str] = field(default_factory=list)
    excluded: set[str] = field(default_factory=set)
    renamed: dict[str, str] = field(default_factory=dict)
    returned: set[str] = field(default_factory=set)
    blocked: dict[Path | str, str] = field(default_factory=dict)
    fingerprints: dict[str, str] = field(default_factory=dict)

    @property
    def n_documents(self) -> int:
        """Documents in the source."""
        return len(self.keys)


def find_work(
    home: Home,
    source: SourceAddress,
    config: DracConfig,
    on_document: Callable[[str], None] | None = None,
    *,
    settle_seconds: float = 0.0,
    dry: bool = False,
) -> WorkList:
    """Look at every document under `source` and register what is new or changed in the store.

    Fingerprints of files whose size and times are as before come from the home's cache. New or
    changed files younger than `settle_seconds` are left for later. `dry` only looks: nothing is
    registered, and nothing written but the cache. Raises ConfigError where the source cannot be
    listed, DracError where a key already means a document of another source that is still there.
    """
    with _cache(home, dry) as cache:
        folder = open_source(source, config.source, home.remote, cache)
        if isinstance(source, BucketAddress):
            source.check_apart(config.store.url)
        entries = folder.list()
        skipped = [f"{s.path}: {s.reason}" for s in folder.skipped]
        found = WorkList(folder.place, keys=[e.key for e in entries], skipped=skipped)
        found.blocked = {s.path: s.reason for s in folder.skipped if s.unreadable}
        known = {m.document_key: m for m in home.store.manifests(retired=True)}
        _refuse_collisions(folder.place, found.keys, known, home.remote)
        if not dry:
            home.remember_source(source)
        left = _left(folder, found, known)
        looker = _Looker(home.store, folder, config, dry, {m.source.fingerprint: m for m in left})
        too_young = {e.key for e in young(entries, settle_seconds)}
        with folder.ahead(entries):
            for entry in entries:
                if on_document:
                    on_document(entry.key)
                manifest = known.get(entry.key)
                if entry.key in too_young and not (manifest and _as_recorded(manifest, entry)):
                    found.settling.append(entry.key)
                    continue
                try:
                    work = looker.look(entry, manifest)
                except DocumentError as e:
                    found.unreadable[entry.key] = e
                    continue
                found.changes[work.change] += 1
                found.fingerprints[work.key] = work.manifest.source.fingerprint
                if manifest and manifest.retired:
                    found.returned.add(work.key)
                if work.stages:
                    found.work.append(work)
                else:
                    found.unchanged += 1
        found.renamed = looker.renamed
    found.gone = sorted(m.document_key for m in left if m.retired is None)
    return found


@contextlib.contextmanager
def _cache(home: Home, dry: bool) -> Iterator[FingerprintCache]:
    """The home's cache of fingerprints; one to throw away where a dry look would make the home."""
    with contextlib.ExitStack() as stack:
        path = home.fingerprint_cache
        if dry and not home.path.exists():
            path = Path(stack.enter_context(tempfile.TemporaryDirectory())) / path.name
        yield stack.enter_context(FingerprintCache(path))


def _left(folder: Source, found: WorkList, known: dict[str, Manifest]) -> list[Manifest]:
    """The documents that this source had and has no more, retired ones included."""
    if folder.is_single_file:
        return []
    listed, root = set(found.keys), folder.place
    out = []
    for key, m in known.items():
        if key in listed or m.source.root != root:
            continue
        if folder.cannot_say(m.source.path):
            continue
        if m.retired is None and folder.holds(m.source.path):
            found.excluded.add(key)
        out.append(m)
    return out


class _Looker:
    """Takes in one document of a listing after another."""

    def __init__(
        self, store: Store, folder: Source, config: DracConfig, dry: bool, left: dict[str, Manifest]
    ) -> None:
        self.store, self.folder, self.config, self.dry = store, folder, config, dry
        self.left = left  # by fingerprint: those that a new key may be the new name of
        self.renamed: dict[str, str] = {}

    def look(self, entry: SourceEntry, manifest: Manifest | None) -> Work:
        """What the document needs; registers what is news unless `dry`."""
        document = self.folder.fingerprint(entry)
        record = SourceRecord.of(self.folder.place, document)
        key = document.key
        if manifest is None:
            change, manifest = self._new(key, record)
            if self.dry and change == "renamed":
                return self._would_adopt(key, manifest)
        elif manifest.source != record or manifest.retired or _failed_at_source(manifest):
            change = _change(manifest, record)
            if self.dry:
                manifest = _with_source(manifest, key, record)
            else:
                manifest = self.store.update_manifest(key, lambda m: _with_source(m, key, record))
        else:
            change = "unchanged"
        states = document_states(self.store, manifest, self.config)
        return Work(key, change, stages_to_run(states), states, manifest, self.renamed.get(key, ""))

    def _new(self, key: str, record: SourceRecord) -> tuple[str, Manifest]:
        manifest = Manifest(document_key=key, source=record)
        old = self.left.get(record.fingerprint)
        # what the file is called bears on how it is read, so only the same kind of name carries over
        if old and PurePosixPath(old.document_key).suffix.lower() == PurePosixPath(key).suffix.lower():
            del self.left[record.fingerprint]
            self.renamed[key] = old.document_key
            if self.dry:
                return "renamed", manifest
            return "renamed", self.store.adopt(old.document_key, manifest, NAMELESS)
        if not self.dry:
            manifest = self.store.update_manifest(key, lambda m: m or manifest)
        return "new", manifest

    def _would_adopt(self, key: str, manifest: Manifest) -> Work:
        """What a renamed document would need once the outputs of its old name are its own."""
        old = self.store.manifest(self.renamed[key])
        states = document_states(self.store, old or manifest, self.config)
        due = set(stages_to_run(states)) | (states.keys() - NAMELESS)
        return Work(key, "renamed", [n for n in states if n in due], states, manifest, self.renamed[key])


def _change(manifest: Manifest, record: SourceRecord) -> str:
    known = manifest.source
    if manifest.retired:
        return "returned" if known.fingerprint == record.fingerprint else "changed"
    if known.fingerprint != record.fingerprint:
        return "changed"
    if (known.root, known.path) != (record.root, record.path):
        return "moved"
    return "touched" if known != record else "unchanged"


def _as_recorded(manifest: Manifest, entry: SourceEntry) -> bool:
    known = manifest.source
    same = known.size == entry.size and abs(known.modified - entry.mtime_ns / 1e9) < 1e-5
    return same and not manifest.retired


def _with_source(manifest: Manifest | None, key: str, source: SourceRecord) -> Manifest:
    if manifest is None:
        return Manifest(document_key=key, source=source)
    failure = None if _failed_at_source(manifest) else manifest.failure
    return manifest.model_copy(update={"source": source, "failure": failure, "retired": None})


def _failed_at_source(manifest: Manifest) -> bool:
    return manifest.failure is not None and manifest.failure.stage == SOURCE_STAGE


def refresh_source(store: Store, key: str, *, trust_times: bool = False) -> Manifest:
    """Fingerprint the file of a registered document again and record what it is now.

    With `trust_times` a file whose size and time are as recorded counts as unchanged.
    Raises SourceChanged where it is gone, UnreadableDocument where it may not be read.
    """
    manifest = store.manifest(key)
    if manifest is None:
        raise SourceChanged(
            "this home does not know the document", key=key, remedy="Run `drac run SOURCE` to register it."
        )
    known, origin = manifest.source, origin_of(manifest.source, store.remote)
    if trust_times and not _failed_at_source(manifest):
        with contextlib.suppress(DocumentError):
            if origin.is_as_recorded():
                return manifest
    source = origin.look()
    if source == known and not _failed_at_source(manifest):
        return manifest
    return store.update_manifest(key, lambda m: _with_source(m, key, source))


def refresh_sources(
    store: Store, keys: Iterable[str], *, trust_times: bool = False
) -> Iterator[tuple[str, Manifest | DocumentError]]:
    """`refresh_source` for each document, in their order; some at a time, since objects in buckets are
    mostly waited for."""

    def one(key: str) -> tuple[str, Manifest | DocumentError]:
        try:
            return key, refresh_source(store, key, trust_times=trust_times)
        except DocumentError as e:
            return key, e

    with ThreadPoolExecutor(store.remote.connection.in_parallel) as pool:
        yield from pool.map(one, keys)


def source_failure(store: Store, key: str, error: DocumentError) -> DocumentOutcome:
    """The outcome of a document whose file could not be taken in; recorded in its manifest."""
    manifest = store.manifest(key)
    before = manifest.failure if manifest else None
    again = before is not None and (before.stage, before.kind) == (SOURCE_STAGE, error.kind)
    failure = FailureRecord(
        stage=SOURCE_STAGE,
        kind=error.kind,
        cause=error.cause,
        remedy=error.remedy,
        at=now(),
        attempts=before.attempts + 1 if before and again else 1,
    )
    if manifest is not None:
        store.update_manifest(key, lambda m: (m or manifest).model_copy(update={"failure": failure}))
    return DocumentOutcome(key, [StageOutcome(SOURCE_STAGE, "failed", failure=failure)])


def _refuse_collisions(root: str, keys: Iterable[str], known: dict[str, Manifest], remote: Remote) -> None:
    others = [k for k in keys if k in known and known[k].source.root != root]
    taken = next((k for k in others if origin_of(known[k].source, remote).exists()), None)
    if taken is not None:
        other = known[taken].source.root
        raise DracError(
            f"document keys of {root} already mean documents of {other} in this home"
            f" (the first: {taken!r}). Use another --home for this source, or give the folder above"
            " both as SOURCE."
        )
