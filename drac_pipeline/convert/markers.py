"""The HTML comments that a converter writes: page comments and error markers.

A page comment `<!-- page N -->` stands before the first block of page N. An error
marker stands where pages could not be converted; later stages know it and never
index it as text.
"""

from __future__ import annotations

import re
from typing import NamedTuple

PAGE_COMMENT = re.compile(r"<!-- page (\d+) -->")
ERROR_MARKER = re.compile(r'<!-- drac:error pages=(\d+)(?:-(\d+))? cause="([^"\n]*)" -->')


class ErrorMarker(NamedTuple):
    """Pages first..last (1-based) could not be converted, and why."""

    first: int
    last: int
    cause: str


def format_page_comment(page: int) -> str:
    """`<!-- page N -->`."""
    return f"<!-- page {page} -->"


def format_error_marker(first: int, last: int, cause: str) -> str:
    """`<!-- drac:error pages=3-5 cause="…" -->`; the cause is made safe for a comment."""
    pages = f"{first}" if first == last else f"{first}-{last}"
    # "--" and ">" end a comment and quotes end the attribute
    cause = re.sub(r"-{2,}", "-", " ".join(cause.split())).replace('"', "'").replace(">", "›").rstrip("-")
    return f'<!-- drac:error pages={pages} cause="{cause}" -->'


def parse_error_marker(text: str) -> ErrorMarker | None:
    """The error marker that `text` is, or None."""
    m = ERROR_MARKER.fullmatch(text.strip())
    return _marker(m) if m else None


def parse_error_markers(markdown: str) -> list[ErrorMarker]:
    """All error markers of a Markdown text, in order."""
    return [_marker(m) for m in ERROR_MARKER.finditer(markdown)]


def split_pages(markdown: str, before: int = 1) -> dict[int, str]:
    """The Markdown by page; what stands before the first comment belongs to page `before`."""
    parts = PAGE_COMMENT.split(markdown)
    out: dict[int, str] = {}
    if parts[0].strip():
        out[before] = parts[0]
    for number, text in zip(parts[1::2], parts[2::2], strict=True):
        out[int(number)] = out.get(int(number), "") + text
    return out


def _marker(m: re.Match[str]) -> ErrorMarker:
    return ErrorMarker(int(m[1]), int(m[2] or m[1]), m[3])
