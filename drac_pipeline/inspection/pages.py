"""Which pages to show: `1-20,25` as a person writes them."""

from __future__ import annotations

import re

from drac_pipeline.errors import ConfigError
from drac_pipeline.store import Store

MOST_PAGES = 100  # shown unless asked otherwise: about 15 MB of page images
_RANGE = re.compile(r"(\d+)(?:\s*[-–]\s*(\d+))?")


def parse_pages(text: str) -> frozenset[int]:
    """The page numbers that `text` names. Raises ConfigError where it does not name any."""
    out: set[int] = set()
    for part in text.split(","):
        m = _RANGE.fullmatch(part.strip())
        first, last = (int(m[1]), int(m[2] or m[1])) if m else (0, 0)
        if not 1 <= first <= last <= 1_000_000:
            raise ConfigError(f"{text!r} names no pages; write them as 1-20,25")
        out.update(range(first, last + 1))
    return frozenset(out)


def default_pages(store: Store, key: str) -> frozenset[int] | None:
    """The first pages of a document that is too long to show whole, else None: all."""
    manifest = store.manifest(key)
    record = manifest.stages.get("normalized_pdf") if manifest else None
    long = record is not None and record.counts.get("pages", 0) > MOST_PAGES
    return frozenset(range(1, MOST_PAGES + 1)) if long else None
