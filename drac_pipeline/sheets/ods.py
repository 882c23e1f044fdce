"""ODS: the file holds each cell's text as displayed, so nothing has to be formatted."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import lxml.etree as etree

from drac_pipeline.counted import counted
from drac_pipeline.errors import CorruptDocument, DocumentTooLarge, EncryptedDocument
from drac_pipeline.sheets.grid import (
    PLAIN,
    Area,
    Cell,
    Declared,
    Kind,
    Look,
    RawSheet,
    Row,
    area_of,
    cell_position,
    range_name,
)
from drac_pipeline.sheets.number_format import general
from drac_pipeline.sheets.xlsx import BROKEN, too_many
from drac_pipeline.sheets.xlsx_parts import local, tree

_SAVE_AGAIN = "Open it in the program that made it and save it again."
_STARTS = ("table", "table-header-rows", "table-row-group")
_ENDS = ("style", "table-column", "table-row", "database-range", "shapes", *_STARTS)
_FO = ("font-weight", "font-style", "font-size", "color", "background-color")
_KINDS: dict[str, Kind] = {
    "float": "number",
    "percentage": "number",
    "currency": "number",
    "date": "date",
    "time": "date",
    "boolean": "bool",
}
_MAX_COLUMNS = 16_384
_ODF = "{urn:oasis:names:tc:opendocument:xmlns:"
_TABLE = _ODF + "table:1.0}"
# attributes of other namespaces than that of tables, where most are
_ATTRIBUTES = {
    **{
        n: f"{_ODF}office:1.0}}{n}"
        for n in ("value-type", "value", "date-value", "time-value", "boolean-value")
    },
    **{n: f"{_ODF}xsl-fo-compatible:1.0}}{n}" for n in _FO},
    **{n: f"{_ODF}style:1.0}}{n}" for n in ("family", "parent-style-name")},
    "c": f"{_ODF}text:1.0}}c",
}


def read_ods(path: Path, max_cells: int) -> list[RawSheet]:
    """All sheets: filters are declared after them, so none is complete before the end."""
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = tree(archive, "META-INF/manifest.xml")
            if manifest is not None and next(manifest.iter("{*}encryption-data"), None) is not None:
                raise EncryptedDocument("a password is needed", remedy="Save it without a password.")
            reader = _Reader(max_cells)
            named = tree(archive, "styles.xml")
            for node in named.iter("{*}style") if named is not None else ():
                reader.style(node)
            with archive.open("content.xml") as f:
                reader.read(f)
            return reader.sheets
    except BROKEN as e:
        raise CorruptDocument(f"the workbook cannot be read ({e})", remedy=_SAVE_AGAIN) from e


class _Reader:
    """One pass over content.xml."""

    def __init__(self, max_cells: int) -> None:
        self.max_cells = max_cells
        self.sheets: list[RawSheet] = []
        self.looks: dict[str, Look] = {}
        self.hidden_tables: set[str] = set()
        self.cells = 0
        self.row = 0
        self.column = 0
        self.in_header = False
        self.closed_groups = 0

    def read(self, source: Any) -> None:
        """Fill `sheets`."""
        events = etree.iterparse(
            source,
            events=("start", "end"),
            tag=[f"{{*}}{n}" for n in _ENDS],
            resolve_entities=False,
            load_dtd=False,
            no_network=True,
        )
        for event, node in events:
            name = local(node)
            if event == "start":
                self._start(name, node)
            else:
                self._end(name, node)

    def _start(self, name: str, node: Any) -> None:
        if name == "table":
            style = _get(node, "style-name")
            self.sheets.append(RawSheet(_get(node, "name"), hidden=style in self.hidden_tables))
            self.row = self.column = 0
        elif name == "table-header-rows":
            self.in_header = self.row == 0
        elif name == "table-row-group":
            self.closed_groups += _get(node, "display") == "false"

    def _end(self, name: str, node: Any) -> None:
        match name:
            case "style":
                self.style(node)
            case "table-header-rows":
                self.in_header = False
            case "table-row-group":
                self.closed_groups -= _get(node, "display") == "false"
            case "table-column":
                self._column(node)
            case "table-row":
                self._row(node)
                node.clear(keep_tail=False)
                parent = node.getparent()
                while parent is not None and node.getprevious() is not None:
                    del parent[0]
            case "shapes":
                if self.sheets:
                    self.sheets[-1].texts += _paragraphs(node)
            case "database-range":
                self._range(node)

    def style(self, node: Any) -> None:
        """Remember the look of a cell style, and which table styles hide their sheet."""
        family, name = _get(node, "family"), node.get(f"{_ODF}style:1.0}}name") or ""
        if family == "table":
            if any(local(p) == "table-properties" and _get(p, "display") == "false" for p in node):
                self.hidden_tables.add(name)
        elif family == "table-cell":
            look = self.looks.get(_get(node, "parent-style-name"), PLAIN)
            for part in node:
                if local(part) == "text-properties":
                    weight, slant = _get(part, "font-weight"), _get(part, "font-style")
                    size = _get(part, "font-size").rstrip("pt")
                    look = replace_look(
                        look,
                        bold=look.bold if not weight else weight not in ("normal", "400"),
                        italic=look.italic if not slant else slant != "normal",
                        color=_get(part, "color") or look.color,
                        size=float(size) if size.replace(".", "", 1).isdigit() else look.size,
                    )
                elif local(part) == "table-cell-properties":
                    fill = _get(part, "background-color")
                    if fill:
                        look = replace_look(look, fill="" if fill in ("transparent", "#ffffff") else fill)
            self.looks[name] = look

    def _column(self, node: Any) -> None:
        n = _count(node, "number-columns-repeated")
        if self.sheets and _get(node, "visibility") in ("collapse", "filter"):
            self.sheets[-1].hidden_columns.append((self.column + 1, self.column + n))
        self.column += n

    def _row(self, node: Any) -> None:
        if not self.sheets:
            return
        sheet = self.sheets[-1]
        repeat = _count(node, "number-rows-repeated")
        first = self.row + 1
        self.row += repeat
        if self.in_header:
            sheet.header_rows = self.row
        cells = self._cells(node, first)
        if not cells:
            return
        self.cells += len(cells) * repeat
        if self.cells > self.max_cells:
            raise too_many(self.max_cells)
        visibility = _get(node, "visibility")
        for number in range(first, first + repeat):
            sheet.rows.append(Row(number, [replace(c) for c in cells] if number > first else cells))
            if visibility in ("collapse", "filter") or self.closed_groups:
                sheet.hidden_rows.add(number)
            if visibility == "filter":
                sheet.filtered_rows.add(number)

    def _cells(self, node: Any, row: int) -> list[Cell]:
        sheet = self.sheets[-1]
        out: list[Cell] = []
        col = 0
        for c in node:
            name = local(c)
            if name not in ("table-cell", "covered-table-cell"):
                continue
            repeat = _count(c, "number-columns-repeated")
            first = col + 1
            col += repeat
            if not len(c) and not _get(c, "formula") and not _get(c, "value-type"):
                continue
            if name == "covered-table-cell":
                continue  # what lies under a merged cell is not seen
            text, kind = self._value(c, f"{range_name('', row, first, row, first)}")
            if not text or text.isspace():
                continue
            if repeat > _MAX_COLUMNS:
                raise DocumentTooLarge(f"a cell repeated {counted(repeat, 'time')}", remedy=_SAVE_AGAIN)
            across, down = _count(c, "number-columns-spanned"), _count(c, "number-rows-spanned")
            if across > 1 or down > 1:
                sheet.merges.append(Area(row, first, row + down - 1, first + across - 1))
            look = self.looks.get(_get(c, "style-name"), PLAIN)
            out += [Cell(at, text, kind, look) for at in range(first, first + repeat)]
        return out

    def _value(self, node: Any, name: str) -> tuple[str, Kind]:
        lines: list[str] = []
        for part in node:
            tag = local(part)
            if tag == "p":
                lines.append(_text(part))
            elif tag == "annotation":
                said = " ".join(_paragraphs(part))
                if said:
                    self.sheets[-1].comments.append((name, said))
            elif tag not in ("detective", "cell-range-source"):
                self.sheets[-1].texts += _paragraphs(part)
        text = "\n".join(lines)
        kind = _KINDS.get(_get(node, "value-type"), "text")
        if not text and kind != "text":
            text = _stored(node)
        if not text and _get(node, "formula") and not _get(node, "value-type"):
            self.sheets[-1].uncalculated.append(cell_position(name))
        if kind == "text" and text.startswith("#") and _get(node, "formula") and text.isupper():
            kind = "error"
        return text, kind

    def _range(self, node: Any) -> None:
        """A range with filter buttons has a header."""
        address = _get(node, "target-range-address")
        name, _, rest = address.partition(".")
        area = area_of(rest.split(":")[0] + ":" + rest.rpartition(".")[2] if ":" in rest else rest)
        if area is None or _get(node, "display-filter-buttons") != "true":
            return
        for sheet in self.sheets:
            if sheet.name == name.replace("$", "").strip("'").replace("''", "'"):
                sheet.declared.append(Declared(area))


def replace_look(look: Look, **changes: Any) -> Look:
    """`look` with some things changed."""
    return look._replace(**changes)


def _get(node: Any, name: str) -> str:
    """The attribute of that name in the namespace that ODF has for it."""
    return node.get(_ATTRIBUTES.get(name) or _TABLE + name) or ""


def _count(node: Any, name: str) -> int:
    text = _get(node, name)
    return int(text) if text.isdigit() and 0 < int(text) < 1 << 31 else 1


def _stored(node: Any) -> str:
    """The value itself, where a program wrote no text for it."""
    value = _get(node, "value")
    if value:
        try:
            return general(float(value))
        except ValueError:
            return value
    stored = _get(node, "date-value") or _get(node, "time-value")
    return stored.replace("T00:00:00", "").replace("T", " ") or _get(node, "boolean-value").upper()


def _paragraphs(node: Any) -> list[str]:
    return [t for p in node.iter("{*}p") if (t := " ".join(_text(p).split()))]


def _text(node: Any) -> str:
    """The text of a paragraph with its spaces, tabs and line breaks."""
    out = [node.text or ""]
    for child in node:
        name = local(child)
        if name == "s":
            out.append(" " * min(_count(child, "c"), 1000))
        elif name in ("tab", "line-break"):
            out.append("\t" if name == "tab" else "\n")
        elif name and name not in ("annotation", "note", "ruby-text"):
            out.append(_text(child))
        out.append(child.tail or "")
    return "".join(out)
