"""The record of a document: what was made of it, from what, by what, and what went wrong."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import field, replace
from functools import cache
from pathlib import Path
from typing import Any, Self
from urllib.parse import unquote_to_bytes, urlsplit

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from drac_pipeline.model import SourceDocument

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
    name is not UTF-8, which JSON cannot hold); `fingerprint` is the SHA-256 of the bytes;
    `size` in bytes; `modified` in seconds since the epoch."""

    root: str
    path: str
    fingerprint: str
    size: int
    modified: float = 0.0

    @classmethod
    def of(cls, root: Path, document: SourceDocument) -> SourceRecord:
        """The record of `document`, found below `root`."""
        return cls(
            root=path_text(root),
            path=path_text(document.path),
            fingerprint=document.fingerprint,
            size=document.size,
            modified=document.modified,
        )

    @property
    def local_path(self) -> Path:
        """The file."""
        return path_of_text(self.path)


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


def path_text(path: Path) -> str:
    """The path as it is, or as a `file:` address where it is not UTF-8."""
    text = str(path)
    try:
        text.encode()
    except UnicodeEncodeError:
        return path.as_uri()
    return text


def path_of_text(text: str) -> Path:
    """The path that `path_text` wrote."""
    if text.startswith("file:"):
        return Path(os.fsdecode(unquote_to_bytes(urlsplit(text).path)))
    return Path(text)
