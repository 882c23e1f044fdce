"""Write what the store holds for use elsewhere."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

from drac_pipeline.errors import ConfigError
from drac_pipeline.export_folder import ExportRecord
from drac_pipeline.model import CHUNK_SCHEMA, as_chunk_table
from drac_pipeline.pipeline.artifacts import CHUNKS_FILE, MARKDOWN_FILE
from drac_pipeline.store import Manifest, Store

FETCHED_AT_ONCE = 100  # documents whose files are fetched together


@dataclass
class ExportedMarkdown:
    """How many files were written; of documents that are gone, the files that were deleted, and those that
    stay since somebody changed them."""

    written: int = 0
    removed: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)


def export_markdown(store: Store, out: Path) -> ExportedMarkdown:
    """Write `out/<document key>.md` for each converted document, and delete what an earlier export of this
    store wrote there of documents that are gone, unless somebody changed it since.

    A key never climbs out of `out`: keys hold no `..` parts and no absolute paths.
    """
    make_folder(out)
    record = ExportRecord(out, store.address)
    before = record.text()
    manifests = _with_stage(store, "markdown")
    done = ExportedMarkdown()
    done.removed, done.kept = record.remove_others({f"{m.document_key}.md" for m in manifests})
    try:
        for manifest in _fetched(store, manifests, "markdown", MARKDOWN_FILE):
            name = f"{manifest.document_key}.md"
            target = out / name
            if not target.resolve().is_relative_to(out.resolve()):
                raise ConfigError(f"{manifest.document_key!r} would be written outside {out}")
            path = store.path(manifest.document_key, "markdown", MARKDOWN_FILE, manifest)
            data = path.read_bytes()
            write_atomically(target, data)
            record.note(name, data)
            done.written += 1
    finally:  # what was written before an interruption is known to the next export
        if (text := record.text()) != before:
            write_atomically(record.path, text.encode("utf-8"))
    return done


def export_chunks(store: Store, out: Path) -> int:
    """Write one row a chunk, ordered by document key and ordinal, as Parquet or JSON lines by
    the ending of `out`; gives the number of chunks. Raises ConfigError for another ending and a folder."""
    check_file(out, "chunks.parquet")
    if out.suffix not in (".parquet", ".jsonl"):
        raise ConfigError(
            f"{out.name}: chunks are exported as .parquet or .jsonl; give the file such an ending"
        )
    tables = (
        as_chunk_table(pq.read_table(store.path(m.document_key, "chunks", CHUNKS_FILE, m)))
        for m in _fetched(store, _with_stage(store, "chunks"), "chunks", CHUNKS_FILE)
    )
    write = _write_parquet if out.suffix == ".parquet" else _write_json_lines
    return write_whole(out, lambda f: write(f, tables))


def write_whole(out: Path, write: Callable[[IO[bytes]], int]) -> int:
    """Have `write` fill a temporary file that replaces `out` when it is whole; gives what it gave. Raises
    ConfigError where `out` is a folder, or its folder is a file."""
    check_file(out)
    make_folder(out.parent)
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


def check_file(out: Path, example: str = "") -> None:
    """Raises ConfigError where `out` is a folder and can be no file; `example` names one in it."""
    if out.is_dir():
        such = f", such as {out / example}" if example else " in it"
        raise ConfigError(f"{out} is a folder; give a file to write{such}")


def make_folder(path: Path) -> None:
    """Make the folder and those above it. Raises ConfigError where one of them is a file."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as e:
        file = next(p for p in (path, *path.parents) if p.exists() or p.is_symlink())
        raise ConfigError(f"{file} is a file; a folder is needed there, or give another place") from e


def _with_stage(store: Store, stage: str) -> list[Manifest]:
    """The documents that have an output of `stage`, by key."""
    return sorted((m for m in store.manifests() if stage in m.stages), key=lambda m: m.document_key)


def _fetched(store: Store, found: list[Manifest], stage: str, name: str) -> Iterator[Manifest]:
    """The documents, the file `name` of each fetched, for some at once."""
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
