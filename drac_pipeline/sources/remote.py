"""How documents in buckets are reached, and where copies of them are kept on this machine."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from drac_pipeline.s3.cache import ArtifactCache
from drac_pipeline.s3.connection import Connection

_MOST_NAME_BYTES = 200


@dataclass(frozen=True)
class Remote:
    """The way to buckets, and the folder `copies`, of about `most_bytes` at most."""

    connection: Connection
    copies: Path
    most_bytes: int = 20_000_000_000

    @cached_property
    def cache(self) -> ArtifactCache:
        """The copies."""
        return ArtifactCache(self.copies, self.most_bytes)

    def copy_of(self, address: str, version: str) -> Path:
        """Where the copy of an object's version lies, under the object's own name."""
        folder = self.cache.folder(_digest(address)[:32], "source", _digest(version)[:16])
        return folder / _file_name(address)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _file_name(address: str) -> str:
    """The last part of an address as the name of a file; its ending is kept, which says how to read it."""
    name = address.rpartition("/")[2].replace("\0", "")
    if name in ("", ".", ".."):
        return "document"
    suffix = PurePosixPath(name).suffix
    room = _MOST_NAME_BYTES - len(suffix.encode("utf-8", "surrogatepass"))
    if len(name.encode("utf-8", "surrogatepass")) <= _MOST_NAME_BYTES or room < 1:
        return name if room >= 1 else "document"
    stem = name.removesuffix(suffix).encode("utf-8", "surrogatepass")[:room].decode("utf-8", "ignore")
    return f"{stem}{suffix}"
