"""A store of artifacts in a bucket.

    manifests/<slug-hash>.json
    documents/<2 hex>/<slug-hash>/<stage>/<version>/<files>
    leases/<slug-hash>.json

Outputs go up under the name of a version that was never there before, several files at a time and while
the next stage is at work; then the manifest that names them replaces the old one in a single conditional
PUT. Who reads sees the old outputs or the new ones, and no writer undoes what another wrote meanwhile:
he reads again and applies his change to that. What was replaced is deleted last. What a killed process
has left is deleted by the next who works on the document, and by `sweep`.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from drac_pipeline.errors import ConfigError, StorageError
from drac_pipeline.s3.address import BucketAddress
from drac_pipeline.s3.bucket import Bucket, Conflict, NotThere
from drac_pipeline.s3.cache import ArtifactCache
from drac_pipeline.s3.connection import Connection
from drac_pipeline.sources.keys import artifact_dirname
from drac_pipeline.sources.remote import Remote
from drac_pipeline.store.catalogue import Catalogue
from drac_pipeline.store.lease import lease
from drac_pipeline.store.manifest import Manifest, StageRecord
from drac_pipeline.store.store import ArtifactMissing

log = logging.getLogger(__name__)

MARKER = "drac-store.json"
_MARKED = b'{"layout": 1}\n'
_SWITCH_SECONDS = 2.0  # outputs wait so long at most before the manifest names them
Change = Callable[[Manifest], Manifest]


@dataclass
class _Session:
    """A document at work: its manifest as last written (`base`, with its ETag), and what is to change in
    it, each with the files that have to be up before. `current` is what it will be."""

    key: str
    etag: str
    base: Manifest | None
    current: Manifest | None
    pending: list[tuple[Change, list[Future[None]]]] = field(default_factory=list)
    timer: threading.Timer | None = None
    failed: StorageError | None = None
    lock: threading.RLock = field(default_factory=threading.RLock)


class ObjectStore:
    """The artifacts below `address`. `state` is the folder for models' ledgers, `cache` the one for copies,
    of `cache_bytes` at most; a lease that was not renewed for `lease_seconds` may be taken over. See
    `Store` for what each method does. Every method raises StorageError where the bucket does not answer.
    """

    def __init__(
        self,
        address: BucketAddress,
        connection: Connection,
        state: Path,
        cache: Path,
        cache_bytes: int = 20_000_000_000,
        lease_seconds: float = 60.0,
    ) -> None:
        self._given = (address, connection, state, cache, cache_bytes, lease_seconds)
        self._remote = Remote(connection, cache / "documents", cache_bytes)
        self.bucket = Bucket(address.bucket, connection)
        self.prefix = address.folder
        self._address, self._state = address, state
        self._cache_root = cache / artifact_dirname(f"{connection.endpoint_url} {address}")
        self.cache = ArtifactCache(self._cache_root, cache_bytes)
        self.catalogue = Catalogue(
            self.bucket, f"{self.prefix}manifests/", self._cache_root / "manifests.sqlite"
        )
        self._lease_seconds = lease_seconds
        self._sessions: dict[str, _Session] = {}
        self._marked = False
        self._pool_lock = threading.Lock()
        self._pool: tuple[int, ThreadPoolExecutor] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self._given, self._marked)

    @property
    def address(self) -> str:
        """`s3://bucket/prefix`."""
        return str(self._address)

    @property
    def state(self) -> Path:
        """The folder of this machine for ledgers and caches of models."""
        return self._state

    @property
    def remote(self) -> Remote:
        """How documents in buckets are reached."""
        return self._remote

    def place(self, key: str, stage: str, version: str) -> str:
        """The address of an output."""
        return self.bucket.address(self._output(key, stage, version))

    def has_documents(self) -> bool:
        """Whether anything was ever registered."""
        return self.catalogue.any()

    def _document(self, key: str) -> str:
        name = artifact_dirname(key)
        return f"{self.prefix}documents/{name[-2:]}/{name}/"

    def _output(self, key: str, stage: str, version: str) -> str:
        return f"{self._document(key)}{stage}/{version}/"

    # ------------------------------------------------------------- manifests

    def manifest(self, key: str) -> Manifest | None:
        """The manifest of `key`, or None where the store does not know the document."""
        if (session := self._sessions.get(key)) is not None:
            return session.current
        return self.catalogue.read(key)[1]

    def manifests_of(self, keys: Iterable[str]) -> dict[str, Manifest]:
        """The manifests of those of `keys` that the store knows."""
        return self.catalogue.read_some(keys)

    def manifests(self, *, retired: bool = False) -> Iterator[Manifest]:
        """All manifests, in no particular order; those of retired documents only if asked for."""
        for manifest in self.catalogue.read_all():
            if retired or manifest.retired is None:
                yield manifest

    def update_manifest(self, key: str, change: Callable[[Manifest | None], Manifest]) -> Manifest:
        """Replace the manifest of `key` by `change(current)`; no other writer's change is lost."""
        self._mark()
        if (session := self._sessions.get(key)) is not None:
            with session.lock:
                session.current = change(session.current)
                session.pending.append((change, []))
                self._switch(session)
                assert session.current is not None
                return session.current
        while True:
            etag, current = self.catalogue.read(key)
            new = change(current)
            if new == current:
                return new
            with contextlib.suppress(Conflict):
                self.catalogue.write(key, new, etag)
                return new

    def forget(self, key: str, if_still: Callable[[Manifest], bool] = lambda _: True) -> None:
        """Delete everything of the document, if that still holds of it once what runs on it has ended."""
        with lease(self.bucket, self._lease(key), self._lease_seconds):
            while True:
                etag, manifest = self.catalogue.read(key)
                if manifest is not None and not if_still(manifest):
                    return
                with contextlib.suppress(Conflict):
                    if etag:
                        self.catalogue.delete(key, etag)  # first: without it nothing else counts
                    break
            self.bucket.delete_all(o.key for o in self.bucket.list(self._document(key)))
            self.cache.drop(artifact_dirname(key))

    def adopt(self, old: str, new: Manifest, stages: Collection[str]) -> Manifest:
        """Register `new` with the outputs of `stages` that document `old` has, which keeps them too.

        The objects are copied within the bucket; the manifest comes last.
        """
        self._mark()
        with self.working_on(old):
            source = self.manifest(old)
            kept = {n: r for n, r in source.stages.items() if n in stages} if source else {}
            there = self.catalogue.read(new.document_key)[1]
            if there is not None:
                return there  # another process was first; what it made stays
            for name, record in kept.copy().items():
                origin = self._output(old, name, record.version)
                target = self._output(new.document_key, name, record.version)
                pairs = [(f"{origin}{f}", f"{target}{f}") for f in record.files]
                try:
                    for _ in self.bucket.in_parallel(lambda p: self.bucket.copy(*p), pairs):
                        pass
                except NotThere:  # made again where it is needed
                    del kept[name]
            manifest = new.model_copy(update={"stages": kept})
            try:
                self.catalogue.write(new.document_key, manifest, "")
            except Conflict:
                return self.catalogue.read(new.document_key)[1] or manifest
            return manifest

    @contextlib.contextmanager
    def working_on(self, key: str) -> Iterator[None]:
        """Be the only one who runs stages of the document; waits for whoever does.

        What a process has left that was killed at it is deleted.
        """
        with lease(self.bucket, self._lease(key), self._lease_seconds, lambda: self._clear(key)):
            etag, manifest = self.catalogue.read(key)
            session = self._sessions[key] = _Session(key, etag, manifest, manifest)
            try:
                yield
                self.settle(key)
            finally:
                del self._sessions[key]
                if session.timer:
                    session.timer.cancel()
                for _, uploads in session.pending:
                    for upload in uploads:
                        upload.cancel()

    def exclusive(self, name: str) -> contextlib.AbstractContextManager[None]:
        """Be the only one who does what `name` says; waits for whoever does."""
        return lease(self.bucket, f"{self.prefix}leases/{name}.lease", self._lease_seconds)

    def settle(self, key: str) -> None:
        """Have the manifest name all that was published of the document."""
        if (session := self._sessions.get(key)) is not None:
            with session.lock:
                self._switch(session)

    def _lease(self, key: str) -> str:
        return f"{self.prefix}leases/{artifact_dirname(key)}.json"

    def _switch(self, session: _Session) -> None:
        """Wait for the files on their way, and replace the manifest by one that names them: as far as they
        could go up, in the order of publishing. Raises for the first that could not."""
        if session.timer:
            session.timer.cancel()
            session.timer = None
        pending, session.pending = session.pending, []
        failed, session.failed = session.failed, None
        try:
            ready: list[Change] = []
            for change, uploads in pending:
                try:
                    for upload in uploads:
                        upload.result()
                except StorageError as e:
                    failed = failed or e
                    break
                ready.append(change)
            while ready:
                new = session.base
                for change in ready:
                    new = change(new)  # pyright: ignore[reportArgumentType]
                assert new is not None
                try:
                    session.etag = self.catalogue.write(session.key, new, session.etag)
                except Conflict:  # somebody else changed it: on top of that, then
                    session.etag, session.base = self.catalogue.read(session.key)
                    continue
                replaced, session.base = _replaced(session.base, new), new
                self._delete_outputs(session.key, replaced)
                break
        finally:
            session.current = session.base
        if failed:
            raise failed

    def _switch_in_time(self, session: _Session) -> None:
        """What the timer does: the error, if any, is for who works on the document."""
        with session.lock:
            if self._sessions.get(session.key) is session:
                try:
                    self._switch(session)
                except StorageError as e:
                    session.failed = e

    def _delete_outputs(self, key: str, outputs: Iterable[tuple[str, StageRecord]]) -> None:
        gone = [f"{self._output(key, stage, r.version)}{f}" for stage, r in outputs for f in r.files]
        for stage, record in outputs:
            self.cache.drop(artifact_dirname(key), stage, record.version)
        try:
            self.bucket.delete_all(gone)
        except StorageError as e:  # nobody names them any more; the sweep finds them
            log.warning("%s: what was replaced could not be deleted: %s", key, e)

    def _clear(self, key: str) -> None:
        """Delete what lies below the document and is not named by its manifest."""
        manifest = self.catalogue.read(key)[1]
        named = {
            f"{self._output(key, stage, r.version)}{f}"
            for stage, r in (manifest.stages if manifest else {}).items()
            for f in r.files
        }
        self.bucket.delete_all(o.key for o in self.bucket.list(self._document(key)) if o.key not in named)

    def _mark(self) -> None:
        """Before anything is written: does the service keep its promise to write only where nothing is?
        Raises ConfigError where it does not, since two writers could undo each other's work."""
        if self._marked:
            return
        key = f"{self.prefix}{MARKER}"
        if self.bucket.head(key) is None:
            with contextlib.suppress(Conflict):
                self.bucket.put(key, _MARKED, new=True)
            try:
                self.bucket.put(key, _MARKED, new=True)
            except Conflict:
                pass
            else:
                raise ConfigError(
                    f"{self.bucket.address()}: the service ignores If-None-Match, so that two writers could"
                    " undo each other's work. Use one that has conditional writes (Amazon S3 and current"
                    " releases of most others do)."
                )
        self._marked = True

    # ------------------------------------------------------------- artifacts

    @contextlib.contextmanager
    def workspace(self, key: str) -> Iterator[Path]:
        """A temporary folder of this machine, gone at the end."""
        folder = self._cache_root / "work"
        folder.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(folder)
        path = Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-{artifact_dirname(key)[:40]}-", dir=folder))
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def publish(self, key: str, stage: str, made: Path, record: StageRecord, change: Change) -> Manifest:
        """Make the files in `made` the output of (stage, key).

        Within `working_on` they go up while the next stage is at work, and the manifest follows at the
        latest with `settle`; before that, `manifest` and `path` of this process have them all the same.
        """
        name = artifact_dirname(key)
        if (session := self._sessions.get(key)) is None:
            with self.working_on(key):
                self.publish(key, stage, made, record, change)
                self.settle(key)
                return self._sessions[key].current  # pyright: ignore[reportReturnType]

        def switch(current: Manifest | None) -> Manifest:
            if current is None:
                raise ArtifactMissing(f"{key}: no manifest; register the document before its stages")
            return change(current.model_copy(update={"stages": {**current.stages, stage: record}}))

        with session.lock:
            if session.failed:
                raise session.failed
            session.current = switch(session.current)
            folder = self.cache.take(made, name, stage, record.version)
            target, pool = self._output(key, stage, record.version), self._uploads()
            uploads = [pool.submit(self.bucket.upload, f"{target}{f}", folder / f) for f in record.files]
            session.pending.append((switch, uploads))
            if session.timer is None:
                session.timer = threading.Timer(_SWITCH_SECONDS, self._switch_in_time, [session])
                session.timer.daemon = True
                session.timer.start()
            return session.current  # pyright: ignore[reportReturnType]

    def _uploads(self) -> ThreadPoolExecutor:
        with self._pool_lock:
            if self._pool is None or self._pool[0] != os.getpid():
                n = self.bucket.connection.in_parallel
                self._pool = os.getpid(), ThreadPoolExecutor(n, thread_name_prefix="drac-uploads")
            return self._pool[1]

    def has_files(self, key: str, stage: str, record: StageRecord) -> bool:  # noqa: ARG002
        """Whether the manifest names files: they went up before it did. One that has been deleted by hand
        is found out when it is read, or by `sweep`."""
        return bool(record.files)

    def path(self, key: str, stage: str, name: str, manifest: Manifest | None = None) -> Path:
        """A copy of the file `name` of the current output of (stage, key)."""
        manifest = manifest or self.manifest(key)
        record = manifest.stages.get(stage) if manifest else None
        if record is None:
            raise ArtifactMissing(f"{key}: no output of {stage} yet; run `drac run` first")
        return self.file(key, stage, record, name)

    def file(self, key: str, stage: str, record: StageRecord, name: str) -> Path:
        """A copy of the file `name` of the output that `record` describes."""
        path = self.cache.folder(artifact_dirname(key), stage, record.version) / name
        if name in record.files and self.cache.get(path):
            return path
        try:
            if name not in record.files:
                raise NotThere(name)
            found, _ = self.bucket.download(self.object_key(key, stage, record, name), path)
        except NotThere as e:
            self.drop_output(key, stage, record)
            raise ArtifactMissing(
                f"{key}: {stage}/{name} is gone from the store; run `drac run` again"
            ) from e
        self.cache.added(found.size)
        return path

    def fetch(self, wanted: Iterable[tuple[Manifest, str, str]]) -> None:
        """Copy these files to this machine, several at a time."""

        def get(one: tuple[Manifest, str, str]) -> None:
            manifest, stage, name = one
            with contextlib.suppress(ArtifactMissing):
                self.path(manifest.document_key, stage, name, manifest)

        for _ in self.bucket.in_parallel(get, wanted):
            pass

    def object_key(self, key: str, stage: str, record: StageRecord, name: str) -> str:
        """The object of the file `name` of an output."""
        return f"{self._output(key, stage, record.version)}{name}"

    def is_missing(self, key: str, stage: str, record: StageRecord, names: Iterable[str]) -> bool:
        """Whether one of these files is not there now, and the manifest names it all the same."""
        gone = any(self.bucket.head(self.object_key(key, stage, record, n)) is None for n in names)
        manifest = self.catalogue.read(key)[1] if gone else None
        return manifest is not None and manifest.stages.get(stage) == record

    def drop_output(self, key: str, stage: str, record: StageRecord) -> None:
        """Take the output out of the manifest, if that still names it, so that the next run makes it."""

        def without(current: Manifest | None) -> Manifest:
            if current is None or current.stages.get(stage) != record:
                raise NotThere(key)
            return current.model_copy(
                update={"stages": {n: r for n, r in current.stages.items() if n != stage}}
            )

        with contextlib.suppress(StorageError):  # who may only read leaves it to others
            self.update_manifest(key, without)


def _replaced(old: Manifest | None, new: Manifest) -> list[tuple[str, StageRecord]]:
    """The outputs that the old manifest names and the new one does not."""
    if old is None:
        return []
    kept = {(n, r.version) for n, r in new.stages.items()}
    return [(n, r) for n, r in old.stages.items() if (n, r.version) not in kept]


def _remove_abandoned(folder: Path) -> None:
    """Workspaces of processes that were killed."""
    for left in folder.iterdir():
        pid = left.name.partition("-")[0]
        if pid.isdigit() and not Path(f"/proc/{pid}").exists():
            shutil.rmtree(left, ignore_errors=True)


def _rebuild(given: tuple[Any, ...], marked: bool) -> ObjectStore:
    store = ObjectStore(*given)
    store._marked = marked
    return store
