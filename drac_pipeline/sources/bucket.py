"""Documents in a bucket: what lies below a prefix, or one object.

An object is replaced as a whole, and its ETag is another one then, so none is ever half written and none
is read to see that it is unchanged. Listed are the newest versions: an object with a delete marker is gone.
"""

from __future__ import annotations

import contextlib
import unicodedata
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from drac_pipeline.config import SourceConfig
from drac_pipeline.errors import DocumentError, SourceChanged
from drac_pipeline.globs import glob_pattern
from drac_pipeline.model import SourceDocument
from drac_pipeline.s3.address import BucketAddress
from drac_pipeline.s3.bucket import Bucket, Conflict, NotThere, ObjectInfo
from drac_pipeline.sources.fingerprint import FingerprintCache
from drac_pipeline.sources.folder import is_ignored
from drac_pipeline.sources.keys import object_document_key
from drac_pipeline.sources.remote import Remote
from drac_pipeline.sources.source import Skipped, SourceEntry

STORE_MARKER = "drac-store.json"  # what a store of drac has at its root
_FOLDER_MARKER = "_$folder$"


class BucketSource:
    """The documents below `address`; those of one object, if there is one of just that key.

    Raises StorageError where the bucket cannot be listed.
    """

    def __init__(
        self,
        address: BucketAddress,
        config: SourceConfig,
        remote: Remote,
        cache: FingerprintCache | None = None,
    ) -> None:
        self.bucket = Bucket(address.bucket, remote.connection)
        self.config, self.remote, self.cache = config, remote, cache
        self.skipped: list[Skipped] = []
        self._there: set[str] = set()
        self._coming: dict[str, Future[SourceDocument]] = {}
        self._only = self._single(address)
        self._prefix = address.folder
        if self._only:
            self._prefix = address.prefix.rpartition("/")[0]
            self._prefix += "/" if self._prefix else ""

    def _single(self, address: BucketAddress) -> ObjectInfo | None:
        there = next(self.bucket.list(address.folder, at_most=1), None)
        if there is not None or not address.prefix or address.prefix.endswith("/"):
            return None
        return self.bucket.head(address.prefix)

    @property
    def place(self) -> str:
        """`s3://bucket/prefix`."""
        return str(BucketAddress(self.bucket.name, self._prefix))

    @property
    def is_single_file(self) -> bool:
        """True where the source is one object, and so says nothing of its neighbours."""
        return self._only is not None

    def list(self) -> list[SourceEntry]:
        """Every document, sorted by key; a request for each thousand objects.

        Left out are hidden and temporary names, as in folders; markers that stand for folders; and what
        lies in a store of drac.
        """
        self.skipped = []
        found = [self._only] if self._only else list(self.bucket.list(self._prefix))
        self._there = {self.bucket.address(o.key) for o in found}
        stores = [o.key.removesuffix(STORE_MARKER) for o in found if _is_store(o.key)]
        entries = []
        for prefix in stores:
            self.skipped.append(Skipped(self.bucket.address(prefix), "a store of drac, not documents"))
        for o in found:
            name = o.key.removeprefix(self._prefix)
            if any(o.key.startswith(s) for s in stores) or any(map(is_ignored, name.split("/"))):
                continue
            if not name or name.endswith(("/", _FOLDER_MARKER)):
                if o.size:
                    told = "an object with the name of a folder"
                    self.skipped.append(Skipped(self.bucket.address(o.key), told))
                continue
            if self._only or self._wanted(name):
                entries.append(self._entry(o, name))
        return sorted(entries, key=lambda e: e.key)

    @contextlib.contextmanager
    def ahead(self, entries: Iterable[SourceEntry]) -> Iterator[None]:
        """Have the documents whose fingerprints nobody remembers read several at a time."""
        unknown = [e for e in entries if self._known(e) is None]
        if len(unknown) < 2:
            yield
            return
        pool = ThreadPoolExecutor(min(self.remote.connection.in_parallel, len(unknown)))
        try:
            self._coming = {e.address: pool.submit(self._read, e) for e in unknown}
            yield
        finally:
            self._coming = {}
            pool.shutdown(wait=True, cancel_futures=True)

    def fingerprint(self, entry: SourceEntry) -> SourceDocument:
        """The document with the SHA-256 of its bytes (remembered by its ETag if a cache was given).

        What was read for it stays as a copy for the first stage. Raises SourceChanged or StorageError,
        naming the document.
        """
        if (known := self._known(entry)) is not None:
            return _document(entry, known)
        coming = self._coming.get(entry.address)
        document = coming.result() if coming else self._read(entry)
        if self.cache is not None:
            self.cache.remember(entry.address, _state(entry), document.fingerprint)
        return document

    def fetch(self, entry: SourceEntry) -> Path:
        """A copy of the object on this machine."""
        if not self.remote.cache.get(entry.path):
            self._read(entry)
        return entry.path

    def holds(self, path: str) -> bool:
        """Whether the object was in the last listing."""
        return path in self._there

    def cannot_say(self, path: str) -> bool:  # noqa: ARG002
        """Never: a listing is whole, or an error."""
        return False

    def _known(self, entry: SourceEntry) -> str | None:
        return self.cache.known(entry.address, _state(entry)) if self.cache is not None else None

    def _read(self, entry: SourceEntry) -> SourceDocument:
        key = entry.address.removeprefix(self.bucket.address()).removeprefix("/")
        try:
            _, digest = read_object(self.bucket, key, entry.path, entry.version)
        except DocumentError as e:
            e.key, e.stage = entry.key, "source"
            raise
        self.remote.cache.added(entry.size)
        return _document(entry, digest)

    def _entry(self, o: ObjectInfo, name: str) -> SourceEntry:
        address = self.bucket.address(o.key)
        path = self.remote.copy_of(address, o.etag)
        return SourceEntry(object_document_key(name), path, o.size, o.modified, address, o.etag)

    def _wanted(self, name: str) -> bool:
        name = unicodedata.normalize("NFC", name)
        included = any(glob_pattern(g).fullmatch(name) for g in self.config.include)
        return included and not any(glob_pattern(g).fullmatch(name) for g in self.config.exclude)


def read_object(bucket: Bucket, key: str, target: Path, etag: str) -> tuple[ObjectInfo, str]:
    """Copy the version of that ETag to `target`; gives what it is and its SHA-256.

    Raises SourceChanged where there is no such version any more, StorageError where it cannot be read.
    """
    try:
        return bucket.download(key, target, etag)
    except NotThere as e:
        raise SourceChanged("the object is gone", remedy="Run again.") from e
    except Conflict as e:
        raise SourceChanged("the object was replaced after it was listed", remedy="Run again.") from e


def _is_store(key: str) -> bool:
    return key == STORE_MARKER or key.endswith(f"/{STORE_MARKER}")


def _state(entry: SourceEntry) -> tuple[int, int, str]:
    return entry.size, entry.mtime_ns, entry.version


def _document(entry: SourceEntry, fingerprint: str) -> SourceDocument:
    return SourceDocument(
        entry.key,
        entry.path,
        fingerprint,
        entry.size,
        entry.mtime_ns / 1e9,
        address=entry.address,
        version=entry.version,
    )
