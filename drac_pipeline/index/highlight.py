"""Where the words of a question stand in a text, and the part of the text around them."""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"[^\W_]+")
# what a question is made of besides what it asks for
_STOP_WORDS = """
a an and are as at be been by can could do does did for from had has have how i if in into is it its may more
must my no not of on or our shall should so than that the their them then there these they this to was we were
what when where which who whom whose why will with would you your
"""
_STOP = frozenset(_STOP_WORDS.split())
_ENDINGS = ("ations", "ation", "ings", "ing", "ies", "ied", "ed", "es", "s", "ly", "e", "y")


def spans_of_words(text: str, question: str) -> list[tuple[int, int]]:
    """(start, end) of each word of the text that is a word of the question, endings aside."""
    wanted = {_stem(w) for w in _WORD.findall(question) if w.lower() not in _STOP}
    return [m.span() for m in _WORD.finditer(text) if _stem(m.group()) in wanted]


def best_window(text: str, spans: list[tuple[int, int]], length: int) -> tuple[int, int]:
    """(start, end) of the part of about `length` characters with the most different words in `spans`;
    it begins and ends between words."""
    if len(text) <= length:
        return 0, len(text)
    starts = [0, *(max(0, a - length // 6) for a, _ in spans)]

    def worth(start: int) -> tuple[int, int]:
        inside = [text[a:b].lower() for a, b in spans if a >= start and b <= start + length]
        return len({_stem(w) for w in inside}), len(inside)

    start = max(starts, key=lambda s: (*worth(s), -s))
    start = min(start, len(text) - length)
    while start > 0 and not text[start - 1].isspace():
        start -= 1
    end = min(len(text), start + length)
    while end < len(text) and not text[end].isspace():
        end += 1
    return start, end


def _stem(word: str) -> str:
    plain = "".join(c for c in unicodedata.normalize("NFKD", word.lower()) if not unicodedata.combining(c))
    for ending in _ENDINGS:
        if plain.endswith(ending) and len(plain) - len(ending) >= 3 and not plain[0].isdigit():
            return plain[: -len(ending)]
    return plain
