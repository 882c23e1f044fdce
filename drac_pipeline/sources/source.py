"""What every source of documents does, wherever they lie."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from drac_pipeline.model import SourceDocument


@dataclass(frozen=True, slots=True)
class SourceEntry:
    """A document of a source as listed: `size` in bytes, `mtime_ns` since the epoch.

    `path` is its file, or the place on this machine for a copy of it. Of an object in a bucket,
    `address` says where it is, and `version` (its ETag) is another one whenever its bytes are others.
    """

    key: str
    path: Path
    size: int
    mtime_ns: int
    address: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """What was not listed and deserves a word: links out, unreadable folders, devices."""

    path: Path | str
    reason: str
    unreadable: bool = False  # a folder of which nobody can say what it holds


class Source(Protocol):
    """Documents that can be listed, told apart from what they were, and read."""

    skipped: list[Skipped]

    @property
    def place(self) -> str:
        """Where it is, as manifests write the root of their documents."""
        ...

    @property
    def is_single_file(self) -> bool:
        """True where the source is one document, and so says nothing of its neighbours."""
        ...

    def list(self) -> list[SourceEntry]:
        """Every document, sorted by key; `skipped` then holds what was passed over and why.

        No document is opened. Raises DracError where the source cannot be listed.
        """
        ...

    def ahead(self, entries: Iterable[SourceEntry]) -> AbstractContextManager[None]:
        """Within it, the fingerprints of these entries are about to be asked for, in this order."""
        ...

    def fingerprint(self, entry: SourceEntry) -> SourceDocument:
        """The document with the SHA-256 of its bytes, which are read only where nothing remembers it.

        Raises DocumentError, naming the document.
        """
        ...

    def fetch(self, entry: SourceEntry) -> Path:
        """A file of this machine with the document's bytes. Raises DocumentError."""
        ...

    def holds(self, path: str) -> bool:
        """Whether the document at `path`, as manifests write it, is there, even if the settings leave it
        out. To be asked after `list`."""
        ...

    def cannot_say(self, path: str) -> bool:
        """Whether the document at `path` lies where nobody could look. To be asked after `list`."""
        ...
