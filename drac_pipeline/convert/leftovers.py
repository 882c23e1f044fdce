"""Table syntax that should not be in retrieval-oriented Markdown any more."""

from __future__ import annotations

import re

_SYNTAX = re.compile(
    r"^\s*\|.*\|\s*$"  # | a | b |
    r"|^\s*\+[-=+]{3,}\+\s*$"  # +----+----+
    r"|^\s*:?-{3,}:?\s*\|"  # --- | ---
    r"|</?(?:table|thead|tbody|tfoot|tr|t[dh])\b[^>]*>",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")


def find_table_syntax(markdown: str) -> list[str]:
    """The lines that hold pipe, grid or HTML table syntax; lines of fenced code are not looked at."""
    found = []
    fence = ""
    for line in markdown.splitlines():
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        elif not fence and _SYNTAX.search(line):
            found.append(line.strip()[:200])
    return found
