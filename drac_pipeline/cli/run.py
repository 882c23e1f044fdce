"""`drac run`: bring every document of a source up to date."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.markup import escape

from drac_pipeline.cli.console import (
    LogFormatOption,
    LogProgress,
    NewHomeOption,
    SourceArgument,
    err,
    out,
    progress_bar,
    start_logs,
)
from drac_pipeline.cli.dry_run import print_dry_run
from drac_pipeline.cli.summary import Summary, print_summary
from drac_pipeline.errors import ConfigError
from drac_pipeline.pipeline import DocumentOutcome, find_work
from drac_pipeline.pipeline.progress import PageLines, PageProgress, listening, listening_to_pages
from drac_pipeline.pipeline.removal import removals
from drac_pipeline.pipeline.worklist import WorkList
from drac_pipeline.sources.address import source_address
from drac_pipeline.sources.open import open_source
from drac_pipeline.sources.settling import YOUNG_SECONDS, wait_until_settled
from drac_pipeline.store import Home

MOST_RENAMED = 20  # told one by one


def run(
    source: SourceArgument,
    home: NewHomeOption,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", "-n", help="Say what a run would do, and what it would cost.")
    ] = False,
    confirm_removals: Annotated[
        bool,
        typer.Option("--confirm-removals", help="Retire documents that are gone, even if all or most are."),
    ] = False,
    everything: Annotated[bool, typer.Option("--all", "-a", help="List every document.")] = False,
    log_format: LogFormatOption = None,
) -> None:
    """Ingest every document under SOURCE; what is unchanged is skipped.

    Each document goes through the stages normalized_pdf, page_images, markdown, elements, chunk_plan, chunks
    and chunk_embeddings as a Dagster run in this home, on all cores. A document that fails stops at its
    failed stage; the others go on. Run it again at any time: only what is new, changed, failed or out of
    date is done. A renamed document keeps its work; one that left the source is retired: out of exports,
    search and the UI, its artifacts kept for a while (\\[refresh] in drac.toml).

    Examples:

      drac run ./contracts --home ~/drac/contracts

      drac run report.pdf --home /tmp/try

      drac run s3://company-docs/contracts --home ~/drac/contracts

      drac run ./contracts --home ~/drac/contracts --dry-run
    """
    began = time.monotonic()
    opened = Home(home)
    config = opened.config
    start_logs(config.logs, log_format)
    address = source_address(source)
    if address == opened.path:
        raise ConfigError("SOURCE and --home are the same folder; a home needs one of its own")
    # looked at first, too, so that a source that is not there leaves no home behind
    moving = wait_until_settled(open_source(address, config.source, opened.remote).list())
    settle = YOUNG_SECONDS if moving else 0.0
    if dry_run:
        found = find_work(opened, address, config, settle_seconds=settle, dry=True)
        _tell(found)
        print_dry_run(
            out, opened, found, removals(found, config.refresh, confirmed=confirm_removals), everything
        )
        return
    # Dagster takes seconds to import: not before the arguments are known to be good
    from drac_pipeline.defs.jobs import INGEST
    from drac_pipeline.defs.launch import execute_documents, open_instance
    from drac_pipeline.defs.overview import report_overview
    from drac_pipeline.defs.register import drop_strays, register, unreported
    from drac_pipeline.defs.retire import retire_documents
    from drac_pipeline.defs.vector_index import index_without_run

    with open_instance(opened) as instance:
        with progress_bar() as bar:
            task = bar.add_task("Looking at the source", total=None, note="")
            found = find_work(
                opened,
                address,
                config,
                lambda key: bar.update(task, advance=1, note=key[-60:]),
                settle_seconds=settle,
            )
        decided = removals(found, config.refresh, confirmed=confirm_removals)
        retired = retire_documents(instance, opened, decided.retire)
        _tell(found, retired, decided.refused)
        if not found.n_documents and not found.gone:
            raise ConfigError(f"no documents found under {source} (hidden and temporary files do not count)")
        manifests = list(opened.store.manifests())
        register(instance, opened, manifests)
        drop_strays(instance, opened)
        keys = {w.key for w in found.work} | set(unreported(instance, opened, manifests))
        summary = Summary(found, frozenset(keys))
        if not keys:
            index_without_run(instance, opened)  # an earlier run may have been killed before it got there
            if retired:
                report_overview(instance, opened, len(manifests))
        else:
            with progress_bar() as bar:
                task = bar.add_task("Ingesting", total=len(keys), note="")
                lines = LogProgress("ingesting", len(keys))

                def on_document(outcome: DocumentOutcome) -> None:
                    summary.add(outcome)
                    lines.advance()
                    bar.update(task, advance=1, note=outcome.key[-60:])

                page_lines = PageLines(err.print)

                def on_pages(progress: PageProgress) -> None:
                    bar.update(task, note=str(progress)[-90:])
                    if not err.is_terminal:
                        page_lines(progress)

                with listening(on_document), listening_to_pages(on_pages):
                    try:
                        launched = execute_documents(instance, INGEST, sorted(keys))
                        summary.end(launched.run_id, launched.success)
                    except KeyboardInterrupt:
                        summary.interrupted = True
    print_summary(out, opened, summary, time.monotonic() - began, everything=everything)
    if summary.interrupted:
        raise typer.Exit(130)
    if summary.failures or summary.crashed or decided.refused or found.blocked:
        raise typer.Exit(1)


def _tell(found: WorkList, retired: Sequence[str] = (), refused: str = "") -> None:
    for line in found.skipped:
        err.print(f"[yellow]skipped[/] {escape(line)}")
    for key in found.settling:
        err.print(f"[yellow]left for the next run[/] {escape(key)}: it is still being written")
    renamed = [w for w in found.work if w.renamed_from]
    for work in renamed[:MOST_RENAMED]:
        err.print(f"{work.key}: {work.reason}", markup=False)
    if len(renamed) > MOST_RENAMED:
        err.print(f"… and {len(renamed) - MOST_RENAMED} more renamed")
    old_names = set(found.renamed.values())
    if others := [k for k in retired if k not in old_names]:
        more = " …" if len(others) > 5 else ""
        err.print(
            f"[yellow]{len(others)} retired[/], gone from the source: {escape(', '.join(others[:5]))}{more}"
        )
    if refused:
        err.print(f"[bold yellow]{escape(refused)}[/]")
