"""What a document is called where its own headings do not say it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from drac_pipeline.model.element import Element, ElementKind

_WORD = re.compile(r"[^\W_]+")
_NAMING = re.compile(r"[^\W\d_]{3,}")  # words that may say what a document is about
_SAY_NOTHING = re.compile(
    r"scan(?:ned)?|img|image|photo|dsc|pages?|doc|document|dokument|file|datei|copy|kopie|draft|final|new|"
    r"untitled|unbenannt|screenshot|download|print|output|version|index",
    re.IGNORECASE,
)
_SAID = 0.5  # share of a name's words in the headings from which the name is not needed as well


def root_heading(elements: Sequence[Element]) -> Element | None:
    """The heading that stands above all others: the document's own title."""
    headings = [e for e in elements if e.kind is ElementKind.HEADING]
    tops = [h for h in headings if not h.ancestors]
    return tops[0] if len(tops) == 1 and tops[0] is headings[0] else None


def name_of(document_key: str) -> str:
    """The file's name without its ending, as words; "" where it says nothing, such as `scan_0012.pdf`."""
    stem = PurePosixPath(document_key).stem
    words = [w for w in _NAMING.findall(stem) if not _SAY_NOTHING.fullmatch(w)]
    return " ".join(stem.replace("_", " ").split()) if words and not _is_code(stem) else ""


def document_title(document_key: str, elements: Sequence[Element]) -> str:
    """What is to be said above the headings of a chunk: the file's name where the document has no
    heading over all others (chapters on the highest level, sheets of a workbook, no headings), else ""."""
    return "" if root_heading(elements) else name_of(document_key)


def says(headings: Sequence[str], title: str) -> bool:
    """True if the headings hold most words of the title."""
    words = {w.lower() for w in _WORD.findall(title)}
    there = {w.lower() for h in headings for w in _WORD.findall(h)}
    return len(words & there) >= _SAID * len(words)


def _is_code(stem: str) -> bool:
    """True for hashes, UUIDs and the like."""
    plain = re.sub(r"[-_.{}\s]", "", stem)
    digits = sum(c.isdigit() for c in plain)
    return len(plain) >= 12 and digits >= 3 and bool(re.fullmatch(r"[0-9a-fA-F]+", plain))
