"""The command line: the stages without the UI, into the same instance and store."""

from __future__ import annotations

import logging
import sys
import warnings
from typing import NoReturn

import typer

from drac_pipeline import __version__
from drac_pipeline.cli.backup import backup, restore
from drac_pipeline.cli.benchmark import benchmark
from drac_pipeline.cli.clean import clean
from drac_pipeline.cli.config import config_app
from drac_pipeline.cli.console import be_verbose, err, start_logs
from drac_pipeline.cli.corpus import corpus_app
from drac_pipeline.cli.costs import costs
from drac_pipeline.cli.demo_model import demo_model
from drac_pipeline.cli.estimate import estimate_command
from drac_pipeline.cli.evaluate import eval_command
from drac_pipeline.cli.export import export_app
from drac_pipeline.cli.help import Commands
from drac_pipeline.cli.inspect import inspect
from drac_pipeline.cli.on_home import on_home
from drac_pipeline.cli.plan import plan
from drac_pipeline.cli.run import run
from drac_pipeline.cli.search import search_command
from drac_pipeline.cli.status import status
from drac_pipeline.errors import DracError, is_disk_full

app = Commands(
    name="drac",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help=(
        "Turn documents (PDF, DOCX, PPTX, XLSX, HTML, scans) into retrieval-ready chunks and keep them"
        " fresh.\n\n"
        "A [b]home[/b] is a folder that holds everything made of a corpus: artifacts, settings (drac.toml)"
        " and the Dagster instance. Start with [b]drac run SOURCE --home DIR[/b]; the same runs are in the"
        " Dagster UI with [b]DAGSTER_HOME=DIR dagster dev -m drac_pipeline.defs.definitions[/b]. Several"
        " corpora share one deployment with [b]drac corpus[/b] and [b]--corpus NAME[/b].\n\n"
        "Exit codes: 0 all well · 1 some documents failed, the others are done · 2 wrong usage, settings"
        " or machine (disk full, no permission) · 130 interrupted."
    ),
)
app.command()(on_home(run))
app.command()(on_home(plan))
app.command()(on_home(status))
app.command("search")(on_home(search_command))
app.command()(on_home(inspect))
app.command("eval")(on_home(eval_command))
app.command()(on_home(benchmark))
app.command("estimate")(on_home(estimate_command))
app.command()(on_home(costs))
app.command("demo-model")(demo_model)
app.command()(on_home(backup))
app.command()(restore)
app.command()(on_home(clean))
app.add_typer(export_app, name="export")
app.add_typer(config_app, name="config")
app.add_typer(corpus_app, name="corpus")


@app.callback(invoke_without_command=True)
def _root(
    ctx: typer.Context,
    version: bool = typer.Option(False, "--version", help="Print the version and end."),
    verbose: bool = typer.Option(False, "--verbose", "-v", help="Log what happens to stderr."),
) -> None:
    if version:
        typer.echo(f"drac_pipeline {__version__}")
        raise typer.Exit
    be_verbose(verbose)
    start_logs()
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


def main(arguments: list[str] | None = None) -> None:
    """Run the command (default: on the process's arguments) and exit with its code.

    An error that the library raised on purpose is one line, not a traceback.
    """
    # Dagster announces each preview feature it meets; partitioned checks are one, used on purpose
    warnings.filterwarnings("ignore", module="dagster|drac_pipeline")
    try:
        app(arguments)
    except DracError as e:
        err.print(f"[bold red]error:[/] {_escaped(str(e))}", highlight=False)
        sys.exit(2)
    except OSError as e:
        if is_disk_full(e):
            _say_full()
        err.print(f"[bold red]error:[/] {_escaped(_told(e))}", highlight=False)
        sys.exit(2)
    except Exception as e:
        if logging.getLogger().isEnabledFor(logging.DEBUG):
            raise
        if is_disk_full(e) or "disk I/O error" in str(
            e
        ):  # what SQLite says where even its journal has no room
            _say_full()
        first = (str(e).strip().splitlines() or [""])[0]
        told = f"{type(e).__name__}: {first}. Is the disk full, or the home not yours to write to?"
        err.print(f"[bold red]error:[/] {_escaped(told)} `drac --verbose …` shows where.", highlight=False)
        sys.exit(2)
    except KeyboardInterrupt:
        err.print("interrupted; what was finished is kept, and the next `drac run` goes on from there")
        sys.exit(130)


def _say_full() -> NoReturn:
    err.print(
        "[bold red]error:[/] the disk of the home is full or fails. What was finished is kept; free some"
        " space, and the same command goes on from there.",
        highlight=False,
    )
    sys.exit(2)


def _told(e: OSError) -> str:
    where = f"{e.filename}: " if e.filename else ""
    return f"{where}{e.strerror or e}"


def _escaped(text: str) -> str:
    return text.replace("[", "\\[")
