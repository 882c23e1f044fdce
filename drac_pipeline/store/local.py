"""A store of artifacts on a local file system.

    documents/<2 hex>/<slug-hash>/manifest.json
    documents/<2 hex>/<slug-hash>/<stage>/<version>/<files>

An output is written to a temporary folder, renamed to its version's folder, and becomes
visible when the manifest that names it replaces the old one: a reader sees the old output
or the new one, never half of either. What the manifest no longer names is deleted last.
A lock per document (released by the kernel when its holder dies) orders the writers.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Self

from pydantic import ValidationError

from drac_pipeline.errors import DracError
from drac_pipeline.s3.connection import Connection
from drac_pipeline.sources.keys import artifact_dirname
from drac_pipeline.sources.remote import Remote
from drac_pipeline.store.manifest import MANIFEST_SCHEMA_VERSION, Manifest, StageRecord
from drac_pipeline.store.seen import seen_in
from drac_pipeline.store.store import MANIFEST_FILE, ArtifactMissing

log = logging.getLogger(__name__)

_TEMPORARY = ".tmp-"


class LocalStore:
    """The artifacts under `root` (created when first written to). See `Store` for what each method does."""

    def __init__(self, root: Path, remote: Remote | None = None) -> None:
        self.root = Path(root)
        self._remote = remote or Remote(Connection(), self.root.parent / "cache" / "documents")
        self._seen = seen_in(os.path.abspath(root))  # noqa: PTH100 - links stay as they are

    def __reduce__(self) -> tuple[type[Self], tuple[Path, Remote]]:
        return type(self), (self.root, self._remote)

    @property
    def address(self) -> str:
        """The folder."""
        return str(self.root)

    @property
    def state(self) -> Path:
        """The folder `model` beside it."""
        return self.root.parent / "model"

    @property
    def remote(self) -> Remote:
        """How documents in buckets are reached."""
        return self._remote

    def place(self, key: str, stage: str, version: str) -> str:
        """The folder of an output."""
        return str(self.document_dir(key) / stage / version)

    def has_documents(self) -> bool:
        """Whether anything was ever registered."""
        return (self.root / "documents").is_dir()

    def document_dir(self, key: str) -> Path:
        """The folder of a document (it may not exist yet)."""
        return Path(self._document_path(key))

    def _document_path(self, key: str) -> str:
        name = artifact_dirname(key)
        return f"{self.root}/documents/{name[-2:]}/{name}"

    # ------------------------------------------------------------- manifests

    def manifest(self, key: str) -> Manifest | None:
        """The manifest of `key`, or None where the store does not know the document.

        Raises DracError where the manifest cannot be read or is of a newer schema.
        """
        return self._read_manifest(f"{self._document_path(key)}/{MANIFEST_FILE}")

    def manifests_of(self, keys: Iterable[str]) -> dict[str, Manifest]:
        """The manifests of those of `keys` that the store knows."""
        paths = ((key, f"{self._document_path(key)}/{MANIFEST_FILE}") for key in keys)
        return {key: m for key, path in paths if (m := self._look_at_manifest(path)) is not None}

    def manifests(self, *, retired: bool = False) -> Iterator[Manifest]:
        """All manifests, in no particular order; those of retired documents only if asked for."""
        paths: set[str] = set()
        for folder in _folders(f"{self.root}/documents"):
            for document in _folders(folder):
                path = f"{document}/{MANIFEST_FILE}"
                found = self._look_at_manifest(path)
                if found is not None:
                    paths.add(path)
                    if retired or found.retired is None:
                        yield found
        self._seen.keep_only(paths)

    def update_manifest(self, key: str, change: Callable[[Manifest | None], Manifest]) -> Manifest:
        """Replace the manifest of `key` by `change(current)`, alone among writers."""
        with self._locked(key):
            new = change(self.manifest(key))
            self._write_manifest(key, new)
            return new

    @contextlib.contextmanager
    def unchanged(self, key: str) -> Iterator[Manifest | None]:
        """The manifest of `key`; it and the outputs that it names stay as they are meanwhile."""
        with self._locked(key):
            yield self.manifest(key)

    def forget(self, key: str, if_still: Callable[[Manifest], bool] = lambda _: True) -> None:
        """Delete everything of the document, if that still holds of it once what runs on it has
        ended: in the meantime it may have returned."""
        folder = self.document_dir(key)
        if not folder.is_dir():
            return
        with self.working_on(key), self._locked(key):
            manifest = self.manifest(key)
            if manifest is not None and not if_still(manifest):
                return
            (folder / MANIFEST_FILE).unlink(missing_ok=True)  # first: without it nothing else counts
            shutil.rmtree(folder, ignore_errors=True)

    def adopt(self, old: str, new: Manifest, stages: Collection[str]) -> Manifest:
        """Register `new` with the outputs of `stages` that document `old` has, which keeps them too.

        The files are linked where the file system can, else copied; the manifest comes last. Where
        the store knows the document already, it stays as it is.
        """
        with self.working_on(old):
            source = self.manifest(old)
            kept = {n: r for n, r in source.stages.items() if n in stages} if source else {}
            kept = {n: r for n, r in kept.items() if self.has_files(old, n, r)}
            with self._locked(new.document_key):
                if (there := self.manifest(new.document_key)) is not None:
                    return there  # another process was first; what it made stays
                for name, record in kept.items():
                    target = self.document_dir(new.document_key) / name / record.version
                    if target.exists():
                        shutil.rmtree(target)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copytree(
                        self.document_dir(old) / name / record.version, target, copy_function=_link_or_copy
                    )
                manifest = new.model_copy(update={"stages": kept})
                self._write_manifest(new.document_key, manifest)
                return manifest

    def _look_at_manifest(self, path: str) -> Manifest | None:
        """Read it, unless it is as it was when this process read it last."""
        try:
            stat = os.stat(path)  # noqa: PTH116 - many times
        except (FileNotFoundError, NotADirectoryError):
            return None
        found = self._seen.get(path, stat)
        if found is None:
            found = self._read_manifest(path)
            if found is not None:
                self._seen.put(path, stat, found)
        return found

    def _read_manifest(self, path: str) -> Manifest | None:
        try:
            with open(path, "rb") as f:  # noqa: PTH123 - many times
                data = f.read()
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            manifest = Manifest.model_validate_json(data)
        except ValidationError:
            # whoever needs the document registers it anew and makes its stages again
            log.warning("%s is damaged: its document is treated as new", path)
            return None
        if manifest.schema_version > MANIFEST_SCHEMA_VERSION:
            raise DracError(
                f"{path}: written by a newer release (schema {manifest.schema_version}, this one reads"
                f" {MANIFEST_SCHEMA_VERSION}); upgrade drac_pipeline to open this home"
            )
        return manifest

    def _write_manifest(self, key: str, manifest: Manifest) -> None:
        manifest = manifest.model_copy(update={"schema_version": MANIFEST_SCHEMA_VERSION})
        folder = self.document_dir(key)
        folder.mkdir(parents=True, exist_ok=True)
        temporary = folder / f"{_TEMPORARY}{uuid.uuid4().hex}"
        try:
            with temporary.open("w", encoding="utf-8") as f:
                f.write(manifest.model_dump_json(indent=1))
                f.flush()
                os.fsync(f.fileno())
            temporary.replace(folder / MANIFEST_FILE)
        finally:
            temporary.unlink(missing_ok=True)

    @contextlib.contextmanager
    def working_on(self, key: str) -> Iterator[None]:
        """Be the only one who runs stages of the document; waits for whoever does.

        Two runs on one document would do it twice, and each delete files that the other reads.
        Workspaces left there are those of a killed process: they go.
        """
        with self._locked(key, ".work-lock"):
            for left in self.document_dir(key).glob(f"{_TEMPORARY}*/"):
                shutil.rmtree(left, ignore_errors=True)
            yield

    def settle(self, key: str) -> None:
        """Nothing to do: what is published is seen at once."""

    def exclusive(self, name: str) -> contextlib.AbstractContextManager[None]:
        """Be the only one who does what `name` says; waits for whoever does."""
        return _lock(self.root.parent / f".{name}-lock")

    def _locked(self, key: str, name: str = ".lock") -> contextlib.AbstractContextManager[None]:
        return _lock(self.document_dir(key) / name)

    # ------------------------------------------------------------- artifacts

    @contextlib.contextmanager
    def workspace(self, key: str) -> Iterator[Path]:
        """A temporary folder beside the document's artifacts, gone at the end."""
        folder = self.document_dir(key)
        folder.mkdir(parents=True, exist_ok=True)
        path = Path(tempfile.mkdtemp(prefix=_TEMPORARY, dir=folder))
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def publish(
        self, key: str, stage: str, made: Path, record: StageRecord, change: Callable[[Manifest], Manifest]
    ) -> Manifest:
        """Make the files in `made` the output of (stage, key).

        `change` gets the current manifest with the record already in and may add to it.
        The folder of the output before is deleted after the switch.
        """
        folder = self.document_dir(key) / stage
        with self._locked(key):
            current = self.manifest(key)
            if current is None:
                raise ArtifactMissing(f"{key}: no manifest; register the document before its stages")
            folder.mkdir(parents=True, exist_ok=True)
            target = folder / record.version
            if target.exists():  # left by a writer that died before its switch
                shutil.rmtree(target)
            made.replace(target)
            new = change(current.model_copy(update={"stages": {**current.stages, stage: record}}))
            self._write_manifest(key, new)
            for old in folder.iterdir():
                if old.name != record.version:
                    shutil.rmtree(old, ignore_errors=True)
            return new

    def has_files(self, key: str, stage: str, record: StageRecord) -> bool:
        """True where every file that the record names is there in its full size."""
        folder = f"{self._document_path(key)}/{stage}/{record.version}"
        try:
            with os.scandir(folder) as found:
                there = {e.name: e.stat().st_size for e in found}
        except (FileNotFoundError, NotADirectoryError):
            return False
        return all(n in there and there[n] == record.sizes.get(n, there[n]) for n in record.files)

    def path(self, key: str, stage: str, name: str, manifest: Manifest | None = None) -> Path:
        """The file `name` of the current output of (stage, key).

        Raises ArtifactMissing where the stage has no output or the file is gone.
        """
        manifest = manifest or self.manifest(key)
        record = manifest.stages.get(stage) if manifest else None
        if record is None:
            raise ArtifactMissing(f"{key}: no output of {stage} yet; run `drac run` first")
        return self.file(key, stage, record, name)

    def file(self, key: str, stage: str, record: StageRecord, name: str) -> Path:
        """The file `name` of the output that `record` describes."""
        path = self.document_dir(key) / stage / record.version / name
        if not path.is_file():
            raise ArtifactMissing(f"{key}: {stage}/{name} is gone from the store; run `drac run` again")
        return path

    def fetch(self, wanted: Iterable[tuple[Manifest, str, str]]) -> None:
        """Nothing to do: the files are on this machine."""


def _folders(path: str) -> list[str]:
    """What lies in a folder; nothing where it is none."""
    try:
        with os.scandir(path) as found:
            return [e.path for e in found]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _link_or_copy(source: str, target: str) -> None:
    """Outputs are never changed in place, so two documents may share the bytes."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


@contextlib.contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Hold the file lock `path`; the kernel lets it go when its holder dies."""
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            lock = path.open("w")
        except FileNotFoundError:  # the document was deleted just now
            continue
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            try:
                same = os.path.samestat(os.fstat(lock.fileno()), path.stat())
            except FileNotFoundError:
                same = False
            if same:  # else whoever comes next would lock another file of this name
                yield
                return
