"""Sheets to Markdown.

A sheet's name is a heading of the first level: a workbook has no title of its own, and its
sheets stand side by side. The title above a table is a heading below it, so that every row
is found under both. A table without a title after one that has its own gets the sheet's name
once more as its heading: it must not be found under a title that is not its own. A CSV file
has no sheet name, so nothing is put above its rows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from drac_pipeline.convert.local.writer import Writer
from drac_pipeline.convert.row_sentences import row_sentence, unsaid
from drac_pipeline.model.conversion import TableData, TableRow
from drac_pipeline.sheets.grid import Row, Sheet, range_name
from drac_pipeline.sheets.layout import Part, lay_out
from drac_pipeline.sheets.tables import BodyRow, Reading, read_table

# what would be markup at the start of a line
_MARKUP = re.compile(r"#{1,6}\s|```|~~~|>")
_RULE = re.compile(r"[-*_=\s.·•]+")


class SheetWriter:
    """Writes sheets one after the other."""

    def __init__(self) -> None:
        self.writer = Writer({})

    @property
    def tables(self) -> list[TableData]:
        """The tables written so far."""
        return self.writer.tables

    def sheet(self, sheet: Sheet, *, prior: bool = False) -> None:
        """One sheet. `prior`: its first row is a header by custom (CSV)."""
        if sheet.name:
            self._block(f"# {_line(sheet.name)}", "heading", sheet.name)
        owned = False  # the last heading belongs to one table
        for part in lay_out(sheet, prior=prior):
            self._paragraphs(part.before, sheet.name)
            if part.title is not None:
                title = f"{'##' if sheet.name else '#'} {_line(part.title.cells[0].text)}"
                self._block(title, "heading", _origin(sheet.name, part.title))
                owned = part.reading is not None
            elif owned and part.reading is not None and sheet.name:
                self._block(f"## {_line(sheet.name)}", "heading", sheet.name)
                owned = False
            self._paragraphs(part.lead, sheet.name)
            if part.reading is not None:
                self._table(part, part.reading, sheet.name)
                self._paragraphs(part.reading.notes, sheet.name)
        for text in sheet.texts:
            self._paragraph(text, sheet.name)

    def comments(self, sheet: Sheet) -> None:
        """The comments of a sheet, each with its cell."""
        for cell, text in sheet.comments:
            if text:
                self._paragraph(f"{cell}: {text}", f"{sheet.name}!{cell}")

    def _table(self, part: Part, reading: Reading, sheet: str) -> None:
        table = read_table(reading)
        area = reading.block.area
        if not table.rows:
            # a header and nothing else: its texts are content
            self._paragraph("; ".join(" – ".join(p) for p in table.header if p), range_name(sheet, *area))
            return
        data = TableData(
            table_id=f"t{len(self.tables) + 1}",
            caption=_line(part.title.cells[0].text) if part.title else "",
            origin=range_name(sheet, *area),
            header=table.header,
        )
        headers = [table.header if r.header is None else r.header for r in table.rows]
        once = [_once(r) for r in table.rows]
        said = [row_sentence(h, c, r.section) for h, c, r in zip(headers, once, table.rows, strict=True)]
        self._paragraph(unsaid(table.header, zip(headers, once, strict=True)), data.origin)
        for row, sentence in zip(table.rows, said, strict=True):
            if not sentence:
                continue
            origin = _origin(sheet, row.row)
            self._block(_guarded(sentence), "table_row", origin, table_id=data.table_id, row=len(data.rows))
            data.rows.append(TableRow(cells=row.cells, page=0, origin=origin))
        self.tables.append(data)

    def _paragraphs(self, rows: Sequence[Row], sheet: str) -> None:
        for row in rows:
            # a text with empty lines in it is several paragraphs
            for text in re.split(r"\n\s*\n", "; ".join(c.text for c in row.cells)):
                self._paragraph(text, _origin(sheet, row))

    def _paragraph(self, text: str, origin: str) -> None:
        text = _line(text)
        if text and not _RULE.fullmatch(text):
            self._block(_guarded(text), "paragraph", origin)

    def _block(
        self, text: str, kind: str, origin: str, *, table_id: str | None = None, row: int | None = None
    ) -> None:
        spans = self.writer.spans
        n = len(spans)
        self.writer.block(text, kind, [], table_id=table_id, row=row)
        if len(spans) > n and origin:
            spans[-1] = spans[-1].model_copy(update={"origin": origin})


def _once(row: BodyRow) -> list[str]:
    """The cells to write: in keys and values the key is the header."""
    if row.header is not None and len(row.header) == 2 and row.header[0] == [] and row.cells[0]:
        return ["", row.cells[1]] if row.header[1] == [row.cells[0]] else row.cells
    return row.cells


def _line(text: str) -> str:
    return " ".join(text.split())


def _guarded(text: str) -> str:
    return "\\" + text if _MARKUP.match(text) else text


def _origin(sheet: str, row: Row) -> str:
    return range_name(sheet, row.number, row.cells[0].col, row.number, row.cells[-1].col)
