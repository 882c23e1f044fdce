"""Text that runs from right to left."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from drac_pipeline.convert.local.text_layer import Word


def is_rtl_letter(c: str) -> bool:
    return "\u0590" <= c <= "\u08ff" or "\ufb1d" <= c <= "\ufefc"


def is_rtl(line: dict[str, Any]) -> bool:
    """True where right-to-left letters outnumber the others."""
    n = 0
    for span in line["spans"]:
        for char in span["chars"]:
            c = char["c"]
            if is_rtl_letter(c):
                n += 1
            elif c.isalpha():
                n -= 1
    return n > 0


def from_the_right(run: list[tuple[Word, dict[str, Any]]]) -> list[tuple[Word, dict[str, Any]]]:
    """Words in reading order; names in Latin letters among them keep their own."""
    out: list[tuple[Word, dict[str, Any]]] = []
    ordered = sorted(run, key=lambda t: -t[0].x1)
    for latin, group in itertools.groupby(ordered, key=lambda t: _latin(t[0].text)):
        words = list(group)
        out += words[::-1] if latin else words
    return out


def _latin(text: str) -> bool:
    return any(c.isalpha() for c in text) and not any(is_rtl_letter(c) for c in text)
