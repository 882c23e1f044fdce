"""`drac run --dry-run`: documents times stages, with reasons and the cost a model would have."""

from __future__ import annotations

from collections import Counter

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from drac_pipeline.cli.estimate import embedding_cost, measure, read_by_pages
from drac_pipeline.config import DracConfig
from drac_pipeline.counted import counted
from drac_pipeline.errors import DocumentError, explain
from drac_pipeline.llm.estimate import Estimate, estimate
from drac_pipeline.llm.prices import PROVIDERS, Prices
from drac_pipeline.pipeline import STAGES, Work
from drac_pipeline.pipeline.origin import origin_of
from drac_pipeline.pipeline.removal import Removals
from drac_pipeline.pipeline.worklist import WorkList
from drac_pipeline.store import Home

MOST_ROWS = 200


def print_dry_run(
    console: Console, home: Home, found: WorkList, decided: Removals, everything: bool = False
) -> None:
    """What a run would do, one line a document: its state, the stages, why, and the estimated cost."""
    config = home.config
    money = config.converts_by_model or config.plans_by_model or config.embeds_by_service
    total = Estimate()
    table = Table(title="A run would do", title_justify="left")
    table.add_column("document", overflow="fold")
    table.add_column("state")
    table.add_column("stages", overflow="fold")
    table.add_column("why", overflow="fold")
    if money:
        table.add_column("USD", justify="right")
    for n, work in enumerate(found.work):
        cost = _estimate(home, config.for_document(work.key), work) if money else Estimate()
        total += cost
        if everything or n < MOST_ROWS:
            cells = [escape(work.key), work.state, _stages(work), escape(_why(work))]
            table.add_row(*cells, *([f"{cost.usd:.4f}"] if money else []))
    if not everything and len(found.work) > MOST_ROWS:
        table.add_row(f"… and {len(found.work) - MOST_ROWS} more (--all lists them)")
    if found.work:
        console.print(table)
    old_names = set(found.renamed.values())
    retire = {k: reason for k, reason in decided.retire.items() if k not in old_names}
    for key, reason in sorted(retire.items()):
        console.print(f"retired: {escape(key)} ({escape(reason)})")
    if decided.refused:
        console.print(f"[yellow]{escape(decided.refused)}[/]")
    for key, error in sorted(found.unreadable.items()):
        console.print(
            f"[red]failed:[/] {escape(key)}: {escape(explain(error.kind, error.cause, error.remedy))}"
        )
    for key in found.settling:
        console.print(f"waits: {escape(key)} may still be written")
    stages = sum(len(w.stages) for w in found.work)
    states = ", ".join(f"{n} {s}" for s, n in Counter(w.state for w in found.work).most_common())
    told = (
        counted(len(found.work), "document")
        + " to run"
        + (f" ({states}), {counted(stages, 'stage')}" if states else "")
    )
    told += f", {found.unchanged} unchanged"
    told += f", {len(retire)} to retire" if retire else ""
    told += (
        f", about ${total.usd:.4f} for {counted(total.calls, 'model call')}" if money else ", no model call"
    )
    console.print(f"dry run: {told}; nothing was done")


def _stages(work: Work) -> str:
    return "all" if len(work.stages) == len(STAGES) else ", ".join(work.stages)


def _why(work: Work) -> str:
    failure = work.manifest.failure
    if failure is not None and work.state == "failed":
        return f"{failure.stage}: {explain(failure.kind, failure.cause)}"
    return work.reason


def _estimate(home: Home, config: DracConfig, work: Work) -> Estimate:
    """What the stages that a model serves would cost; nothing where the file cannot be measured."""
    converts = config.converts_by_model and "markdown" in work.stages
    plans = config.plans_by_model and "chunk_plan" in work.stages
    embeds = config.embeds_by_service and "chunk_embeddings" in work.stages
    if not (converts or plans or embeds):
        return Estimate()
    source = work.manifest.source
    try:
        with origin_of(source, home.remote).file() as path:
            pages, wanted, chars = measure(
                path,
                source.size,
                "auto" if config.convert.mode == "auto" else "model",
                read_by_pages(config.convert),
                config.normalize.plain_passwords,
            )
    except (DocumentError, OSError):
        return Estimate()
    prices = Prices(home.path, config.model.price_provider or PROVIDERS[config.model.provider])
    cost = estimate(pages, wanted if converts else 0, chars, config.model, prices, plan=plans)
    return cost + embedding_cost(home.path, config, chars) if embeds else cost
