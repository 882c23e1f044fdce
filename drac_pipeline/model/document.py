"""A document as it lies in its source."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """One document of a source.

    `key` is the path relative to the source root (POSIX separators, NFC, escaped
    where a partition key may not hold a character); `fingerprint` is the SHA-256
    of the bytes in hex; `size` is in bytes; `path` is a local file that holds
    the bytes, or will when they are asked for. Of an object in a bucket, `address` is
    `s3://bucket/key` and `version` its ETag.
    """

    key: str
    path: Path
    fingerprint: str
    size: int
    modified: float = 0.0
    address: str = ""
    version: str = ""
