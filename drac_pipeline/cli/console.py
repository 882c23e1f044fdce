"""Where the commands print: tables and results to stdout, progress and errors to stderr."""

from __future__ import annotations

import io
import logging
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from drac_pipeline.config import LogsConfig
from drac_pipeline.counted import counted
from drac_pipeline.errors import ConfigError
from drac_pipeline.logs import log_to_stderr
from drac_pipeline.store import Home

# A pipe has no width of its own; 80 columns would cut file names in a log.
out = Console(highlight=False, width=None if sys.stdout.isatty() else 160)
err = Console(stderr=True, highlight=False, width=None if sys.stderr.isatty() else 160)


def home_option(help: str) -> Any:
    """The option `--home`; a file as its value is told as such."""
    return typer.Option("--home", "-H", envvar="DRAC_HOME", callback=_no_file, help=help)


def _no_file(path: Path) -> Path:
    if path.expanduser().is_file():
        raise ConfigError(
            f"--home {path} is a file: there is no home there. A home is the folder that"
            " `drac run SOURCE --home FOLDER` fills; give a folder"
        )
    return path


_HOME = "Folder of the corpus: artifacts, settings and Dagster instance."
HomeOption = Annotated[Path, home_option(_HOME)]
NewHomeOption = Annotated[Path, home_option(f"{_HOME} Made if it is not there.")]

SourceArgument = Annotated[
    str, typer.Argument(help="Folder of documents, one file, or s3://bucket/prefix.", show_default=False)
]


def settled_home(path: Path) -> Home:
    """The home at `path`, which may have no more than settings yet. Raises ConfigError where nothing is."""
    if not path.is_dir():
        raise ConfigError(
            f"there is no home at {path}: is the path right? `drac run SOURCE --home {path}` makes one,"
            " and so does writing a drac.toml there"
        )
    return Home(path)


def existing_home(path: Path) -> Home:
    """The home at `path`. Raises ConfigError where nothing was ever ingested into it."""
    home = settled_home(path)
    if not home.store.has_documents():
        raise ConfigError(f"{path} holds no documents yet; fill it with `drac run SOURCE --home {path}`")
    return home


LogFormatOption = Annotated[
    Literal["text", "json"] | None,
    typer.Option(
        "--log-format",
        help="Lines on stderr as text or JSON objects, worker processes' too; default: as \\[logs] or"
        " DRAC_LOG_FORMAT say.",
    ),
]


def start_logs(config: LogsConfig | None = None, format: str | None = None) -> None:
    """Write log lines to stderr as the settings, the environment and `--verbose` say; as JSON, what commands
    print there is lines of it too."""
    config = (config or LogsConfig()).in_environment(format or "")
    others_too = config.level == "debug"  # not with --verbose: alembic and asyncio tell nobody anything
    if _State.verbose:
        config = config.model_copy(update={"level": "debug"})
    log_to_stderr(config, sys.stderr, others_too=others_too)
    if config.format == "json":
        err.file, err.width = _PrintedLines(), 10_000
    else:
        err.file = sys.stderr


class _State:
    verbose = False


def be_verbose(verbose: bool) -> None:
    """Log everything from now on."""
    _State.verbose = verbose


class _PrintedLines(io.StringIO):
    """A stream whose lines are logged."""

    rest = ""

    def write(self, text: str) -> int:
        *lines, self.rest = (self.rest + text).split("\n")
        for line in lines:
            if line.strip():
                level = logging.ERROR if line.startswith("error:") else logging.INFO
                logging.getLogger("drac_pipeline.cli").log(level, "%s", line.strip())
        return len(text)


class LogProgress:
    """For stderr that is no terminal: a line at each tenth of the documents."""

    def __init__(self, title: str, total: int) -> None:
        self.title, self.total, self.done, self.told = title, total, 0, 0

    def advance(self) -> None:
        """One document more."""
        self.done += 1
        tenth = self.done * 10 // max(self.total, 1)
        if tenth > self.told and not err.is_terminal:
            self.told = tenth
            err.print(f"{self.title}: {self.done} of {counted(self.total, 'document')}")


def progress_bar() -> Progress:
    """A bar over documents; silent where stderr is not a terminal."""
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("[dim]{task.fields[note]}"),
        console=err,
        disable=not err.is_terminal,
        transient=True,
    )
