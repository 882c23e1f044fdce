"""Text in the pictures of an office file: read by OCR from the print, and put in its place."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from drac_pipeline.config import ConvertConfig
from drac_pipeline.convert.local.document import _page_blocks
from drac_pipeline.convert.local.text_layer import PageText, read_page
from drac_pipeline.convert.local.writer import Writer
from drac_pipeline.convert.ocr import read_with_ocr
from drac_pipeline.model.conversion import BlockSpan, ConversionReport, PageReport, TableData
from drac_pipeline.mupdf import pymupdf
from drac_pipeline.office.places import letters_of

_REPEATED = 3  # pages from which a picture is a logo


@dataclass
class Pictured:
    """What the pictures of one page say: blocks with their spans (offsets are within `text`)."""

    page: int
    text: str
    spans: list[BlockSpan]
    tables: list[TableData]


@dataclass
class Pictures:
    """The pages with text in pictures, and the reports of all that were looked at."""

    pages: list[Pictured] = field(default_factory=list)
    reports: dict[int, PageReport] = field(default_factory=dict)


def read_pictures(document: pymupdf.Document, config: ConvertConfig) -> Pictures:
    """Looks at the pages that hold pictures."""
    out = Pictures()
    images = {n: {i[0] for i in document[n].get_images()} for n in range(document.page_count)}
    often = Counter(x for found in images.values() for x in found)
    for n, found in images.items():
        if any(often[x] <= _REPEATED for x in found):
            _page(document[n], n + 1, config, out)
    return out


def _page(page: pymupdf.Page, number: int, config: ConvertConfig, out: Pictures) -> None:
    try:
        text = read_page(page, number)
        own = {id(s) for s in text.segments}
        known = letters_of(" ".join(s.text for s in text.segments))
        read = read_with_ocr(page, text, config)
    except Exception as e:
        warning = f"its pictures could not be read: {e}"
        out.reports[number] = PageReport(page=number, reader="file", warnings=[warning])
        return
    out.reports[number] = read.report
    if read.page is None:
        return
    # a page read as a whole has the text of the file in it again
    segments = [s for s in read.page.segments if id(s) not in own and letters_of(s.text) not in known]
    if not segments:
        return
    frame = replace(read.page, segments=segments, side=[])
    for segment in segments:
        segment.frame = frame
    writer = _written(frame)
    if writer.spans:
        out.pages.append(Pictured(number, writer.markdown.rstrip("\n"), writer.spans, writer.tables))


def _written(page: PageText) -> Writer:
    writer = Writer({})
    writer._at_page = page.page
    for block in _page_blocks(page, [], ConversionReport(converter="")):
        writer.write(block)
    return writer


@dataclass
class Merged:
    """Markdown, its spans, the page known of each span (see `office.route`), its tables."""

    markdown: str
    spans: list[BlockSpan]
    pages: list[int | None]
    tables: list[TableData]


def merge(text: Merged, pictures: list[Pictured]) -> Merged:
    """Put what the pictures say behind the block above each."""
    if not pictures:
        return text
    at: dict[int, list[Pictured]] = {}
    for picture in pictures:
        at.setdefault(_place(text, picture), []).append(picture)
    out = Merged("", [], [], list(text.tables))
    parts: list[str] = []
    length = copied = 0

    def put(part: str) -> None:
        nonlocal length
        parts.append(part)
        length += len(part)

    for i in range(-1, len(text.spans)):
        if i >= 0:
            span = text.spans[i]
            put(text.markdown[copied : span.end])
            copied = span.end
            moved = length - span.end
            out.spans.append(span.model_copy(update={"start": span.start + moved, "end": span.end + moved}))
            out.pages.append(text.pages[i])
        for picture in at.get(i, ()):
            put("\n\n" if length else "")
            _add(out, picture, length)
            put(picture.text)
        if i in at and i + 1 < len(text.spans):
            gap = text.markdown[copied : text.spans[i + 1].start]
            put("\n" * (2 - min(2, gap.count("\n"))))
    put(text.markdown[copied:])
    out.markdown = "".join(parts)
    return out


def _place(text: Merged, picture: Pictured) -> int:
    """The last block that ends above the picture; a table is not parted."""
    top = min(b.y0 for s in picture.spans for b in s.boxes)
    found = -1
    for i, span in enumerate(text.spans):
        page = text.pages[i] or 0  # of a slide's block that is not found on it
        end = (span.boxes[-1].page, span.boxes[-1].y1) if span.boxes else (page or 10**9, 0.0)
        if end <= (picture.page, top + 5):
            found = i
    while (
        0 <= found < len(text.spans) - 1
        and text.spans[found].table_id is not None
        and text.spans[found].table_id == text.spans[found + 1].table_id
    ):
        found += 1
    return found


def _add(out: Merged, picture: Pictured, offset: int) -> None:
    names = {t.table_id: f"t{len(out.tables) + n + 1}" for n, t in enumerate(picture.tables)}
    out.tables += [t.model_copy(update={"table_id": names[t.table_id]}) for t in picture.tables]
    for span in picture.spans:
        out.spans.append(
            span.model_copy(
                update={
                    "start": span.start + offset,
                    "end": span.end + offset,
                    "table_id": names.get(span.table_id or "", span.table_id),
                }
            )
        )
        out.pages.append(picture.page)
