"""ID-addressed elements (W-RAC), the unit that plans speak of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from enum import StrEnum

import pyarrow as pa

from drac_pipeline.model.box import Box
from drac_pipeline.model.schema_version import check_table

ELEMENT_SCHEMA_VERSION = 2


class ElementKind(StrEnum):
    """What an element is. `error` marks a page range that could not be converted."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list_item"
    TABLE_ROW = "table_row"
    CODE = "code"
    QUOTE = "quote"
    ERROR = "error"


CONTENT_KINDS = frozenset(ElementKind) - {ElementKind.HEADING, ElementKind.ERROR}


@dataclass(frozen=True, slots=True)
class Element:
    """One block of a document in reading order.

    id         h1…, p1…, e1… (error), counted per document
    ordinal    position in the document, from 0
    level      heading level 1–6; list depth from 1 for list items; else 0
    text       the Markdown characters [start, end), byte for byte; for a heading the
               heading's text without its hashes
    ancestors  ids of the headings above, outermost first (the element itself excluded)
    group      list or table that the element belongs to (l1…, t1…), else ""
    row        row number in its table (0-based), else -1
    part       0; of a text too long for one element the second part has 1, and so on: it goes
               on where the element before it ends, after the white space that parts them
    pages      first and last page (1-based; 0 where the converter gave no pages)
    boxes      where it stands on the page, where known
    """

    id: str
    ordinal: int
    kind: ElementKind
    level: int
    text: str
    start: int
    end: int
    ancestors: tuple[str, ...] = ()
    group: str = ""
    row: int = -1
    part: int = 0
    page_start: int = 0
    page_end: int = 0
    boxes: tuple[Box, ...] = field(default=())

    @property
    def is_content(self) -> bool:
        """True for what has to be in exactly one chunk (neither heading nor error marker)."""
        return self.kind in CONTENT_KINDS


BOX_TYPE = pa.struct(
    [
        ("page", pa.int32()),
        ("x0", pa.float32()),
        ("y0", pa.float32()),
        ("x1", pa.float32()),
        ("y1", pa.float32()),
    ]
)

ELEMENT_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("ordinal", pa.int32()),
        ("kind", pa.string()),
        ("level", pa.int8()),
        ("text", pa.string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("ancestors", pa.list_(pa.string())),
        ("group", pa.string()),
        ("row", pa.int32()),
        ("part", pa.int32()),
        ("page_start", pa.int32()),
        ("page_end", pa.int32()),
        ("boxes", pa.list_(BOX_TYPE)),
    ],
    metadata={"drac_schema": f"elements/{ELEMENT_SCHEMA_VERSION}"},
)


def elements_to_table(elements: Iterable[Element]) -> pa.Table:
    """The elements as an Arrow table of `ELEMENT_SCHEMA`."""
    rows = []
    for e in elements:
        row = {name: getattr(e, name) for name in ELEMENT_SCHEMA.names}
        row["kind"] = str(e.kind)
        row["ancestors"] = list(e.ancestors)
        row["boxes"] = [b.model_dump() for b in e.boxes]
        rows.append(row)
    return pa.Table.from_pylist(rows, schema=ELEMENT_SCHEMA)


def elements_from_table(table: pa.Table) -> list[Element]:
    """The elements of an Arrow table written by `elements_to_table`.

    Raises DracError where a newer release wrote it."""
    check_table(table, ELEMENT_SCHEMA)
    out = []
    for row in table.to_pylist():
        row["kind"] = ElementKind(row["kind"])
        row["ancestors"] = tuple(row["ancestors"])
        row["boxes"] = tuple(Box(**b) for b in row["boxes"])
        out.append(Element(**row))
    return out


def element_record(element: Element) -> dict[str, object]:
    """The element as plain JSON values, for inspection and export."""
    record = asdict(element)
    record["kind"] = str(element.kind)
    record["boxes"] = [b.model_dump() for b in element.boxes]
    return record
