"""`--corpus NAME` beside `--home`, for every command that works on a home."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from drac_pipeline.corpora import open_corpus
from drac_pipeline.counted import counted
from drac_pipeline.errors import ConfigError
from drac_pipeline.store.corpora import Deployment, deployment_of_home, is_deployment

_CorpusOption = Annotated[
    str,
    typer.Option(
        "--corpus",
        envvar="DRAC_CORPUS",
        metavar="NAME",
        help="Which corpus, where --home is a deployment of many (`drac corpus list`).",
        show_default=False,
    ),
]


def on_home(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with an option more: where its `--home` names a deployment of many corpora, `--corpus`
    says which one, and the command gets the home of that one."""
    signature = inspect.signature(command, eval_str=True)

    @functools.wraps(command)
    def on_the_home_meant(corpus: str, home: Path, **named: Any) -> Any:
        return command(home=home_of(home, corpus), **named)

    option = inspect.Parameter("corpus", inspect.Parameter.KEYWORD_ONLY, default="", annotation=_CorpusOption)
    given = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in signature.parameters.values()]
    after = next(n for n, p in enumerate(given) if p.name == "home") + 1
    parameters = [*given[:after], option, *given[after:]]
    on_the_home_meant.__signature__ = signature.replace(parameters=parameters)  # pyright: ignore[reportAttributeAccessIssue]
    on_the_home_meant.__annotations__ = {p.name: p.annotation for p in parameters}
    return on_the_home_meant


def home_of(path: Path, corpus: str) -> Path:
    """The home that `--home` and `--corpus` mean. Raises ConfigError where they do not name one."""
    path = path.expanduser()
    whole = path.absolute()
    if is_deployment(whole):
        deployment = Deployment(whole)
        if not corpus:
            names = deployment.names()
            told = f"name one with --corpus: {', '.join(names)}" if names else "`drac corpus add` makes one"
            raise ConfigError(f"{path} is a deployment of {counted(len(names), 'corpus', 'corpora')}; {told}")
        return open_corpus(deployment, corpus).path
    above = deployment_of_home(whole)
    if above is not None:
        if corpus and corpus != whole.name:
            raise ConfigError(f"--corpus {corpus}: --home {path} is the home of corpus {whole.name}")
        return open_corpus(Deployment(above), whole.name).path
    if corpus:
        raise ConfigError(
            f"--corpus {corpus}: {path} is no deployment of many corpora; see `drac corpus add`"
        )
    return path
