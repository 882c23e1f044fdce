"""What a converter gives: Markdown, where each block of it came from, and a report."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from drac_pipeline.model.box import Box
from drac_pipeline.model.schema_version import refuse_newer

CONVERSION_SCHEMA_VERSION = 1

DropReason = Literal[
    "running header",
    "running footer",
    "page number",
    "repeated table header",
    "table of contents",
    "decoration",
    "image",
    "hidden",
    "comment",
    "speaker notes",
    "other",
    # of web pages
    "navigation",
    "sidebar",
    "footer",
    "cookie banner",
    "dialog",
    "login",
    "form",
    "script",
    "embedded",
    "outside main",
    "front matter",
]


class Dropped(BaseModel):
    """Text of a page that was left out of the Markdown, and why."""

    page: int
    text: str
    reason: DropReason


class PageReport(BaseModel):
    """What became of one page.

    `reader` names what read it (`text layer`, `layout model`, `ocr`, a model id) and
    `reason` why that one; `confidence` is 0..1; `n_chars` counts the characters of
    its Markdown; `error` is set where the page could not be converted.
    """

    page: int
    reader: str
    reason: str = ""
    confidence: float = 1.0
    n_chars: int = 0
    blank: bool = False
    error: str | None = None
    warnings: list[str] = Field(default_factory=list)


class TableRow(BaseModel):
    """A body row: its cells by column (a spanned value repeated in each row it covers).

    `page` is 0 where a document has no pages; `origin` says where the row stands in a file
    that counts otherwise (`Sheet1!A5:F5`).
    """

    cells: list[str]
    page: int
    box: Box | None = None
    origin: str = ""


class TableData(BaseModel):
    """A table as data. `header[c]` is the header path of column c, outermost first."""

    table_id: str
    caption: str = ""
    origin: str = ""
    header: list[list[str]] = Field(default_factory=list)
    rows: list[TableRow] = Field(default_factory=list)
    boxes: list[Box] = Field(default_factory=list)


class BlockSpan(BaseModel):
    """Where the Markdown characters [start, end) came from.

    A span covers one block as parsed later (a heading line, a paragraph, a list
    item, a row sentence). `table_id` and `row` (0-based) are set for row sentences,
    `origin` where the file has its own way to name the place (`Sheet1!A5:F5`).
    """

    model_config = ConfigDict(frozen=True)

    start: int
    end: int
    boxes: list[Box] = Field(default_factory=list)
    table_id: str | None = None
    row: int | None = None
    kind: str | None = None
    origin: str = ""


class ConversionReport(BaseModel):
    """Per document: which converter, what became of each page, what was dropped, what a setting
    took in that is left out otherwise, and whether the source is a page of a web site."""

    schema_version: int = CONVERSION_SCHEMA_VERSION
    converter: str
    pages: list[PageReport] = Field(default_factory=list)
    dropped: list[Dropped] = Field(default_factory=list)
    taken: list[str] = Field(default_factory=list)
    web_page: bool = False
    warnings: list[str] = Field(default_factory=list)

    def model_post_init(self, _: object) -> None:
        """Raises DracError where a newer release wrote it."""
        refuse_newer("conversion report", self.schema_version, CONVERSION_SCHEMA_VERSION)


class Converted(BaseModel):
    """A converted document: `markdown` with `<!-- page N -->` before each page,
    the spans of its blocks in order, its tables as data, and the report."""

    markdown: str
    spans: list[BlockSpan] = Field(default_factory=list)
    tables: list[TableData] = Field(default_factory=list)
    report: ConversionReport
