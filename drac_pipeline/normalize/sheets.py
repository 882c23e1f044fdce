"""XLSX prepared for printing: no column cut from its rows, no value shown as ###."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import lxml.etree as etree

from drac_pipeline.normalize.ooxml import S, parse_part, rewrite_zip, serialize_part

_MAX_WIDTH = 80.0  # characters; longer text runs on to the right or is cut by its neighbour
_LANDSCAPE_FROM = 8  # columns
_MAX_SHEET_BYTES = 400_000_000
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
# Children of <worksheet> in the order the schema demands, from page setup's neighbours on.
_AFTER_PAGE_SETUP = (
    *("headerFooter", "rowBreaks", "colBreaks", "customProperties", "cellWatches", "ignoredErrors"),
    *("smartTags", "drawing", "legacyDrawing", "legacyDrawingHF", "drawingHF", "picture", "oleObjects"),
    *("controls", "webPublishItems", "tableParts", "extLst"),
)


@dataclass(slots=True)
class Sheets:
    """Names of the sheets that are printed and of the hidden ones; hidden rows and columns counted."""

    shown: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    hidden_rows: int = 0
    hidden_columns: int = 0


def prepare_xlsx(source: Path, target: Path) -> Sheets | None:
    """Write `source` to `target` with each sheet fitted to one page's width.

    Print areas and column breaks go, columns grow to the width of their values. None
    (and no file) if the workbook is not laid out as expected.
    """
    with zipfile.ZipFile(source) as z:
        names = set(z.namelist())
        if "xl/workbook.xml" not in names or "xl/_rels/workbook.xml.rels" not in names:
            return None
        book = parse_part(z.read("xl/workbook.xml"))
        relations = parse_part(z.read("xl/_rels/workbook.xml.rels"))
        if book is None or relations is None or book.tag != _s("workbook"):
            return None
        measure = Measure(_string_lengths(z, names), _format_lengths(z, names))
        targets = {r.get("Id"): r.get("Target", "") for r in relations}
        result, edits = Sheets(), {}
        for sheet in book.iter(_s("sheet")):
            name = sheet.get("name", "")
            if sheet.get("state", "visible") != "visible":
                result.hidden.append(name)
                continue
            result.shown.append(name)
            part = posixpath.normpath(posixpath.join("/xl", targets.get(sheet.get(_RELATION), ""))).lstrip(
                "/"
            )
            if part in names and z.getinfo(part).file_size <= _MAX_SHEET_BYTES:
                edited = _fit(z.read(part), measure, result)
                if edited is not None:
                    edits[part] = edited
        for defined in list(book.iter(_s("definedName"))):
            if defined.get("name") == "_xlnm.Print_Area":
                defined.getparent().remove(defined)  # pyright: ignore[reportOptionalMemberAccess]
        for group in book.findall(_s("definedNames")):
            if not len(group):
                book.remove(group)
        edits["xl/workbook.xml"] = serialize_part(book)
    rewrite_zip(source, target, edits)
    return result


def _s(name: str) -> str:
    return f"{{{S}}}{name}"


@dataclass(frozen=True, slots=True)
class Measure:
    """Characters of each shared string (its longest line), and those each cell style may add to a number."""

    strings: list[int]
    formats: list[int]


def _format_lengths(z: zipfile.ZipFile, names: set[str]) -> list[int]:
    """By cell style: for a date format the length of its code and of a long month; else its literal text."""
    root = parse_part(z.read("xl/styles.xml")) if "xl/styles.xml" in names else None
    if root is None:
        return []
    codes = {f.get("numFmtId"): f.get("formatCode", "") for f in root.iter(_s("numFmt"))}
    out = []
    for style in root.iterfind(f"{_s('cellXfs')}/{_s('xf')}"):
        code = codes.get(style.get("numFmtId"), "").partition(";")[0]
        literal = sum(map(len, re.findall(r'"([^"]*)"', code)))
        is_date = re.search(r"[dmyhs]", re.sub(r'"[^"]*"|\\.|\[[^\]]*\]', "", code), re.I)
        out.append(len(code) + 4 if is_date else literal)
    return out


def _string_lengths(z: zipfile.ZipFile, names: set[str]) -> list[int]:
    """Length of the longest line of each shared string."""
    if "xl/sharedStrings.xml" not in names:
        return []
    root = parse_part(z.read("xl/sharedStrings.xml"))
    if root is None:
        return []
    texts = ("".join(t.text or "" for t in item.iter(_s("t"))) for item in root.iter(_s("si")))
    return [max(map(len, text.split("\n"))) for text in texts]


def _fit(data: bytes, measure: Measure, result: Sheets) -> bytes | None:
    """The sheet with new page setup and widths; None if it is not laid out as expected.

    The rows, which may be most of a large file, are read as a stream and copied as bytes.
    """
    start = re.search(rb"<((?:\w+:)?)sheetData\b[^>]*?(/?)>", data)
    if start is None:
        return None
    prefix, is_empty = start.group(1), bool(start.group(2))
    closing = b"</%ssheetData>" % prefix
    end = start.end() if is_empty else data.rfind(closing) + len(closing)
    hollow = b"<%ssheetData/>" % prefix
    root = parse_part(data[: start.start()] + hollow + data[end:])
    if root is None or root.tag != _s("worksheet"):
        return None
    widths, result.hidden_rows = _needed_widths(data, measure, result.hidden_rows)
    _set_up(root, widths, result)
    return serialize_part(root).replace(hollow, data[start.start() : end], 1)


def _set_up(root: etree._Element, widths: dict[int, float], result: Sheets) -> None:
    result.hidden_columns += _widen(root, widths)
    properties = root.find(_s("sheetPr"))
    if properties is None:
        properties = etree.Element(_s("sheetPr"))
        root.insert(0, properties)
    setup = properties.find(_s("pageSetUpPr"))
    if setup is None:
        setup = etree.SubElement(properties, _s("pageSetUpPr"))
    setup.set("fitToPage", "1")
    page = root.find(_s("pageSetup"))
    if page is None:
        page = etree.Element(_s("pageSetup"))
        later = {_s(n) for n in _AFTER_PAGE_SETUP}
        at = next((i for i, child in enumerate(root) if child.tag in later), len(root))
        root.insert(at, page)
    page.attrib.pop("scale", None)
    page.set("fitToWidth", "1")
    page.set("fitToHeight", "0")
    if len(widths) >= _LANDSCAPE_FROM:
        page.set("orientation", "landscape")
    for breaks in root.findall(_s("colBreaks")):
        root.remove(breaks)


def _needed_widths(data: bytes, measure: Measure, hidden_rows: int) -> tuple[dict[int, float], int]:
    """Characters each column needs for its values, and the count of hidden rows.

    A text counts only if the cell to its right is in use, since else it may run on.
    """
    widths: dict[int, float] = defaultdict(float)
    rows = etree.iterparse(
        io.BytesIO(data), tag=_s("row"), resolve_entities=False, no_network=True, huge_tree=True, recover=True
    )
    for _, row in rows:
        if row.get("hidden") in ("1", "true"):
            hidden_rows += 1
        pending: tuple[int, float] | None = None
        for cell in row.iter(_s("c")):
            column, needed, is_text = _cell(cell, measure)
            if not column or not needed:
                continue
            if pending and column == pending[0] + 1:
                widths[pending[0]] = max(widths[pending[0]], pending[1])
            pending = (column, needed) if is_text else None
            widths[column] = max(widths[column], 0.0 if is_text else needed)
        row.clear()
        while row.getprevious() is not None:
            del row.getparent()[0]  # pyright: ignore[reportOptionalSubscript]
    return widths, hidden_rows


def _cell(cell: etree._Element, measure: Measure) -> tuple[int, float, bool]:
    letters = re.match(r"[A-Z]+", cell.get("r", ""))
    column = 0
    for letter in letters.group() if letters else "":
        column = column * 26 + ord(letter) - 64
    kind, value = cell.get("t", "n"), cell.findtext(_s("v")) or ""
    if kind == "s":
        index = int(value) if value.isdigit() else -1
        known = 0 <= index < len(measure.strings)
        return column, measure.strings[index] * 1.1 + 1 if known else 0.0, True
    if kind == "inlineStr":
        text = "".join(t.text or "" for t in cell.iter(_s("t")))
        return column, len(text) * 1.1 + 1 if text else 0.0, True
    if kind in ("str", "e", "b"):
        return column, len(value) * 1.1 + 1, kind == "str"
    if not value:
        return column, 0.0, False
    # What a format makes of a number is not known, so there is room for grouping and a few
    # decimals, but not for all the digits of a fraction, and for what the format adds.
    whole = len(value.partition(".")[0])
    style = int(cell.get("s", "0"))
    extra = measure.formats[style] if style < len(measure.formats) else 0
    return column, max(whole * 4 / 3, min(len(value), 10)) + 6 + extra, False


def _widen(root: etree._Element, widths: dict[int, float]) -> int:
    """Raise the widths in <cols>, one entry a column; returns how many columns are hidden."""
    cols = root.find(_s("cols"))
    old: dict[int, dict[str, str]] = {}
    spans: list[etree._Element] = []
    last = max(widths, default=0)
    hidden = 0
    for col in cols if cols is not None else ():
        first, end = int(col.get("min", "1")), int(col.get("max", "1"))
        if col.get("hidden") in ("1", "true"):
            hidden += max(0, min(end, max(last, first)) - first + 1)
        for n in range(first, min(end, last) + 1):
            old[n] = {str(k): str(v) for k, v in col.attrib.items()}
        if end > last:
            rest = etree.Element(_s("col"), {str(k): str(v) for k, v in col.attrib.items()})
            rest.set("min", str(max(first, last + 1)))
            spans.append(rest)
    form = root.find(_s("sheetFormatPr"))
    default = float(form.get("defaultColWidth", "8.43")) if form is not None else 8.43
    new = etree.Element(_s("cols"))
    for n in range(1, last + 1):
        entry = old.get(n, {})
        width = max(float(entry.get("width", default)), min(widths.get(n, 0.0), _MAX_WIDTH))
        entry |= {"min": str(n), "max": str(n), "width": f"{width:.2f}", "customWidth": "1"}
        etree.SubElement(new, _s("col"), entry)
    new.extend(spans)
    if cols is not None:
        root.remove(cols)
    data = root.find(_s("sheetData"))
    if len(new) and data is not None:
        root.insert(root.index(data), new)
    return hidden
