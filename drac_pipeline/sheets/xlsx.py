"""XLSX and XLSM: cells as displayed, read from the file's own XML.

Why not a library. What a sheet shows needs, beside the values, number formats, merged
cells, hidden and filtered rows and columns, looks and declared tables. openpyxl has all
of it only in its full mode: 4.9 s of CPU and 240 MB for 50,000 × 10 cells as they are
stored, where this takes 3 s and 220 MB for the same as displayed (benchmarks/sheets.py;
130 MB of both are the imports). Its read-only mode (2.5 s) knows neither merged cells nor
hidden rows. calamine reads the values in 0.3 s, but has neither formats nor what is
hidden. LibreOffice's CSV export shows values as displayed, but loses merged cells, looks
and what is hidden, and starts a program for every file. The parts needed are small.

Rows are read one at a time and empty cells are never kept, so a used range of a million
rows costs nothing but the reading.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lxml.etree as etree

from drac_pipeline.counted import counted
from drac_pipeline.errors import CorruptDocument, DocumentTooLarge
from drac_pipeline.sheets.grid import (
    Area,
    Cell,
    Declared,
    Kind,
    RawSheet,
    Row,
    area_of,
    cell_position,
    column_number,
)
from drac_pipeline.sheets.xlsx_parts import (
    SheetEntry,
    Style,
    Workbook,
    elements,
    local,
    read_comments,
    read_table,
    read_text_boxes,
    read_titles,
    read_workbook,
    relations,
    rich_text,
    tree,
    unescape,
)

BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, etree.XMLSyntaxError, KeyError, NotImplementedError)
_LONG_TEXT = 1000
_MAX_TEXT = 200_000_000  # characters that the cells of a sheet may show
_SAVE_AGAIN = "Open it in the program that made it and save it again."


def read_xlsx(path: Path, max_cells: int, *, hidden_sheets: bool = False) -> Iterator[RawSheet]:
    """The sheets one after the other; of hidden ones the name only, unless they are wanted."""
    try:
        with zipfile.ZipFile(path) as archive:
            book = read_workbook(archive)
            if book is None:
                raise CorruptDocument("the file has no workbook", remedy=_SAVE_AGAIN)
            strings = _strings(archive, max_cells)
            longest = max(map(len, strings), default=0)
            for entry in book.sheets:
                if not entry.part:
                    continue
                if entry.hidden and not hidden_sheets:
                    yield RawSheet(entry.name, hidden=True)
                    continue
                sheet = _SheetReader(archive, book, entry, strings, max_cells).read()
                if sheet.lost_texts and not strings:
                    raise CorruptDocument("its cells refer to texts that are not there", remedy=_SAVE_AGAIN)
                if longest > _LONG_TEXT:
                    _refuse_bomb(sheet)
                yield sheet
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        etree.XMLSyntaxError,
        KeyError,
        NotImplementedError,
    ) as e:
        raise CorruptDocument(f"the workbook cannot be read ({e})", remedy=_SAVE_AGAIN) from e


def _strings(archive: zipfile.ZipFile, max_cells: int) -> list[str]:
    """The texts that cells refer to by number."""
    name = next((n for n in archive.namelist() if n.lower().endswith("/sharedstrings.xml")), "")
    out: list[str] = []
    if name:
        with archive.open(name) as f:
            for item in elements(f, "si"):
                out.append(rich_text(item))
                if len(out) > max_cells:
                    raise too_many(max_cells)
    return out


def _refuse_bomb(sheet: RawSheet) -> None:
    """One long text that a file has once may be shown by any number of cells."""
    if sum(len(c.text) for r in sheet.rows for c in r.cells) > _MAX_TEXT:
        raise DocumentTooLarge(
            f"the cells of sheet {sheet.name} show more than {_MAX_TEXT:,} characters",
            remedy="Split the workbook.",
        )


def too_many(max_cells: int) -> DocumentTooLarge:
    """More cells than the settings allow."""
    return DocumentTooLarge(
        f"more than {counted(max_cells, 'cell')} with content",
        remedy="Split the workbook, or raise convert.sheet_max_cells.",
    )


class _SheetReader:
    """One worksheet part."""

    def __init__(
        self, archive: zipfile.ZipFile, book: Workbook, entry: SheetEntry, strings: list[str], max_cells: int
    ) -> None:
        self.archive = archive
        self.styles = book.styles
        self.strings = strings
        self.max_cells = max_cells
        self.part = entry.part
        self.sheet = RawSheet(entry.name, hidden=entry.hidden, header_rows=entry.title_rows)
        self.cells = 0
        self.row = 0
        self.column = 0

    def read(self) -> RawSheet:
        """The sheet with all that belongs to it."""
        with self.archive.open(self.part) as f:
            for node in elements(f, "row", "col", "mergeCell", "autoFilter", "pane", "sheetFormatPr"):
                match local(node):
                    case "row":
                        self._row(node)
                    case "col":
                        self._column(node)
                    case "mergeCell":
                        if area := area_of(node.get("ref", "")):
                            self.sheet.merges.append(area)
                    case "autoFilter":
                        self._filter(node)
                    case "pane":
                        self._pane(node)
        self._related()
        return self.sheet

    def _column(self, node: Any) -> None:
        if node.get("hidden") in ("1", "true") or node.get("width") == "0":
            first, last = node.get("min", ""), node.get("max", "")
            if first.isdigit() and last.isdigit():
                self.sheet.hidden_columns.append((int(first), int(last)))

    def _filter(self, node: Any) -> None:
        area = area_of(node.get("ref", ""))
        if area:
            if len(node):
                self.sheet.filters.append(area)
            self.sheet.declared.append(Declared(area))

    def _pane(self, node: Any) -> None:
        rows = node.get("ySplit", "")
        if node.get("state", "").startswith("frozen") and rows.isdigit():
            self.sheet.header_rows = max(self.sheet.header_rows, int(rows))

    def _row(self, node: Any) -> None:
        number = node.get("r", "")
        self.row = int(number) if number.isdigit() else self.row + 1
        cells: list[Cell] = []
        col = 0
        across: Cell | None = None
        for c in node:
            ref = c.get("r")
            col = (column_number(ref.rstrip("0123456789")) or col + 1) if ref else col + 1
            self.column = col
            index = c.get("s")
            style = self.styles[int(index)] if index and int(index) < len(self.styles) else self.styles[0]
            text, kind = self._value(c, style) if len(c) else ("", "text")
            if not text or text.isspace():
                # an empty cell that is centred across the selection belongs to the one before
                if style.across and across is not None and across.col + across.span == col:
                    across.span += 1
                continue
            cell = Cell(col, text, kind, style.look)
            cells.append(cell)
            across = cell if style.across else None
        for cell in cells:
            if cell.span > 1:
                self.sheet.merges.append(Area(self.row, cell.col, self.row, cell.col + cell.span - 1))
        if node.get("hidden") in ("1", "true") or node.get("ht") == "0":
            self.sheet.hidden_rows.add(self.row)
        if cells:
            self.cells += len(cells)
            if self.cells > self.max_cells:
                raise too_many(self.max_cells)
            self.sheet.rows.append(Row(self.row, cells))

    def _value(self, c: Any, style: Style) -> tuple[str, Kind]:
        """What the cell shows, and as what."""
        raw: str | None = None
        formula = False
        inline = ""
        for child in c:
            tag = child.tag
            if tag.endswith("}v"):
                raw = child.text or ""
            elif tag.endswith("}f"):
                formula = True
            elif tag.endswith("}is"):
                inline = rich_text(child)
        match c.get("t", "n"):
            case "s":
                if raw and raw.strip().isdigit() and int(raw) < len(self.strings):
                    return style.format.render_text(self.strings[int(raw)]), "text"
                self.sheet.lost_texts += bool(raw)
                return "", "text"
            case "inlineStr":
                return style.format.render_text(inline or unescape(raw or "")), "text"
            case "str":
                return style.format.render_text(unescape(raw or "")), "text"
            case "b":
                return ("TRUE" if (raw or "").strip() in ("1", "true") else "FALSE"), "bool"
            case "e":
                return raw or "", "error"
            case "d":
                return (raw or "").replace("T00:00:00", "").replace("T", " "), "date"
        if not raw:
            if formula:
                self.sheet.uncalculated.append((self.row, self.column))
            return "", "text"
        try:
            value = float(raw)
        except ValueError:
            return raw, "text"
        kind: Kind = "date" if style.format.is_date else "number"
        return style.format.render(value), kind

    def _related(self) -> None:
        """Tables, comments and text boxes, which lie in parts of their own."""
        for relation in relations(self.archive, self.part).values():
            match relation.type:
                case "table":
                    root = tree(self.archive, relation.target)
                    if root is not None and (table := read_table(root)):
                        self.sheet.declared.insert(0, table)
                        if any(local(n) == "autoFilter" and len(n) for n in root):
                            self.sheet.filters.append(table.area)
                case "comments":
                    self.sheet.comments += read_comments(tree(self.archive, relation.target))
                case "drawing":
                    self.sheet.texts += read_text_boxes(tree(self.archive, relation.target))
                    for shown in relations(self.archive, relation.target).values():
                        if shown.type == "chart":
                            self.sheet.texts += read_titles(tree(self.archive, shown.target))
        self.sheet.comments.sort(key=lambda c: cell_position(c[0]))
