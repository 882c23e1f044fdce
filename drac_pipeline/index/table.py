"""The table of the vector index: chunks with their text and vector, in LanceDB.

One table for each embedder, named after it, so that vectors that cannot be compared never meet. A
document's rows change in one commit: who searches sees the old ones or the new ones.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

INDEX_SCHEMA_VERSION = 1
_PREFIX = "chunks_"
_EMBEDDER = b"drac_embedder"
_FIELDS = ("chunk_id", "document_key", "document_version", "ordinal", "text", "breadcrumb")
_FIELDS += ("page_start", "page_end", "content_hash", "made_of")
_KEPT = timedelta(minutes=10)  # older states of the table, for those who are reading them
APPROXIMATE_ROWS = 200_000  # from so many rows on, vectors are not compared one by one


def row_schema(dimensions: int, embedder: str = "") -> pa.Schema:
    """A row is a chunk; `made_of` is the data version of the embeddings that it comes from."""
    texts = [(n, pa.string()) for n in _FIELDS if n not in ("ordinal", "page_start", "page_end")]
    numbers = [(n, pa.int32()) for n in ("ordinal", "page_start", "page_end")]
    metadata = {b"drac_schema": f"index/{INDEX_SCHEMA_VERSION}".encode(), _EMBEDDER: embedder.encode()}
    return pa.schema([*texts, *numbers, ("vector", pa.list_(pa.float32(), dimensions))], metadata=metadata)


class ChunkTables:
    """The tables at `uri`: a folder, or an address that LanceDB knows, such as `s3://bucket/prefix`, which
    is reached with the `options` that it is asked for when it is needed."""

    def __init__(self, uri: str, options: Callable[[], dict[str, str]] | None = None) -> None:
        self.uri = uri
        self._options = options

    @cached_property
    def _db(self) -> Any:
        """Connected when needed: connecting makes the folder, and importing takes a second."""
        os.environ.setdefault("LANCEDB_LOG", "error")  # it warns of every empty part of an index
        import lancedb

        return lancedb.connect(self.uri, storage_options=self._options() if self._options else None)

    def names(self) -> dict[str, str]:
        """Embedder to table name."""
        if "://" not in self.uri and not Path(self.uri).is_dir():
            return {}
        found = [n for n in self._db.list_tables(limit=1000).tables if n.startswith(_PREFIX)]
        return {(self._db.open_table(n).schema.metadata or {}).get(_EMBEDDER, b"").decode(): n for n in found}

    def open(self, embedder: str) -> ChunkTable | None:
        """The table of an embedder, or None."""
        name = self.names().get(embedder)
        return ChunkTable(self._db.open_table(name)) if name else None

    def open_or_create(self, embedder: str, dimensions: int) -> ChunkTable:
        """The table of an embedder."""
        name = _PREFIX + hashlib.sha256(f"{INDEX_SCHEMA_VERSION} {embedder}".encode()).hexdigest()[:12]
        table = self._db.create_table(name, schema=row_schema(dimensions, embedder), exist_ok=True)
        return ChunkTable(table)

    def drop(self, embedder: str) -> None:
        """Remove the table of an embedder."""
        self._db.drop_table(self.names()[embedder])


class ChunkTable:
    """The chunks of a corpus with the vectors of one embedder."""

    def __init__(self, table: Any) -> None:
        self._table = table

    @property
    def dimensions(self) -> int:
        """Length of the vectors."""
        return self._table.schema.field("vector").type.list_size

    def count(self) -> int:
        """Rows."""
        return self._table.count_rows()

    def documents(self) -> dict[str, tuple[str, int]]:
        """Of each document what its rows are made of and how many there are; rows of more than one
        origin give one that is none."""
        found = self._table.search().select(["document_key", "made_of"]).limit(None).to_arrow()
        pairs = Counter(zip(*(found.column(n).to_pylist() for n in ("document_key", "made_of")), strict=True))
        out: dict[str, tuple[str, int]] = {}
        for (key, made_of), n in pairs.items():
            out[key] = ("mixed", out[key][1] + n) if key in out else (made_of, n)
        return out

    def replace(self, keys: Iterable[str], rows: pa.Table) -> None:
        """Make `rows` all that there is of the documents `keys`, in one step."""
        merge = self._table.merge_insert("chunk_id").when_matched_update_all().when_not_matched_insert_all()
        merge.when_not_matched_by_source_delete(one_of("document_key", keys)).execute(rows)

    def add(self, rows: pa.Table) -> None:
        """Add `rows` of documents that have none: at the same price however large the table is, where
        `replace` reads the ids of all rows."""
        self._table.add(rows)

    def remove(self, keys: Sequence[str]) -> None:
        """Remove documents."""
        if keys:
            self._table.delete(one_of("document_key", keys))

    @property
    def finished(self) -> bool:
        """Whether the word index has every row."""
        names = {tuple(i.columns): i.name for i in self._table.list_indices()}
        found = self._table.index_stats(names[("text",)]) if ("text",) in names else None
        return found.num_unindexed_rows == 0 if found else not self.count()

    def finish(self) -> None:
        """After changes: take new rows into the word index, join small fragments, let old states go."""
        from lancedb.index import BTree

        if not self.count():
            return
        indexed = {tuple(i.columns) for i in self._table.list_indices()}
        if ("text",) not in indexed:
            self._table.create_index("text", config=word_index())
        if ("document_key",) not in indexed:
            self._table.create_index("document_key", config=BTree())
        if ("vector",) not in indexed and self.count() >= APPROXIMATE_ROWS:
            from lancedb.index import IvfFlat

            self._table.create_index("vector", config=IvfFlat(distance_type="cosine"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._table.optimize(cleanup_older_than=_KEPT)

    def nearest(self, vector: np.ndarray, k: int, where: str = "") -> list[dict[str, Any]]:
        """The `k` rows whose vectors are most alike, with `score`, their cosine."""
        query = self._table.search(vector, query_type="vector").distance_type("cosine").nprobes(64)
        found = self._run(query, k, where, "_distance")
        return [{**row, "score": 1.0 - row.pop("_distance")} for row in found]

    def with_words(self, question: str, k: int, where: str = "") -> list[dict[str, Any]]:
        """The `k` rows with the highest BM25 `score`."""
        from lancedb.query import MatchQuery

        if not self.count():
            return []
        match: Any = MatchQuery  # what its stub calls required has defaults
        query = self._table.search(match(question, "text"), query_type="fts")
        found = self._run(query, k, where, "_score")
        return [{**row, "score": row.pop("_score")} for row in found]

    def _run(self, query: Any, k: int, where: str, score: str) -> list[dict[str, Any]]:
        if where:
            query = query.where(where, prefilter=True)
        rows = query.select([*_FIELDS, score]).limit(k).to_list()
        # equal scores come in any order; a ranking is the same at any time
        sign = 1 if score == "_distance" else -1
        return sorted(rows, key=lambda r: (sign * r[score], r["document_key"], r["ordinal"]))


def word_index() -> Any:
    """How words are made of text: runs of letters and digits, lower case, accents off, English stop
    words left out and endings cut."""
    from lancedb.index import FTS

    return FTS(
        with_position=False,
        base_tokenizer="simple",
        language="English",
        lower_case=True,
        ascii_folding=True,
        remove_stop_words=True,
        stem=True,
        max_token_length=60,
    )


def one_of(column: str, values: Iterable[str]) -> str:
    """The condition that a column has one of the values; never true without any."""
    listed = ", ".join(quoted(v) for v in values)
    return f"{column} IN ({listed})" if listed else "false"


def quoted(text: str) -> str:
    """A text in a condition."""
    return "'" + text.replace("'", "''") + "'"
