"""Text documents and slides, read from their own file; their print gives pages and boxes.

A print has lost what the file knows: which line is a heading, which cell a header, what runs
off a slide. So the file is read, and each block then looked for in the PDF. Where the file
gives much less text than its print (a document of a kind we misread), the print is read.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from drac_pipeline.config import ConvertConfig
from drac_pipeline.convert.markers import format_page_comment
from drac_pipeline.errors import DocumentError
from drac_pipeline.model.conversion import BlockSpan, Converted, PageReport
from drac_pipeline.mupdf import pymupdf
from drac_pipeline.office.docx import read_docx
from drac_pipeline.office.fakes import promote
from drac_pipeline.office.missing import missing_warning, missing_words
from drac_pipeline.office.package import Package
from drac_pipeline.office.pictures import Merged, Pictures, merge, read_pictures
from drac_pipeline.office.places import Print, letters_of, read_print
from drac_pipeline.office.placing import placed
from drac_pipeline.office.pptx import read_pptx
from drac_pipeline.office.reading import Reading
from drac_pipeline.web.facts import count_facts
from drac_pipeline.web.flow import Flow
from drac_pipeline.web.writer import Writer

VERSION = 1
_READERS: dict[str, Callable[[Package, ConvertConfig], Reading]] = {"docx": read_docx, "pptx": read_pptx}
OWN_FORMATS = frozenset(_READERS)
_AHEAD = 6
_ENOUGH = 0.5  # share of the print's letters that the file has to give


def convert_office(
    own: Path, kind: str, pdf: Path, config: ConvertConfig, by_print: Callable[[], Converted]
) -> Converted:
    """The document `own`, of format `kind`, as Markdown; `by_print` reads its PDF instead."""
    try:
        with Package(own) as package:
            reading = _READERS[kind](package, config)
    except (DocumentError, zipfile.BadZipFile, RecursionError, ValueError, KeyError, OSError) as e:
        return _printed(by_print, f"the file itself could not be read ({type(e).__name__}: {e})")
    if reading.root is not None and not _has_headings(reading):
        promote(reading)
    with pymupdf.open(pdf) as document:
        printed = read_print(document)
        pictures = read_pictures(document, config)
    converted = _write(reading, printed, pictures)
    if len(printed.letters) > 200 and len(letters_of(converted.markdown)) < _ENOUGH * len(printed.letters):
        told = "the file itself gave less text than its print"
        return with_missing(own, kind, _printed(by_print, told))
    return with_missing(own, kind, converted)


def with_missing(own: Path, kind: str, converted: Converted) -> Converted:
    """Warn of words in the XML of `own` that are neither in the Markdown nor reported as left out."""
    read = " ".join([converted.markdown, *(d.text for d in converted.report.dropped)])
    if lost := missing_words(own, kind, read):
        converted.report.warnings.append(missing_warning(lost))
    return converted


def _printed(by_print: Callable[[], Converted], why: str) -> Converted:
    converted = by_print()
    converted.report.warnings.append(f"read from its PDF: {why}")
    return converted


def _has_headings(reading: Reading) -> bool:
    return any(next(reading.root.iter(f"h{n}"), None) is not None for n in range(1, 7))


def _write(reading: Reading, printed: Print, pictures: Pictures) -> Converted:
    facts = count_facts(reading.root)
    writer = Writer()
    pages: list[int | None] = []  # of the spans: the slide's page, None where it is to be found
    dropped = reading.dropped
    parts = list(reading.root[0]) if reading.slides else [reading.root]
    slide_pages = {box: n + 1 for n, box in enumerate(reading.slides)}
    for part in parts:
        writer.write(Flow(facts, dropped).run(part))
        page = slide_pages.get(part, 0 if reading.slides else None)
        pages += [page] * (len(writer.spans) - len(pages))
    n_pages = len(printed.pages) - 1
    converted = writer.converted(f"office/{VERSION}", dropped, reading.warnings)
    spans = placed(writer.spans, converted.tables, pages, printed, converted.markdown)
    if reading.running:
        for page, text, above in printed.outside():
            reading.leave(text, "running header" if above else "running footer", page)
    merged = merge(Merged(converted.markdown, spans, pages, converted.tables), pictures.pages)
    converted.tables = merged.tables
    converted.markdown, converted.spans, chars = _paged(merged.markdown, merged.spans, merged.pages, n_pages)
    report = converted.report
    report.dropped = reading.dropped
    report.taken = [f"{n} {what}{'' if n == 1 else 's'}" for what, n in reading.taken.items()]
    with_text = {p.page for p in pictures.pages}
    for n in range(1, n_pages + 1):
        page = PageReport(
            page=n,
            reader="file",
            reason="the document's own file says what stands on the page",
            n_chars=chars.get(n, 0),
            blank=not chars.get(n) and printed.pages[n] == printed.pages[n - 1],
        )
        if (seen := pictures.reports.get(n)) is not None:
            page.warnings = [*seen.warnings, *([seen.error] if seen.error else [])]
            if n in with_text:
                page.reader, page.confidence = "file, ocr", seen.confidence
                page.reason += "; text in pictures was read by OCR"
            page.blank = page.blank and seen.blank
        report.pages.append(page)
    return converted


def _turned_to(spans: Sequence[BlockSpan]) -> int:
    """The page of the first of some spans, unless those after it stand before that: a text that is
    found at a wrong place, or a box that is printed further on, turns no page."""
    return min(s.boxes[0].page for s in spans if s.boxes)


def _paged(
    markdown: str, spans: list[BlockSpan], pages: Sequence[int | None], n_pages: int
) -> tuple[str, list[BlockSpan], dict[int, int]]:
    """The Markdown with its page comments, the spans moved accordingly, the letters a page."""
    parts: list[str] = []
    out: list[BlockSpan] = []
    chars: dict[int, int] = {}
    at, copied, added = 0, 0, 0

    def turn(to: int, position: int) -> None:
        """Page comments up to page `to` before the line at `position`."""
        nonlocal at, copied, added
        while markdown[position - 1 : position] == " ":
            position -= 1
        before = markdown[copied:position]
        parts.append(before)
        copied = position
        text = "".join(format_page_comment(n) + "\n\n" for n in range(at + 1, to + 1))
        if position and markdown[position - 2 : position] != "\n\n":
            text = "\n" + text
        parts.append(text)
        added += len(text)
        at = to

    for n, (span, known) in enumerate(zip(spans, pages, strict=True)):
        page = known or (_turned_to(spans[n : n + _AHEAD]) if span.boxes and known is None else at or 1)
        if page > at:
            turn(page, span.start)
        out.append(span.model_copy(update={"start": span.start + added, "end": span.end + added}))
        chars[at] = chars.get(at, 0) + span.end - span.start
    parts.append(markdown[copied:])
    text = "".join(parts)
    rest = "\n\n".join(format_page_comment(n) for n in range(at + 1, n_pages + 1))
    if rest:
        text = f"{text.rstrip()}\n\n{rest}\n" if text.strip() else f"{rest}\n"
    return text, out, chars
