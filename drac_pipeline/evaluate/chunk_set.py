"""Chunk sets: the chunks of one way of chunking a corpus, from a file or from a chunker."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from drac_pipeline.errors import ConfigError

_DOCUMENT_COLUMNS = ("document", "document_key")


@dataclass
class ChunkSet:
    """Chunks of a corpus in order, a list entry a chunk.

    `failed` and `skipped` name documents without chunks and why: those that the way of chunking failed on,
    and those of a kind that it does not apply to.
    """

    name: str
    documents: list[str] = field(default_factory=list)
    organizations: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    breadcrumbs: list[str] = field(default_factory=list)
    about: str = ""
    failed: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, document: str, organization: str, text: str, breadcrumb: str = "") -> None:
        """One chunk more; a blank one is not taken."""
        if text.strip():
            self.documents.append(document)
            self.organizations.append(organization)
            self.texts.append(text)
            self.breadcrumbs.append(breadcrumb)

    def places(self, organization: str) -> list[int]:
        """Where the chunks of an organization are; of all, for the empty one."""
        if not organization:
            return list(range(len(self.texts)))
        return [i for i, o in enumerate(self.organizations) if o == organization]

    def only(self, documents: Collection[str]) -> ChunkSet:
        """The chunks of these documents alone."""
        part = ChunkSet(self.name, about=self.about, seconds=self.seconds)  # notes are of the whole set
        for d, o, t, b in zip(self.documents, self.organizations, self.texts, self.breadcrumbs, strict=True):
            if d in documents:
                part.add(d, o, t, b)
        part.failed = {d: why for d, why in self.failed.items() if d in documents}
        return part


def organization_of(key: str, organizations: Collection[str]) -> str:
    """The organization that one of the folders of a document key names, the outermost first; else ""."""
    known = {_folded(o): o for o in organizations if o}
    for folder in key.split("/")[:-1]:
        if _folded(folder) in known:
            return known[_folded(folder)]
    return ""


def read_chunk_set(path: Path, name: str = "", organizations: Sequence[str] = ()) -> ChunkSet:
    """A chunk set of a Parquet or JSON-lines file with the columns `text` and `document` (or
    `document_key`) and, where there is one, `organization`; without it, the documents' folders say it.

    Raises ConfigError naming file, row and column of what is wrong.
    """
    rows = _read(path)
    if not rows:
        raise ConfigError(f"{path}: no chunks")
    document = next((c for c in _DOCUMENT_COLUMNS if c in rows[0]), "")
    missing = [c for c, there in (("text", "text" in rows[0]), ("document", bool(document))) if not there]
    if missing:
        raise ConfigError(f"{path}: no column {missing[0]!r}; it has {', '.join(map(repr, rows[0]))}")
    out = ChunkSet(name or path.stem, about=f"chunks of {path.name}")
    for number, row in enumerate(rows, 1):
        text, key = row.get("text"), row.get(document)
        if not isinstance(text, str) or key is None:
            column = document if key is None else "text"
            raise ConfigError(f"{path}: chunk {number}, column {column!r}: no text")
        organization = row.get("organization")
        if organization is None:
            organization = organization_of(str(key), organizations)
        out.add(str(key), str(organization), text, str(row.get("breadcrumb") or ""))
    if blank := len(rows) - len(out.texts):
        out.notes.append(f"{blank} blank chunks left out")
    if not out.texts:
        raise ConfigError(f"{path}: all its chunks are blank")
    return out


def read_lines(path: Path) -> list[str]:
    """The lines of a JSON lines file: what ends one is a line feed, and no other character that may stand
    in a text. Raises ConfigError where it is not UTF-8 (a mark at the beginning is taken)."""
    try:
        return path.read_bytes().decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as e:
        raise ConfigError(f"{path}: not UTF-8 (byte {e.start})") from e


def _read(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        raise ConfigError(f"{path}: no such file of chunks")
    if path.suffix in (".jsonl", ".ndjson"):
        out = []
        for number, line in enumerate(read_lines(path), 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError as e:
                raise ConfigError(f"{path}, line {number}: not valid JSON: {e}") from e
            if not isinstance(row, dict):
                raise ConfigError(f"{path}, line {number}: not a JSON object")
            out.append(row)
        return out
    if path.suffix != ".parquet":
        raise ConfigError(f"{path.name}: chunks are read from .parquet or .jsonl")
    wanted = {*_DOCUMENT_COLUMNS, "text", "organization", "breadcrumb"}
    try:
        names = [n for n in pq.read_schema(path).names if n in wanted]
        return pq.read_table(path, columns=names).to_pylist() if names else [dict.fromkeys(["?"])]
    except (OSError, ValueError) as e:
        raise ConfigError(f"{path}: not readable as Parquet: {e}") from e


def _folded(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())
