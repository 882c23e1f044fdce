"""`drac run`: bring every document of a source up to date."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from drac_pipeline.cli.console import HomeOption, LogProgress, err, interrupted, out, progress_bar
from drac_pipeline.cli.summary import Summary, print_summary
from drac_pipeline.errors import ConfigError
from drac_pipeline.pipeline import DocumentOutcome, find_work
from drac_pipeline.pipeline.progress import PageLines, PageProgress, listening, listening_to_pages
from drac_pipeline.pipeline.worklist import WorkList
from drac_pipeline.sources.folder import FolderSource
from drac_pipeline.store import Home


def run(
    source: Annotated[Path, typer.Argument(help="Folder of documents, or one file.", show_default=False)],
    home: HomeOption,
) -> None:
    """Ingest every document under SOURCE; what is unchanged is skipped.

    Each document goes through the stages normalized_pdf, page_images, markdown, elements, chunk_plan and
    chunks as a Dagster run in this home, on all cores. A document that fails stops at its failed stage; the
    others go on. Run it again at any time: only what is new, changed, failed or out of date is done.

    Examples:

      drac run ./contracts --home ~/drac/contracts

      drac run report.pdf --home /tmp/try
    """
    began = time.monotonic()
    opened = Home(home)
    config = opened.config
    if source.expanduser().absolute() == opened.path:
        raise ConfigError("SOURCE and --home are the same folder; a home needs one of its own")
    FolderSource(source, config.source)  # a source that is not there leaves no home behind
    # Dagster takes seconds to import: not before the arguments are known to be good
    from drac_pipeline.defs.jobs import INGEST
    from drac_pipeline.defs.launch import execute_documents, open_instance
    from drac_pipeline.defs.register import register, unreported

    with open_instance(opened) as instance:
        with progress_bar() as bar:
            task = bar.add_task("Looking at the source", total=None, note="")
            found = find_work(opened, source, config, lambda key: bar.update(task, advance=1, note=key[-60:]))
        _tell(found)
        if not found.n_documents:
            raise ConfigError(f"no documents found under {source} (hidden and temporary files do not count)")
        manifests = list(opened.store.manifests())
        register(instance, manifests)
        keys = {w.key for w in found.work} | set(unreported(instance, manifests))
        summary = Summary(found)
        if keys:
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
                    except KeyboardInterrupt:
                        raise interrupted(len(summary.outcomes), len(keys)) from None
            summary.run_id = launched.run_id
            summary.crashed = not launched.success and not summary.failures
    print_summary(out, opened, summary, time.monotonic() - began)
    if summary.failures or summary.crashed:
        raise typer.Exit(1)


def _tell(found: WorkList) -> None:
    for line in found.skipped:
        err.print(f"[yellow]skipped[/] {line}", markup=True)
    if found.gone:
        err.print(
            f"[yellow]{len(found.gone)} documents[/] of this home are no longer in the source;"
            " their chunks are kept"
        )
