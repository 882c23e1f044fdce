"""`drac search`: chunks that answer a question."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import asdict
from typing import Annotated

import typer
from rich.padding import Padding
from rich.text import Text

from drac_pipeline.cli.console import HomeOption, err, existing_home, out
from drac_pipeline.counted import counted
from drac_pipeline.errors import ConfigError
from drac_pipeline.index.search import Hit, Mode, search
from drac_pipeline.store import Home

SHOWN_CHARS = 480


def search_command(
    question: Annotated[str, typer.Argument(help="What you want to know.", show_default=False)],
    home: HomeOption,
    mode: Annotated[
        Mode, typer.Option(help="Rank by meaning (vector), by words (text, BM25), or by both.")
    ] = "hybrid",
    source: Annotated[
        list[str] | None,
        typer.Option(help="Only documents whose key matches this glob; may be given several times."),
    ] = None,
    under: Annotated[
        str,
        typer.Option(
            metavar="BREADCRUMB", help="Only chunks under this heading, or with it; several as 'A > B'."
        ),
    ] = "",
    page: Annotated[str, typer.Option(metavar="N|N-M", help="Only chunks on these pages.")] = "",
    k: Annotated[int, typer.Option("-k", min=1, max=1000, help="How many chunks to show.")] = 6,
    full: Annotated[
        bool, typer.Option("--full", help="Show whole chunks, not the part that fits best.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document with everything.")] = False,
) -> None:
    """Find the chunks that answer a question, best first.

    Both rankings are fused by reciprocal rank; `\\[index]` in drac.toml has their weight. A link leads to the
    document, at the page for a PDF.

    Examples:

      drac search "How long is the notice period?" --home ~/drac/contracts

      drac search "pump torque" --source 'manuals/**' --under Maintenance -k 3 --json --home ~/drac/contracts
    """
    opened = existing_home(home)
    hits = search(opened, question, k=k, mode=mode, source=source or (), under=under, page=_pages(page))
    if as_json:
        told = {"question": question, "mode": mode, "hits": [asdict(h) for h in hits]}
        sys.stdout.write(json.dumps(told, ensure_ascii=False, indent=1) + "\n")
    else:
        for hit in hits:
            _show(hit, full)
        if not hits:
            filters = " with these filters" if source or under or page else ""
            err.print(f"nothing found{filters}; `drac status --all` lists what is in this home")
    _warn_behind(opened)


def _show(hit: Hit, full: bool) -> None:
    from drac_pipeline.index.highlight import best_window

    pages = (
        f"page {hit.page_start}"
        if hit.page_start == hit.page_end
        else f"pages {hit.page_start}–{hit.page_end}"
    )
    head = Text(f"{hit.rank:>2}  ", style="dim")
    head.append(hit.breadcrumb or hit.document_key, style="bold")
    out.print(head)
    where = Text(f"    {hit.document_key}", style="cyan")
    if hit.page_start:
        where.append(f" · {pages}", style="dim")
    ranks = ", ".join(f"{name} {rank or '–'}" for name, rank in hit.ranks.items())
    where.append(f" · score {hit.score:.4g} (rank by {ranks})", style="dim")
    out.print(where)
    out.print(Text(f"    {hit.link}", style=f"dim link {hit.link}"), soft_wrap=True)
    start, end = (0, len(hit.text)) if full else best_window(hit.text, hit.highlights, SHOWN_CHARS)
    shown = Text(("…" if start else "") + hit.text[start:end] + ("…" if end < len(hit.text) else ""))
    shift = (1 if start else 0) - start
    for a, b in hit.highlights:
        if a >= start and b <= end:
            shown.stylize("bold yellow", a + shift, b + shift)
    for line in shown.split("\n", allow_blank=False):
        if line.plain.strip():
            out.print(Padding(line, (0, 0, 0, 4), expand=False))
    out.print()


def _pages(text: str) -> int | tuple[int, int] | None:
    if not text:
        return None
    found = re.fullmatch(r"(\d+)(?:\s*[-–]\s*(\d+))?", text.strip())
    if not found or int(found[1]) < 1:
        raise ConfigError(f"--page {text!r}: give a page such as 3, or pages such as 3-5")
    return (int(found[1]), int(found[2])) if found[2] else int(found[1])


def _warn_behind(home: Home) -> None:
    from drac_pipeline.index.sync import index_state

    state = index_state(home)
    if not state.in_step:
        n = len({*state.behind, *state.surplus, *state.waiting})
        err.print(
            f"[yellow]the index is not in step:[/] {counted(n, 'document has', 'documents have')}"
            " changed since; the next `drac run`"
            " brings it up to date"
        )
