"""Refuse artifacts of a newer release: what an older one does not know of them it would lose or misread."""

from __future__ import annotations

import pyarrow as pa

from drac_pipeline.errors import DracError


def refuse_newer(kind: str, found: int, known: int) -> None:
    """Raises DracError where `found`, the schema version of an artifact, is above `known`."""
    if found > known:
        raise DracError(
            f"{kind}: written by a newer release (schema {found}, this one reads {known});"
            " upgrade drac_pipeline to read it"
        )


def check_table(table: pa.Table, schema: pa.Schema) -> None:
    """Raises DracError where a table names a newer version of the schema than `schema` does.

    A table that names none was made elsewhere, and its columns speak for themselves.
    """
    kind, _, known = _named(schema)
    _, _, found = _named(table.schema)
    if found.isdigit():
        refuse_newer(kind, int(found), int(known))


def _named(schema: pa.Schema) -> tuple[str, str, str]:
    return (schema.metadata or {}).get(b"drac_schema", b"").decode().partition("/")
