"""Lines to running text: line ends, hyphens, ligatures."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

LIGATURES = {
    **dict(
        zip(
            "\ufb00\ufb01\ufb02\ufb03\ufb04\ufb05\ufb06",
            ["ff", "fi", "fl", "ffi", "ffl", "st", "st"],
            strict=True,
        )
    ),
    **dict.fromkeys("\u00ad\u200b\u2060\ufeff", ""),
    **dict.fromkeys("\u00a0\u2009\u202f\u2002\u2003\u2007", " "),
}
_TABLE = str.maketrans(LIGATURES)
_COMBINING = {
    "´": "\u0301", "¨": "\u0308", "ˆ": "\u0302", "˜": "\u0303", "¯": "\u0304", "˘": "\u0306", "˙": "\u0307",
    "˚": "\u030a", "˝": "\u030b", "ˇ": "\u030c", "¸": "\u0327", "˛": "\u0328",
}  # fmt: skip
_ACCENT = re.compile(f"([{''.join(_COMBINING)}]) ?([A-Za-zı])")
_HYPHEN_END = re.compile(r"([^\W\d_]+)([-\u2010\u00ad])$")
_WORD_START = re.compile(r"[^\W\d_]+")
_WORD = re.compile(r"[^\W\d_]+(?:[-\u2010][^\W\d_]+)*")
# second halves that no English word has without a hyphen
_ALWAYS = """
    based friendly related specific quality level powered aware oriented resistant resolution definition
    capacity performance driven owned ear speed looking pitched sized
"""
# second halves that may belong to a solid word as well (lifetime, outside)
_SOMETIMES = """
    free time end up out off day year party term class wide made range known ready rich side and or long
    style type proof only house hand wheel seat door row built depth scale
"""
# first halves that often make a compound
_FIRST = """
    self well high low long short full half all mid anti semi non pre post co cross eco real end one two
    three four five six seven eight nine ten first second third user cost water energy
"""
# first halves of solid words that are words themselves
_SOLID = """
    over under with within inter some every auto there through them your where when what down back fore
    after before super micro multi trans counter underst
"""
# words of such halves that are written solid
_SOLID_WORDS = """
    inside outside upside beside alongside into onto upon within without lifetime daytime anytime sometime
    overtime meantime today someday birthday holiday weekday everyday midday output input throughout indeed
"""
_WRITTEN_SOLID = frozenset(_SOLID_WORDS.split())
_ALWAYS_SECOND = frozenset(_ALWAYS.split())
_SOMETIMES_SECOND = frozenset(_SOMETIMES.split())
_COMPOUND_FIRST = frozenset(_FIRST.split())
_SOLID_FIRST = frozenset(_SOLID.split())
_PARTICIPLE = re.compile(r"\w{3,}(?:ed|ing|ent|ant)")


def clean_text(text: str) -> str:
    """Ligatures as letters, soft hyphens and odd spaces out, NFC."""
    if "↵" in text:  # TeX's ff without a Unicode map
        text = re.sub(r"(?<=[a-z])↵(?=[a-z])", "ff", text)
    if _ACCENT.search(text):
        text = _ACCENT.sub(_accented, text)
    return unicodedata.normalize("NFC", text.translate(_TABLE).replace("‘‘", "“").replace("’’", "”"))


def _accented(m: re.Match[str]) -> str:
    """An accent set over the next letter as one letter, if there is such a letter."""
    one = unicodedata.normalize("NFC", ("i" if m[2] == "ı" else m[2]) + _COMBINING[m[1]])
    return one if len(one) == 1 else m[0]


def count_words(texts: Iterable[str], into: dict[str, int]) -> None:
    """Count words and hyphenated compounds that stand within a line; halves do not count."""
    cut = False
    for text in texts:
        found = _WORD.findall(text.translate(_TABLE))
        if cut and found:
            del found[0]
        cut = text.rstrip().endswith(("-", "\u2010", "\u00ad"))
        if cut and found:
            found.pop()
        for w in found:
            w = w.lower().replace("\u2010", "-")
            into[w] = into.get(w, 0) + 1
            if "-" in w:
                for part in w.split("-"):
                    into[part] = into.get(part, 0) + 1


def join_lines(lines: Iterable[str], vocabulary: dict[str, int]) -> str:
    """One text of several lines; a hyphen at a line's end goes where the word has none."""
    out = ""
    for line in lines:
        soft = line.rstrip().endswith("\u00ad")
        line = " ".join(line.split())
        if not line:
            continue
        if not out:
            out = line
            continue
        out = _join(out, line, vocabulary)
        if soft and not out.endswith("\u00ad"):
            out += "\u00ad"
    return clean_text(out).strip()


