"""Chunks with their vectors, and as the documents of LangChain and the nodes of LlamaIndex.

The files are made by their JSON forms, without these libraries: a line is what
`langchain_core.documents.Document.model_validate_json` and
`llama_index.core.schema.TextNode.model_validate_json` read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from drac_pipeline.errors import ConfigError
from drac_pipeline.export import FETCHED_AT_ONCE, check_file, write_whole
from drac_pipeline.index.sync import STAGE, current_embedder, is_ready, with_chunks
from drac_pipeline.model import as_chunk_table
from drac_pipeline.pipeline.artifacts import CHUNKS_FILE, EMBEDDINGS_FILE
from drac_pipeline.store import Home, Manifest

_METADATA = (
    "document_key",
    "document_version",
    "chunk_id",
    "ordinal",
    "breadcrumb",
    "page_start",
    "page_end",
)


@dataclass(frozen=True)
class Exported:
    """How many chunks were written, and which documents have chunks but no vectors of them yet."""

    chunks: int
    without_vectors: list[str]


def export_vectors(home: Home, out: Path) -> Exported:
    """Write one row a chunk with `vector` and `embedder`, by document key and ordinal, as Parquet or JSON
    lines by the ending of `out`. Raises ConfigError for another ending or a folder, and where there are
    none."""
    check_file(out, "vectors.parquet")
    if out.suffix not in (".parquet", ".jsonl"):
        raise ConfigError(
            f"{out.name}: vectors are exported as .parquet or .jsonl; give the file such an ending"
        )
    ready, waiting, embedder = _documents(home)
    if not ready:
        raise ConfigError(f"no chunk of {home.path} has a vector yet; run `drac run SOURCE` first")
    tables = (_with_vectors(home, m, embedder) for m in ready)
    write = _write_parquet if out.suffix == ".parquet" else _write_json_lines
    return Exported(write_whole(out, lambda f: write(f, tables)), waiting)


def export_langchain(home: Home, out: Path) -> Exported:
    """Write a LangChain `Document` a line: id, page_content and metadata."""
    rows = (
        {
            "id": row["chunk_id"],
            "page_content": row["text"],
            "metadata": _metadata(m, row),
            "type": "Document",
        }
        for m, rows in _chunks(home)
        for row in rows
    )
    return Exported(write_whole(out, lambda f: _write_lines(f, rows)), [])


def export_llamaindex(home: Home, out: Path) -> Exported:
    """Write a LlamaIndex `TextNode` a line: text, metadata, vector where there is one, its document and its
    neighbours. The metadata is kept out of what is embedded, so that the vectors stay those of the texts."""
    ready, waiting, embedder = _documents(home)
    embedded = {m.document_key for m in ready}

    def nodes() -> Iterator[dict[str, Any]]:
        for manifest, rows in _chunks(home):
            vectors: list[list[float]] | list[None] = [None] * len(rows)
            if manifest.document_key in embedded:
                vectors = _with_vectors(home, manifest, embedder).column("vector").to_pylist()
            for i, row in enumerate(rows):
                before = rows[i - 1]["chunk_id"] if i else ""
                after = rows[i + 1]["chunk_id"] if i + 1 < len(rows) else ""
                yield _node(_metadata(manifest, row), row, vectors[i], before, after)

    return Exported(write_whole(out, lambda f: _write_lines(f, nodes())), waiting)


def _node(
    metadata: dict[str, Any], row: dict[str, Any], vector: list[float] | None, before: str, after: str
) -> dict[str, Any]:
    # kinds of relations and nodes have these numbers: 1 source, 2 previous, 3 next; 1 text, 4 document
    related = {"1": {"node_id": metadata["document_key"], "node_type": "4"}}
    for number, other in (("2", before), ("3", after)):
        if other:
            related[number] = {"node_id": other, "node_type": "1"}
    shown = {"document_key", "breadcrumb", "page_start", "page_end"}
    return {
        "id_": row["chunk_id"],
        "text": row["text"],
        "embedding": vector,
        "metadata": metadata,
        "excluded_embed_metadata_keys": list(metadata),
        "excluded_llm_metadata_keys": [n for n in metadata if n not in shown],
        "relationships": {k: {**v, "class_name": "RelatedNodeInfo"} for k, v in related.items()},
        "class_name": "TextNode",
    }


def _metadata(manifest: Manifest, row: dict[str, Any]) -> dict[str, Any]:
    return {n: row[n] for n in _METADATA} | {"source": manifest.source.link}


def _documents(home: Home) -> tuple[list[Manifest], list[str], str]:
    """The documents whose chunks have vectors, the keys of the others, and the embedder."""
    manifests = with_chunks(home)
    embedder = current_embedder(manifests, home.config)
    ready = [m for m in manifests if is_ready(m, embedder)]
    known = {m.document_key for m in ready}
    return ready, [m.document_key for m in manifests if m.document_key not in known], embedder


def _chunks(home: Home) -> Iterator[tuple[Manifest, list[dict[str, Any]]]]:
    manifests = with_chunks(home)
    for i, m in enumerate(manifests):
        if i % FETCHED_AT_ONCE == 0:
            home.store.fetch((x, "chunks", CHUNKS_FILE) for x in manifests[i : i + FETCHED_AT_ONCE])
        yield m, pq.read_table(home.store.path(m.document_key, "chunks", CHUNKS_FILE, m)).to_pylist()


def _with_vectors(home: Home, manifest: Manifest, embedder: str) -> pa.Table:
    key = manifest.document_key
    chunks = as_chunk_table(pq.read_table(home.store.path(key, "chunks", CHUNKS_FILE, manifest)))
    vectors = pq.read_table(home.store.path(key, STAGE, EMBEDDINGS_FILE, manifest))
    named = chunks.append_column("embedder", pa.array([embedder] * chunks.num_rows, pa.string()))
    return named.append_column("vector", vectors.column("vector"))


def _write_parquet(f: IO[bytes], tables: Iterator[pa.Table]) -> int:
    first = next(tables)
    n = first.num_rows
    with pq.ParquetWriter(f, first.schema) as writer:
        writer.write_table(first)
        for table in tables:
            writer.write_table(table)
            n += table.num_rows
    return n


def _write_json_lines(f: IO[bytes], tables: Iterator[pa.Table]) -> int:
    return _write_lines(f, (row for table in tables for row in table.to_pylist()))


def _write_lines(f: IO[bytes], rows: Iterator[dict[str, Any]]) -> int:
    n = 0
    for n, row in enumerate(rows, 1):  # noqa: B007
        f.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
    return n
