"""Documents that are done and yet not whole: with pages that could not be read, or without any text."""

from __future__ import annotations

from collections.abc import Iterable

from drac_pipeline.normalize.damage import page_list
from drac_pipeline.store import Manifest


def condition(manifest: Manifest) -> tuple[str, str]:
    """`partial` or `blank` with what that means, or two empty strings for a document that is whole."""
    read, chunks = manifest.stages.get("markdown"), manifest.stages.get("chunks")
    if read is not None and (failed := int(read.counts.get("failed_pages", 0))):
        pages: Iterable[int] = read.facts.get("failed_pages", ())
        named = f"page{'s' if failed > 1 else ''} {page_list(list(pages))}" if pages else f"{failed} pages"
        of = int(read.counts.get("pages", 0))
        return "partial", f"{named} of {of} could not be read, or not wholly"
    if chunks is not None and not chunks.counts.get("chunks"):
        return "blank", "it holds no text: nothing to index"
    return "", ""
