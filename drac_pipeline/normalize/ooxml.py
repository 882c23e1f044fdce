"""Read and rewrite parts of zip-based office files."""

from __future__ import annotations

import zipfile
from pathlib import Path

import lxml.etree as etree

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
S = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
A = "http://schemas.openxmlformats.org/drawingml/2006/main"


def parse_part(data: bytes) -> etree._Element | None:
    """The XML of a part, None if it is not well-formed (the office program will say so)."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True)
    try:
        return etree.fromstring(data, parser)
    except etree.XMLSyntaxError:
        return None


def serialize_part(root: etree._Element) -> bytes:
    """The bytes of a part."""
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True)


def rewrite_zip(source: Path, target: Path, edits: dict[str, bytes]) -> None:
    """`source` with the members of `edits` replaced; order and compression are kept."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for info in old.infolist():
            new.writestr(info, edits.get(info.filename, old.read(info)), compress_type=info.compress_type)


def remove_keeping_tail(node: etree._Element) -> None:
    """Take `node` out of its tree; the text behind it stays."""
    parent = node.getparent()
    if parent is None:
        return
    if node.tail:
        previous = node.getprevious()
        if previous is not None:
            previous.tail = (previous.tail or "") + node.tail
        else:
            parent.text = (parent.text or "") + node.tail
    parent.remove(node)


def unwrap(node: etree._Element) -> None:
    """Put the children of `node` in its place."""
    parent = node.getparent()
    if parent is None:
        return
    at = parent.index(node)
    for child in reversed(list(node)):
        parent.insert(at, child)
    remove_keeping_tail(node)
