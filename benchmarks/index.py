"""The vector index at size: what writing, finishing, changing and asking cost, and what the approximate
search finds of what an exact one does.

    python benchmarks/index.py [--chunks 220000] [--folder DIR]

Chunks are made up: ten a document, texts of a vocabulary with natural frequencies, vectors around as many
centres as there are documents. Asking by vectors is held against a matrix product in memory in the same run,
words against `bm25s`.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa

from drac_pipeline.index.table import APPROXIMATE_ROWS, ChunkTables, row_schema
from drac_pipeline.index.words import WordIndex

DIMENSIONS = 384
A_DOCUMENT = 10
AT_ONCE = 4000
WORDS = 120
QUESTIONS = 40


def rows(
    first: int, n: int, rng: np.random.Generator, vocabulary: np.ndarray, centres: np.ndarray
) -> pa.Table:
    """Chunks `first` … `first + n` as the index keeps them."""
    numbers = range(first, first + n)
    picks = np.minimum(rng.zipf(1.3, (n, WORDS)) - 1, len(vocabulary) - 1)
    texts = [" ".join(vocabulary[p]) for p in picks]
    vectors = centres[[i // A_DOCUMENT for i in numbers]] + rng.normal(0, 0.05, (n, DIMENSIONS))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    documents = [f"folder {i // 1000}/document {i // A_DOCUMENT}.pdf" for i in numbers]
    columns = {
        "chunk_id": [f"{i:016x}-{i % A_DOCUMENT:04d}" for i in numbers],
        "document_key": documents,
        "document_version": ["v"] * n,
        "text": texts,
        "breadcrumb": documents,
        "content_hash": [f"{i:064x}" for i in numbers],
        "made_of": ["v"] * n,
        "ordinal": [i % A_DOCUMENT for i in numbers],
        "page_start": [1] * n,
        "page_end": [1] * n,
        "vector": list(vectors),
    }
    schema = row_schema(DIMENSIONS, "made up")
    return pa.table({name: columns[name] for name in schema.names}, schema=schema)


def timed(ask: Callable[[], object]) -> float:
    """Milliseconds."""
    begun = time.perf_counter()
    ask()
    return 1000 * (time.perf_counter() - begun)


def main() -> None:
    """Prints a line for each thing measured."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--chunks", type=int, default=APPROXIMATE_ROWS + 20_000)
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    n: int = arguments.chunks
    folder = arguments.folder or Path(tempfile.mkdtemp(prefix="drac-index-"))
    rng = np.random.default_rng(7)
    vocabulary = np.array([f"w{i}" for i in range(30_000)])
    centres = rng.normal(0, 0.05, (n // A_DOCUMENT + 1, DIMENSIONS))
    table = ChunkTables(str(folder)).open_or_create("made up", DIMENSIONS)

    matrix = np.zeros((n, DIMENSIONS), np.float32)
    texts: list[str] = []
    writing = 0.0
    for first in range(0, n, AT_ONCE):
        part = rows(first, min(AT_ONCE, n - first), rng, vocabulary, centres)
        writing += timed(lambda part=part: table.add(part))
        matrix[first : first + part.num_rows] = (
            part.column("vector").combine_chunks().flatten().to_numpy().reshape(-1, DIMENSIONS)
        )
        texts += part.column("text").to_pylist()
    rate = n / writing * 1000
    print(f"write {n:,} chunks in commits of {AT_ONCE:,}: {writing / 1000:.1f} s, {rate:,.0f} chunks/s")
    print(
        f"finish (words, documents, vectors from {APPROXIMATE_ROWS:,} on): {timed(table.finish) / 1000:.1f} s"
    )
    size = sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())
    print(f"size: {size / 2**20:,.0f} MiB, {size / n:,.0f} bytes a chunk")

    picked = rng.integers(0, n, QUESTIONS)
    asked = matrix[picked] + rng.normal(0, 0.05, (QUESTIONS, DIMENSIONS)).astype(np.float32)
    found: list[set[str]] = []
    table.nearest(asked[0], 6)  # opens files
    by_vector = [timed(lambda v=v: found.append({r["chunk_id"] for r in table.nearest(v, 6)})) for v in asked]
    exact: list[np.ndarray] = []
    by_matrix = [timed(lambda v=v: exact.append(np.argpartition(-(matrix @ v), 6)[:6])) for v in asked]
    ids = [{f"{i:016x}-{i % A_DOCUMENT:04d}" for i in e.tolist()} for e in exact]
    recall = statistics.mean(len(a & b) / 6 for a, b in zip(found, ids, strict=True))
    print(
        f"ask by vectors: {statistics.median(by_vector):.0f} ms (matrix in memory"
        f" {statistics.median(by_matrix):.0f} ms), {recall:.3f} of the exact six"
    )
    questions = [" ".join(vocabulary[np.minimum(rng.zipf(1.2, 8) - 1, 29_999)]) for _ in range(QUESTIONS)]
    table.with_words(questions[0], 6)
    by_words = [timed(lambda q=q: table.with_words(q, 6)) for q in questions]
    peer = WordIndex(texts)
    by_peer = [timed(lambda q=q: peer.scores(q)) for q in questions]
    print(
        f"ask by words: {statistics.median(by_words):.0f} ms (in memory {statistics.median(by_peer):.0f} ms)"
    )

    change = rows(0, A_DOCUMENT, rng, vocabulary, centres)
    key = change.column("document_key").to_pylist()[:1]
    replacing = timed(lambda: table.replace(key, change))
    print(f"replace one document: {replacing:.0f} ms, finish {timed(table.finish) / 1000:.1f} s")
    print(f"which documents it holds: {timed(table.documents):.0f} ms")
    print(f"largest memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GiB")
    if not arguments.folder:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
