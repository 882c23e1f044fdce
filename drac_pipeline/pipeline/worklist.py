"""Compare a source with a home: which documents need which stages, and why."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from drac_pipeline.config import DracConfig
from drac_pipeline.errors import DocumentError, DracError, SourceChanged
from drac_pipeline.model import SourceDocument
from drac_pipeline.pipeline.freshness import StageState, document_states, stages_to_run
from drac_pipeline.pipeline.process import DocumentOutcome, StageOutcome, now
from drac_pipeline.sources.fingerprint import FingerprintCache, hash_file
from drac_pipeline.sources.folder import FolderSource
from drac_pipeline.store import FailureRecord, Home, Manifest, SourceRecord, Store
from drac_pipeline.store.manifest import path_text

SOURCE_STAGE = "source_document"  # where a failure happened that came before the first stage


@dataclass(frozen=True, slots=True)
class Work:
    """A document and the stages it needs. `change` is new, changed, moved or unchanged."""

    key: str
    change: str
    stages: list[str]
    states: dict[str, StageState]

    @property
    def reason(self) -> str:
        """Why, in words: the first stage that is not fresh says it."""
        if self.change in ("new", "changed"):
            return f"{self.change} in the source"
        first = self.states[self.stages[0]] if self.stages else None
        return f"{self.stages[0]}: {first.reason}" if first else ""


@dataclass
class WorkList:
    """What a look at the source found.

    `keys` are its documents; `work` holds those that need something and `unchanged` counts
    those that do not; `unreadable` are files that could not be read and why; `skipped` are
    paths passed over that deserve a word; `gone` are keys of this source that the home knows
    and the source no longer has.
    """

    source: Path
    keys: list[str] = field(default_factory=list)
    work: list[Work] = field(default_factory=list)
    unchanged: int = 0
    unreadable: dict[str, DocumentError] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)

    @property
    def n_documents(self) -> int:
        """Documents in the source."""
        return len(self.keys)


def find_work(
    home: Home, source: Path, config: DracConfig, on_document: Callable[[str], None] | None = None
) -> WorkList:
    """Look at every document under `source` and register what is new or changed in the store.

    Fingerprints of files whose size and times are as before come from the home's cache.
    Raises ConfigError where the source cannot be listed, DracError where a key already
    means a document of another source that is still there.
    """
    with FingerprintCache(home.fingerprint_cache) as cache:
        folder = FolderSource(source, config.source, cache)
        entries = folder.list()
        skipped = [f"{s.path}: {s.reason}" for s in folder.skipped]
        found = WorkList(folder.root, keys=[e.key for e in entries], skipped=skipped)
        known = {m.document_key: m for m in home.store.manifests()}
        _refuse_collisions(folder.root, found.keys, known)
        home.remember_source(source)
        for entry in entries:
            if on_document:
                on_document(entry.key)
            try:
                document = folder.fingerprint(entry)
            except DocumentError as e:
                found.unreadable[entry.key] = e
                continue
            work = _work(home.store, folder.root, document, known.get(entry.key), config)
            if work.stages:
                found.work.append(work)
            else:
                found.unchanged += 1
    listed = set(found.keys)
    if not folder.is_single_file:
        root = path_text(folder.root)
        found.gone = sorted(k for k, m in known.items() if k not in listed and m.source.root == root)
    return found


def _work(
    store: Store, root: Path, document: SourceDocument, manifest: Manifest | None, config: DracConfig
) -> Work:
    record = SourceRecord.of(root, document)
    if manifest is None:
        change = "new"
        manifest = store.update_manifest(
            document.key, lambda m: m or Manifest(document_key=document.key, source=record)
        )
    elif manifest.source != record or _failed_at_source(manifest):
        if manifest.source.fingerprint != record.fingerprint:
            change = "changed"
        else:
            change = "moved" if manifest.source != record else "unchanged"
        manifest = store.update_manifest(document.key, lambda m: _with_source(m, document.key, record))
    else:
        change = "unchanged"
    states = document_states(store, manifest, config)
    return Work(document.key, change, stages_to_run(states), states)


def _with_source(manifest: Manifest | None, key: str, source: SourceRecord) -> Manifest:
    if manifest is None:
        return Manifest(document_key=key, source=source)
    failure = None if _failed_at_source(manifest) else manifest.failure
    return manifest.model_copy(update={"source": source, "failure": failure})


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
    path, known = manifest.source.local_path, manifest.source
    if trust_times and not _failed_at_source(manifest):
        with contextlib.suppress(OSError):
            stat = path.stat()
            if (stat.st_size, stat.st_mtime) == (known.size, known.modified):
                return manifest
    fingerprint, stat = hash_file(path)
    source = known.model_copy(
        update={"fingerprint": fingerprint, "size": stat.st_size, "modified": stat.st_mtime}
    )
    if source == known and not _failed_at_source(manifest):
        return manifest
    return store.update_manifest(key, lambda m: _with_source(m, key, source))


def source_failure(store: Store, key: str, error: DocumentError) -> DocumentOutcome:
    """The outcome of a document whose file could not be taken in; recorded in its manifest."""
    failure = FailureRecord(
        stage=SOURCE_STAGE, kind=error.kind, cause=error.cause, remedy=error.remedy, at=now()
    )
    manifest = store.manifest(key)
    if manifest is not None:
        store.update_manifest(key, lambda m: (m or manifest).model_copy(update={"failure": failure}))
    return DocumentOutcome(key, [StageOutcome(SOURCE_STAGE, "failed", failure=failure)])


def _refuse_collisions(root: Path, keys: Iterable[str], known: dict[str, Manifest]) -> None:
    taken = [
        k
        for k in keys
        if k in known and known[k].source.root != path_text(root) and known[k].source.local_path.exists()
    ]
    if taken:
        other = known[taken[0]].source.root
        raise DracError(
            f"{len(taken)} document keys of {root} already mean documents of {other} in this home"
            f" (the first: {taken[0]!r}). Use another --home for this source, or give the folder above"
            " both as SOURCE."
        )
