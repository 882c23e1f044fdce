"""`drac eval`: how well the chunks are found by questions, beside other ways of chunking."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from drac_pipeline.cli.console import HomeOption, existing_home
from drac_pipeline.errors import ConfigError

OutOption = Annotated[
    Path | None,
    typer.Option("--out", file_okay=False, help="Folder of the report; default: `evaluation` in the home."),
]
EmbedderOption = Annotated[
    list[str] | None,
    typer.Option(
        "--embedder",
        help="`home`: as drac.toml says; `none`: words alone; or settings of its section `embed` changed, as"
        " key=value,key=value. May be given more than once.",
    ),
]
OrganizationOption = Annotated[
    list[str] | None, typer.Option("--organization", help="Only the questions of this organization.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print all figures as JSON instead of tables.")]


def eval_command(
    home: HomeOption,
    questions: Annotated[
        Path | None,
        typer.Argument(
            help="CSV of questions with supporting facts; default: as drac.toml says.", show_default=False
        ),
    ] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Also chunk this corpus in other ways, and compare.")
    ] = False,
    chunker: Annotated[
        list[str] | None,
        typer.Option(
            help="A way of chunking, as name or name:option=value,option=value; may be given more than once."
            " Default: drac, and with --compare those of drac.toml.",
        ),
    ] = None,
    chunks: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]PATH",
            help="A chunk set made elsewhere: .parquet or .jsonl with the columns document, text and, where"
            " there are several, organization. May be given more than once.",
        ),
    ] = None,
    embedder: EmbedderOption = None,
    hybrid: Annotated[bool, typer.Option(help="Also rank by words and vectors together.")] = True,
    organization: OrganizationOption = None,
    rows_per_organization: Annotated[
        int, typer.Option(min=0, help="Only so many first rows of each organization; 0: all.")
    ] = 0,
    threshold: Annotated[
        float | None,
        typer.Option(min=0.01, max=1, help="Share of a fact's words that supports it; default 0.6."),
    ] = None,
    ndcg: Annotated[
        Literal["retrieved", "full", "bench"] | None,
        typer.Option(help="What NDCG's ideal order is made of; default: the chunks retrieved."),
    ] = None,
    worst: Annotated[int, typer.Option(min=0, help="Worst questions listed for each set.")] = 20,
    out_folder: OutOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure how well questions find the chunks of this home, and, with --compare, those of rivals.

    QUESTIONS is a CSV with the columns question, supporting_facts and, where there are, type, organization,
    files (facts and files separated by ` || `), or one of RAG-Multi-Corpus (Enterprise Name, Query Type,
    Query, Supporting Facts). Questions of an organization are asked of the documents in folders of its name.

    A chunk supports a fact when it holds at least 60 % of the fact's content words: runs of letters and
    digits, lowered, each once, English stopwords left out. Given are Recall, Precision and NDCG at 6 and 3,
    MRR, and Recall within 4,000 characters of top-ranked text, which does not favour long chunks. Differences
    come with paired bootstrap intervals.

    Ways of chunking (nothing is converted again): drac, the chunks of this home; fixed:size=1000,overlap=200;
    recursive:size=1000,overlap=200; headings:max_chars=0; wrac:html=FOLDER (web pages, or the same documents
    as HTML); agentic:reference=PATH (chunks that a model wrote) or agentic:by=model (which costs money).

    The report is one page, HOME/evaluation/report.html, with evaluation.json and questions.jsonl beside it.

    Examples:

      drac eval questions.csv --home ~/drac/contracts

      drac eval questions.csv --home ~/drac/contracts --compare

      drac eval questions.csv --home ~/drac/contracts --chunker drac --chunker fixed:size=500,overlap=50
    """
    from drac_pipeline.evaluate.job import Wish

    opened = existing_home(home)
    ways = chunker or (opened.config.evaluate.chunkers if compare else ["drac"])
    wish = Wish(
        questions=questions,
        chunkers=ways,
        chunk_files=_named(chunks or []),
        embedders=embedder or (),
        hybrid=hybrid,
        organizations=organization or (),
        rows_per_organization=rows_per_organization,
        threshold=threshold,
        ndcg=ndcg or "",
        worst=worst,
        out=out_folder,
    )
    show_evaluation(opened, wish, as_json)


def show_evaluation(home, wish, as_json: bool) -> None:
    """Run it with progress, and print it."""
    from drac_pipeline.cli.eval_view import EvaluationProgress, print_evaluation
    from drac_pipeline.evaluate.job import run_evaluation

    with EvaluationProgress() as progress:
        done = run_evaluation(home, wish, progress.step)
    if as_json:
        sys.stdout.write(json.dumps(done.summary, ensure_ascii=False) + "\n")
    else:
        print_evaluation(done)


def _named(specs: list[str]) -> dict[str, Path]:
    named: dict[str, Path] = {}
    for spec in specs:
        name, _, path = ("", "", spec) if Path(spec).is_file() or "=" not in spec else spec.partition("=")
        name = name or Path(path).stem
        if name in named:
            raise ConfigError(f"two chunk sets are called {name}; name one with --chunks NAME=PATH")
        named[name] = Path(path)
    return named
