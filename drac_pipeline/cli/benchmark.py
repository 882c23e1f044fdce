"""`drac benchmark`: RAG-Multi-Corpus, from a checkout of it to a report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from drac_pipeline.cli.console import NewHomeOption, err
from drac_pipeline.cli.evaluate import EmbedderOption, JsonOption, OutOption, show_evaluation
from drac_pipeline.cli.run import run
from drac_pipeline.config import CONFIG_FILE
from drac_pipeline.errors import ConfigError
from drac_pipeline.store import Home

ROWS = 200


def benchmark(
    folder: Annotated[Path, typer.Argument(help="Checkout of RAG-Multi-Corpus.", show_default=False)],
    home: NewHomeOption,
    format: Annotated[str, typer.Option("--format", help="Which files: pdf, docx, html, pptx, md.")] = "pdf",
    organization: Annotated[
        list[str] | None, typer.Option("--organization", help="Only this organization.")
    ] = None,
    questions: Annotated[
        Path | None, typer.Option(help="Another file of questions of the same form.", show_default=False)
    ] = None,
    rows_per_organization: Annotated[
        int, typer.Option(min=0, help="First rows of each organization; 0: all.")
    ] = ROWS,
    embedder: EmbedderOption = None,
    out_folder: OutOption = None,
    as_json: JsonOption = False,
) -> None:
    """Ingest the documents of RAG-Multi-Corpus and compare D-RAC with its rivals on its questions.

    FOLDER has datasets/<organization>/<format>/ and the file of queries; documents belong to the
    organization whose folder they are in. The home takes the files of one format. Of the queries the first
    200 rows of each organization are asked, repeated ones once, as in the benchmark's own results. With the
    agentic reference chunks and the HTML files there, agentic chunking and W-RAC are compared too.

    Examples:

      drac benchmark ~/RAG-Multi-Corpus --home ~/drac/benchmark

      drac benchmark ~/RAG-Multi-Corpus --home ~/drac/benchmark-docx --format docx
    """
    from drac_pipeline.evaluate.job import Wish
    from drac_pipeline.evaluate.questions import load_questions

    if not folder.is_dir():
        raise ConfigError(f"{folder}: no such folder")
    datasets = folder / "datasets"
    if not datasets.is_dir():
        raise ConfigError(f"{folder}: no folder `datasets` in it; name a checkout of RAG-Multi-Corpus")
    file = questions or _queries(folder)
    asked = load_questions(file, organization or (), rows_per_organization)
    wanted = list(dict.fromkeys(q.organization for q in asked.questions))
    there = [o for o in wanted if (datasets / o / format).is_dir()]
    if missing := [o for o in wanted if o not in there]:
        err.print(f"[yellow]left out[/], no folder datasets/…/{format}: {', '.join(missing)}")
    if not there:
        raise ConfigError(f"{datasets}: none of the organizations of {file.name} has a folder {format!r}")
    opened = _configured(Home(home), datasets, [f"{o}/{format}/*" for o in there])
    try:
        run(str(datasets), home)
    except typer.Exit as e:
        if e.exit_code != 1:  # 1: some documents failed, which the report says
            raise
    ways = ["drac", "fixed", "recursive", "headings"]
    if any((datasets / o / "html").is_dir() for o in there):
        ways.append(f"wrac:html={datasets}")
    references = sorted(p for p in folder.rglob("parsed-chunks") if p.is_dir())
    if references:
        ways.append(f"agentic:reference={references[0]}")
    wish = Wish(
        questions=file,
        chunkers=ways,
        embedders=embedder or (),
        organizations=there,
        rows_per_organization=rows_per_organization,
        out=out_folder,
    )
    show_evaluation(opened, wish, as_json)


def _queries(folder: Path) -> Path:
    found = sorted(p for p in folder.rglob("*.csv") if "queries" in p.name.lower())
    if len(found) != 1:
        told = f"several: {', '.join(str(p.relative_to(folder)) for p in found[:3])}" if found else "none"
        raise ConfigError(f"{folder}: one CSV file with `queries` in its name is needed, there are {told}")
    return found[0]


def _configured(home: Home, datasets: Path, include: list[str]) -> Home:
    """The home with settings that take just these files. Raises ConfigError where its settings take
    others: what would be judged is not what was asked for."""
    path = home.path / CONFIG_FILE
    if path.exists():
        if home.config.source.include != include:
            there = ", ".join(home.config.source.include)
            raise ConfigError(
                f"{path} takes {there}; use another --home for this format and these organizations, or"
                f" set include = {json.dumps(include, ensure_ascii=False)} under [source]"
            )
        return home
    if home.path.resolve().is_relative_to(datasets.resolve()):
        raise ConfigError("--home lies in the benchmark's datasets; choose a folder elsewhere")
    home.path.mkdir(parents=True, exist_ok=True)
    listed = ", ".join(json.dumps(i, ensure_ascii=False) for i in include)
    path.write_text(f"[source]\ninclude = [{listed}]\n", encoding="utf-8")
    return Home(home.path)
