"""Where a text that is too long for one element is cut: at the ends of sentences.

A planner moves whole elements, so the longest element bounds how small a chunk can be. Texts
over the limit are cut into parts of about equal length; a part ends where a sentence ends,
else at a semicolon, comma or colon, else between words, and within a word only where a text
has nothing else. The white space at a cut belongs to neither part: joined by it, the parts
are the text. In code only line ends go, for what a line begins with has a meaning.
"""

from __future__ import annotations

import re
import unicodedata
from math import ceil

MAX_ELEMENT_CHARS = 800  # about 200 tokens: fits, with its headings, what small embedders read
LEAST_LIMIT = MAX_ELEMENT_CHARS // 3  # of texts in scripts without word spaces: a letter is a token
_WIDE_SHARE = 0.3
_WIDE = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")
_LEAST = 0.4  # a part is no shorter than this share of an even one, if that can be

# The closing marks belong to the sentence; what follows does not.
_SENTENCE = re.compile(r"[.!?…][\"'”’»)\]*_]*(?=\s)|[。!?][”’」』)]*")
_CLAUSE = re.compile(r"[;:,](?=\s)|[;:,、]")
_WORD = re.compile(r"\S(?=\s)")
_LINE = re.compile(r"[^\r\n](?=\r?\n|\r)")
# "Dr.", "No.", "J.", "e.g.": a full stop that shortens a word
_SHORTENED = re.compile(r"(?:^|[\s(\[“\"'])(?:[A-ZÄÖÜ][^\W\d_]{0,2}|[^\W\d_](?:\.[^\W\d_])*|vs|cf|ca)\.$")


def cut_long(text: str, *, by_line: bool = False, limit: int = MAX_ELEMENT_CHARS) -> list[tuple[int, int]]:
    """The parts of `text` as slices, in order: one if it is not longer than `limit` characters.

    `by_line`: cut at line ends before anything else, as in code. Texts mostly in East Asian
    script have a third of the limit.
    """
    if len(text) > limit // 3 and len(_WIDE.findall(text)) > _WIDE_SHARE * len(text):
        limit //= 3
    kinds = (_LINE, _SENTENCE, _CLAUSE, _WORD) if by_line else (_SENTENCE, _CLAUSE, _WORD)
    out: list[tuple[int, int]] = []
    start, stop = 0, len(text)
    while stop - start > limit:
        even = (stop - start) / ceil((stop - start) / limit)
        end = _best_end(text, start, even, limit, kinds)
        out.append((start, end))
        start = end
        while start < stop and (text[start] in "\r\n" if by_line else text[start].isspace()):
            start += 1
    if start < stop:
        out.append((start, stop))
    return out


def _best_end(text: str, start: int, even: float, limit: int, kinds: tuple[re.Pattern[str], ...]) -> int:
    """Where the part from `start` ends: the best kind of place, of these the nearest to even parts."""
    least, most = start + int(even * _LEAST), start + limit
    for kind in kinds:
        ends = [m.end() for m in kind.finditer(text, least, most + 2) if m.end() <= most]
        if kind is _SENTENCE:
            ends = [e for e in ends if not _goes_on(text, e)]
        if ends:
            return min(ends, key=lambda e: abs(e - start - even))
    end = start + ceil(even)
    while end > start + 1 and unicodedata.combining(text[end]):
        end -= 1
    return end


def _goes_on(text: str, end: int) -> bool:
    """True if what stands before `end` ends no sentence: a lower-case word follows, or it shortens one."""
    following = text[end : end + 8].lstrip()[:1]
    return following.islower() or bool(_SHORTENED.search(text[max(0, end - 12) : end]))
