"""Vectors of chunks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from drac_pipeline.model.chunk import Chunk

EMBEDDING_SCHEMA_VERSION = 1
_EMBEDDER = b"drac_embedder"


def embedding_schema(embedder: str, dimensions: int) -> pa.Schema:
    """One row a chunk, in the order of the chunks: which text (`content_hash`) has which `vector`
    (float32, length 1), and how many `tokens` it counts for. The embedder's name is in the metadata."""
    return pa.schema(
        [
            ("document_key", pa.string()),
            ("document_version", pa.string()),
            ("chunk_id", pa.string()),
            ("ordinal", pa.int32()),
            ("content_hash", pa.string()),
            ("tokens", pa.int32()),
            ("vector", pa.list_(pa.float32(), dimensions)),
        ],
        metadata={b"drac_schema": f"embeddings/{EMBEDDING_SCHEMA_VERSION}".encode(), _EMBEDDER: embedder},
    )


def embeddings_to_table(
    chunks: Sequence[Chunk], vectors: np.ndarray, tokens: Sequence[int], embedder: str
) -> pa.Table:
    """Chunks and their vectors, one a row, as an Arrow table of `embedding_schema`."""
    dimensions = vectors.shape[1]
    flat = pa.array(np.ascontiguousarray(vectors, np.float32).ravel(), pa.float32())
    columns = {
        "document_key": [c.document_key for c in chunks],
        "document_version": [c.document_version for c in chunks],
        "chunk_id": [c.chunk_id for c in chunks],
        "ordinal": [c.ordinal for c in chunks],
        "content_hash": [c.content_hash for c in chunks],
        "tokens": list(tokens),
        "vector": pa.FixedSizeListArray.from_arrays(flat, dimensions),
    }
    return pa.table(columns, schema=embedding_schema(embedder, dimensions))


def embedder_of(schema: pa.Schema) -> str:
    """The embedder whose vectors a table holds; "" where it does not say."""
    return (schema.metadata or {}).get(_EMBEDDER, b"").decode()
