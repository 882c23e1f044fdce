"""The parts of an XLSX file beside its sheets: relations, styles, strings, comments, text boxes.

Names are compared without their namespace, since the strict variant has others.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, Any

import lxml.etree as etree

from drac_pipeline.errors import DocumentTooLarge
from drac_pipeline.sheets.grid import PLAIN, Declared, Look, area_of
from drac_pipeline.sheets.number_format import NumberFormat, builtin_code, number_format

_MAX_PART = 64 << 20  # of what is read whole: styles, relations, comments, drawings
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_PLAIN_FORMAT = number_format("General")


@dataclass(frozen=True, slots=True)
class Relation:
    """A target within the file and the last word of its type."""

    target: str
    type: str


@dataclass(frozen=True, slots=True)
class Style:
    """What a cell's style says: number format, look, centred across the selection."""

    format: NumberFormat = _PLAIN_FORMAT
    look: Look = PLAIN
    across: bool = False


@dataclass(slots=True)
class SheetEntry:
    """A sheet as the workbook lists it."""

    name: str
    part: str
    hidden: bool
    title_rows: int = 0


@dataclass(slots=True)
class Workbook:
    """The workbook part: sheets in order, the date system, all styles."""

    sheets: list[SheetEntry] = field(default_factory=list)
    date1904: bool = False
    styles: list[Style] = field(default_factory=list)
    other_sheets: int = 0  # chart and dialog sheets, which have no cells


def local(element: Any) -> str:
    """The name without its namespace; "" for a comment or an instruction."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def elements(source: IO[bytes], *names: str) -> Iterator[Any]:
    """Elements of these names as they end; each is dropped once it has been used.

    Entities are never expanded and nothing outside the file is read.
    """
    tags = [f"{{*}}{n}" for n in names]
    parser = etree.iterparse(
        source, events=("end",), tag=tags, resolve_entities=False, load_dtd=False, no_network=True
    )
    for _, element in parser:
        yield element
        element.clear(keep_tail=False)
        parent = element.getparent()
        while parent is not None and element.getprevious() is not None:
            del parent[0]


def tree(archive: zipfile.ZipFile, part: str) -> Any:
    """The root of a small part; None where there is no such part."""
    try:
        with archive.open(part) as f:
            data = f.read(_MAX_PART + 1)
    except KeyError:
        return None
    if len(data) > _MAX_PART:
        raise DocumentTooLarge(
            f"{part} is larger than {_MAX_PART:,} bytes", remedy="Save the workbook again."
        )
    parser = etree.XMLParser(resolve_entities=False, load_dtd=False, no_network=True, recover=True)
    return etree.fromstring(data, parser)


def relations(archive: zipfile.ZipFile, part: str) -> dict[str, Relation]:
    """The relations of a part by id; targets outside the file are left out."""
    folder, _, name = part.rpartition("/")
    root = tree(archive, f"{folder}/_rels/{name}.rels".lstrip("/"))
    out: dict[str, Relation] = {}
    for r in root if root is not None else ():
        if local(r) != "Relationship" or r.get("TargetMode") == "External":
            continue
        target = r.get("Target", "").replace("\\", "/")
        path = target.lstrip("/") if target.startswith("/") else posixpath.normpath(f"{folder}/{target}")
        out[r.get("Id", "")] = Relation(path.lstrip("/"), r.get("Type", "").rpartition("/")[2])
    return out


def read_workbook(archive: zipfile.ZipFile) -> Workbook | None:
    """The workbook, or None where the file has none."""
    main = next((r.target for r in relations(archive, "").values() if r.type == "officeDocument"), "")
    main = main or "xl/workbook.xml"
    root = tree(archive, main)
    if root is None:
        return None
    related = relations(archive, main)
    book = Workbook()
    for node in root:
        match local(node):
            case "workbookPr":
                book.date1904 = node.get("date1904") in ("1", "true")
            case "sheets":
                for s in node:
                    _add_sheet(book, s, related)
            case "definedNames":
                _title_rows(book, node)
    styles = next((r.target for r in related.values() if r.type == "styles"), "")
    book.styles = read_styles(tree(archive, styles), book.date1904) if styles else [Style()]
    return book


def _add_sheet(book: Workbook, node: Any, related: dict[str, Relation]) -> None:
    ids = [v for k, v in node.attrib.items() if k.endswith("}id")]
    relation = related.get(ids[0]) if ids else None
    entry = SheetEntry(
        node.get("name", ""), relation.target if relation else "", node.get("state", "visible") != "visible"
    )
    if relation is None or relation.type != "worksheet":
        book.other_sheets += 1
        entry.part = ""  # kept: names of the workbook count sheets by position
    book.sheets.append(entry)


def _title_rows(book: Workbook, names: Any) -> None:
    """Rows that are printed on every page are header rows."""
    for name in names:
        at = name.get("localSheetId", "")
        if name.get("name") == "_xlnm.Print_Titles" and at.isdigit() and int(at) < len(book.sheets):
            m = re.search(r"\$(\d+):\$(\d+)", name.text or "")
            if m and m[1] == "1":
                book.sheets[int(at)].title_rows = int(m[2])


# ------------------------------------------------------------------- styles


def read_styles(root: Any, date1904: bool) -> list[Style]:
    """One Style per cell format, in the file's order."""
    codes: dict[int, str] = {}
    fonts: list[tuple[bool, bool, float, str]] = []
    fills: list[str] = []
    out: list[Style] = []
    for group in root if root is not None else ():
        match local(group):
            case "numFmts":
                for n in group:
                    codes[_int(n.get("numFmtId"))] = n.get("formatCode", "General")
            case "fonts":
                fonts = [_font(f) for f in group]
            case "fills":
                fills = [_fill(f) for f in group]
            case "cellXfs":
                for xf in group:
                    if local(xf) == "xf":
                        out.append(_style(xf, codes, fonts, fills, date1904))
    return out or [Style()]


