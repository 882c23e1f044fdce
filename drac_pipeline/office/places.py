"""Where text stands in the print: pages and boxes of what was read from the file itself."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from drac_pipeline.model.box import Box
from drac_pipeline.mupdf import pymupdf

_SIGN = re.compile(r"[\W_]+")
_NEAR, _BACK = 3_000, 30_000  # letters looked through ahead first, then behind
_SURE = 14  # letters from which a text is looked for anywhere
_ENDS = 24


@dataclass
class Print:
    """The letters of all pages in one run; `starts[k]` is where word k begins."""

    letters: str = ""
    starts: list[int] = field(default_factory=list)
    words: list[tuple[int, float, float, float, float]] = field(default_factory=list)
    pages: list[int] = field(default_factory=list)  # where each page's letters begin, and the end
    cursor: int = 0

    def find(self, text: str, page: int | None = None) -> tuple[int, int] | None:
        """The range of letters that says `text`, looked for from where the last was found;
        on one page if `page` is given. Longer texts may be cut by a page's furniture."""
        key = letters_of(text)
        if not key:
            return None
        for low, high in self._windows(len(key), page):
            found = self._within(key, low, high)
            if found is not None:
                self.cursor = found[1]
                return found
        return None

    def find_cells(self, cells: Sequence[str], page: int | None = None) -> list[tuple[int, int]]:
        """The ranges of a row's cells, near each other; a cell from a row above is not looked for."""
        out: list[tuple[int, int]] = []
        size = sum(len(letters_of(c)) for c in cells)
        for cell in cells:
            key = letters_of(cell)
            if not key:
                continue
            if page is not None:
                windows = self._windows(len(key), page)
            elif out:
                windows = [(self.cursor, self.cursor + 200 + size)]
            else:
                windows = self._windows(len(key), None)
            found = next((f for low, high in windows if (f := self._within(key, low, high))), None)
            if found is not None:
                out.append(found)
                self.cursor = found[1]
        return out

    def boxes(self, ranges: Sequence[tuple[int, int]]) -> list[Box]:
        """One box a page around the words of some ranges."""
        around: dict[int, list[float]] = {}
        for low, high in ranges:
            first = bisect_right(self.starts, low) - 1
            last = bisect_right(self.starts, high - 1) - 1
            for page, x0, y0, x1, y1 in self.words[max(0, first) : last + 1]:
                b = around.setdefault(page, [x0, y0, x1, y1])
                b[:] = min(b[0], x0), min(b[1], y0), max(b[2], x1), max(b[3], y1)
        return [Box(page=p, x0=b[0], y0=b[1], x1=b[2], y1=b[3]) for p, b in sorted(around.items())]

    def _windows(self, n: int, page: int | None) -> list[tuple[int, int]]:
        if page is not None:
            if page >= len(self.pages):
                return []
            low, high = self.pages[page - 1], self.pages[page]
            return [(max(low, self.cursor), high), (low, high)]
        end = len(self.letters)
        out = [(self.cursor, min(end, self.cursor + max(_NEAR, 2 * n)))]
        if n >= 4:
            out.append((max(0, self.cursor - _BACK), self.cursor))
        if n >= _SURE:
            out.append((self.cursor, end))
        return out

    def _within(self, key: str, low: int, high: int) -> tuple[int, int] | None:
        at = self.letters.find(key, low, high)
        if at >= 0:
            return at, at + len(key)
        if len(key) < _SURE:
            return None
        head = key[:_ENDS]
        at = self.letters.find(head, low, high)
        if at < 0:
            return None
        tail = key[-_ENDS:]
        limit = at + len(key) + 600 + len(key) // 4
        end = self.letters.find(tail, at + len(key) - len(tail), limit)
        return (at, end + len(tail)) if end >= 0 else (at, at + len(head))


def letters_of(text: str) -> str:
    """Letters and digits only, without case, accents and ligatures."""
    text = unicodedata.normalize("NFKD", text).casefold()
    return _SIGN.sub("", "".join(c for c in text if not unicodedata.combining(c)))


def read_print(document: pymupdf.Document) -> Print:
    """The words of a PDF."""
    out = Print(pages=[0])
    parts: list[str] = []
    length = 0
    for number in range(document.page_count):
        page = document.load_page(number)
        found: list[Any] = page.get_text("words")  # pyright: ignore[reportAssignmentType]
        for x0, y0, x1, y1, word, *_ in found:
            key = letters_of(word)
            if not key:
                continue
            out.starts.append(length)
            out.words.append((number + 1, x0, y0, x1, y1))
            parts.append(key)
            length += len(key)
        out.pages.append(length)
    out.letters = "".join(parts)
    return out
