"""Globs on document keys."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from drac_pipeline.errors import ConfigError


@lru_cache(maxsize=256)
def glob_pattern(pattern: str) -> re.Pattern[str]:
    """`pattern` as a regular expression on a whole key.

    `**/` any folders or none, `**` anything, `*` and `?` within one part, `[a-z]` and
    `[!a-z]` sets. A pattern without a slash matches the file name in any folder; one
    that ends with a slash, everything below that folder. Raises ConfigError where it is none.
    """
    pattern = unicodedata.normalize("NFC", pattern)
    if pattern.endswith("/"):
        pattern += "**"
    elif "/" not in pattern:
        pattern = f"**/{pattern}"
    out = []
    for m in re.finditer(r"\*\*/|\*\*|\*|\?|\[!?\]?[^\]]*\]|.", pattern.lstrip("/"), re.DOTALL):
        token = m.group()
        if token == "**/":
            out.append("(?:.*/)?")
        elif token == "**":
            out.append(".*")
        elif token == "*":
            out.append("[^/]*")
        elif token == "?":
            out.append("[^/]")
        elif token.startswith("[") and len(token) > 2:
            body = token[1:-1].replace("\\", "\\\\").replace("[", "\\[")
            body = f"\\{body}" if body.startswith("^") else body
            out.append(f"(?!/)[{'^' + body[1:] if body.startswith('!') else body}]")
        else:
            out.append(re.escape(token))
    try:
        return re.compile("".join(out), re.DOTALL)
    except re.error as e:
        raise ConfigError(f"{pattern!r} is no glob: {e}") from e