def _style(
    xf: Any,
    codes: dict[int, str],
    fonts: list[tuple[bool, bool, float, str]],
    fills: list[str],
    date1904: bool,
) -> Style:
    number = _int(xf.get("numFmtId"))
    f, fill = _int(xf.get("fontId")), _int(xf.get("fillId"))
    bold, italic, size, color = fonts[f] if f < len(fonts) else (False, False, 0.0, "")
    align = next((a for a in xf if local(a) == "alignment"), None)
    look = Look(bold, italic, fills[fill] if fill < len(fills) else "", color, _int(xf.get("borderId")), size)
    return Style(
        number_format(codes.get(number) or builtin_code(number), date1904),
        look,
        align is not None and align.get("horizontal") == "centerContinuous",
    )


def _font(node: Any) -> tuple[bool, bool, float, str]:
    bold = italic = False
    size, color = 0.0, ""
    for part in node:
        match local(part):
            case "b":
                bold = part.get("val", "1") not in ("0", "false")
            case "i":
                italic = part.get("val", "1") not in ("0", "false")
            case "sz":
                size = _float(part.get("val"))
            case "color":
                color = _color(part)
    return bold, italic, size, color


def _fill(node: Any) -> str:
    for pattern in node:
        if local(pattern) == "gradientFill":
            return "gradient"
        if pattern.get("patternType", "none") in ("none",):
            return ""
        color = next((_color(c) for c in pattern if local(c) == "fgColor"), "")
        # white paper painted white says nothing
        return "" if color in ("FFFFFFFF", "00FFFFFF", "theme0") else color or pattern.get("patternType")
    return ""


def _color(node: Any) -> str:
    if node.get("rgb"):
        return node.get("rgb").upper()
    if node.get("theme") is not None:
        tint = node.get("tint", "")
        return f"theme{node.get('theme')}" + (f"/{tint}" if tint and _float(tint) else "")
    return f"indexed{node.get('indexed')}" if node.get("indexed") else ""


def _int(text: str | None) -> int:
    return int(text) if text and text.isdigit() else 0


def _float(text: str | None) -> float:
    try:
        return float(text or 0)
    except ValueError:
        return 0.0


# -------------------------------------------------------------------- texts


def rich_text(node: Any) -> str:
    """The text of a string item, its runs joined; phonetic hints are left out."""
    out = []
    for child in node:
        name = local(child)
        if name == "t":
            out.append(child.text or "")
        elif name == "r":
            out += [t.text or "" for t in child if local(t) == "t"]
    return unescape("".join(out))


def unescape(text: str) -> str:
    """`_x000D_` stands for a control character."""
    return _ESCAPED.sub(lambda m: chr(int(m[1], 16)), text) if "_x" in text else text


def read_comments(root: Any) -> list[tuple[str, str]]:
    """(cell, text) of each comment."""
    if root is None:
        return []
    out = []
    for node in root.iter("{*}comment"):
        text = next((rich_text(t) for t in node if local(t) == "text"), "")
        out.append((node.get("ref", ""), " ".join(text.split())))
    return out


def read_text_boxes(root: Any) -> list[str]:
    """The paragraphs of a drawing's text boxes and shapes."""
    if root is None:
        return []
    out = []
    for body in root.iter("{*}txBody"):
        for p in body.iter("{*}p"):
            text = " ".join("".join(t.text or "" for t in p.iter("{*}t")).split())
            if text:
                out.append(text)
    return out


def read_titles(root: Any) -> list[str]:
    """The titles of a chart and of its axes that are written out, not taken from cells."""
    if root is None:
        return []
    out = []
    for title in root.iter("{*}title"):
        for p in title.iter("{*}p"):
            text = " ".join("".join(t.text or "" for t in p.iter("{*}t")).split())
            if text:
                out.append(text)
    return out


def read_table(root: Any) -> Declared | None:
    """A table that is declared over a range, with or without its header row."""
    area = area_of(root.get("ref", ""))
    if area is None:
        return None
    rows = root.get("headerRowCount", "1")
    return Declared(area, int(rows) if rows.isdigit() else 1, root.get("displayName", ""))
