"""Where text stands in the print: pages and boxes of what was read from the file itself."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from drac_pipeline.model.box import Box
from drac_pipeline.mupdf import pymupdf

_SIGN = re.compile(r"[\W_]+")
_NEAR, _BACK = 3_000, 30_000  # letters looked through ahead first, then behind
_SURE = 14  # letters from which a text is looked for anywhere
_ENDS = 24
_TRIES = 40
_FURNITURE = 800  # letters of header, footer and notes between two pages' text


@dataclass
class Print:
    """The letters of all pages in one run; `starts[k]` is where word k begins."""

    letters: str = ""
    starts: list[int] = field(default_factory=list)
    words: list[tuple[int, float, float, float, float]] = field(default_factory=list)
    pages: list[int] = field(default_factory=list)  # where each page's letters begin, and the end
    texts: list[str] = field(default_factory=list)  # of the words, as printed
    lines: set[int] = field(default_factory=set)  # where lines begin
    heights: list[float] = field(default_factory=list)  # of the pages
    used: set[int] = field(default_factory=set)  # words that a box was given for
    cursor: int = 0

    def find(self, text: str, page: int | None = None) -> list[tuple[int, int]]:
        """The ranges of letters that say `text`, looked for from where the last was found; on one
        page if `page` is given. Longer texts may be cut by a page's furniture."""
        key = letters_of(text)
        if not key:
            return []
        windows = self._windows(len(key), page)
        for at_line in (True, False):
            for low, high in windows:
                found = self._at_line(key, low, high) if at_line else self._within(key, low, high)
                if found:
                    self.cursor = found[-1][1]
                    return found
        return []

    def find_cells(self, cells: Sequence[str], page: int | None = None) -> list[tuple[int, int]]:
        """The ranges of a row's cells, near each other; a cell from a row above is not looked for."""
        out: list[tuple[int, int]] = []
        keys = [key for cell in cells if (key := letters_of(cell))]
        size = sum(map(len, keys))
        far = max(keys, key=len, default="")  # a short one would be found anywhere
        for key in keys:
            if page is not None:
                windows = self._windows(len(key), page)
            elif out:
                windows = [(self.cursor, self.cursor + 200 + size)]
            else:
                windows = self._windows(len(key), None)[: None if key is far else 2]
            found = next((f for low, high in windows if (f := self._within(key, low, high))), None)
            if found:
                out += found
                self.cursor = found[-1][1]
        return out

    def boxes(self, ranges: Sequence[tuple[int, int]]) -> list[Box]:
        """One box a page around the words of some ranges."""
        around: dict[int, list[float]] = {}
        for low, high in ranges:
            first = bisect_right(self.starts, low) - 1
            last = bisect_right(self.starts, high - 1) - 1
            self.used.update(range(max(0, first), last + 1))
            for page, x0, y0, x1, y1 in self.words[max(0, first) : last + 1]:
                b = around.setdefault(page, [x0, y0, x1, y1])
                b[:] = min(b[0], x0), min(b[1], y0), max(b[2], x1), max(b[3], y1)
        return [Box(page=p, x0=b[0], y0=b[1], x1=b[2], y1=b[3]) for p, b in sorted(around.items())]

    def outside(self) -> list[tuple[int, str, bool]]:
        """What is printed above or below all that was found on a page: (page, text, above)."""
        out: list[tuple[int, str, bool]] = []
        for page in range(1, len(self.pages)):
            first, end = (bisect_left(self.starts, self.pages[n]) for n in (page - 1, page))
            inside = [self.words[k] for k in range(first, end) if k in self.used]
            top = min((w[2] for w in inside), default=None)
            bottom = max((w[4] for w in inside), default=None)
            rest: dict[bool, list[str]] = {True: [], False: []}
            for k in range(first, end):
                _, _, y0, _, y1 = self.words[k]
                if k in self.used:
                    continue
                if top is None or bottom is None:
                    rest[y0 < self.heights[page - 1] / 2].append(self.texts[k])
                elif y1 <= top + 2 or y0 >= bottom - 2:
                    rest[y1 <= top + 2].append(self.texts[k])
            out += [(page, " ".join(words), above) for above, words in rest.items() if words]
        return out

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
            out += [(self.cursor, end), (0, self.cursor)]
        return out

    def _at_line(self, key: str, low: int, high: int) -> list[tuple[int, int]] | None:
        """Where a line begins with the text; a short one has to be all of its lines."""
        head = key if len(key) < _SURE else key[:_ENDS]
        at = self.letters.find(head, low, high)
        for _ in range(_TRIES):
            if at < 0:
                return None
            end = at + len(key)
            if at in self.lines and (len(key) >= _SURE or end in self.lines or end == len(self.letters)):
                return self._within(key, at, high)
            at = self.letters.find(head, at + 1, high)
        return None

    def _within(self, key: str, low: int, high: int) -> list[tuple[int, int]] | None:
        """The ranges that say `key`, several where a page's furniture stands between."""
        at = self.letters.find(key, low, high)
        if at >= 0:
            return [(at, at + len(key))]
        if len(key) < _SURE:
            return None
        at = self.letters.find(key[:_ENDS], low, high)
        if at < 0:
            return None
        out: list[tuple[int, int]] = []
        while key:
            same = self._same(key, at)
            following = -1
            for back in range(4):  # furniture may begin with the letters that the text goes on with
                rest = key[same - back :]
                following = self.letters.find(rest[:_ENDS], at + same - back, at + same + _FURNITURE)
                if following >= 0 or not rest:
                    same -= back
                    break
            out.append((at, at + same))
            if following < 0:
                break
            key, at = key[same:], following
        return out

    def _same(self, key: str, at: int) -> int:
        """How many letters of `key` stand at a place."""
        low, high = 0, len(key)
        while low < high:
            middle = (low + high + 1) // 2
            if self.letters.startswith(key[low:middle], at + low):
                low = middle
            else:
                high = middle - 1
        return low


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
        line: tuple[int, int] | None = None
        for x0, y0, x1, y1, word, block, row, _ in found:
            key = letters_of(word)
            if not key:
                continue
            if line != (block, row):
                out.lines.add(length)
                line = (block, row)
            out.starts.append(length)
            out.words.append((number + 1, x0, y0, x1, y1))
            out.texts.append(word)
            parts.append(key)
            length += len(key)
        out.pages.append(length)
        out.heights.append(page.rect.height)
    out.letters = "".join(parts)
    return out
