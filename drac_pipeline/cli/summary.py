"""The table at the end of a run."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from drac_pipeline.counted import counted
from drac_pipeline.errors import explain
from drac_pipeline.pipeline import DocumentOutcome
from drac_pipeline.pipeline.condition import condition
from drac_pipeline.pipeline.worklist import WorkList
from drac_pipeline.store import Home, Manifest

MOST_ROWS = 60
MOST_WARNED = 20


@dataclass
class Summary:
    """What a run did: the documents it was to do, the outcomes as they came, without the records of what was
    made, the warnings of what was, and what the look at the source had found. It `crashed` where it ended
    with an error of its own, and was `interrupted` by a person; then some documents were not reached."""

    found: WorkList | None = None
    asked: frozenset[str] = frozenset()
    outcomes: dict[str, DocumentOutcome] = field(default_factory=dict)
    warnings: dict[str, list[str]] = field(default_factory=dict)
    run_id: str = ""
    crashed: bool = False
    interrupted: bool = False

    def add(self, outcome: DocumentOutcome) -> None:
        """Take in the outcome of a document."""
        lines = [w for s in outcome.stages if s.status == "made" and s.record for w in s.record.warnings]
        if lines:
            self.warnings[outcome.key] = lines
        stages = [replace(s, record=None) for s in outcome.stages]
        self.outcomes[outcome.key] = replace(outcome, stages=stages)

    def end(self, run_id: str, success: bool) -> None:
        """The run has ended: without success where documents failed, or where it did itself."""
        self.run_id = run_id
        self.crashed = not success and (not self.failures or bool(self.not_reached))

    @property
    def not_reached(self) -> frozenset[str]:
        """Documents that were to be done, and neither were nor failed."""
        return self.asked - self.outcomes.keys() - self.failures.keys()

    @property
    def failures(self) -> dict[str, tuple[str, str]]:
        """Key to (stage, reason) of every document that did not get through."""
        out = {}
        for key, o in self.outcomes.items():
            if o.failure:
                f = o.failure
                out[key] = (f.stage, explain(f.kind, f.cause, f.remedy))
        for key, e in (self.found.unreadable if self.found else {}).items():
            out[key] = ("source", explain(e.kind, e.cause, e.remedy))
        return out


def print_summary(
    console: Console, home: Home, summary: Summary, seconds: float, *, everything: bool = False
) -> None:
    """Documents, pages, elements, chunks, seconds; failures with their reason; where things lie.
    Without `everything` the table of documents ends after MOST_ROWS."""
    known = home.store.manifests_of(summary.outcomes)
    done = {k: _figures(known.get(k)) for k in summary.outcomes}
    del known  # of thousands of documents only the figures are kept
    if done:
        console.print(_documents_table(summary, done, None if everything else MOST_ROWS))
    failures = summary.failures
    if failures:
        table = Table(title="Failed", title_justify="left", title_style="bold red", show_lines=True)
        table.add_column("document", overflow="fold")
        table.add_column("stage")
        table.add_column("reason", overflow="fold")
        for key, (stage, reason) in sorted(failures.items()):
            table.add_row(escape(key), stage, escape(reason))
        console.print(table)
    unwhole = {k: f for k, f in sorted(done.items()) if f.state and not summary.outcomes[k].failure}
    for state, why in (("partial", "pages could not be read"), ("blank", "no text, nothing to index")):
        keys = [k for k, f in unwhole.items() if f.state == state]
        if keys:
            console.print(f"[yellow]{len(keys)} {state}[/] ({why}):")
            for key in keys[:MOST_WARNED]:
                console.print(f"  {escape(key)}" + (f": {unwhole[key].why}" if state == "partial" else ""))
            if len(keys) > MOST_WARNED:
                console.print(f"  … and {len(keys) - MOST_WARNED} more: `drac status` lists them")
    if warned := sorted(summary.warnings.items()):
        console.print(f"[yellow]{len(warned)} with warnings[/] (all of them in the Dagster UI):")
        for key, lines in warned[:MOST_WARNED]:
            more = f" (and {len(lines) - 1} more)" if len(lines) > 1 else ""
            console.print(f"  {escape(key)}: {escape(lines[0])}{more}")
        if len(warned) > MOST_WARNED:
            console.print(f"  … and {counted(len(warned) - MOST_WARNED, 'more document')}")
    if summary.crashed:
        console.print("[bold red]The run ended with an error of its own;[/] see its log in the Dagster UI.")
    touched = failures.keys() | summary.outcomes.keys() | summary.asked
    unchanged = sum(k not in touched for k in summary.found.keys) if summary.found else 0
    good = sum(not o.failure for o in summary.outcomes.values())
    if summary.interrupted:
        console.print(
            "[bold yellow]interrupted;[/] what is done is kept, and the same command goes on from there"
        )
    left = f", {len(summary.not_reached)} not reached" if summary.not_reached else ""
    ran = f" · run {summary.run_id}" if summary.run_id else ""
    console.print(
        f"{good} done, {unchanged} unchanged, {len(failures)} failed{left} in {seconds:.1f} s"
        + (ran or ("" if failures or summary.asked else " · nothing to do"))
    )
    instance = escape(str(home.instance_path))
    console.print(f"store [cyan]{escape(home.store.address)}[/] · Dagster instance [cyan]{instance}[/]")
    console.print(
        f'next: drac search "…" --home {escape(str(home.path))} · drac status --home'
        f" {escape(str(home.path))}",
        style="dim",
    )


@dataclass(frozen=True, slots=True)
class _Figures:
    """What the table says of a document: counts, and `partial` or `blank` with what that means."""

    pages: int = 0
    elements: int = 0
    chunks: int = 0
    state: str = ""
    why: str = ""


def _figures(manifest: Manifest | None) -> _Figures:
    if manifest is None:
        return _Figures()
    pages, elements, chunks = (_count(manifest, *name) for name in _COUNTED)
    return _Figures(pages, elements, chunks, *condition(manifest))


_COUNTED = (("normalized_pdf", "pages"), ("elements", "elements"), ("chunks", "chunks"))


def _documents_table(summary: Summary, done: dict[str, _Figures], most: int | None) -> Table:
    table = Table(title=counted(len(done), "document"), title_justify="left")
    table.add_column("document", overflow="fold")
    for name in ("pages", "elements", "chunks", "seconds"):
        table.add_column(name, justify="right")
    table.add_column("stages run", overflow="fold")
    totals = [0, 0, 0, 0.0]
    keys = sorted(done)
    for i, key in enumerate(keys):
        outcome, found = summary.outcomes[key], done[key]
        figures = [found.pages, found.elements, found.chunks]
        totals = [t + f for t, f in zip(totals, [*figures, outcome.seconds], strict=True)]
        made = [s.stage for s in outcome.stages if s.status == "made"]
        state = (
            f"[red]failed at {outcome.failure.stage}[/]" if outcome.failure else ", ".join(made) or "reused"
        )
        if len(made) > 5 and not outcome.failure:
            state = "all"
        if found.state and not outcome.failure:
            state = f"[yellow]{found.state}[/] ({state})"
        if most is None or i < most:
            table.add_row(escape(key), *map(str, figures), f"{outcome.seconds:.1f}", state)
    if most is not None and len(keys) > most:
        table.add_row(f"… and {len(keys) - most} more: `drac status --all`", "", "", "", "", "")
    table.add_section()
    table.add_row("[b]total", *(f"{t:,}" for t in totals[:3]), f"{totals[3]:.1f}", "")
    return table


def _count(manifest: Manifest, stage: str, name: str) -> int:
    record = manifest.stages.get(stage)
    return int(record.counts.get(name, 0)) if record else 0
