"""Words of an office file that its reading does not have: text in shapes and diagrams gets lost."""

from __future__ import annotations

import re
import unicodedata
import zipfile
from pathlib import Path

from drac_pipeline.normalize.ooxml import parse_part

_PARTS = {
    "docx": re.compile(r"word/(?:document|footnotes|endnotes|diagrams/data\d+)\.xml"),
    "pptx": re.compile(r"ppt/(?:slides/slide\d+|diagrams/data\d+)\.xml"),
}
_WORD = re.compile(r"[^\W_]{3,}")
_SHOWN = 8


def missing_words(source: Path, kind: str, text: str) -> list[str]:
    """Words of three letters or more in the XML of `source` that are nowhere in `text`.

    Looked for without regard to case, ligatures and line breaks. Empty for kinds other
    than DOCX and PPTX.
    """
    parts = _PARTS.get(kind)
    if parts is None:
        return []
    words: dict[str, None] = {}
    with zipfile.ZipFile(source) as z:
        for name in z.namelist():
            if parts.fullmatch(name):
                words.update(dict.fromkeys(_words_of_part(z.read(name))))
    if not words:
        return []
    text = _plain(text)
    known = set(_WORD.findall(text))
    rest = [w for w in words if w not in known]
    if not rest:
        return []
    squeezed = re.sub(r"[\W_]+", "", text)
    return [w for w in rest if w not in squeezed]


def missing_warning(words: list[str]) -> str:
    """One line for the record."""
    shown = ", ".join(words[:_SHOWN])
    more = f" and {len(words) - _SHOWN} more" if len(words) > _SHOWN else ""
    return f"words of the file that were not read: {shown}{more}"


def _words_of_part(data: bytes) -> list[str]:
    """Words by paragraph, since one word may be spread over several runs."""
    root = parse_part(data)
    if root is None or root.get("show") in ("0", "false"):
        return []
    out = []
    for paragraph in root.iter("{*}p"):
        pieces = []
        for node in paragraph.iter("{*}t", "{*}tab", "{*}br", "{*}cr"):
            if next(node.iterancestors("{*}p")) is not paragraph:
                continue  # of a text box that is anchored here
            is_text = str(node.tag).endswith("}t")
            pieces.append((node.text or "") if is_text else " ")
        out += _WORD.findall(_plain("".join(pieces)))
    return out


def _plain(text: str) -> str:
    """Without case, ligatures and accents, which a PDF may hold as characters of their own."""
    text = unicodedata.normalize("NFKD", text).replace("\u00ad", "").casefold()
    return "".join(c for c in text if not unicodedata.combining(c))
