"""Bytes of a web page to an element tree that nothing can be fetched, run or expanded from."""

from __future__ import annotations

import re
from html.entities import html5
from typing import Any

import lxml.etree as etree
import lxml.html

from drac_pipeline.errors import CorruptDocument, EmptyDocument
from drac_pipeline.normalize.charset import decode_text

# lxml's elements; their type has no useful stubs
Node = Any

# XML 1.0 forbids these in text, and lxml refuses to build with them.
_NOT_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]{1,31});")
_XML_ENTITIES = frozenset({"amp", "lt", "gt", "quot", "apos"})
_INVISIBLE = re.compile(r"<(script|style)\b.*?</\1\s*>|<!--.*?-->", re.I | re.S)
_WRAPPER = re.compile(
    r"</?(?:div|span|font|b|i|u|em|strong|small|big|center|section|article|blockquote|ins|del|a)"
    r"(?:\s[^<>]*)?>(?:\s*</?(?:div|span|font|b|i|u|em|strong|blockquote)>)*",
    re.I,
)
_TAG = re.compile(r"<[^<>]*>")
_ROLES = {
    "list": "ul",
    "listitem": "li",
    "table": "table",
    "grid": "table",
    "treegrid": "table",
    "row": "tr",
    "cell": "td",
    "gridcell": "td",
    "columnheader": "th",
    "rowheader": "th",
    "caption": "caption",
    "rowgroup": "tbody",
    "blockquote": "blockquote",
    "paragraph": "p",
    "main": "main",
    "article": "article",
}
_PLAIN = frozenset({"div", "span", "section", "p", "ul", "ol", "dl", "b", "strong", "a", "article"})


def decode_page(data: bytes, declared: str = "") -> tuple[str, list[str]]:
    """The text of a file and warnings. Raises CorruptDocument, EmptyDocument."""
    decoded = decode_text(data, declared=declared)
    if decoded is None:
        raise CorruptDocument("the text holds binary data", remedy="Save it again as UTF-8.")
    if not decoded.text.strip():
        raise EmptyDocument("the file holds nothing but white space", remedy="Remove it from the source.")
    return decoded.text, [decoded.warning] if decoded.warning else []


def read_page(data: bytes) -> tuple[Node, list[str]]:
    """The page's root element and warnings. Raises CorruptDocument, EmptyDocument."""
    text, warnings = decode_page(data)
    root, more = parse_html(text)
    return root, warnings + more


def parse_html(text: str) -> tuple[Node, list[str]]:
    """The root of `text` with roles (`role=heading`, `role=table` …) turned into the tags they mean."""
    text = _NOT_XML.sub("", text).lstrip("\ufeff")
    warnings: list[str] = []
    root = _as_xml(text) if text.lstrip().startswith("<?xml") else None
    if root is None:
        root, too_deep = _as_html(text)
        if too_deep:
            # the parser stops at its limit and would lose what follows
            warnings.append("nested too deeply: read without its wrappers")
            text = _INVISIBLE.sub(" ", text)
            root, too_deep = _as_html(_WRAPPER.sub("<br>", text))
            if too_deep:
                root, _ = _as_html(_TAG.sub("<br>", text))
    _resolve_roles(root)
    return root, warnings


def _as_html(text: str) -> tuple[Node, bool]:
    text = re.sub(r"^\s*<\?xml[^>]*\?>", "", text)
    parser = lxml.html.HTMLParser(encoding="utf-8", huge_tree=True, no_network=True)
    try:
        root = lxml.html.document_fromstring(text.encode() or b"<p></p>", parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError):  # nothing but comments or white space
        root = lxml.html.document_fromstring(b"<p></p>")
    return root, any("RESOURCE_LIMIT" in e.type_name for e in parser.error_log)


def _as_xml(text: str) -> Node | None:
    """XHTML by the rules of XML (`<title/>` is closed there), or None where it is not well-formed."""
    if "<!ENTITY" in text.upper():
        return None
    text = _ENTITY.sub(lambda m: m[0] if m[1] in _XML_ENTITIES else html5.get(m[1] + ";", m[0]), text)
    text = re.sub(r"^\s*<\?xml[^>]*\?>", "", text)
    text = re.sub(r"<!DOCTYPE[^>\[]*>", "", text, count=1, flags=re.I)
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        root = etree.fromstring(text.strip().encode(), parser)
    except (etree.XMLSyntaxError, ValueError):
        return None
    for node in root.iter():
        if isinstance(node.tag, str):
            node.tag = node.tag.rpartition("}")[2].lower()
    return root if root.tag == "html" else None


def _resolve_roles(root: Node) -> None:
    for node in root.iter():
        if not isinstance(node.tag, str):
            continue
        if node.tag == "p" and node.get("class") == "MsoTitle":
            node.tag = "h1"  # the title of a document that a word processor saved
        role = node.get("role")
        if not role:
            continue
        role = role.strip().lower()
        if role == "heading":
            level = node.get("aria-level", "2").strip()
            if node.tag not in ("h1", "h2", "h3", "h4", "h5", "h6") or level.isdigit():
                digits = level if level.isdigit() and level != "0" else "2"
                if node.tag in _PLAIN or node.get("aria-level"):
                    node.tag = f"h{min(6, int(digits[:3]))}"
        elif node.tag in _PLAIN and role in _ROLES:
            node.tag = "ol" if node.tag == "ol" else _ROLES[role]
