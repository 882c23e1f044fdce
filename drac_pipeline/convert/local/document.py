"""A whole PDF: open, read page by page, assemble, write."""

from __future__ import annotations

import functools
import importlib.metadata
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from drac_pipeline.config import ConvertConfig
from drac_pipeline.convert.local.aligned_rows import unruled_tables
from drac_pipeline.convert.local.assemble import (
    join_over_breaks,
    mark_notes,
    place_notes,
    set_depths,
    split_headings,
)
from drac_pipeline.convert.local.blocks import Block, flow_blocks
from drac_pipeline.convert.local.columns import Block as Zone
from drac_pipeline.convert.local.columns import reading_order
from drac_pipeline.convert.local.confidence import doubt_of
from drac_pipeline.convert.local.contents import drop_contents
from drac_pipeline.convert.local.headings import body_size, mark_headings
from drac_pipeline.convert.local.layout import inside, tables_beside
from drac_pipeline.convert.local.paragraphs import count_words
from drac_pipeline.convert.local.running import drop_running
from drac_pipeline.convert.local.table_zones import Draft, ruled_tables
from drac_pipeline.convert.local.text_layer import PageText, Segment, read_page
from drac_pipeline.convert.local.writer import Writer
from drac_pipeline.convert.markers import format_error_marker
from drac_pipeline.convert.ocr import even_sizes, read_with_ocr
from drac_pipeline.errors import CorruptDocument, EmptyDocument, EncryptedDocument
from drac_pipeline.model.conversion import ConversionReport, Converted, Dropped, PageReport
from drac_pipeline.mupdf import pymupdf
from drac_pipeline.normalize.damage import ending, find_damage
from drac_pipeline.normalize.pdf import UNLOCK
from drac_pipeline.pages import map_pages

VERSION = "2"
_Read = tuple[PageText | None, PageReport]
_UNSURE = 0.8
# MuPDF of a content stream whose bytes are wrong; sloppy but whole ones give syntax errors alone
_BROKEN = re.compile(r"zlib error|(?:syntax error in content stream.*){8}", re.S)


def convert_pdf(pdf: Path | bytes, config: ConvertConfig, *, pages: range | None = None) -> Converted:
    """The Markdown of a PDF, with spans, tables as data and a report per page.

    `pages` (0-based) limits the work to a window. Raises EmptyDocument, EncryptedDocument
    or CorruptDocument where nothing can be read at all; a page that cannot be read is an
    error in its report and an error marker in the Markdown.
    """
    document = open_pdf(pdf)
    try:
        return _convert(document, pdf, config, pages)
    finally:
        document.close()


def open_pdf(pdf: Path | bytes, passwords: Sequence[str] = ()) -> pymupdf.Document:
    """Open a PDF, with one of the passwords where it is encrypted, or say with a typed error why it cannot
    be."""
    data = pdf if isinstance(pdf, bytes) else None
    if (data is not None and not data) or (isinstance(pdf, Path) and pdf.stat().st_size == 0):
        raise EmptyDocument("the file has no bytes", remedy="Fetch the file again.")
    pymupdf.TOOLS.mupdf_display_errors(False)
    try:
        document = (
            pymupdf.open(stream=data, filetype="pdf")
            if data is not None
            else pymupdf.open(pdf, filetype="pdf")
        )
    except Exception as e:
        raise CorruptDocument(f"not a readable PDF: {e}", remedy="Open and save it with a PDF tool.") from e
    if document.needs_pass and not any(document.authenticate(p) for p in passwords):
        document.close()
        tried = (
            "none of the configured passwords opens it" if passwords else "a password is needed to open it"
        )
        raise EncryptedDocument(tried, remedy=UNLOCK)
    try:
        count = document.page_count
    except Exception as e:
        document.close()
        raise CorruptDocument(f"its pages cannot be counted: {e}") from e
    if count == 0:
        document.close()
        raise EmptyDocument("it has no pages")
    return document


