"""Write a document's page into a file, whole or not at all."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from drac_pipeline.export import write_atomically
from drac_pipeline.inspection.html import inspection_html
from drac_pipeline.inspection.view import view_document
from drac_pipeline.store import Home


def inspect_document(home: Home, key: str, out: Path, pages: Collection[int] | None = None) -> Path:
    """Write the page of document `key` to `out` (an .html file), for `pages` (1-based; default:
    all); gives `out`. Raises ConfigError where the home does not know the document."""
    text = inspection_html(view_document(home.store, key, pages), str(home.path))
    write_atomically(out, text.encode("utf-8"))
    return out
