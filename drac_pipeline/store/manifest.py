"""The record of a document: what was made of it, from what, by what, and what went wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from functools import cache
from pathlib import Path
from typing import Any, Self

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from drac_pipeline.model import SourceDocument
from drac_pipeline.s3.address import is_bucket_address, link
from drac_pipeline.sources.paths import path_of_text, path_text

MANIFEST_SCHEMA_VERSION = 2  # 2: retired documents


class _Record:
    """JSON there and back, by the names of Pydantic. No models: a command that looks at a whole home
    holds the manifests of all documents, and a model takes three times the memory and twice the time."""

    __slots__ = ()

    def model_copy(self, *, update: Mapping[str, object]) -> Self:
        """A copy with other values in some fields."""
        return replace(self, **update)  # pyright: ignore[reportArgumentType]

    def model_dump_json(self, *, indent: int | None = None) -> str:
        """The record as JSON."""
        return _adapter(type(self)).dump_json(self, indent=indent).decode()

    @classmethod
    def model_validate_json(cls, data: str | bytes) -> Self:
        """The record that the JSON holds. Raises pydantic.ValidationError."""
        return _adapter(cls).validate_json(data)

    @classmethod
    def model_validate(cls, values: object) -> Self:
        """The record of these values. Raises pydantic.ValidationError."""
        return _adapter(cls).validate_python(values)


@cache
def _adapter(record: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(record)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRecord(_Record):
    """Where the document came from. `root` and `path` are absolute (a `file:` address where a
    name is not UTF-8, which JSON cannot hold), or `s3://bucket/key`; `fingerprint` is the SHA-256
    of the bytes; `size` in bytes; `modified` in seconds since the epoch; `version` the ETag of an
    object in a bucket."""

    root: str
    path: str
    fingerprint: str
    size: int
    modified: float = 0.0
    version: str = ""

    @classmethod
    def of(cls, root: Path | str, document: SourceDocument) -> SourceRecord:
        """The record of `document`, found below `root`."""
        return cls(
            root=root if isinstance(root, str) else path_text(root),
            path=document.address or path_text(document.path),
            fingerprint=document.fingerprint,
            size=document.size,
            modified=document.modified,
            version=document.version,
        )

    @property
    def in_bucket(self) -> bool:
        """Whether it is an object of a bucket."""
        return is_bucket_address(self.path)

    @property
    def local_path(self) -> Path:
        """The file. Raises ValueError where it is an object of a bucket."""
        if self.in_bucket:
            raise ValueError(f"{self.path} is no file of this machine")
        return path_of_text(self.path)

    @property
    def place(self) -> str:
        """Where it is, as a person writes it."""
        return self.path if self.in_bucket else str(self.local_path)

    @property
    def link(self) -> str:
        """Its `file:` or `s3:` address."""
        return link(self.path) if self.in_bucket else self.local_path.as_uri()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRecord(_Record):
    """The verdict of a partition check and what it looked at."""

    passed: bool
    blocking: bool = False
    detail: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeshiftRecord(_Record):
    """That an output was made as well as could be: what kept it from being made as it should (`kind`,
    `cause`), under which limits, passwords and programs (`circumstances`, a digest), and how often that was
    tried."""

    kind: str
    cause: str
    circumstances: str
    attempts: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class StageRecord(_Record):
    """One published output.

    `version` names its folder; `sizes` are the bytes of its files; `data_version` is the hash of
    its content; `code_version` the stage's code and settings; `inputs` the data version of each
    parent it was made from.
    """

    version: str
    data_version: str
    code_version: str
    inputs: dict[str, str]
    files: list[str]
    sizes: dict[str, int] = field(default_factory=dict)
    made_at: str
    seconds: float
    counts: dict[str, float] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    checks: dict[str, CheckRecord] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    makeshift: MakeshiftRecord | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureRecord(_Record):
    """Why a document stopped. Cleared by the stage's next success. `circumstances` is a digest of what the
    stage could have succeeded with: limits, passwords, programs."""

    stage: str
    kind: str
    cause: str
    remedy: str = ""
    at: str
    attempts: int = 1
    inputs: dict[str, str] = field(default_factory=dict)
    code_version: str = ""
    circumstances: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetiredRecord(_Record):
    """That a document has left its source: when that was seen, why it counts as gone (`removed`,
    `excluded` by the settings, `renamed to …`), and when its artifacts may be deleted."""

    at: str
    reason: str
    delete_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest(_Record):
    """Everything known of one document; replaced as a whole, so that a reader sees a
    state that once was true. A retired document is in no export, index or partition list."""

    schema_version: int = MANIFEST_SCHEMA_VERSION
    document_key: str
    source: SourceRecord
    stages: dict[str, StageRecord] = field(default_factory=dict)
    failure: FailureRecord | None = None
    retired: RetiredRecord | None = None
