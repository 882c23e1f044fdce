"""Counts and their nouns: one of a thing is never told as several."""

from __future__ import annotations

import re
from pathlib import Path

from drac_pipeline.counted import counted

NOUNS = (
    "attempts|calls|cells|characters|chunks|columns|corpora|documents|fields|files|formulas|frames|lines|members"
    "|nodes|numbers|pages|requests|rows|runs|seconds|sources|stages|texts|times|tokens|uploads|vectors"
)
BARE = re.compile(rf"\{{[^{{}}]*\}} (?:(?:model|more|unfinished) )?(?:{NOUNS})\b")
# numbers that are set in the code or never one, and words that are no counts
ALLOWED = (
    "{counted(",
    "{_MOST_CHARACTERS}",
    "{_MAX_TEXT:,}",
    "{_NODE_SECONDS:g}",
    "{before} documents of",
    "{len(found)} documents: ",
    "{most:,.0f} characters",
    "{tokens} tokens is",
    "{tries} times",
)


def test_counts_agree_with_their_nouns() -> None:
    assert counted(1, "document") == "1 document"
    assert counted(0, "document") == "0 documents"
    assert counted(1200, "run was", "runs were") == "1,200 runs were"
    assert counted(1.0, "second") == "1 second"
    assert counted(0.5, "second") == "0.5 seconds"


def test_no_message_has_a_bare_count() -> None:
    root = Path(__file__).parents[1] / "drac_pipeline"
    found = [
        f"{file.relative_to(root)}: {m[0]}"
        for file in sorted(root.rglob("*.py"))
        for m in BARE.finditer(file.read_text(encoding="utf-8"))
        if not m.string[m.start() :].startswith(ALLOWED)
    ]
    assert found == [], "use drac_pipeline.counted"
