"""Paths as text that JSON can hold."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote_to_bytes, urlsplit


def path_text(path: Path) -> str:
    """The path as it is, or as a `file:` address where it is not UTF-8."""
    text = str(path)
    try:
        text.encode()
    except UnicodeEncodeError:
        return path.as_uri()
    return text


def path_of_text(text: str) -> Path:
    """The path that `path_text` wrote."""
    if text.startswith("file:"):
        return Path(os.fsdecode(unquote_to_bytes(urlsplit(text).path)))
    return Path(text)
