"""What every store of artifacts does, wherever it keeps them.

Stages work on files of this machine. A store hands out a folder to write to (`workspace`), takes
what a stage made (`publish`), and gives paths to read from (`path`), of the files themselves or of
copies. An output becomes visible when the manifest that names it replaces the old one: a reader
sees the old output or the new one, never half of either.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from drac_pipeline.errors import DracError
from drac_pipeline.sources.remote import Remote
from drac_pipeline.store.manifest import Manifest, StageRecord

MANIFEST_FILE = "manifest.json"


class ArtifactMissing(DracError):
    """A stage's output is asked for that is not in the store."""


class Store(Protocol):
    """Artifacts by (stage, document), with a manifest per document. Pickles, and may be used by any
    number of threads and processes at once.

    A manifest that cannot be read, or is of a newer schema, raises DracError wherever one is read.
    """

    @property
    def address(self) -> str:
        """Where the store is, for a person."""
        ...

    @property
    def state(self) -> Path:
        """The folder of this machine for ledgers and caches of models."""
        ...

    @property
    def remote(self) -> Remote:
        """How documents in buckets are reached."""
        ...

    def place(self, key: str, stage: str, version: str) -> str:
        """Where an output lies, for a person."""
        ...

    def has_documents(self) -> bool:
        """Whether anything was ever registered."""
        ...

    # ------------------------------------------------------------- manifests

    def manifest(self, key: str) -> Manifest | None:
        """The manifest of `key`, or None where the store does not know the document."""
        ...

    def manifests_of(self, keys: Iterable[str]) -> dict[str, Manifest]:
        """The manifests of those of `keys` that the store knows."""
        ...

    def manifests(self, *, retired: bool = False) -> Iterator[Manifest]:
        """All manifests, in no particular order; those of retired documents only if asked for."""
        ...

    def update_manifest(self, key: str, change: Callable[[Manifest | None], Manifest]) -> Manifest:
        """Replace the manifest of `key` by `change(current)`; no other writer's change is lost."""
        ...

    def forget(self, key: str, if_still: Callable[[Manifest], bool] = lambda _: True) -> None:
        """Delete everything of the document, if that still holds of it once what runs on it has
        ended: in the meantime it may have returned."""
        ...

    def adopt(self, old: str, new: Manifest, stages: Collection[str]) -> Manifest:
        """Register `new` with the outputs of `stages` that document `old` has, which keeps them too.

        Where the store knows the document already, it stays as it is.
        """
        ...

    def working_on(self, key: str) -> AbstractContextManager[None]:
        """Be the only one who runs stages of the document; waits for whoever does.

        Two runs on one document would do it twice, and each delete files that the other reads.
        """
        ...

    def settle(self, key: str) -> None:
        """Have everybody see what was published of the document; raises where that cannot be.

        A store may let outputs wait while their document is worked on.
        """
        ...

    def exclusive(self, name: str) -> AbstractContextManager[None]:
        """Be the only one who does what `name` says (`index`) with this store; waits for whoever does."""
        ...

    # ------------------------------------------------------------- artifacts

    def workspace(self, key: str) -> AbstractContextManager[Path]:
        """A temporary folder for what a stage makes of the document, gone at the end."""
        ...

    def publish(
        self, key: str, stage: str, made: Path, record: StageRecord, change: Callable[[Manifest], Manifest]
    ) -> Manifest:
        """Make the files in `made` (a workspace, which is taken) the output of (stage, key).

        The manifest gets `record` and then `change`; what it replaced is deleted last. Raises
        ArtifactMissing where the document is not registered.
        """
        ...

    def has_files(self, key: str, stage: str, record: StageRecord) -> bool:
        """Whether the files that the record names are there, as far as the store can say quickly."""
        ...

    def path(self, key: str, stage: str, name: str, manifest: Manifest | None = None) -> Path:
        """The file `name` of the current output of (stage, key), to be read only.

        Raises ArtifactMissing where the stage has no output or the file is gone.
        """
        ...

    def file(self, key: str, stage: str, record: StageRecord, name: str) -> Path:
        """The file `name` of the output that `record` describes, to be read only.

        Raises ArtifactMissing where it is gone, as it may be once another output has replaced it.
        """
        ...

    def fetch(self, wanted: Iterable[tuple[Manifest, str, str]]) -> None:
        """Have the files of (manifest, stage, name) at hand before `path` asks for one after another.

        What is not there is passed over; `path` says it.
        """
        ...
