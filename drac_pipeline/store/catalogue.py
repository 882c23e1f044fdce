"""The manifests of a store in a bucket, read with as few requests as can be.

Manifests lie below a prefix of their own. A listing of it names a thousand in one request, each with its
ETag, so it says which of those read before have changed: nothing is kept that could be out of step with
them. What was read is remembered on this machine; losing that costs time only.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import threading
from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from drac_pipeline.errors import DracError
from drac_pipeline.s3.bucket import Bucket, Conflict, NotThere
from drac_pipeline.sources.keys import artifact_dirname
from drac_pipeline.store.manifest import MANIFEST_SCHEMA_VERSION, Manifest

log = logging.getLogger(__name__)

_SUFFIX = ".json"
_TABLE = "CREATE TABLE IF NOT EXISTS manifest (name TEXT PRIMARY KEY, etag TEXT, body BLOB) WITHOUT ROWID"
_MOST_PARSED = 20_000  # kept in memory; the others are in the file
Known = tuple[str, Manifest | None]  # ETag and manifest, None where that is damaged


class Catalogue:
    """The manifests below `prefix` of `bucket`; `memory` is the file that remembers them."""

    def __init__(self, bucket: Bucket, prefix: str, memory: Path) -> None:
        self.bucket = bucket
        self.prefix = prefix
        self._memory = memory
        self._known: dict[str, Known] = {}
        self._lock = threading.Lock()

    def object_key(self, key: str) -> str:
        """The object of a document's manifest."""
        return f"{self.prefix}{artifact_dirname(key)}{_SUFFIX}"

    def any(self) -> bool:
        """Whether there is one."""
        return next(self.bucket.list(self.prefix, at_most=1), None) is not None

    def read(self, key: str) -> tuple[str, Manifest | None]:
        """ETag and manifest of a document as they are now; ("", None) where there is none, and None with
        its ETag where it is damaged."""
        name = self.object_key(key)
        known = self._remembered([name]).get(name)
        try:
            got = self.bucket.get(name, known[0] if known else "")
        except NotThere:
            self._forget(name)
            return "", None
        if got is None:
            assert known is not None
            return known
        return self._learn(name, got.etag, got.data)

    def read_some(self, keys: Iterable[str]) -> dict[str, Manifest]:
        """The manifests of those of `keys` that have one."""
        every = list(keys)
        if len(every) > 200:  # a listing costs less than so many questions
            known = {m.document_key: m for m in self.read_all()}
            return {k: known[k] for k in every if k in known}
        found = zip(every, self.bucket.in_parallel(self.read, every), strict=True)
        return {k: manifest for k, (_, manifest) in found if manifest is not None}

    def read_all(self) -> list[Manifest]:
        """All manifests, as a listing that begins now finds them."""
        listed = {o.key: o.etag for o in self.bucket.list(self.prefix) if o.key.endswith(_SUFFIX)}
        known = self._remembered(listed)
        news = [n for n, etag in listed.items() if n not in known or known[n][0] != etag]

        def fetch(name: str) -> tuple[str, str, bytes] | None:
            with contextlib.suppress(NotThere):  # deleted since
                got = self.bucket.get(name)
                if got is not None:
                    return name, got.etag, got.data
            return None

        out = {n: known[n][1] for n in listed if n in known}
        learned = [x for x in self.bucket.in_parallel(fetch, news) if x]
        for name, etag, data in learned:
            out[name] = self._parsed(name, etag, data)[1]
        self._remember(learned)
        return [m for m in out.values() if m is not None]

    def write(self, key: str, manifest: Manifest, replaces: str) -> str:
        """Replace the manifest whose ETag is `replaces` (empty: there is none yet); gives its ETag.

        Raises Conflict where it is another one by now.
        """
        manifest = manifest.model_copy(update={"schema_version": MANIFEST_SCHEMA_VERSION})
        name, data = self.object_key(key), manifest.model_dump_json(indent=1).encode()
        try:
            etag = self.bucket.put(name, data, replaces=replaces, new=not replaces)
        except Conflict:
            got = None
            with contextlib.suppress(NotThere):
                got = self.bucket.get(name)
            if got is None or got.data != data:
                raise
            etag = got.etag  # it was written: the answer to an earlier attempt was lost
        self._learn(name, etag, data)
        return etag

    def delete(self, key: str, only: str) -> None:
        """Delete the manifest whose ETag is `only`. Raises Conflict where it is another one by now."""
        name = self.object_key(key)
        self.bucket.delete(name, only=only)
        self._forget(name)

    # -------------------------------------------------------------- memory

    def _parsed(self, name: str, etag: str, data: bytes) -> Known:
        try:
            manifest = Manifest.model_validate_json(data)
        except ValidationError:
            # whoever needs the document registers it anew and makes its stages again
            log.warning("%s is damaged: its document is treated as new", self.bucket.address(name))
            manifest = None
        if manifest is not None and manifest.schema_version > MANIFEST_SCHEMA_VERSION:
            raise DracError(
                f"{self.bucket.address(name)}: written by a newer release (schema"
                f" {manifest.schema_version}, this one reads {MANIFEST_SCHEMA_VERSION}); upgrade"
                " drac_pipeline to open this home"
            )
        found: Known = (etag, manifest)
        with self._lock:
            if len(self._known) >= _MOST_PARSED:
                self._known.clear()
            self._known[name] = found
        return found

    def _learn(self, name: str, etag: str, data: bytes) -> Known:
        found = self._parsed(name, etag, data)
        self._remember([(name, etag, data)])
        return found

    def _remembered(self, names: Iterable[str]) -> dict[str, Known]:
        """What is known of these, first of this process, then of this machine where that is newer."""
        wanted = list(names)
        with self._lock:
            out = {n: self._known[n] for n in wanted if n in self._known}
        with contextlib.suppress(sqlite3.Error), self._open() as db:
            if len(wanted) > 500:
                rows = dict(db.execute("SELECT name, etag FROM manifest").fetchall())
            else:
                marks = ",".join("?" * len(wanted))
                query = f"SELECT name, etag FROM manifest WHERE name IN ({marks})"
                rows = dict(db.execute(query, wanted).fetchall())
            for name in wanted:
                if name in rows and (name not in out or out[name][0] != rows[name]):
                    row = db.execute("SELECT etag, body FROM manifest WHERE name = ?", [name]).fetchone()
                    if row:
                        out[name] = self._parsed(name, row[0], row[1])
        return out

    def _remember(self, rows: Iterable[tuple[str, str, bytes]]) -> None:
        with contextlib.suppress(sqlite3.Error, OSError), self._open() as db:
            db.executemany("INSERT OR REPLACE INTO manifest VALUES (?, ?, ?)", rows)

    def _forget(self, name: str) -> None:
        with self._lock:
            self._known.pop(name, None)
        with contextlib.suppress(sqlite3.Error, OSError), self._open() as db:
            db.execute("DELETE FROM manifest WHERE name = ?", [name])

    @contextlib.contextmanager
    def _open(self):
        self._memory.parent.mkdir(parents=True, exist_ok=True)
        try:
            db = sqlite3.connect(self._memory, timeout=30)
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=OFF")  # it may be lost
            db.execute(_TABLE)
        except sqlite3.DatabaseError as e:
            if isinstance(e, sqlite3.OperationalError):
                raise
            self._memory.unlink(missing_ok=True)  # not a database: begin anew
            raise
        with contextlib.closing(db), db:
            yield db
