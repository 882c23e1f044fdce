"""XLS (Excel 97 to 2003) by xlrd: the only reader for Python that knows number formats,
merged cells, looks and hidden rows of this format without starting a program."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import xlrd
from xlrd.biffh import XLRDError
from xlrd.compdoc import CompDocError
from xlrd.formula import FormulaError

from drac_pipeline.errors import CorruptDocument, EncryptedDocument
from drac_pipeline.sheets.grid import Area, Cell, Declared, Kind, Look, RawSheet, Row, range_name
from drac_pipeline.sheets.number_format import NumberFormat, builtin_code, number_format
from drac_pipeline.sheets.xls_shapes import shape_texts
from drac_pipeline.sheets.xlsx import too_many

_BROKEN = (
    XLRDError,
    CompDocError,
    FormulaError,
    struct.error,
    AssertionError,
    IndexError,
    KeyError,
    TypeError,
    ValueError,
    UnicodeError,
    AttributeError,
)
_SAVE_AGAIN = "Open it in the program that made it and save it again."


def read_xls(path: Path, max_cells: int, *, hidden_sheets: bool = False) -> Iterator[RawSheet]:
    """The sheets one after the other; of hidden ones the name only, unless they are wanted."""
    try:
        book = xlrd.open_workbook(
            str(path), formatting_info=True, on_demand=True, logfile=io.StringIO(), ragged_rows=True
        )
        reader = _Reader(book, max_cells)
        stream: Any = book.mem
        shapes = shape_texts(bytes(stream[book.base : book.base + book.stream_len]))
        for index, name in enumerate(book.sheet_names()):
            sheet = book.sheet_by_index(index)
            hidden = sheet.visibility != 0
            if hidden and not hidden_sheets:
                yield RawSheet(name, hidden=True)
            else:
                raw = reader.read(sheet, index)
                shown = {c.text for r in raw.rows for c in r.cells}  # a chart names its rows by their cells
                raw.texts = [t for t in (shapes[index] if index < len(shapes) else []) if t not in shown]
                yield raw
            book.unload_sheet(index)
    except _BROKEN as e:
        if "encrypted" in str(e).lower() or "password" in str(e).lower():
            raise EncryptedDocument("a password is needed", remedy="Save it without a password.") from e
        why = str(e) or type(e).__name__
        raise CorruptDocument(f"the workbook cannot be read ({why})", remedy=_SAVE_AGAIN) from e


class _Reader:
    """Cells of a book with its formats and looks."""

    def __init__(self, book: Any, max_cells: int) -> None:
        self.book = book
        self.max_cells = max_cells
        self.cells = 0
        self.styles: dict[int, tuple[NumberFormat, Look]] = {}

    def read(self, sheet: Any, index: int) -> RawSheet:
        """One sheet."""
        raw = RawSheet(sheet.name, hidden=sheet.visibility != 0)
        for r in range(sheet.nrows):
            cells = [c for c in (self._cell(sheet, r, k) for k in range(sheet.row_len(r))) if c]
            if cells:
                raw.rows.append(Row(r + 1, cells))
                self.cells += len(cells)
                if self.cells > self.max_cells:
                    raise too_many(self.max_cells)
        raw.merges = [Area(r1 + 1, c1 + 1, r2, c2) for r1, r2, c1, c2 in sheet.merged_cells]
        raw.hidden_rows = {r + 1 for r, info in sheet.rowinfo_map.items() if info.hidden or info.height == 0}
        raw.hidden_columns = [
            (c + 1, c + 1) for c, info in sheet.colinfo_map.items() if info.hidden or info.width == 0
        ]
        if sheet.panes_are_frozen:
            raw.header_rows = sheet.horz_split_pos
        for (r, c), note in sorted(sheet.cell_note_map.items()):
            raw.comments.append((range_name("", r + 1, c + 1, r + 1, c + 1), " ".join(note.text.split())))
        self._filter(raw, index)
        return raw

    def _filter(self, raw: RawSheet, index: int) -> None:
        """The range of the sheet's filter, which has a header and may hide rows."""
        for name in self.book.name_obj_list:
            if name.builtin and name.name in ("\r", "_FilterDatabase") and name.scope == index:
                try:
                    _, r1, r2, c1, c2 = name.area2d()
                except (XLRDError, AttributeError, TypeError, ValueError):
                    continue
                area = Area(r1 + 1, c1 + 1, r2, c2)
                raw.filters.append(area)
                raw.declared.append(Declared(area))

    def _cell(self, sheet: Any, row: int, col: int) -> Cell | None:
        kind = sheet.cell_type(row, col)
        if kind in (xlrd.XL_CELL_EMPTY, xlrd.XL_CELL_BLANK):
            return None
        value = sheet.cell_value(row, col)
        style, look = self._style(sheet.cell_xf_index(row, col))
        shown: Kind = "text"
        if kind == xlrd.XL_CELL_TEXT:
            text = style.render_text(value)
        elif kind == xlrd.XL_CELL_BOOLEAN:
            text, shown = ("TRUE" if value else "FALSE"), "bool"
        elif kind == xlrd.XL_CELL_ERROR:
            text, shown = xlrd.error_text_from_code.get(value, "#ERR!"), "error"
        else:
            text, shown = style.render(value), "date" if style.is_date else "number"
        return Cell(col + 1, text, shown, look) if text and not text.isspace() else None

    def _style(self, index: int) -> tuple[NumberFormat, Look]:
        found = self.styles.get(index)
        if found is None:
            xf = self.book.xf_list[index]
            font = self.book.font_list[xf.font_index]
            listed = self.book.format_map.get(xf.format_key)
            code = listed.format_str if listed is not None else ""
            if xf.format_key < 50 and builtin_code(xf.format_key) != "General":
                code = builtin_code(xf.format_key)
            fill = xf.background
            color = fill.pattern_colour_index
            look = Look(
                bool(font.bold or font.weight >= 600),
                bool(font.italic),
                f"indexed{color}" if fill.fill_pattern and color not in (9, 65) else "",
                str(font.colour_index),
                0,
                font.height / 20,
            )
            found = self.styles[index] = (number_format(code, bool(self.book.datemode)), look)
        return found
