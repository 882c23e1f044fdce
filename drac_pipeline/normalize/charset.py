"""Bytes to text: byte order mark, then what the document declares, then what decodes sensibly."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED = re.compile(
    rb"""<(?:meta|\?xml)[^>]{0,200}?(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9_:.\-]+)""", re.I
)
# The web's rule: these labels mean the Windows superset.
_SUPERSETS = {
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "gb2312": "gb18030",
}
# Code pages tried when a declaration is absent or false: the letters that come in runs, and
# the ten most frequent ones of the language, which tell code pages of the same bytes apart.
# Western comes last: every byte sequence is some Western text.
_CANDIDATES = (
    ("cp1251", re.compile("[а-яА-ЯёЁ]{3,}"), "оеаинтсрвл"),
    ("cp1256", re.compile("[\u0621-\u064a]{2,}"), "ايلمونتره"),
    ("cp1253", re.compile("[α-ωά-ώΑ-Ω]{3,}"), "αοιετσνηυρ"),
    ("cp1255", re.compile("[א-ת]{2,}"), "יוהלאתרבמנ"),
    ("shift_jis", re.compile("[\u3040-\u30ff]{2,}"), ""),
    ("gb18030", re.compile("[\u4e00-\u9fff]{2,}"), ""),
    ("cp1252", re.compile("[a-zA-Zà-öø-ÿ]{2,}"), ""),
)
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


@dataclass(frozen=True, slots=True)
class Decoded:
    """The text, the encoding it was read with, and a warning where the declaration was false."""

    text: str
    encoding: str
    warning: str = ""


def decode_text(data: bytes, *, declared: str = "", cut: bool = False) -> Decoded | None:
    """The text of `data`, or None if it is not text.

    `declared` is an encoding from outside (a mail header); one inside (HTML meta, XML)
    is found by itself. `cut` says that `data` may end within a character.
    """
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return _checked(data[len(bom) :].decode(encoding, "replace"), encoding)
    if wide := _wide(data):
        return _checked(data.decode(wide, "replace"), wide)
    label = declared or _declaration(data)
    named = _codec(label)
    for encoding in dict.fromkeys(e for e in (named, "utf-8") if e):
        text = _strict(data, encoding, cut)
        if text is not None:
            note = "" if encoding == named or not label else f"declared as {label}, is {encoding}"
            return _checked(text, encoding, note)
    encoding = _best(data, cut)
    note = f"declared as {label}, is not; read as {encoding}" if label else f"read as {encoding}"
    return _checked(data.decode(encoding, "replace"), encoding, note)


def _checked(text: str, encoding: str, warning: str = "") -> Decoded | None:
    sample = text[:20_000]
    if len(_CONTROL.findall(sample)) > len(sample) // 200:
        return None
    return Decoded(text.replace("\x00", ""), encoding, warning)


def _wide(data: bytes) -> str:
    """UTF-16 without a mark: nearly every other byte is zero."""
    sample = data[:2000]
    if len(sample) < 8:
        return ""
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if odd > len(sample) * 0.35 and even < len(sample) * 0.05:
        return "utf-16-le"
    if even > len(sample) * 0.35 and odd < len(sample) * 0.05:
        return "utf-16-be"
    return ""


def _declaration(data: bytes) -> str:
    m = _DECLARED.search(data[:4096])
    return m.group(1).decode("ascii") if m else ""


def _codec(label: str) -> str:
    """Python's name for `label`, "" if unknown or not a text encoding an ASCII declaration can name."""
    try:
        info = codecs.lookup(label)
    except (LookupError, ValueError):
        return ""
    if not info._is_text_encoding or info.name.startswith(("utf-16", "utf-32", "utf-7")):  # pyright: ignore
        return ""
    return _SUPERSETS.get(info.name, info.name)


def _strict(data: bytes, encoding: str, cut: bool) -> str | None:
    try:
        return codecs.getincrementaldecoder(encoding)("strict").decode(data, final=not cut)
    except (UnicodeDecodeError, LookupError):
        return None


def _best(data: bytes, cut: bool) -> str:
    """The candidate whose high bytes form the most letters of its script in runs."""
    sample = data[:65_536]
    best, best_score = "cp1252", 0.0
    high = sum(b > 127 for b in sample) or 1
    for encoding, letters, frequent in _CANDIDATES:
        text = codecs.getincrementaldecoder(encoding)("replace").decode(sample, final=not cut)
        found = [c for run in letters.findall(text) for c in run if ord(c) > 127]
        score = (len(found) - 5 * text.count("\ufffd")) / high
        if frequent and found:
            score *= 0.4 + sum(c in frequent for c in found) / len(found)
        # Western words hold single accented letters among ASCII ones; other scripts are long runs.
        if encoding == "cp1252":
            ascii_mixed = sum(len(run) for run in re.findall("[a-zA-Z]+[à-öø-ÿÀ-Ö][a-zA-Z]+", text))
            score = score * 0.5 + min(ascii_mixed / (high * 4), 0.6)
        if score > best_score:
            best, best_score = encoding, score
    return best
