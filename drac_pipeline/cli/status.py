"""`drac status`: documents by state, what is stale and why."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from drac_pipeline.cli.console import HomeOption, existing_home, out
from drac_pipeline.config import DracConfig
from drac_pipeline.errors import DocumentError, explain
from drac_pipeline.pipeline import STAGES, State, document_states
from drac_pipeline.pipeline.retry import retry
from drac_pipeline.sources.fingerprint import FingerprintCache, hash_file
from drac_pipeline.store import Home, Manifest


def status(
    home: HomeOption,
    everything: Annotated[bool, typer.Option("--all", "-a", help="List up-to-date documents too.")] = False,
) -> None:
    """Show documents by state, and for each that is not up to date which stage and why.

    The source files are looked at: a changed or vanished file shows here before the next run.
    """
    opened = existing_home(home)
    config = opened.config
    rows: list[tuple[str, str, str]] = []
    totals: Counter[str] = Counter()
    with FingerprintCache(opened.fingerprint_cache) as cache:
        for manifest in sorted(opened.store.manifests(retired=True), key=lambda m: m.document_key):
            state, why = _state(opened, manifest, cache, config)
            if state == "retired" and not everything:
                totals[state] += 1
                continue
            totals[state] += 1
            if everything or state != "up to date":
                rows.append((manifest.document_key, state, why))
    if rows:
        table = Table()
        table.add_column("document", overflow="fold")
        table.add_column("state")
        table.add_column("why", overflow="fold")
        for key, state, why in rows:
            table.add_row(escape(key), state, escape(why))
        out.print(table)
    out.print(f"{sum(totals.values())} documents: " + ", ".join(f"{n} {s}" for s, n in totals.most_common()))


def _state(opened: Home, manifest: Manifest, cache: FingerprintCache, config: DracConfig) -> tuple[str, str]:
    if manifest.retired:
        r = manifest.retired
        return "retired", f"{r.reason} on {r.at[:10]}; artifacts kept until {r.delete_at[:10]}"
    path = manifest.source.local_path
    try:
        stat = path.stat()
        fingerprint = cache.get(path, stat)
        if fingerprint is None:
            fingerprint, stat = hash_file(path)
            cache.put(path, stat, fingerprint)
    except FileNotFoundError:
        return "gone", f"{manifest.source.path} is no longer there; the next run retires it"
    except (DocumentError, OSError) as e:
        return "unreadable", str(e)
    states = document_states(opened.store, manifest, config, fingerprint)
    if manifest.failure and fingerprint == manifest.source.fingerprint:
        f = manifest.failure
        tries = f" ({f.attempts} attempts)" if f.attempts > 1 else ""
        again = retry(manifest, config)
        told = f"{f.stage}: {explain(f.kind, f.cause, f.remedy)}{tries}"
        return "failed", f"{told} By itself: {again.reason}." if config.refresh.trigger != "off" else told
    if fingerprint != manifest.source.fingerprint:
        return "stale", "the source file has changed"
    first = next(((s.name, states[s.name]) for s in STAGES if states[s.name].state != State.FRESH), None)
    if first is None:
        return "up to date", ""
    name, found = first
    return ("stale" if found.state == State.STALE else "incomplete"), f"{name}: {found.reason}"
