"""Where on the page the blocks of a model stand: its words found again among the page's own.

A model gives text without places. The words of each block are looked for among the lines of the page's
text layer, or among what OCR read of a scan; the lines that hold them give the boxes. A block whose
words are not found in one neighbourhood gets none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from drac_pipeline.convert.local.document import open_pdf
from drac_pipeline.convert.local.text_layer import read_page
from drac_pipeline.convert.model.carry import row_items
from drac_pipeline.model import BlockSpan, Box, Converted
from drac_pipeline.mupdf import pymupdf

_TOKEN = re.compile(r"[^\W_]+")
_ANCHORS = 4  # words of a block, the rarest of the page, that its place is looked for by
_AT_MOST = 24  # places of a word that are looked at
_LEAST = 0.5  # share of a block's words that must be found together
_OF_A_LINE = 0.5  # share of a line's words, or of the block's, that make the line part of the block
_GAP = 0.9  # of a line's height: lines further apart are boxes of their own


@dataclass
class _Line:
    """A line of the page, or what OCR read as one block: its words and boxes."""

    words: list[str]
    boxes: list[Box]


@dataclass
class _Page:
    """The words of a page in order, each with its line; `used` are taken by a block."""

    lines: list[_Line]
    words: list[str] = field(default_factory=list)
    line_of: list[int] = field(default_factory=list)
    places: dict[str, list[int]] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        for k, line in enumerate(self.lines):
            for word in line.words:
                self.places.setdefault(word, []).append(len(self.words))
                self.words.append(word)
                self.line_of.append(k)


def find_places(
    pdf: Path,
    converted: Converted,
    blocks: Sequence[tuple[int, int, int]],
    pages: Collection[int],
    scans: Mapping[int, Converted],
) -> list[BlockSpan]:
    """The spans of `converted` with boxes for blocks on `pages`, which the model read.

    `blocks` are (start, end, page) as they are parsed later. `scans` are readings by OCR of pages whose
    text layer is no witness.
    """
    known = {(s.start, s.end): s for s in converted.spans}
    document = open_pdf(pdf)
    read: dict[int, _Page] = {}
    try:
        for start, end, number in blocks:
            if number not in pages:
                continue
            if number not in read:
                lines = _scanned(scans[number], number) if number in scans else _printed(document, number)
                read[number] = _Page(lines)
            boxes = _boxes(read[number], _words_of(converted.markdown[start:end]))
            if not boxes:
                continue
            inside = known.get((start, end)) or BlockSpan(start=start, end=end)
            known[start, end] = inside.model_copy(update={"boxes": boxes})
    finally:
        document.close()
    return sorted(known.values(), key=lambda s: (s.start, s.end))


def _printed(document: pymupdf.Document, number: int) -> list[_Line]:
    try:
        text = read_page(document.load_page(number - 1), number)
    except Exception:  # a page that cannot be read has no lines
        return []
    return [
        _Line(_tokens(s.text), [part.to_display(s.x0, s.y0, s.x1, s.y1)])
        for part in (text, *text.side)
        for s in sorted(part.segments, key=lambda s: s.order)
    ]


def _scanned(reading: Converted, number: int) -> list[_Line]:
    out = []
    for span in reading.spans:
        boxes = [b for b in span.boxes if b.page == number]
        text = reading.markdown[span.start : span.end]
        if boxes:
            out.append(_Line(_words_of(text), boxes))
    return out


def _words_of(block: str) -> list[str]:
    """Of a row sentence its values: its columns' names stand elsewhere on the page."""
    items = row_items(block)
    return _tokens(" ".join(value for _, value in items) if items else block)


def _tokens(text: str) -> list[str]:
    return [t.lower() for t in _TOKEN.findall(text)]


def _boxes(page: _Page, words: list[str]) -> list[Box]:
    found = _together(page, words)
    if len(found) < max(1, _LEAST * len(words)):
        return []
    page.used.update(found)
    hit = Counter(page.line_of[at] for at in found)
    boxes: list[Box] = []
    for k in sorted(hit):
        if hit[k] >= _OF_A_LINE * min(len(page.lines[k].words), len(words)):
            for box in page.lines[k].boxes:
                _add(boxes, box)
    return boxes


def _together(page: _Page, words: list[str]) -> list[int]:
    """Where the most of the words stand close together, each place once; those used before are
    passed over."""
    wanted = Counter(words)
    rare = sorted(
        (w for w in wanted if w in page.places), key=lambda w: (len(page.places[w]), words.index(w))
    )
    slack = 4 + len(words) // 4
    best: list[int] = []
    for word in rare[:_ANCHORS]:
        at = words.index(word)
        for place in page.places[word][:_AT_MOST]:
            first = max(0, place - at - slack)
            last = min(len(page.words), place - at + len(words) + slack)
            left = wanted.copy()
            found = []
            # from the anchor outwards, so that a word beside it comes before the same word far off
            for i in sorted(range(first, last), key=lambda i: abs(i - place)):
                if i not in page.used and left[page.words[i]] > 0:
                    left[page.words[i]] -= 1
                    found.append(i)
            if len(found) > len(best):
                best = found
    return best


def _add(boxes: list[Box], box: Box) -> None:
    """Join a line to the box of the lines above it, or of the cells beside it, or let it stand alone."""
    if boxes:
        last = boxes[-1]
        height = box.y1 - box.y0
        below = -height < box.y0 - last.y1 < _GAP * height and box.x0 < last.x1 and last.x0 < box.x1
        beside = min(box.y1, last.y1) - max(box.y0, last.y0) > 0.5 * height
        if below or beside:
            boxes[-1] = Box(
                page=box.page,
                x0=min(box.x0, last.x0),
                y0=min(box.y0, last.y0),
                x1=max(box.x1, last.x1),
                y1=max(box.y1, last.y1),
            )
            return
    boxes.append(box)
