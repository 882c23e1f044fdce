"""Chunks, rebuilt from verbatim elements."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa

from drac_pipeline.model.box import Box
from drac_pipeline.model.element import BOX_TYPE
from drac_pipeline.model.schema_version import check_table

CHUNK_SCHEMA_VERSION = 2


@dataclass(frozen=True, slots=True)
class Chunk:
    """One retrieval unit.

    chunk_id      from document key, document version and ordinal: equal text never collides
    title         the document's name where no heading of the chunk says it, else ""
    text          title, ancestor headings as Markdown headings, a blank line, then the body elements
    breadcrumb    title and ancestor headings as `A > B > C`; the title of the document if there is neither
    headings      the same as a list of texts, outermost first
    element_ids   the body's elements in order, headings within the body included
    heading_ids   the headings on top, outermost first
    page_start…   first and last page of the body (0: unknown)
    n_chars       characters of `text`
    content_hash  SHA-256 of `text`
    """

    document_key: str
    document_version: str
    chunk_id: str
    ordinal: int
    text: str
    breadcrumb: str
    headings: tuple[str, ...]
    heading_ids: tuple[str, ...]
    element_ids: tuple[str, ...]
    page_start: int
    page_end: int
    n_chars: int
    content_hash: str
    origin: str = "planned"
    boxes: tuple[Box, ...] = ()
    title: str = ""


CHUNK_SCHEMA = pa.schema(
    [
        ("document_key", pa.string()),
        ("document_version", pa.string()),
        ("chunk_id", pa.string()),
        ("ordinal", pa.int32()),
        ("text", pa.string()),
        ("breadcrumb", pa.string()),
        ("headings", pa.list_(pa.string())),
        ("heading_ids", pa.list_(pa.string())),
        ("element_ids", pa.list_(pa.string())),
        ("page_start", pa.int32()),
        ("page_end", pa.int32()),
        ("n_chars", pa.int32()),
        ("content_hash", pa.string()),
        ("origin", pa.string()),
        ("boxes", pa.list_(BOX_TYPE)),
        ("title", pa.string()),
    ],
    metadata={"drac_schema": f"chunks/{CHUNK_SCHEMA_VERSION}"},
)

_TUPLES = ("headings", "heading_ids", "element_ids")


def chunks_to_table(chunks: Iterable[Chunk]) -> pa.Table:
    """The chunks as an Arrow table of `CHUNK_SCHEMA`."""
    rows = []
    for c in chunks:
        row = {name: getattr(c, name) for name in CHUNK_SCHEMA.names}
        row.update({name: list(row[name]) for name in _TUPLES})
        row["boxes"] = [b.model_dump() for b in c.boxes]
        rows.append(row)
    return pa.Table.from_pylist(rows, schema=CHUNK_SCHEMA)


def chunks_from_table(table: pa.Table) -> list[Chunk]:
    """The chunks of an Arrow table written by `chunks_to_table`.

    Raises DracError where a newer release wrote it."""
    check_table(table, CHUNK_SCHEMA)
    out = []
    for row in table.to_pylist():
        row.update({name: tuple(row[name]) for name in _TUPLES})
        row["boxes"] = tuple(Box(**b) for b in row["boxes"])
        out.append(Chunk(**row))
    return out


def as_chunk_table(table: pa.Table) -> pa.Table:
    """A table of this or an earlier version of the schema in this one; columns it did not have are null.

    Raises DracError where a newer release wrote it."""
    check_table(table, CHUNK_SCHEMA)
    columns = {
        f.name: table.column(f.name) if f.name in table.column_names else pa.nulls(table.num_rows, f.type)
        for f in CHUNK_SCHEMA
    }
    return pa.table(columns).cast(CHUNK_SCHEMA)
