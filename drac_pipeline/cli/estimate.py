"""`drac estimate`: tokens and money before a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.table import Table

from drac_pipeline.cli.console import HomeOption, err, out
from drac_pipeline.errors import DocumentError
from drac_pipeline.llm.estimate import Estimate, estimate
from drac_pipeline.llm.prices import PROVIDERS, UNPRICED, Prices
from drac_pipeline.sources.folder import FolderSource
from drac_pipeline.store import Home

MOST_ROWS = 40
_PDF, _IMAGES = {".pdf"}, {".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp", ".gif"}
_TEXT = {".html", ".htm", ".md", ".txt", ".eml", ".csv", ".json", ".xml"}
_SCAN_CHARS = 20  # a page with less text than this is taken for a scan
_ZIPPED_TEXT = 0.25  # characters for each byte of an office file, of the order of magnitude
_MARKED_TEXT = 0.6


def estimate_command(
    source: Annotated[Path, typer.Argument(help="Folder of documents, or one file.", show_default=False)],
    home: HomeOption,
    mode: Annotated[
        Literal["model", "auto"] | None,
        typer.Option(help="Which pages go to the model; default: as drac.toml says, else `model`."),
    ] = None,
    model: Annotated[str, typer.Option(help="Another model id than that of drac.toml.")] = "",
    price_provider: Annotated[
        str, typer.Option(help="Whose prices (a provider of genai-prices, such as openai or google).")
    ] = "",
) -> None:
    """Predict tokens and money for converting and planning SOURCE by a model; calls none.

    Counts pages and the characters of their text. Formats that are read from their own file (web pages,
    spreadsheets, text) cost planning only. Meant to be a little high, for a budget.

    Examples:

      drac estimate ./contracts --home ~/drac/contracts

      drac estimate ./contracts --home ~/drac/contracts --model gpt-4.1 --price-provider openai
    """
    config = Home(home).config
    chosen = mode or ("auto" if config.convert.mode == "auto" else "model")
    changed = {"model": model or config.model.model, "price_provider": price_provider}
    if model:
        changed["plan_model"] = ""
    if price_provider and price_provider != "aws":
        changed["provider"] = "openai"
    settings = config.model.model_copy(update={k: v for k, v in changed.items() if v or k == "plan_model"})
    prices = Prices(home, settings.price_provider or PROVIDERS[settings.provider])
    if prices.cost(settings.model, 1000, 1000).source == UNPRICED:
        err.print(f"[yellow]no price of {settings.model} is known[/]; write it into prices.toml in the home")
    rows: list[tuple[str, Estimate]] = []
    for entry in FolderSource(source, config.source).list():
        try:
            pages, wanted, chars = measure(entry.path, entry.size, chosen)
        except DocumentError as e:
            err.print(f"[yellow]left out[/] {entry.key}: {e.cause}", markup=True)
            continue
        rows.append((entry.key, estimate(pages, wanted, chars, settings, prices)))
    total = sum((e for _, e in rows), Estimate())
    table = Table(title=f"{settings.model}, mode {chosen}", title_justify="left")
    table.add_column("document", overflow="fold")
    for name in ("pages", "by model", "calls", "convert in/out", "plan in/out", "USD"):
        table.add_column(name, justify="right")
    for key, e in rows[:MOST_ROWS]:
        table.add_row(key, *_cells(e))
    if len(rows) > MOST_ROWS:
        table.add_row(f"… and {len(rows) - MOST_ROWS} more")
    table.add_section()
    table.add_row(f"{len(rows)} documents", *_cells(total))
    out.print(table)
    out.print(f"estimate: {total.calls} calls, ${total.usd:.4f}, {prices.cost(settings.model, 1, 1).source}")


def measure(path: Path, size: int, mode: str) -> tuple[int, int, int]:
    """Pages, pages for the model, characters of text. Raises DocumentError for a PDF that does not open."""
    suffix = path.suffix.lower()
    if suffix in _IMAGES:
        return 1, 1, 2200
    if suffix not in _PDF:
        return 0, 0, int(size * (_MARKED_TEXT if suffix in _TEXT else _ZIPPED_TEXT))
    from drac_pipeline.convert.local.document import open_pdf

    document = open_pdf(path)
    try:
        lengths = [len(str(document.load_page(n).get_text())) for n in range(document.page_count)]
    finally:
        document.close()
    scans = sum(n < _SCAN_CHARS for n in lengths)
    wanted = scans if mode == "auto" else len(lengths)
    return len(lengths), wanted, sum(lengths) + scans * 2200


def _cells(e: Estimate) -> list[str]:
    return [
        f"{e.pages:,}",
        f"{e.model_pages:,}",
        f"{e.calls:,}",
        f"{e.convert_in:,} / {e.convert_out:,}",
        f"{e.plan_in:,} / {e.plan_out:,}",
        f"{e.usd:.4f}",
    ]
