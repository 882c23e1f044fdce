"""Write what the store holds for use elsewhere."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

from drac_pipeline.errors import ConfigError
from drac_pipeline.model import CHUNK_SCHEMA, as_chunk_table
from drac_pipeline.pipeline.artifacts import CHUNKS_FILE, MARKDOWN_FILE
from drac_pipeline.store import Manifest, Store

FETCHED_AT_ONCE = 100  # documents whose files are fetched together


def export_markdown(store: Store, out: Path) -> int:
    """Write `out/<document key>.md` for each converted document; gives their number.

    A key never climbs out of `out`: keys hold no `..` parts and no absolute paths.
    """
    n = 0
    for manifest in _having(store, "markdown", MARKDOWN_FILE):
        target = out / f"{manifest.document_key}.md"
        if not target.resolve().is_relative_to(out.resolve()):
            raise ConfigError(f"{manifest.document_key!r} would be written outside {out}")
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(
            target, store.path(manifest.document_key, "markdown", MARKDOWN_FILE, manifest).read_bytes()
        )
        n += 1
    return n


def export_chunks(store: Store, out: Path) -> int:
    """Write one row a chunk, ordered by document key and ordinal, as Parquet or JSON lines by
    the ending of `out`; gives the number of chunks. Raises ConfigError for another ending."""
    if out.suffix not in (".parquet", ".jsonl"):
        raise ConfigError(
            f"{out.name}: chunks are exported as .parquet or .jsonl; give the file such an ending"
        )
    tables = (
        as_chunk_table(pq.read_table(store.path(m.document_key, "chunks", CHUNKS_FILE, m)))
        for m in _having(store, "chunks", CHUNKS_FILE)
    )
    write = _write_parquet if out.suffix == ".parquet" else _write_json_lines
    return write_whole(out, lambda f: write(f, tables))


def write_whole(out: Path, write: Callable[[IO[bytes]], int]) -> int:
    """Have `write` fill a temporary file that replaces `out` when it is whole; gives what it gave."""
    out.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=".export-", dir=out.parent)  # a long name has no room for more
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as f:
            n = write(f)
        _give_usual_mode(temporary)
        temporary.replace(out)
    finally:
        temporary.unlink(missing_ok=True)
    return n


def _having(store: Store, stage: str, name: str) -> Iterator[Manifest]:
    """The documents that have an output of `stage`, by key; its file `name` is fetched for some at once."""
    found = sorted((m for m in store.manifests() if stage in m.stages), key=lambda m: m.document_key)
    for start in range(0, len(found), FETCHED_AT_ONCE):
        part = found[start : start + FETCHED_AT_ONCE]
        store.fetch((m, stage, name) for m in part)
        yield from part


def _write_parquet(f, tables: Iterator[pa.Table]) -> int:
    n = 0
    with pq.ParquetWriter(f, CHUNK_SCHEMA) as writer:
        for table in tables:
            writer.write_table(table)
            n += table.num_rows
    return n


def _write_json_lines(f, tables: Iterator[pa.Table]) -> int:
    n = 0
    for table in tables:
        for row in table.to_pylist():
            f.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
            n += 1
    return n


def write_atomically(target: Path, data: bytes) -> None:
    """Replace `target` by `data`: a reader sees the old file or the new one."""
    write_whole(target, lambda f: f.write(data))


def _give_usual_mode(path: Path) -> None:
    """What a plain open() would have given: a temporary file is private."""
    mask = os.umask(0)
    os.umask(mask)
    path.chmod(0o666 & ~mask)
