"""Markdown to elements: headings, paragraphs, list items, row sentences, code, quotes.

The scanner is our own, line by line, for three reasons. Every element is an exact slice
of the Markdown (the later proof rests on that), while a CommonMark parser reports lines
of a tree whose leaves have lost their offsets. A page comment between two items must not
end a list, and one between two lines must end a paragraph; CommonMark says the opposite of
the first. And what a converter writes must never vanish into an HTML block, an indented
code block or a link definition: here every line that is not blank, a rule, a setext
underline or one of the pipeline's own comments belongs to exactly one element.

Where it departs from CommonMark: only `<!-- page N -->` and `<!-- drac:… -->` are comments
(on one line; any other is text, since a page may print one); indentation makes no code; a setext
heading has one line of text and at least two underline characters; `#` without text is
text; a fence ends at the next page if it is never closed; an item is nested if it is
indented by two columns more than the one above.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from drac_pipeline.long_text import LEAST_LIMIT, cut_long
from drac_pipeline.model.box import Box
from drac_pipeline.model.conversion import BlockSpan
from drac_pipeline.model.element import Element, ElementKind

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_HEADING = re.compile(r"[ \t]{0,3}(#{1,6})[ \t]+(.*)")
_SETEXT = re.compile(r"[ \t]{0,3}(={2,}|-{2,})[ \t]*$")
_RULE = re.compile(r"[ \t]{0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")
_FENCE = re.compile(r"[ \t]*(`{3,}(?=[^`]*$)|~{3,})")
_FENCE_END = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*$")
_ITEM = re.compile(r"([ \t]*)([-*+]|(\d{1,9})[.)])(?:[ \t]+(.*)|$)")
_QUOTE = re.compile(r"[ \t]{0,3}>")
_COMMENT = re.compile(r"<!--[ \t]*(?:page[ \t]+(\d+)[ \t]*|drac:(?:(?!<!--)[^\r\n])*?)-->", re.IGNORECASE)
_ERROR = re.compile(r"<!--[ \t]*drac:error\b(?:\s+pages=\"?(\d+)(?:-(\d+))?)?", re.IGNORECASE)

_NESTED_COLUMNS = 2  # an item this much further in than the one above is its child


@dataclass(slots=True)
class _Block:
    """An element to be: kind, level, the slice, its list and the pages it stands on."""

    kind: ElementKind
    start: int
    end: int
    page: int
    level: int = 0
    group: str = ""
    page_end: int = 0


def parse_markdown(markdown: str, spans: Sequence[BlockSpan] = ()) -> list[Element]:
    """The elements of a document in reading order.

    Ids count per document: h1… for headings, p1… for content, e1… for error markers. A text
    longer than `long_text.MAX_ELEMENT_CHARS` is several elements, cut at the ends of sentences.
    Lists are grouped as l1… (one per top-level list), row sentences by the `table_id` of
    their span. Pages come from the page comments and, where a span has boxes, from these.
    """
    spans = sorted(spans, key=lambda s: (s.start, s.end))
    return _elements(markdown, _Scanner(markdown, spans).run(), spans)


class _Scanner:
    """One pass over the lines. A line is the slice [start, end) without its line break."""

    def __init__(self, markdown: str, spans: Sequence[BlockSpan]) -> None:
        self.markdown = markdown
        self.lines = _lines(markdown)
        self.closers = _closing_fences(markdown, self.lines)
        self.row_starts = {s.start for s in spans if s.table_id is not None}
        self.row_ends = {s.end for s in spans if s.table_id is not None}
        self.blocks: list[_Block] = []
        self.page = 0
        self.lists = 0
        self.open: _Block | None = None  # the paragraph, quote or item that a line may still join
        self.columns: list[int] = []  # indentation of the open items, outermost first; empty: no list
        self.after_blank = False
        self.marker = ""  # what kind of list is open: the bullet, "." or ")"

    def run(self) -> list[_Block]:
        i = 0
        while i < len(self.lines):
            i = self._line(i)
        for block in self.blocks:
            block.page_end = max(block.page_end, block.page)
        return self.blocks

    # ------------------------------------------------------------------ one line

    def _line(self, i: int) -> int:
        """Takes line `i`; gives the number of the next one."""
        start, end = self.lines[i]
        text = self.markdown[start:end]
        if not text.strip():
            if self.open is not None and self.open.kind is not ElementKind.LIST_ITEM:
                self.open = None
            self.after_blank = True
            return i + 1
        if comment := _COMMENT.match(text):
            return self._comment(i, comment)
        after_blank, self.after_blank = self.after_blank, False
        if match := _FENCE.match(text):
            return self._fence(i, match)
        if self._setext(text) or self._heading(start, text):
            return i + 1
        if _RULE.match(text):
            self._close_list()
            return i + 1
        if (match := _ITEM.match(text)) and self._starts_item(match):
            return self._item(i, match)
        self._text(start, end, text, after_blank)
        return i + 1

    def _comment(self, i: int, match: re.Match[str]) -> int:
        """Turns the page, or adds an error marker; gives the next line."""
        start, end = self.lines[i]
        self.open = None
        if match[1]:
            self.page = int(match[1])
        elif error := _ERROR.match(self.markdown, start):
            self._close_list()
            first = int(error[1] or self.page)
            last = max(first, int(error[2] or first))
            self._add(ElementKind.ERROR, start, end, page=first, page_end=last)
            self.page = max(self.page, last)
        return i + 1

    def _fence(self, i: int, match: re.Match[str]) -> int:
        in_list = bool(self.columns) and _columns(match[0][: match.start(1)]) >= _NESTED_COLUMNS
        if not in_list:
            self._close_list()
        self.open = None
        return self._code(i, self._fence_end(i, match[1]), f"l{self.lists}" if in_list else "")

    def _fence_end(self, i: int, fence: str) -> int:
        """The line that closes the fence opened on line `i`; without one, the last before a comment."""
        closed = self.closers[fence[0]][i + 1] >= len(fence)
        for j in range(i + 1, len(self.lines)):
            text = self.markdown[slice(*self.lines[j])]
            if closed:
                match = _FENCE_END.match(text)
                if match and match[1][0] == fence[0] and len(match[1]) >= len(fence):
                    return j
            elif _COMMENT.match(text):
                return j - 1
        return len(self.lines) - 1

    def _code(self, first: int, last: int, group: str, item: _Block | None = None) -> int:
        """Takes the lines of a fence, as code or as the end of `item`; gives the next line.

        Comments of ours cut it: code over a page break is two elements, and no comment is text.
        """
        begin, i = first, first + 1
        while i <= last:
            comment = _COMMENT.match(self.markdown[slice(*self.lines[i])])
            if comment is None:
                i += 1
                continue
            self._code_part(begin, i, group, item)
            item = None
            begin = i = self._comment(i, comment)
        self._code_part(begin, last + 1, group, item)
        return last + 1

    def _code_part(self, begin: int, stop: int, group: str, item: _Block | None) -> None:
        while begin < stop and not self.markdown[slice(*self.lines[begin])].strip():
            begin += 1
        if begin == stop:
            return
        end = self.lines[stop - 1][1]
        if item is not None:
            item.end = self._trimmed(end, item.start)
        else:
            self._add(ElementKind.CODE, self.lines[begin][0], end, group=group)

    def _setext(self, text: str) -> bool:
        """True if the line underlines the one-line paragraph above, which becomes a heading."""
        match, block = _SETEXT.match(text), self.open
        if match is None or block is None or block.kind is not ElementKind.PARAGRAPH:
            return False
        if block.group or "\n" in (above := self.markdown[block.start : block.end]) or "\r" in above:
            return False
        block.kind, block.level = ElementKind.HEADING, 1 if match[1][0] == "=" else 2
        self.open = None
        return True

    def _heading(self, start: int, text: str) -> bool:
        match = _HEADING.match(text)
        if match is None:
            return False
        inner = match[2].rstrip()
        bare = inner.rstrip("#")
        if bare != inner and (not bare or bare[-1] in " \t"):  # closing hashes
            inner = bare.rstrip()
        if not inner:
            return False
        begin = start + match.start(2) + len(inner) - len(inner.lstrip())
        self._close_list()
        self._add(ElementKind.HEADING, begin, start + match.start(2) + len(inner), level=len(match[1]))
        return True

    # ------------------------------------------------------------------ lists and text

    def _starts_item(self, match: re.Match[str]) -> bool:
        """An item may not break into a paragraph if it is empty or numbered other than 1."""
        if self.columns or self.open is None:
            return True
        return bool(match[4]) and match[3] in (None, "1")

    def _item(self, i: int, match: re.Match[str]) -> int:
        start, end = self.lines[i]
        column, marker = _columns(match[1]), match[2][-1]
        while self.columns and column < self.columns[-1]:
            self.columns.pop()
        if self.columns and column < self.columns[-1] + _NESTED_COLUMNS:
            self.columns.pop()
        if not self.columns and marker != self.marker:
            self._close_list()
        if not self.marker:
            self.lists += 1
            self.marker = marker
        self.columns.append(column)
        item = self._add(ElementKind.LIST_ITEM, start, end, level=len(self.columns), group=f"l{self.lists}")
        self.open = item
        if match[4] and (fence := _FENCE.match(match[4])):
            return self._code(i, self._fence_end(i, fence[1]), item.group, item)
        return i + 1

    def _text(self, start: int, end: int, text: str, after_blank: bool) -> None:
        indented = bool(self.columns) and _columns(text) >= _NESTED_COLUMNS
        quote = bool(_QUOTE.match(text)) and not indented
        block = self.open
        if block is not None and not self._breaks(start, text, quote, after_blank and not indented):
            block.end = self._trimmed(end, start)
            return
        if not indented:
            self._close_list()
        begin = start + len(text) - len(text.lstrip())
        kind = ElementKind.QUOTE if quote else ElementKind.PARAGRAPH
        self.open = self._add(kind, begin, end, group=f"l{self.lists}" if indented else "")

    def _breaks(self, start: int, text: str, quote: bool, apart: bool) -> bool:
        """True if the line begins a block of its own rather than going on with the open one."""
        assert self.open is not None
        if quote:
            return self.open.kind is not ElementKind.QUOTE
        begin = start + len(text) - len(text.lstrip())
        row = start in self.row_starts or begin in self.row_starts or self.open.end in self.row_ends
        return row or (apart and self.open.kind is ElementKind.LIST_ITEM)

    def _close_list(self) -> None:
        self.open, self.columns, self.marker = None, [], ""

    def _add(
        self,
        kind: ElementKind,
        start: int,
        end: int,
        *,
        level: int = 0,
        group: str = "",
        page: int | None = None,
        page_end: int = 0,
    ) -> _Block:
        block = _Block(
            kind,
            start,
            self._trimmed(end, start),
            self.page if page is None else page,
            level,
            group,
            page_end,
        )
        self.blocks.append(block)
        return block

    def _trimmed(self, end: int, start: int) -> int:
        """`end` without the white space before it."""
        while end > start and self.markdown[end - 1].isspace():
            end -= 1
        return end


def _lines(markdown: str) -> list[tuple[int, int]]:
    r"""Start and end of every line, ends without \n, \r\n or \r; comments of ours are lines of their own."""
    out = []
    for match in _LINE.finditer(markdown):
        start, end = match.start(), match.start() + len(match[0].rstrip("\r\n"))
        if start == match.end() == len(markdown):
            break
        for comment in _COMMENT.finditer(markdown, start, end):
            if markdown[start : comment.start()].strip():
                out.append((start, comment.start()))
            out.append(comment.span())
            start = comment.end()
        if start == match.start() or markdown[start:end].strip():
            out.append((start, end))
    return out


def _closing_fences(markdown: str, lines: list[tuple[int, int]]) -> dict[str, list[int]]:
    """Per fence character: the longest closing fence on line i or later (0: none)."""
    longest = {c: [0] * (len(lines) + 1) for c in "`~"}
    for i in range(len(lines) - 1, -1, -1):
        for char in "`~":
            longest[char][i] = longest[char][i + 1]
        if match := _FENCE_END.match(markdown[slice(*lines[i])]):
            char = match[1][0]
            longest[char][i] = max(longest[char][i], len(match[1]))
    return longest


def _columns(text: str) -> int:
    """Columns of leading blanks, tabs going to the next multiple of four."""
    column = 0
    for char in text:
        if char == " ":
            column += 1
        elif char == "\t":
            column += 4 - column % 4
        else:
            break
    return column


def _elements(markdown: str, blocks: list[_Block], spans: list[BlockSpan]) -> list[Element]:
    """Blocks with ids, ancestors, and what the spans know of them; long ones in several parts."""
    out: list[Element] = []
    counts = {"h": 0, "p": 0, "e": 0}
    above: list[tuple[int, str]] = []  # level and id of the open headings
    first = 0  # the first span that may overlap this block or a later one
    for block in blocks:
        letter = {ElementKind.HEADING: "h", ElementKind.ERROR: "e"}.get(block.kind, "p")
        if letter == "h":
            while above and above[-1][0] >= block.level:
                above.pop()
        while first < len(spans) and spans[first].end <= block.start:
            first += 1
        for part, (start, end) in enumerate(_parts(markdown, block, letter)):
            counts[letter] += 1
            element = Element(
                id=f"{letter}{counts[letter]}",
                ordinal=len(out),
                kind=block.kind,
                level=block.level,
                text=markdown[start:end],
                start=start,
                end=end,
                ancestors=tuple(i for _, i in above),
                group=block.group,
                part=part,
                page_start=block.page,
                page_end=block.page_end,
            )
            out.append(_placed(element, spans, first) if letter != "e" else element)
        if letter == "h":
            above.append((block.level, out[-1].id))
    return out


def _parts(markdown: str, block: _Block, letter: str) -> list[tuple[int, int]]:
    """The slices of a block that become elements: more than one only of long content."""
    if letter != "p" or block.end - block.start <= LEAST_LIMIT:
        return [(block.start, block.end)]
    text = markdown[block.start : block.end]
    parts = cut_long(text, by_line=block.kind is ElementKind.CODE)
    return [(block.start + a, block.start + b) for a, b in parts]


def _placed(element: Element, spans: list[BlockSpan], first: int) -> Element:
    """The element with the boxes, pages and table row of the spans that overlap it."""
    boxes: list[Box] = []
    table: BlockSpan | None = None
    for i in range(first, len(spans)):
        span = spans[i]
        if span.start >= element.end:
            break
        if span.end <= element.start:
            continue
        boxes += span.boxes
        if span.table_id is not None and table is None:
            table = span
    if boxes:
        pages = [b.page for b in boxes]
        element = replace(element, boxes=tuple(boxes), page_start=min(pages), page_end=max(pages))
    if table is not None and element.kind in (ElementKind.PARAGRAPH, ElementKind.LIST_ITEM):
        row = -1 if table.row is None else table.row
        element = replace(element, kind=ElementKind.TABLE_ROW, level=0, group=table.table_id or "", row=row)
    return element
