"""Counts with their nouns, for people."""

from __future__ import annotations


def counted(n: float, one: str, many: str = "") -> str:
    """`1 document`, `1,200 documents`. What follows the noun may come with it, as in
    `counted(n, "run is", "runs are")`; without `many` the plural is `one` with an s."""
    number = f"{n:,}" if isinstance(n, int) else f"{n:,g}"
    return f"{number} {one if n == 1 else many or f'{one}s'}"
