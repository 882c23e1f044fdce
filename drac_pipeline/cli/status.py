"""`drac status`: documents by state, what is stale and why."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from drac_pipeline.cli.console import HomeOption, err, existing_home, out
from drac_pipeline.counted import counted
from drac_pipeline.pipeline.condition import corpus_size
from drac_pipeline.pipeline.standing import overview
from drac_pipeline.store import Home


def status(
    home: HomeOption,
    everything: Annotated[
        bool, typer.Option("--all", "-a", help="List up-to-date and retired documents too.")
    ] = False,
) -> None:
    """Show documents by state, and for each that is not up to date which stage and why.

    The sources are looked at: what is new, changed, gone or cannot be read shows here before the
    next run. `partial`: some pages could not be read. `blank`: no text, nothing to index. `unknown`:
    its folder cannot be looked at, and what was made of it stays. Exit code 1 where a document
    failed or cannot be read.
    """
    opened = existing_home(home)
    found = overview(opened)
    totals = Counter(d.state for d in found.documents)
    retired = totals.pop("retired", 0)
    shown = [d for d in found.documents if everything or d.state not in ("up to date", "retired")]
    if shown:
        table = Table()
        table.add_column("document", overflow="fold")
        table.add_column("state")
        table.add_column("why", overflow="fold")
        for d in shown:
            table.add_row(escape(d.key), d.state, escape(d.why))
        out.print(table)
    for line in found.blocked:
        err.print(f"[bold yellow]cannot be looked at[/] {escape(line)}", markup=True)
    _tell_index(opened)
    states = ", ".join(f"{n} {s}" for s, n in totals.most_common())
    out.print(corpus_size(totals.total(), retired) + (f": {states}" if states else ""))
    if found.blocked or any(d.bad for d in found.documents):
        raise typer.Exit(1)


def _tell_index(opened: Home) -> None:
    from drac_pipeline.index.sync import index_state

    try:
        state = index_state(opened)
    except Exception as e:  # its place may be elsewhere, and not to be reached
        err.print(f"[yellow]index cannot be looked at:[/] {escape(str(e))[:300]}")
        return
    told = f"index: {counted(state.chunks, 'chunk')} of {counted(state.documents, 'document')}"
    lists = {"behind": state.behind, "no longer wanted": state.surplus, "without vectors": state.waiting}
    off = [f"{len(keys)} {name} ({', '.join(map(escape, keys[:3]))})" for name, keys in lists.items() if keys]
    step = f"[yellow]not in step:[/] {'; '.join(off)}" if off else "in step with the chunks"
    out.print(f"{told}, {state.embedder or 'no vectors yet'}; {step}")