def _convert(
    document: pymupdf.Document, pdf: Path | bytes, config: ConvertConfig, window: range | None
) -> Converted:
    numbers = [
        n for n in (window if window is not None else range(document.page_count)) if n < document.page_count
    ]
    report = ConversionReport(converter=f"local {VERSION} (PyMuPDF {_version()})")
    pages: list[PageText] = []
    reports: dict[int, PageReport] = {}
    lost = find_damage(document, ending(pdf)).lost if document.is_repaired else {}
    own = functools.partial(_read, document, config, lost)
    read = map_pages(_reader, (pdf, config, lost), numbers, own, anywhere=True)
    for n, (page, state) in zip(numbers, read, strict=True):
        reports[n + 1] = state
        if page is not None:
            pages.append(page)
    report.dropped += drop_running(pages)
    vocabulary: dict[str, int] = {}
    for p in pages:
        count_words((s.text for s in p.segments), vocabulary)
    outline = _outline(document)
    blocks: list[Block] = []
    by_page: dict[int, list[Block]] = {}
    for p in pages:
        entries = outline.get(p.page, [])
        by_page[p.page] = _page_blocks(p, entries, report)
        apart = _second_reading(document, p, by_page[p.page], reports[p.page], config)
        if apart:
            again = _page_blocks(p, entries, ConversionReport(converter=report.converter), apart)
            before, after = doubt_of(by_page[p.page]), doubt_of(again)
            if after.confidence > before.confidence:
                by_page[p.page] = again
                reports[p.page].reader = "layout model"
                reports[p.page].reason = f"{before.reason}; tables side by side set apart"
                reports[p.page].confidence = after.confidence
        blocks += by_page[p.page]
    even_sizes(r for b in blocks for r in b.rows)
    body = body_size(blocks)
    ordered: list[Block] = []
    for p in pages:
        ordered += mark_notes(by_page[p.page], body, p.height)
    ordered = join_over_breaks(ordered)
    ordered = place_notes(ordered)
    mark_headings(ordered, bool(outline))
    ordered, contents = drop_contents(ordered)
    report.dropped += contents
    set_depths(ordered)
    writer = Writer(vocabulary)
    _write(writer, ordered, reports, [n + 1 for n in numbers])
    for number, state in reports.items():
        state.n_chars = writer.chars.get(number, 0)
    report.pages = [reports[n + 1] for n in numbers]
    report.dropped.sort(key=lambda d: d.page)
    return Converted(markdown=writer.markdown, spans=writer.spans, tables=writer.tables, report=report)


def _reader(
    pdf: Path | bytes, config: ConvertConfig, lost: Mapping[int, list[str]]
) -> Callable[[int], _Read]:
    """`_read` in a process of its own."""
    return functools.partial(_read, open_pdf(pdf), config, lost)


def _read(document: pymupdf.Document, config: ConvertConfig, lost: Mapping[int, list[str]], n: int) -> _Read:
    """Read one page; failures and pages without text are said in the report. `lost` maps a page
    (1-based) to what a damaged file lacks of it."""
    gone = lost.get(n + 1, [])
    if "page" in gone or "fonts" in gone:  # what letters stand for is gone with the fonts
        what = "the page is" if "page" in gone else f"{' and '.join(gone)} of the page are"
        error = f"the file is damaged: {what} missing"
        return None, PageReport(page=n + 1, reader="none", confidence=0.0, error=error)
    pymupdf.TOOLS.reset_mupdf_warnings()
    try:
        page = document.load_page(n)
        text = read_page(page, n + 1)
    except Exception as e:
        return None, PageReport(page=n + 1, reader="none", confidence=0.0, error=f"page cannot be read: {e}")
    broken = bool(gone) or _BROKEN.search(pymupdf.TOOLS.mupdf_warnings()) is not None
    try:
        found = read_with_ocr(page, text, config)
    except Exception as e:
        return None, PageReport(page=n + 1, reader="none", confidence=0.0, error=f"OCR failed: {e}")
    if broken and not found.report.error:
        # what can be read of it stays in the text
        found.report.error = "the content of the page is damaged: text is missing or wrong"
        found.report.confidence = min(found.report.confidence, 0.3)
        found.report.blank = False
    return found.page, found.report


