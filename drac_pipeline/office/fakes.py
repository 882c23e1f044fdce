"""Headings of a document without heading styles: short lines in bold or larger type."""

from __future__ import annotations

from collections import Counter

from drac_pipeline.office.page import Piece, plain
from drac_pipeline.office.reading import Reading

_CHARS = 120
_LARGER = 1.12


def promote(reading: Reading) -> None:
    """Turns paragraphs that are set like headings into such, larger type above smaller."""
    sizes: Counter[float] = Counter()
    for _, _, pieces in reading.paragraphs:
        for piece in pieces:
            sizes[piece.size] += len(piece.text)
    body = sizes.most_common(1)[0][0] if sizes else 0.0
    found = []
    for node, _, pieces in reading.paragraphs:
        size = _size(pieces)
        if _looks(pieces, size, body) and node.getnext() is not None:
            found.append((node, max(size, body)))
    if len(found) * 2 > len(reading.paragraphs) + 1 and all(size <= body for _, size in found):
        return  # a text set in bold
    order = sorted({size for _, size in found}, reverse=True)
    lines = {node for node, _ in found}
    for node, size in found:
        if size <= body and node.getnext() in lines:
            continue  # lines in bold one after the other are no headings
        node.tag = f"h{min(6, order.index(size) + 1)}"


def _size(pieces: list[Piece]) -> float:
    """The type size of most of the text."""
    sizes: Counter[float] = Counter()
    for piece in pieces:
        sizes[piece.size] += len(piece.text.strip())
    return sizes.most_common(1)[0][0] if sizes else 0.0


def _looks(pieces: list[Piece], size: float, body: float) -> bool:
    text = plain(pieces)
    if not text or len(text) > _CHARS or text.endswith((".", ",", ";", ":")):
        return False
    if not any(c.isalpha() for c in text):
        return False
    return size >= _LARGER * body > 0 or all(p.bold for p in pieces if p.text.strip())
