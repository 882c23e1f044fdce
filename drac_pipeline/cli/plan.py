"""`drac plan`: plan and assemble chunks again, nothing before."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from drac_pipeline.cli.console import (
    HomeOption,
    LogFormatOption,
    existing_home,
    out,
    progress_bar,
    start_logs,
)
from drac_pipeline.cli.documents import find_key
from drac_pipeline.cli.summary import Summary, print_summary
from drac_pipeline.errors import ConfigError
from drac_pipeline.pipeline import DocumentOutcome
from drac_pipeline.pipeline.progress import listening


def plan(
    home: HomeOption,
    keys: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DOCUMENT",
            help="Keys, files, or parts of keys that only one document has; none: all documents.",
            show_default=False,
        ),
    ] = None,
    log_format: LogFormatOption = None,
) -> None:
    """Plan and assemble the chunks again from the elements there are; never converts.

    For after a change of the plan or section settings in drac.toml, or to see another plan.

    Examples:

      drac plan --home ~/drac/contracts

      drac plan --home ~/drac/contracts "supply agreement"
    """
    began = time.monotonic()
    opened = existing_home(home)
    start_logs(opened.config.logs, log_format)
    manifests = {m.document_key: m for m in opened.store.manifests()}
    named = {find_key(text, manifests) for text in keys or ()}
    chosen = sorted(named or (k for k, m in manifests.items() if "elements" in m.stages))
    if not chosen:
        raise ConfigError("no document of this home has elements to plan from; run `drac run SOURCE` first")
    from drac_pipeline.defs.jobs import PLAN_STAGES, REPLAN
    from drac_pipeline.defs.launch import execute_documents, open_instance

    summary = Summary(asked=frozenset(chosen))
    with open_instance(opened) as instance, progress_bar() as bar:
        task = bar.add_task("Planning", total=len(chosen), note="")

        def on_document(outcome: DocumentOutcome) -> None:
            summary.add(outcome)
            bar.update(task, advance=1, note=outcome.key[-60:])

        with listening(on_document):
            try:
                launched = execute_documents(instance, REPLAN, chosen, stages=PLAN_STAGES, force=True)
                summary.end(launched.run_id, launched.success)
            except KeyboardInterrupt:
                summary.interrupted = True
    print_summary(out, opened, summary, time.monotonic() - began)
    if summary.interrupted:
        raise typer.Exit(130)
    if summary.failures or summary.crashed:
        raise typer.Exit(1)
