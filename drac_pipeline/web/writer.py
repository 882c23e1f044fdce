"""Blocks to Markdown, by the conventions of the local converter, with the span of each."""

from __future__ import annotations

import re
from collections.abc import Iterable

from drac_pipeline.convert.local.paragraphs import clean_text
from drac_pipeline.model.conversion import (
    BlockSpan,
    ConversionReport,
    Converted,
    Dropped,
    TableData,
    TableRow,
)
from drac_pipeline.web.blocks import Block, TableText

_MARKUP = re.compile(r"<!--|</?(?:table|thead|tbody|tfoot|tr|t[dh]|img|picture|figure)\b|!\[", re.I)
_OURS = re.compile(r"<!--(?=[ \t]*(?:page[ \t]+\d|drac:))", re.I)
# what would make a line of text a heading, fence, quote, rule or table row
_START = re.compile(r"(?=#{1,6}(?:\s|$)|`{3}|~{3}|>|\|.*\|\s*$|(?:=+|(?:[-*_][ \t]*){3,})$)")
_FENCE_RUN = re.compile(r"^[ \t]*(`{3,})", re.M)
_INDENT = 4


class Writer:
    """Collects Markdown and spans."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.length = 0
        self.spans: list[BlockSpan] = []
        self.tables: list[TableData] = []
        self._last = ""

    def write(self, blocks: Iterable[Block]) -> None:
        for block in blocks:
            self._write(block)

    def converted(self, converter: str, dropped: list[Dropped], warnings: list[str]) -> Converted:
        """All that was written, with the report; there are no pages."""
        return Converted(
            markdown="".join(self.parts) + "\n" if self.parts else "",
            spans=self.spans,
            tables=self.tables,
            report=ConversionReport(converter=converter, dropped=dropped, warnings=warnings),
        )

    def _write(self, block: Block) -> None:
        inside = " " * (_INDENT * max(0, block.depth - 1) + 2) if block.depth else ""
        if block.kind == "table" and block.table is not None:
            self._table(block.table, block.depth, inside)
        elif block.kind == "code":
            self._code(block, inside)
        elif block.kind == "heading":
            text = " ".join(_clean(block.text).split())
            self._add(f"{'#' * max(1, min(6, block.level))} {_plain(text)}" if text else "", "heading")
        elif block.kind == "list_item":
            lines = _lines(block.text)
            if lines:
                indent = " " * (_INDENT * (block.depth - 1))
                text = f"\n{indent}  ".join([lines[0], *map(_guard, lines[1:])])
                self._add(f"{block.marker} {text}", "list_item", indent)
        elif block.kind == "quote":
            self._add("\n".join(f"> {line}" for line in _lines(block.text)), "quote", inside)
        else:
            self._add(f"\n{inside}".join(map(_guard, _lines(block.text))), "paragraph", inside)

    def _code(self, block: Block, inside: str) -> None:
        text = _OURS.sub("<!- -", block.text)
        if not text.strip():
            return
        longest = max((len(m[1]) for m in _FENCE_RUN.finditer(text)), default=2)
        fence = "`" * max(3, longest + 1)
        lines = [f"{fence}{block.marker}", *text.split("\n"), fence]
        self._add(f"\n{inside}".join(lines), "code", inside)

    def _table(self, table: TableText, depth: int, inside: str) -> None:
        if table.caption:
            self._write(Block("paragraph", table.caption, depth=depth))
        data = TableData(table_id=f"t{len(self.tables) + 1}", caption=table.caption, header=table.header)
        self.tables.append(data)
        for row in table.rows:
            sentence = _plain(" ".join(_clean(row.sentence).split()))
            if sentence:
                self._add(_guard(sentence), "table_row", inside, data.table_id, len(data.rows))
                data.rows.append(TableRow(cells=row.cells, page=0))
            for block in row.after:
                block.depth = depth
                self._write(block)

    def _add(
        self, text: str, kind: str, indent: str = "", table_id: str | None = None, row: int | None = None
    ) -> None:
        if not text:
            return
        if self.parts:
            tight = kind == "list_item" and self._last == "list_item"
            self._put("\n" if tight else "\n\n")
        self._put(indent)
        start = self.length
        self._put(text)
        self.spans.append(BlockSpan(start=start, end=self.length, table_id=table_id, row=row, kind=kind))
        self._last = kind

    def _put(self, text: str) -> None:
        self.parts.append(text)
        self.length += len(text)


def _clean(text: str) -> str:
    return clean_text(text)


def _plain(text: str) -> str:
    """Markup that a document speaks of is text, not markup, least of all a comment of ours."""
    return _MARKUP.sub(r"\\\g<0>", _OURS.sub("<!- -", text))


def _lines(text: str) -> list[str]:
    lines = (" ".join(line.split()) for line in _plain(_clean(text)).split("\n"))
    return [line for line in lines if line]


def _guard(line: str) -> str:
    return _START.sub(r"\\", line, count=1) if _START.match(line) else line
