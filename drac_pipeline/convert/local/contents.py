"""The table of contents: it repeats the headings, so it is left out and reported.

In chunks its entries would answer every question about a heading with a page number.
"""

from __future__ import annotations

import re

from drac_pipeline.convert.local.blocks import Block
from drac_pipeline.convert.local.headings import key_of
from drac_pipeline.convert.local.rows import LEADER_RE
from drac_pipeline.model.conversion import Dropped

FEWEST = 4  # entries that make a table of contents
_ENTRY = re.compile(r"(.*?\w.*?)[\s.…·_]+(?:\d{1,4}|[ivxl]{1,6})$")
_NAMES = frozenset(
    """
    contents tableofcontents inhalt inhaltsverzeichnis sommaire tabledesmatières índice indice spistreści
    inhoud inhoudsopgave sumário obsah
    """.split()  # noqa: SIM905
)


def drop_contents(blocks: list[Block]) -> tuple[list[Block], list[Dropped]]:
    """The blocks without the entries that name headings of the document, and what was dropped."""
    known = {key_of(b.text) for b in blocks if b.kind == "heading"}
    gone: list[Block] = []
    run: list[Block] = []
    before: Block | None = None

    def close() -> None:
        hits = sum(_names(row.text, known) for b in run for row in b.rows)
        lines = sum(len(b.rows) for b in run)
        if hits >= FEWEST and hits >= 0.7 * lines:
            if before is not None and key_of(before.text) in _NAMES:
                gone.append(before)
            gone.extend(run)
        run.clear()

    for b in blocks:
        if b.kind in ("paragraph", "item", "table") and all(_ENTRY.fullmatch(r.text) for r in b.rows):
            run.append(b)
            continue
        close()
        before = b
    close()
    out = {id(b) for b in gone}
    dropped = [Dropped(page=r.page, text=r.text, reason="table of contents") for b in gone for r in b.rows]
    return [b for b in blocks if id(b) not in out], dropped


def _names(text: str, known: set[str]) -> bool:
    m = _ENTRY.fullmatch(LEADER_RE.sub(" ", text + " ").strip())
    return m is not None and key_of(m[1]) in known
