"""What the store holds of a document, gathered page by page for looking at."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from drac_pipeline.convert.fidelity import FidelityReport, PageFidelity
from drac_pipeline.convert.markers import split_pages
from drac_pipeline.errors import ConfigError, DracError
from drac_pipeline.model import (
    Box,
    Chunk,
    Dropped,
    Element,
    PageReport,
    TableData,
    chunks_from_table,
)
from drac_pipeline.mupdf import pymupdf
from drac_pipeline.pipeline.artifacts import (
    CHUNKS_FILE,
    FIDELITY_FILE,
    PAGES_FILE,
    PDF_FILE,
    read_conversion,
    read_elements,
)
from drac_pipeline.store import ArtifactMissing, Manifest, Store

log = logging.getLogger(__name__)

MOST_MISSING = 20  # missing values looked for on a page


@dataclass(frozen=True, slots=True)
class PageView:
    """One page: `width` and `height` in points as displayed (0: not known), its PNG, and all
    that stands on it. `missing` are places of values that the Markdown lacks."""

    number: int
    width: float = 0.0
    height: float = 0.0
    image: Path | None = None
    image_error: str = ""
    markdown: str = ""
    elements: tuple[Element, ...] = ()
    report: PageReport | None = None
    fidelity: PageFidelity | None = None
    dropped: tuple[Dropped, ...] = ()
    missing: tuple[Box, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentView:
    """A document: its manifest, its pages (number 0 holds what has no page), its chunks in order
    and its tables by id. `left_out` counts the pages that were not asked for, and `absent` names
    what a stage has not made."""

    manifest: Manifest
    pages: tuple[PageView, ...] = ()
    chunks: tuple[Chunk, ...] = ()
    tables: dict[str, TableData] = field(default_factory=dict)
    left_out: int = 0
    absent: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The document key."""
        return self.manifest.document_key


def view_document(store: Store, key: str, pages: Collection[int] | None = None) -> DocumentView:
    """Gather what the store holds of `key`, for `pages` (1-based; default: all).

    What no stage has made yet is named in `absent`; the rest is shown all the same. Raises
    ConfigError where the store does not know the document or has none of the pages.
    """
    manifest = store.manifest(key)
    if manifest is None:
        raise ConfigError(f"{key!r} is not a document of this home; `drac status --all` lists them")

    def read(stage: str, name: str) -> Path:
        return store.path(key, stage, name, manifest)

    absent: list[str] = []

    def made(what: str, get: Callable[[], Any], default: Any) -> Any:
        try:
            return get()
        except ArtifactMissing:
            absent.append(what)
            return default

    converted = made("Markdown", lambda: read_conversion(read), None)
    fidelity = made("", lambda: _fidelity(read), FidelityReport())
    elements = made("elements", lambda: read_elements(read), [])
    chunks = made("chunks", lambda: chunks_from_table(pq.read_table(read("chunks", CHUNKS_FILE))), [])
    images = made("page images", lambda: _images(read), {})
    reports = {p.page: p for p in converted.report.pages} if converted else {}
    markdown = split_pages(converted.markdown, before=0) if converted else {}
    judged = {p.page: p for p in fidelity.pages}
    numbers = sorted({*images, *reports, *(e.page_start for e in elements)} - {0})
    wanted = [n for n in numbers if pages is None or n in pages]
    if pages is not None and not wanted:
        raise ConfigError(f"{key}: no such page; it has {len(numbers)}")
    dropped = list(converted.report.dropped) if converted else []
    store.fetch((manifest, "page_images", images[n][0]) for n in wanted if n in images and images[n][0])
    sizes, missing = made("PDF", lambda: _measure(read("normalized_pdf", PDF_FILE), wanted, judged), ({}, {}))
    out = []
    if any(e.page_start == 0 for e in elements):
        out.append(
            PageView(
                0,
                markdown=markdown.get(0, ""),
                elements=tuple(e for e in elements if e.page_start == 0),
                dropped=tuple(d for d in dropped if d.page == 0),
            )
        )
    for n in wanted:
        name, error = images.get(n, ("", ""))
        image = made("page images", lambda name=name: read("page_images", name) if name else None, None)
        width, height = sizes.get(n, (0.0, 0.0))
        out.append(
            PageView(
                n,
                width,
                height,
                image,
                error,
                markdown.get(n, ""),
                tuple(e for e in elements if e.page_start == n),
                reports.get(n),
                judged.get(n),
                tuple(d for d in dropped if d.page == n),
                tuple(missing.get(n, ())),
            )
        )
    return DocumentView(
        manifest,
        tuple(out),
        tuple(chunks),
        {t.table_id: t for t in converted.tables} if converted else {},
        len(numbers) - len(wanted),
        tuple(a for a in dict.fromkeys(absent) if a),
    )


def _fidelity(read) -> FidelityReport:
    return FidelityReport.model_validate_json(read("markdown", FIDELITY_FILE).read_bytes())


def _images(read) -> dict[int, tuple[str, str]]:
    """Page number to the name of its PNG, or to why there is none."""
    listed = json.loads(read("page_images", PAGES_FILE).read_bytes())
    return {p["page"]: (p["file"] or "", p["error"] or "") for p in listed}


def _measure(
    pdf: Path, numbers: list[int], judged: dict[int, PageFidelity]
) -> tuple[dict[int, tuple[float, float]], dict[int, list[Box]]]:
    """The displayed size of each page, and where values stand that the Markdown lacks."""
    sizes: dict[int, tuple[float, float]] = {}
    missing: dict[int, list[Box]] = {}
    try:
        document = pymupdf.open(pdf)
    except (RuntimeError, ValueError) as e:
        raise DracError(f"{pdf} cannot be opened ({e}); `drac run` makes it again") from e
    with document:
        for n in numbers:
            if n > document.page_count:
                continue
            try:
                page = document[n - 1]
                sizes[n] = (page.rect.width, page.rect.height)
                values = judged[n].missing_values[:MOST_MISSING] if n in judged else []
                found = [r * page.rotation_matrix for v in values for r in page.search_for(v)[:3]]
            except (RuntimeError, ValueError) as e:  # a broken page has a place in the list all the same
                log.debug("page %d: %s", n, e)
                continue
            missing[n] = [Box(page=n, x0=r.x0, y0=r.y0, x1=r.x1, y1=r.y1) for r in found]
    return sizes, missing