def _outline(document: pymupdf.Document) -> dict[int, list[tuple[int, str]]]:
    """Outline entries by page (1-based): (level, title)."""
    try:
        entries: list[Any] = document.get_toc(simple=True)
    except Exception:  # a broken outline is no reason to fail
        return {}
    out: dict[int, list[tuple[int, str]]] = {}
    for level, title, page in entries:
        out.setdefault(page, []).append((level, title))
    return out


def _second_reading(
    document: pymupdf.Document, page: PageText, first: list[Block], state: PageReport, config: ConvertConfig
) -> list[Draft]:
    """Tables to be set apart on a page whose first reading is unsure; says so in the report."""
    doubt = doubt_of(first)
    state.confidence = round(min(state.confidence, doubt.confidence), 3)
    if doubt.confidence < _UNSURE:
        state.reason += f"; unsure: {doubt.reason}"
    if doubt.confidence >= config.layout_below or state.reader != "text layer":
        return []
    apart = []
    for region in tables_beside(document.load_page(page.page - 1), page):
        own = inside(region, page.segments)
        found = ruled_tables(page, own) or [
            d for f in reading_order(own, []) for d in unruled_tables(page, f)
        ]
        # one table that holds nearly all of the region
        if len(found) == 1 and sum(len(r.segments) for r in found[0].rows) >= 0.8 * len(own):
            apart += found
    return apart


def _page_blocks(
    page: PageText, entries: list[tuple[int, str]], report: ConversionReport, apart: Sequence[Draft] = ()
) -> list[Block]:
    known = {id(s) for d in apart for r in d.rows for s in r.segments}
    drafts = [*apart, *ruled_tables(page, [s for s in page.segments if id(s) not in known])]
    inside = {id(s) for d in drafts for r in d.rows for s in r.segments}
    zones = [Zone(d.x0, d.y0, d.x1, d.y1, d) for d in drafts]
    free = [s for s in page.segments if id(s) not in inside]
    flows = reading_order(free, zones)
    blocks: list[Block] = []
    for flow in flows:
        blocks += flow_blocks(flow, unruled_tables(page, flow))
    blocks = split_headings(blocks, flows, entries)
    for side in page.side:
        kept = [s for s in side.segments if not _in_margin(s, side)]
        gone = [s for s in side.segments if _in_margin(s, side)]
        if gone:
            report.dropped.append(
                Dropped(page=page.page, text=" ".join(s.text for s in gone), reason="decoration")
            )
        for flow in reading_order(kept, []):
            blocks += flow_blocks(flow, unruled_tables(side, flow))
    return blocks


def _in_margin(s: Segment, side: PageText) -> bool:
    """Turned text at the page's edge is a stamp, not content."""
    return s.y1 < 0.1 * side.height or s.y0 > 0.9 * side.height


def _write(
    writer: Writer, blocks: list[Block], reports: dict[int, PageReport], numbers: Iterable[int]
) -> None:
    writer._at_page = min(numbers, default=1) - 1
    failed = [n for n in sorted(reports) if reports[n].error]
    k = 0

    def errors_before(page: int) -> None:
        nonlocal k
        while k < len(failed) and failed[k] < page:
            first = last = failed[k]
            while (
                k + 1 < len(failed)
                and failed[k + 1] == last + 1 < page
                and reports[failed[k + 1]].error == reports[first].error
            ):
                k += 1
                last = failed[k]
            writer.page(first)
            writer.raw(format_error_marker(first, last, reports[first].error or ""))
            k += 1

    for block in blocks:
        errors_before(block.rows[0].page)
        writer.write(block)
    end = max(reports, default=0)
    errors_before(end + 1)
    writer.page(end)


def _version() -> str:
    return importlib.metadata.version("pymupdf")
