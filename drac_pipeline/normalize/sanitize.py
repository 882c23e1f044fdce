"""HTML that shows what a page says and can neither run, fetch nor read anything."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

import lxml.etree as etree
import lxml.html

_DROPPED = frozenset(
    {
        "script",
        "template",
        "audio",
        "video",
        "iframe",
        "frameset",
        "object",
        "applet",
        "portal",
        "fencedframe",
    }
    | {"foreignobject", "animate", "set"}
)
# Elements without content. The parser knows HTML 4 and may hang what follows one of the
# newer ones below it, so what is below stays.
_DROPPED_VOID = frozenset({"link", "meta", "base", "param", "source", "track", "embed", "frame"})
_URL_ATTRIBUTES = frozenset(
    {"src", "href", "poster", "background", "data", "action", "formaction", "cite", "longdesc"}
)
_REMOVED_ATTRIBUTES = frozenset(
    {"srcset", "ping", "imagesrcset", "manifest", "archive", "codebase", "srcdoc", "nonce"}
)
_LINK = re.compile(r"\s*(?:https?:|mailto:|#)", re.I)
_DATA_IMAGE = re.compile(r"\s*data:image/(?:png|jpe?g|gif|webp|bmp)[;,]", re.I)
_CSS_FETCH = re.compile(
    r"@import[^;]*;?|(?:url|image-set|image|src|cross-fade|element)\s*\([^)]*\)?|expression\s*\(", re.I
)
_CSS_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.S)
# XML 1.0 forbids these in text, and lxml refuses to build with them.
_NOT_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
PRINT_STYLE = """
@page { size: A4; margin: 15mm }
html, body { height: auto !important; overflow: visible !important; position: static !important }
* { animation: none !important; transition: none !important; float: none }
img, svg { max-width: 100% }
pre, td, th { white-space: pre-wrap; overflow-wrap: break-word }
thead { display: table-header-group }
tr, img { break-inside: avoid }
"""
_WRAP = "td, th { white-space: normal }\n"


@dataclass(frozen=True, slots=True)
class CleanHtml:
    """The page, and how many of which things were taken out of it (tag name: count)."""

    html: str
    removed: dict[str, int] = field(default_factory=dict)

    def warnings(self) -> list[str]:
        """What a reader of the print would miss: pictures that lie elsewhere, frames, embedded things."""
        names = {
            "img": "pictures that are not in the file",
            "iframe": "frames",
            "object": "embedded objects",
            "nesting": "parts that are nested too deep",
        }
        found = ((self.removed.get(tag, 0), what) for tag, what in names.items())
        return [f"left out: {n} {what}" for n, what in found if n]


def sanitize_html(text: str) -> CleanHtml:
    """`text` without scripts, links to resources, frames, forms' targets and event handlers.

    Styles stay, their `url(…)` do not; pictures stay where they are `data:` URLs, else
    their alternative text takes their place. A content security policy is put on top.
    """
    removed: Counter[str] = Counter()
    root = _parse(text, removed)
    for node in list(root.iter()):
        if not isinstance(node.tag, str):  # comment, processing instruction, entity
            _drop(node)
            continue
        tag = node.tag.lower().rpartition("}")[2]
        if tag in _DROPPED:
            removed[tag] += 1
            _drop(node)
            continue
        if tag in _DROPPED_VOID:
            removed[tag] += 1
            node.drop_tag()
            continue
        if tag == "style":
            node.text = _css(node.text or "")
        elif tag in ("img", "image", "input") and not _DATA_IMAGE.match(node.get("src", "")):
            _replace_image(node, tag, removed)
        _clean_attributes(node)
    body = lxml.html.tostring(root, encoding="unicode", method="html")
    return CleanHtml(_with_head(body), dict(removed))


def page(title: str, body: str) -> str:
    """A whole HTML page of our own around `body` (trusted HTML)."""
    return _with_head(f"<html><head><title>{title}</title></head><body>{body}</body></html>")


def _parse(text: str, removed: Counter[str]) -> lxml.html.HtmlElement:
    text = _NOT_XML.sub(" ", re.sub(r"^\s*<\?xml[^>]*\?>", "", text))
    parser = lxml.html.HTMLParser(encoding="utf-8", huge_tree=True, no_network=True)
    try:
        root = lxml.html.document_fromstring(text.encode() or b"<p></p>", parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError):  # nothing but comments or white space
        root = lxml.html.document_fromstring(b"<p></p>", parser=parser)
    removed["nesting"] += sum("depth" in e.message.lower() for e in parser.error_log)
    return root


def _with_head(html: str) -> str:
    head = (
        '<meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<style>{PRINT_STYLE}{_WRAP}</style>"
    )
    found = re.search(r"<head\b[^>]*>", html, re.I)
    if found:
        html = f"{html[: found.end()]}{head}{html[found.end() :]}"
    else:
        html = re.sub(
            r"(<html\b[^>]*>)?", lambda m: f"{m.group()}<head>{head}</head>", html, count=1, flags=re.I
        )
    return f"<!DOCTYPE html>\n{html}"


def _drop(node: lxml.html.HtmlElement) -> None:
    parent = node.getparent()
    if parent is not None:
        node.drop_tree() if isinstance(node, lxml.html.HtmlElement) else _remove_keeping_tail(node, parent)


def _remove_keeping_tail(node: etree._Element, parent: etree._Element) -> None:
    tail = node.tail or ""
    previous = node.getprevious()
    if previous is not None:
        previous.tail = (previous.tail or "") + tail
    else:
        parent.text = (parent.text or "") + tail
    parent.remove(node)


def _replace_image(node: lxml.html.HtmlElement, tag: str, removed: Counter[str]) -> None:
    if tag == "input":
        node.attrib.pop("src", None)
        return
    removed["img"] += 1
    node.tag = "span"
    node.text = (node.get("alt") or "").strip()


def _clean_attributes(node: lxml.html.HtmlElement) -> None:
    for name in list(node.attrib):
        key = str(name)
        local = key.lower().rpartition("}")[2].rpartition(":")[2]
        value = node.attrib[name]
        if local.startswith("on") or local in _REMOVED_ATTRIBUTES:
            del node.attrib[name]
        elif local in _URL_ATTRIBUTES:
            keep = _LINK.match(value) if node.tag == "a" and local == "href" else _DATA_IMAGE.match(value)
            if node.tag == "use":
                keep = value.startswith("#")
            if not keep:
                del node.attrib[name]
        elif "(" in value or "\\" in value:
            # style, and SVG's presentation attributes (fill, mask, filter …)
            node.attrib[name] = _css(value) if local == "style" or "url" in value.lower() else value


def _css(text: str) -> str:
    """Style rules without anything that fetches; escapes, which could hide one, are resolved first."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return _CSS_FETCH.sub("none", _CSS_ESCAPE.sub(_unescaped, text)).replace("</", "")


def _unescaped(match: re.Match[str]) -> str:
    code = int(match.group(1), 16) if match.group(1) else 0
    return chr(code) if 0x20 <= code < 0xD800 else match.group(2) or ""
