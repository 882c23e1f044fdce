"""A gathered document as one HTML page that needs nothing else: no network, no other file.

The text of a document is data here, never markup: everything of it is escaped, and the page's
own policy lets nothing load or run but the style and the script that stand in it.
"""

from __future__ import annotations

import base64
import hashlib
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import jinja2
from markupsafe import Markup, escape
from PIL import Image

from drac_pipeline.inspection.view import DocumentView, PageView
from drac_pipeline.model import Box, Chunk, Element, ElementKind, TableData

HERE = Path(__file__).parent
IMAGE_SIDE = 1400  # of an embedded page image, in pixels: sharp on a laptop, 100 to 200 KB
JPEG_QUALITY = 72
GOLDEN_ANGLE = 137.508  # neighbours get colours far apart, however many there are


@dataclass(frozen=True, slots=True)
class Piece:
    """What the page shows of an element: in which chunk's body it is (-1: none), in whose chain of
    headings, and the table of which it is the first row here."""

    element: Element
    chunk: int
    heads: tuple[int, ...]
    begins: Chunk | None
    table: TableData | None
    text: Markup


@dataclass(frozen=True, slots=True)
class Mark:
    """A rectangle on a page image, in percent of its sides."""

    kind: str
    label: str
    chunk: int
    element: str
    left: float
    top: float
    width: float
    height: float


def inspection_html(view: DocumentView, home: str = "") -> str:
    """The page as text. `home` is shown in the hints at commands."""
    by_element: dict[str, int] = {}
    heads: dict[str, list[int]] = {}
    for c in view.chunks:
        by_element.update(dict.fromkeys(c.element_ids, c.ordinal))
        for h in c.heading_ids:
            heads.setdefault(h, []).append(c.ordinal)
    shown_tables: set[str] = set()
    begun: set[int] = set()
    boxes = _boxes(view)
    pages = []
    for page in view.pages:
        pieces = [_piece(e, view, page, by_element, heads, shown_tables, begun) for e in page.elements]
        pages.append(
            {
                "page": page,
                "image": _data_uri(page.image) if page.image else "",
                "marks": list(_marks(page, boxes.get(page.number, ()), by_element)),
                "pieces": pieces,
                "chunks": [c for c in view.chunks if c.page_start == page.number],
            }
        )
    script, style = _text("script.js"), _text("style.css")
    printed: list[str] = []
    if pages and not pages[0]["page"].number and not any(p["pieces"] for p in pages[1:]):
        # the text comes from the file itself: its print stands beside the whole of it
        printed = [p["image"] for p in pages[1:] if p["image"]]
        pages = pages[:1]
    m = view.manifest
    return (
        _environment()
        .get_template("document.html.j2")
        .render(
            view=view,
            manifest=m,
            pages=pages,
            printed=printed,
            home=home,
            style=Markup(style),
            script=Markup(script),
            script_hash=_csp_hash(script),
            checks=[(s, n, c) for s, r in m.stages.items() for n, c in r.checks.items()],
            warnings=[(s, w) for s, r in m.stages.items() for w in r.warnings],
            hue=_hue,
        )
    )


def _piece(
    e: Element,
    view: DocumentView,
    page: PageView,
    by_element: dict[str, int],
    heads: dict[str, list[int]],
    shown_tables: set[str],
    begun: set[int],
) -> Piece:
    chunk = by_element.get(e.id, -1)
    begins = None
    if chunk >= 0 and chunk not in begun:
        begun.add(chunk)
        begins = next(c for c in view.chunks if c.ordinal == chunk)
    table = None
    if e.kind == ElementKind.TABLE_ROW and e.group not in shown_tables:
        shown_tables.add(e.group)
        table = view.tables.get(e.group)
    foreign = page.fidelity.foreign_values if page.fidelity else []
    return Piece(e, chunk, tuple(heads.get(e.id, ())), begins, table, _marked(e.text, foreign))


def _marked(text: str, values: list[str]) -> Markup:
    """The text, escaped, with the values that the PDF does not have marked."""
    if not values:
        return escape(text)
    found = re.compile(
        "|".join(rf"(?<!\w){re.escape(v)}(?!\w)" for v in sorted(values, key=len, reverse=True))
    )
    out, end = Markup(), 0
    for m in found.finditer(text):
        out += escape(text[end : m.start()]) + Markup('<mark class="foreign" title="not in the PDF">')
        out += escape(m[0]) + Markup("</mark>")
        end = m.end()
    return out + escape(text[end:])


def _boxes(view: DocumentView) -> dict[int, list[tuple[Element, Box]]]:
    """Page number to the boxes on it, also of an element that began on the page before."""
    out: dict[int, list[tuple[Element, Box]]] = {}
    for page in view.pages:
        for e in page.elements:
            for box in e.boxes:
                out.setdefault(box.page, []).append((e, box))
    return out


def _marks(
    page: PageView, boxes: Iterable[tuple[Element, Box]], by_element: dict[str, int]
) -> Iterable[Mark]:
    if not (page.width and page.height):
        return
    for e, box in boxes:
        kind = "heading" if e.kind == ElementKind.HEADING else "body"
        yield _mark(kind, e.id, by_element.get(e.id, -1), e.id, box, page)
    for box in page.missing:
        yield _mark("missing", "missing in the Markdown", -1, "", box, page)


def _mark(kind: str, label: str, chunk: int, element: str, box: Box, page: PageView) -> Mark:
    w, h = page.width, page.height
    return Mark(
        kind,
        label,
        chunk,
        element,
        round(100 * box.x0 / w, 2),
        round(100 * box.y0 / h, 2),
        round(100 * (box.x1 - box.x0) / w, 2),
        round(100 * (box.y1 - box.y0) / h, 2),
    )


def _data_uri(path: Path) -> str:
    with Image.open(path) as image:
        image.thumbnail((IMAGE_SIDE, IMAGE_SIDE))
        out = io.BytesIO()
        image.convert("L" if image.mode in ("1", "L") else "RGB").save(out, "JPEG", quality=JPEG_QUALITY)
    return "data:image/jpeg;base64," + base64.b64encode(out.getvalue()).decode()


def _hue(ordinal: int) -> int:
    return round(ordinal * GOLDEN_ANGLE) % 360


def _csp_hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _text(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
