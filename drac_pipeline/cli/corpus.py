"""`drac corpus`: many corpora in one deployment."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from drac_pipeline.cli.console import SourceArgument, err, home_option, out
from drac_pipeline.cli.help import Commands
from drac_pipeline.config import CONFIG_FILE
from drac_pipeline.corpora import add_corpus, open_corpus, remove_corpus
from drac_pipeline.counted import counted
from drac_pipeline.errors import ConfigError, DracError
from drac_pipeline.sources.address import source_address
from drac_pipeline.store import Home
from drac_pipeline.store.corpora import Deployment

corpus_app = Commands(
    no_args_is_help=True,
    help="Many corpora in one deployment: one Dagster instance; settings, index and budget for each.",
)

DeploymentOption = Annotated[Path, home_option("Folder of the deployment.")]
NewDeploymentOption = Annotated[Path, home_option("Folder of the deployment. Made if it is not there.")]
NameArgument = Annotated[str, typer.Argument(help="Name of the corpus.", show_default=False)]


@corpus_app.command()
def add(
    name: NameArgument,
    source: SourceArgument,
    home: NewDeploymentOption,
    settings: Annotated[
        Path | None,
        typer.Option(help="A drac.toml to begin with.", dir_okay=False, exists=True, show_default=False),
    ] = None,
) -> None:
    """Add a corpus; the daemon takes in its documents, or `drac run` does.

    Its home is corpora/NAME in the deployment, with a drac.toml of its own. Web server and daemon of the
    deployment know it when they have reloaded their workspace.

    Example:

      drac corpus add contracts ~/documents/contracts --home ~/drac
    """
    from drac_pipeline.defs.deployment import write_instance

    deployment = Deployment(home)
    address = source_address(source)
    added = add_corpus(deployment, name, address, settings)
    write_instance(deployment)
    out.print(f"corpus {name}: its settings are {added.home.path / CONFIG_FILE}", markup=False)
    where = str(deployment.path)
    if added.first:
        out.print(
            f"start the UI and the daemon: DAGSTER_HOME={where} dagster dev -w {where}/workspace.yaml",
            markup=False,
        )
    else:
        out.print("reload the workspace in the UI (Deployment, Reload all); the daemon does within a minute")
    out.print(
        f"or ingest now: drac run {source} --home {where} --corpus {name}", markup=False, soft_wrap=True
    )


@corpus_app.command("list")
def list_corpora(home: DeploymentOption) -> None:
    """List the corpora: documents, sources, and what is wrong with a corpus; exit code 2 if something is."""
    deployment = Deployment(home)
    table = Table()
    for head in ("corpus", "documents", "failed", "sources", "wrong"):
        table.add_column(head, overflow="fold")
    bad = False
    for name in deployment.names():
        path = deployment.home_path(name)
        try:
            opened = open_corpus(deployment, name)
            found = Counter(m.failure is not None for m in opened.store.manifests())
            sources = ", ".join(str(s) for s in opened.sources())
            table.add_row(name, str(found.total()), str(found[True]), escape(sources), "")
        except DracError as e:
            bad = True
            table.add_row(name, "", "", ", ".join(str(s) for s in Home(path).sources()), escape(str(e)))
    out.print(table)
    if bad:
        raise typer.Exit(2)


@corpus_app.command()
def remove(
    name: NameArgument,
    home: DeploymentOption,
    delete: Annotated[
        bool,
        typer.Option("--delete", help="Delete its home, and what Dagster knows of it: runs, logs, assets."),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Delete without asking.")] = False,
) -> None:
    """Take a corpus out of the deployment. Its home stays, to be added again, unless --delete.

    Documents in the source are never touched.
    """
    deployment = Deployment(home)
    path = deployment.home_path(name)
    if delete and not yes and not typer.confirm(f"Delete {path} with all that was made of the corpus?"):
        err.print(f"nothing was deleted: {name} is in the deployment as before", markup=False)
        raise typer.Exit(1)
    from drac_pipeline.defs.deployment import (
        forget_corpus,
        open_deployment,
        unfinished_runs,
        write_instance,
    )

    with open_deployment(deployment) as instance:
        if going := unfinished_runs(instance, name):
            raise ConfigError(
                f"{counted(len(going), 'run')} of {name} {'is' if len(going) == 1 else 'are'} not"
                f" finished ({going[0]} …); end them first"
            )
        remove_corpus(deployment, name, delete=delete)
        write_instance(deployment)
        if delete:
            runs = forget_corpus(instance, name)
            out.print(f"{name} is deleted, with {counted(runs, 'run')}")
            return
    err.print(
        f"{name} is taken out; its home stays at {escape(str(path))}, and `drac corpus add` takes it up again"
    )
