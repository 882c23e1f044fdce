"""Tracked changes, resolved before printing: LibreOffice prints deleted text like any other."""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from pathlib import Path
from typing import Literal

import lxml.etree as etree

from drac_pipeline.normalize.ooxml import (
    W,
    parse_part,
    remove_keeping_tail,
    rewrite_zip,
    serialize_part,
    unwrap,
)

Changes = Literal["accepted", "rejected", "shown"]

_DOCX_PARTS = re.compile(r"word/(?:document|footnotes|endnotes|header\d*|footer\d*)\.xml")
_DOCX_MARKS = re.compile(rb"<w:(?:ins|del|moveFrom|moveTo)[ >/]")
_ODF_TEXT = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"


def resolve_docx(source: Path, target: Path, changes: Changes) -> Counter[str]:
    """Write `source` with its tracked changes accepted or rejected to `target`.

    Returns how many insertions and deletions there were; `target` is only written if any.
    """
    edits: dict[str, bytes] = {}
    counts: Counter[str] = Counter()
    with zipfile.ZipFile(source) as z:
        for name in z.namelist():
            if not _DOCX_PARTS.fullmatch(name):
                continue
            data = z.read(name)
            root = parse_part(data) if _DOCX_MARKS.search(data) else None
            if root is not None:
                _resolve(root, changes, counts)
                edits[name] = serialize_part(root)
    if edits:
        rewrite_zip(source, target, edits)
    return counts


def resolve_odt(source: Path, target: Path) -> Counter[str]:
    """Write the ODT `source` with its tracked changes accepted to `target`, if there are any.

    ODF keeps deleted text apart from the body, so the changes go with their record.
    """
    with zipfile.ZipFile(source) as z:
        data = z.read("content.xml")
    counts: Counter[str] = Counter()
    root = parse_part(data) if b"text:tracked-changes" in data else None
    if root is None:
        return counts
    for kind in ("insertion", "deletion"):
        counts[kind] = sum(1 for _ in root.iter(f"{{{_ODF_TEXT}}}{kind}"))
    for name in ("tracked-changes", "change", "change-start", "change-end"):
        for node in list(root.iter(f"{{{_ODF_TEXT}}}{name}")):
            remove_keeping_tail(node)
    rewrite_zip(source, target, {"content.xml": serialize_part(root)})
    return counts


def _resolve(root: etree._Element, changes: Changes, counts: Counter[str]) -> None:
    gone, kept = ("del", "moveFrom"), ("ins", "moveTo")
    if changes == "rejected":
        gone, kept = kept, gone
    for kind, tags in (("deletion", ("del", "moveFrom")), ("insertion", ("ins", "moveTo"))):
        counts[kind] += sum(1 for tag in tags for node in root.iter(_w(tag)) if _has_text(node))
    _resolve_rows(root, gone)
    _merge_paragraphs(root, gone)
    for tag in gone:
        for node in list(root.iter(_w(tag))):
            remove_keeping_tail(node)
    for tag in kept:
        for node in list(root.iter(_w(tag))):
            if len(node) or node.getparent() is None:
                unwrap(node)
            else:  # a mark on a paragraph or row
                remove_keeping_tail(node)
    for node in root.iter(_w("delText")):
        node.tag = _w("t")


def _resolve_rows(root: etree._Element, gone: tuple[str, ...]) -> None:
    """Table rows marked as a whole."""
    for row in list(root.iter(_w("tr"))):
        properties = row.find(_w("trPr"))
        if properties is not None and any(properties.find(_w(tag)) is not None for tag in gone):
            table = row.getparent()
            remove_keeping_tail(row)
            if table is not None and table.find(_w("tr")) is None:
                remove_keeping_tail(table)


def _merge_paragraphs(root: etree._Element, gone: tuple[str, ...]) -> None:
    """A deleted paragraph mark joins the paragraph to the one that follows."""
    for paragraph in list(root.iter(_w("p"))):
        if not any(paragraph.find(f"{_w('pPr')}/{_w('rPr')}/{_w(tag)}") is not None for tag in gone):
            continue
        following = paragraph.getnext()
        content = [c for c in paragraph if c.tag != _w("pPr")]
        if following is None or following.tag != _w("p"):
            if not any(_stays(c, gone) for c in content) and _is_optional(paragraph):
                remove_keeping_tail(paragraph)
            continue
        at = 1 if following.find(_w("pPr")) is not None else 0
        for child in reversed(content):
            following.insert(at, child)
        remove_keeping_tail(paragraph)


def _stays(node: etree._Element, gone: tuple[str, ...]) -> bool:
    return (
        node.tag not in {_w(tag) for tag in gone}
        and next(node.iter(_w("t"), _w("drawing")), None) is not None
    )


def _is_optional(paragraph: etree._Element) -> bool:
    """A table cell must keep its last paragraph."""
    parent = paragraph.getparent()
    return parent is not None and (parent.tag != _w("tc") or len(parent.findall(_w("p"))) > 1)


def _has_text(node: etree._Element) -> bool:
    return next(node.iter(_w("t"), _w("delText")), None) is not None


def _w(name: str) -> str:
    return f"{{{W}}}{name}"