def _join(before: str, after: str, vocabulary: dict[str, int]) -> str:
    if _is_cjk(before[-1]) and _is_cjk(after[0]):
        return before + after
    if (
        before.endswith(("/", "\u2014"))
        and len(before) > 1
        and not before[-2].isspace()
        and not after[0].isspace()
    ):
        # a break after a slash or dash is no space where the source has none
        return before + after if before.endswith("/") and _tight(before) else before + " " + after
    if before.endswith("–") and len(before) > 1 and before[-2].isalnum() and after[0].isalnum():
        return before + after
    m = _HYPHEN_END.search(before)
    if not m:
        if before.endswith("-") and len(before) > 1 and before[-2].isdigit():
            return before + after
        if before.endswith("-") and len(before) > 1 and not before[-2].isspace():
            return before + after
        return before + " " + after
    start = _WORD_START.match(after)
    if m[2] == "\u00ad":
        return before[:-1] + after
    if not start:
        return before + after if after[0].isdigit() else before + " " + after
    again = after[start.end() :] in ("-", "\u2010")  # Tech- / ni- / cian
    if keeps_hyphen(before, m[1], start[0], vocabulary, cut_again=again):
        return before + after
    return before[: m.start(2)] + after


def _tight(before: str) -> bool:
    """The last word of the text is a URL or path rather than `this / that`."""
    word = before.rsplit(None, 1)[-1]
    return len(word) > 1


def keeps_hyphen(
    before: str, left: str, right: str, vocabulary: dict[str, int], *, cut_again: bool = False
) -> bool:
    """Whether `left-` + `right` over a line end is a compound with a real hyphen."""
    joined, compound = (left + right).lower(), f"{left}-{right}".lower()
    one, two = vocabulary.get(joined, 0), vocabulary.get(compound, 0)
    if one or two:
        return two > one
    if joined in _WRITTEN_SOLID:
        return False
    if len(left) == 1 or (len(right) <= 2 and not cut_again):
        return True  # no hyphenation leaves so little of a word
    head = before[: -len(left) - 1]
    if head.endswith(("-", "\u2010")):
        return True  # state-of-the-
    if right[0].isupper():
        return True
    if left.isupper() and len(left) > 1:
        return True
    low_left, low_right = left.lower(), right.lower()
    if low_right in _ALWAYS_SECOND and len(left) > 2:
        return True
    if low_left == "anti" or (low_left in _COMPOUND_FIRST and low_right in _SOMETIMES_SECOND):
        return True
    if low_left in _COMPOUND_FIRST and len(right) > 3 and vocabulary.get(low_right, 0):
        return True
    if low_right in _SOMETIMES_SECOND and vocabulary.get(low_left, 0) and low_left not in _SOLID_FIRST:
        return True
    known = len(left) > 3 and vocabulary.get(low_left, 0) > 0 and low_left not in _SOLID_FIRST
    if known and len(right) > 5 and _PARTICIPLE.fullmatch(low_right):
        return True  # fuel-efficient, battery-optimized
    # two words that the document uses on their own, both long
    return known and len(right) > 4 and vocabulary.get(low_right, 0) > 1


def _is_cjk(c: str) -> bool:
    return (
        "\u3000" <= c <= "\u9fff"
        or "\uf900" <= c <= "\ufaff"
        or "\uff00" <= c <= "\uffef"
        or "\uac00" <= c <= "\ud7af"
    )
