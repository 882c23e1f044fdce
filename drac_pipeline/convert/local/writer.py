"""Blocks to Markdown with the span of each."""

from __future__ import annotations

import re

from drac_pipeline.convert.local.blocks import Block
from drac_pipeline.convert.local.headings import CAPTION
from drac_pipeline.convert.local.paragraphs import clean_text, join_lines
from drac_pipeline.convert.local.rows import LEADER_RE, readable
from drac_pipeline.convert.local.tables import Table, read_table
from drac_pipeline.convert.local.text_layer import PageText, Segment
from drac_pipeline.convert.markers import format_page_comment
from drac_pipeline.convert.row_sentences import row_sentence, unsaid
from drac_pipeline.model.box import Box
from drac_pipeline.model.conversion import BlockSpan, TableData, TableRow

_MARKUP = re.compile(r"<!--|</?(?:table|img|picture|figure)\b|!\[", re.I)
BULLET_MARKER = re.compile(r"[^\w(]")


class Writer:
    """Collects Markdown text and spans; `page` writes the comments in order."""

    def __init__(self, vocabulary: dict[str, int]) -> None:
        self.vocabulary = vocabulary
        self.parts: list[str] = []
        self.length = 0
        self.spans: list[BlockSpan] = []
        self.tables: list[TableData] = []
        self.chars: dict[int, int] = {}
        self._at_page = 0
        self._last = ""
        self._caption = ""

    @property
    def markdown(self) -> str:
        return "".join(self.parts).rstrip("\n") + "\n" if self.parts else ""

    def _add(self, text: str) -> None:
        self.parts.append(text)
        self.length += len(text)

    def page(self, number: int) -> None:
        """Write the comments of all pages up to this one."""
        while self._at_page < number:
            self._at_page += 1
            if self.parts:
                self._add("\n\n" if not self.parts[-1].endswith("\n\n") else "")
            self._add(format_page_comment(self._at_page))
            self._last = "comment"

    def raw(self, text: str) -> None:
        """A comment of ours, such as an error marker."""
        self._add("\n\n" + text)
        self._last = "comment"

    def block(
        self,
        text: str,
        kind: str,
        boxes: list[Box],
        *,
        table_id: str | None = None,
        row: int | None = None,
        indent: int = 0,
    ) -> None:
        """Write one block."""
        if not text:
            return
        # markup that a document speaks of is text, not markup
        text = _MARKUP.sub(r"\\\g<0>", text)
        tight = kind == "list_item" and self._last == "list_item"
        if self.parts:
            self._add("\n" if tight else "\n\n")
        if indent:
            self._add(" " * indent)
        start = self.length
        self._add(text)
        self.spans.append(
            BlockSpan(start=start, end=self.length, boxes=boxes, table_id=table_id, row=row, kind=kind)
        )
        self.chars[self._at_page] = self.chars.get(self._at_page, 0) + len(text)
        self._last = kind

    def write(self, block: Block) -> None:
        """Write a block of the document."""
        self.page(block.rows[0].page)
        if block.kind == "table":
            self._table(read_table(block.drafts, self.vocabulary), block)
            self._caption = ""
            return
        text = join_lines((LEADER_RE.sub(" ", readable(r.text) + " ") for r in block.rows), self.vocabulary)
        boxes = boxes_of([s for r in block.rows for s in r.segments])
        self._caption = text if CAPTION.match(text) else ""
        if block.kind == "heading":
            self.block("#" * max(1, min(6, block.level)) + " " + text, "heading", boxes)
        elif block.kind == "item":
            self._item(block, text, boxes)
        else:
            self.block(_guard(text), "paragraph", boxes)

    def _item(self, block: Block, text: str, boxes: list[Box]) -> None:
        marker = clean_text(block.marker)
        body = text
        if body.startswith(marker):
            body = body[len(marker) :].lstrip()
        if not body:
            return
        if BULLET_MARKER.match(marker) or marker == "o":
            marker = "-"
        self.block(f"{marker} {body}", "list_item", boxes, indent=4 * (block.depth - 1))

    def _table(self, table: Table, block: Block) -> None:
        table_id = f"t{len(self.tables) + 1}"
        data = TableData(table_id=table_id, caption=table.caption or self._caption, header=table.header)
        if table.caption:
            self.block(_guard(table.caption), "paragraph", boxes_of(table.header_segments))
        if not table.rows:
            # a header and nothing else: its texts are content
            text = "; ".join(" ".join(p) for p in table.header if p)
            self.block(text, "paragraph", boxes_of(table.header_segments))
            return
        rows = [(table.header, cells) for k, cells in enumerate(table.rows) if k not in table.titles]
        if open_columns := unsaid(table.header, rows):
            self.block(_guard(open_columns), "paragraph", boxes_of(table.header_segments))
        n = 0
        for k, (cells, record, section) in enumerate(
            zip(table.rows, table.records, table.sections, strict=True)
        ):
            title = k in table.titles
            sentence = row_sentence([] if title else table.header, cells, section)
            if not sentence:
                continue
            boxes = boxes_of(record.segments())
            self.page(record.page)
            self.block(sentence, "table_row", boxes, table_id=table_id, row=n)
            data.rows.append(TableRow(cells=cells, page=record.page, box=boxes[0] if boxes else None))
            n += 1
        data.boxes = boxes_of([s for d in block.drafts for r in d.rows for s in r.segments])
        self.tables.append(data)


def boxes_of(segments: list[Segment]) -> list[Box]:
    """One box a page around the segments."""
    groups: dict[int, list[Segment]] = {}
    frames: dict[int, PageText] = {}
    for s in segments:
        groups.setdefault(s.page, []).append(s)
        frames[s.page] = s.frame
    out = []
    for page, members in sorted(groups.items()):
        out.append(
            frames[page].to_display(
                min(s.x0 for s in members),
                min(s.y0 for s in members),
                max(s.x1 for s in members),
                max(s.y1 for s in members),
            )
        )
    return out


def _guard(text: str) -> str:
    """A paragraph must not read as a heading, comment or fence."""
    if re.match(r"#{1,6}\s|```|~~~|>", text):
        text = "\\" + text
    return text
