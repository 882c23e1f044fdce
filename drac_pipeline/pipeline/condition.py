"""The state of a document in a word: what was made of it, and whether that is whole."""

from __future__ import annotations

from collections.abc import Iterable

from drac_pipeline.config import DracConfig
from drac_pipeline.counted import counted
from drac_pipeline.errors import explain
from drac_pipeline.normalize.damage import pages_named
from drac_pipeline.pipeline.freshness import State, document_states
from drac_pipeline.pipeline.stages import STAGES
from drac_pipeline.store import Manifest, Store


def made_state(
    store: Store, manifest: Manifest, config: DracConfig, fingerprint: str | None = None
) -> tuple[str, str]:
    """One of failed, changed, stale, incomplete, partial, blank and up to date, and why in words.

    `fingerprint` is that of the file now (default: as recorded).
    """
    fingerprint = fingerprint or manifest.source.fingerprint
    if manifest.failure and fingerprint == manifest.source.fingerprint:
        f = manifest.failure
        tries = f" ({counted(f.attempts, 'attempt')})" if f.attempts > 1 else ""
        return "failed", f"{f.stage}: {explain(f.kind, f.cause, f.remedy)}{tries}"
    if fingerprint != manifest.source.fingerprint:
        return "changed", "the source file has changed"
    states = document_states(store, manifest, config, fingerprint)
    first = next((s.name for s in STAGES if states[s.name].state != State.FRESH), None)
    if first is None:
        state, why = condition(manifest)
        return state or "up to date", why
    found = states[first]
    return ("stale" if found.state == State.STALE else "incomplete"), f"{first}: {found.reason}"


def corpus_size(documents: int, retired: int) -> str:
    """How many documents there are, everywhere in the same words: retired ones are counted apart."""
    return counted(documents, "document") + (f" (and {retired:,} retired)" if retired else "")


def condition(manifest: Manifest) -> tuple[str, str]:
    """`partial` or `blank` with what that means, or two empty strings for a document that is whole."""
    read, chunks = manifest.stages.get("markdown"), manifest.stages.get("chunks")
    if read is not None and (failed := int(read.counts.get("failed_pages", 0))):
        pages: Iterable[int] = read.facts.get("failed_pages", ())
        named = pages_named(list(pages)) if pages else counted(failed, "page")
        of = int(read.counts.get("pages", 0))
        return "partial", f"{named} of {of} could not be read, or not wholly"
    if chunks is not None and not chunks.counts.get("chunks"):
        return "blank", "it holds no text: nothing to index"
    return "", ""
