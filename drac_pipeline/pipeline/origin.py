"""The file or object that a registered document was taken in from."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from drac_pipeline.errors import SourceChanged
from drac_pipeline.s3.address import BucketAddress, is_bucket_address
from drac_pipeline.sources.fingerprint import hash_file
from drac_pipeline.sources.remote import Remote
from drac_pipeline.store.manifest import SourceRecord


class Origin(Protocol):
    """Where a document's bytes are."""

    def exists(self) -> bool:
        """Whether it is there. Raises StorageError where nobody can say."""
        ...

    def is_as_recorded(self) -> bool:
        """Whether it is, by its size and time or its ETag, what the record says. Raises SourceChanged where
        it is gone, DocumentError where it cannot be looked at."""
        ...

    def check(self) -> None:
        """Raises SourceChanged where it is gone or has other bytes than the record says."""
        ...

    def look(self) -> SourceRecord:
        """What it is now, its bytes read where they may have changed. Raises DocumentError."""
        ...

    def file(self) -> AbstractContextManager[Path]:
        """A file of this machine with its bytes, after `check`. Raises DocumentError."""
        ...


def origin_of(record: SourceRecord, remote: Remote) -> Origin:
    """The origin of a document."""
    return _Object(record, remote) if is_bucket_address(record.path) else _File(record)


class _File:
    def __init__(self, record: SourceRecord) -> None:
        self.record, self.path = record, record.local_path

    def exists(self) -> bool:
        return os.path.lexists(self.path)

    def is_as_recorded(self) -> bool:
        try:
            stat = self.path.stat()
        except OSError as e:
            raise SourceChanged(
                f"{self.record.path} cannot be read any more ({e.strerror})",
                remedy="Put the file back, or run `drac run` to take in the source as it is now.",
            ) from e
        return (stat.st_size, stat.st_mtime) == (self.record.size, self.record.modified)

    def check(self) -> None:
        if not self.is_as_recorded() and hash_file(self.path)[0] != self.record.fingerprint:
            raise _changed("file")

    def look(self) -> SourceRecord:
        fingerprint, stat = hash_file(self.path)
        return self.record.model_copy(
            update={"fingerprint": fingerprint, "size": stat.st_size, "modified": stat.st_mtime}
        )

    @contextlib.contextmanager
    def file(self) -> Iterator[Path]:
        yield self.path


class _Object:
    def __init__(self, record: SourceRecord, remote: Remote) -> None:
        from drac_pipeline.s3.bucket import Bucket

        self.record, self.remote = record, remote
        at = BucketAddress.parse(record.path)
        self.bucket, self.key = Bucket(at.bucket, remote.connection), at.prefix

    def exists(self) -> bool:
        return self.bucket.head(self.key) is not None

    def is_as_recorded(self) -> bool:
        found = self.bucket.head(self.key)
        if found is None:
            raise SourceChanged(
                f"{self.record.path} does not exist any more",
                remedy="Put the object back, or run `drac run` to take in the source as it is now.",
            )
        return found.etag == self.record.version

    def check(self) -> None:
        if not self.is_as_recorded():
            raise _changed("object")

    def look(self) -> SourceRecord:
        from drac_pipeline.sources.bucket import read_object

        found = self.bucket.head(self.key)
        if found is None:
            raise SourceChanged("the object is gone", remedy="Run again.")
        if found.etag == self.record.version:
            return self.record
        copy = self.remote.copy_of(self.record.path, found.etag)
        got, digest = read_object(self.bucket, self.key, copy, found.etag)
        news = {"fingerprint": digest, "size": got.size, "modified": got.modified / 1e9, "version": got.etag}
        return self.record.model_copy(update=news)

    @contextlib.contextmanager
    def file(self) -> Iterator[Path]:
        from drac_pipeline.sources.bucket import read_object

        copy = self.remote.copy_of(self.record.path, self.record.version)
        if not self.remote.cache.get(copy) or copy.stat().st_size != self.record.size:
            read_object(self.bucket, self.key, copy, self.record.version)
            self.remote.cache.added(self.record.size)
        if hash_file(copy)[0] != self.record.fingerprint:
            copy.unlink(missing_ok=True)
            raise _changed("object")
        yield copy


def _changed(what: str) -> SourceChanged:
    return SourceChanged(
        f"the {what} is not the one that was registered", remedy="Run `drac run` to register its new content."
    )
