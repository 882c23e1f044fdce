"""`drac demo-model`: a stand-in for a model service, to try and to test with."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from drac_pipeline.cli.console import err, out
from drac_pipeline.counted import counted


def demo_model(
    source: Annotated[
        Path | None,
        typer.Argument(help="PDFs whose pages it shall know; others it reads by OCR.", show_default=False),
    ] = None,
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 takes a free one.")] = 8790,
    latency: Annotated[float, typer.Option(help="Seconds a page takes.")] = 0.5,
    quota: Annotated[int, typer.Option(help="Pages in flight from which it throttles; 0: none.")] = 0,
    faults: Annotated[float, typer.Option(min=0, max=1, help="Share of calls that go wrong.")] = 0.0,
    seed: Annotated[int, typer.Option(help="Which calls those are.")] = 1,
    seconds: Annotated[float, typer.Option(help="End after so many seconds; 0: at Ctrl-C.")] = 0.0,
) -> None:
    """Serve a stand-in for Bedrock (Converse, Titan embeddings) and OpenAI (chat, embeddings). No cost.

    It is no model: it answers page images with what the local converter reads, plans by a simple rule, and
    embeds by hashing words.
    Use it to see model mode, retries, budgets and the ledger before there is an account.

    Example:

      drac demo-model data/corpus --faults 0.2
    """
    from drac_pipeline.llm.doubles import Brain, Double, FaultPlan, page_table

    pdfs = sorted(source.rglob("*.pdf")) if source and source.is_dir() else [source] if source else []
    if pdfs:
        err.print(f"reading {len(pdfs)} PDFs, so that it knows their pages …")
    brain = Brain(page_table(pdfs))
    plan = FaultPlan(rate=faults, seed=seed)
    with Double(brain, faults=plan, latency=latency, quota=quota, port=port) as server:
        out.print(
            f"a stand-in for a model answers at {server.url} and knows {counted(len(brain.table), 'page')}.\n"
            "In drac.toml:\n\n"
            f'\\[convert]\nmode = "model"\n\n\\[plan]\nplanner = "model"\n\n\\[model]\nregion = "eu-west-1"\n'
            f'endpoint_url = "{server.url}"\n\n\\[embed]\nprovider = "bedrock"\nregion = "eu-west-1"\n'
            f'endpoint_url = "{server.url}"\n\n'
            "and in the environment any AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (it takes them all)."
        )
        end = time.monotonic() + seconds if seconds else float("inf")
        try:
            while time.monotonic() < end:
                time.sleep(0.2)
        except KeyboardInterrupt:
            pass
    out.print(
        f"{counted(server.requests, 'request')}, {counted(server.pages, 'page')},"
        f" {counted(server.texts, 'text')} embedded,"
        f" faults: {dict(plan.seen)}"
    )
