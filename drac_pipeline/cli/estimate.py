"""`drac estimate`: tokens and money before a run."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Sequence
from math import ceil
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.markup import escape
from rich.table import Table

from drac_pipeline.cli.console import HomeOption, SourceArgument, err, out, settled_home
from drac_pipeline.config import ConvertConfig, DracConfig
from drac_pipeline.counted import counted
from drac_pipeline.errors import DocumentError, explain
from drac_pipeline.index.service_embedder import service_settings
from drac_pipeline.llm.estimate import USUAL_PAGE_CHARS, Estimate, estimate, estimate_embedding
from drac_pipeline.llm.prices import PROVIDERS, UNPRICED, Prices
from drac_pipeline.sources.address import source_address
from drac_pipeline.sources.open import open_source

MOST_ROWS = 40
_PDF, _IMAGES = {".pdf"}, {".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp", ".gif"}
_MARKED = {".html", ".htm", ".xhtml"}
_TEXT = {".html", ".htm", ".md", ".txt", ".eml", ".csv", ".json", ".xml"}
_SCAN_CHARS = 20  # a page with less text than this is taken for a scan
_ZIPPED_TEXT = 0.25  # characters for each byte of a file that is not looked into, of the order of magnitude
_MARKED_TEXT = 0.6
_PARTS = re.compile(  # of an office file that hold its text
    r"word/(?:document|footnotes|endnotes)\.xml|ppt/slides/slide\d+\.xml|xl/(?:sharedStrings|worksheets/"
    r"[^/]+)\.xml|content\.xml|.+\.x?html?"
)
_MARKUP = re.compile(rb"<(script|style)\b.*?</\1>|<[^>]*>", re.S | re.I)
_ROW_SHARE = 2.0  # row sentences name their columns with each cell
_MOST_READ = 50_000_000  # bytes of a part


def estimate_command(
    source: SourceArgument,
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
    """Predict tokens and money for converting and planning SOURCE by a model, and for embedding its chunks
    where `embed.provider` names a service; calls none.

    Counts pages and the characters of their text. Formats that are read from their own file (web pages,
    spreadsheets, text) cost planning and embedding only. Meant to be a little high, for a budget.

    Examples:

      drac estimate ./contracts --home ~/drac/contracts

      drac estimate ./contracts --home ~/drac/contracts --model gpt-4.1 --price-provider openai
    """
    opened = settled_home(home)
    config = opened.config
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
    modes: set[str] = set()
    found = open_source(source_address(source), config.source, opened.remote)
    for entry in found.list():
        own = config.for_document(entry.key)
        convert = own.convert
        # where nothing goes to a model yet, what it would cost if everything did
        chosen = mode or (convert.mode if config.converts_by_model else "model")
        modes.add(chosen)
        try:
            path = found.fetch(entry)
            pages, wanted, chars = measure(
                path, entry.size, chosen, read_by_pages(convert), own.normalize.plain_passwords
            )
        except DocumentError as e:
            err.print(
                f"[yellow]left out[/] {escape(entry.key)}: {escape(explain(e.kind, e.cause, e.remedy))}"
            )
            continue
        cost = estimate(pages, wanted, chars, settings, prices)
        rows.append((entry.key, cost + embedding_cost(home, config, chars)))
    total = sum((e for _, e in rows), Estimate())
    table = Table(title=f"{settings.model}, mode {' and '.join(sorted(modes))}", title_justify="left")
    table.add_column("document", overflow="fold")
    embeds = ("embed in",) if config.embeds_by_service else ()
    for name in ("pages", "by model", "calls", "convert in/out", "plan in/out", *embeds, "USD"):
        table.add_column(name, justify="right")
    for key, e in rows[:MOST_ROWS]:
        table.add_row(escape(key), *_cells(e, config))
    if len(rows) > MOST_ROWS:
        table.add_row(f"… and {len(rows) - MOST_ROWS} more")
    table.add_section()
    table.add_row(counted(len(rows), "document"), *_cells(total, config))
    out.print(table)
    out.print(
        f"estimate: {counted(total.calls, 'call')}, ${total.usd:.4f},"
        f" {prices.cost(settings.model, 1, 1).source}"
    )


def measure(
    path: Path,
    size: int,
    mode: str,
    by_pages: Callable[[str], bool] = lambda _: False,
    passwords: Sequence[str] = (),
) -> tuple[int, int, int]:
    """Pages, pages for the model (none with mode `local`), characters of text. `by_pages` says of a suffix
    whether such files are read by their pages. Raises DocumentError for a PDF that does not open, also
    with none of the passwords."""
    suffix = path.suffix.lower()
    if suffix in _IMAGES:
        return 1, int(mode != "local"), USUAL_PAGE_CHARS
    if suffix not in _PDF:
        chars = _text_size(path, size)
        # read from its own file, unless the settings say by its pages
        pages = ceil(chars / USUAL_PAGE_CHARS) if by_pages(suffix) else 0
        return pages, pages if mode == "model" else 0, chars
    from drac_pipeline.convert.local.document import open_pdf

    document = open_pdf(path, passwords)
    try:
        lengths = [len(str(document.load_page(n).get_text())) for n in range(document.page_count)]
    finally:
        document.close()
    scans = sum(n < _SCAN_CHARS for n in lengths)
    wanted = {"auto": scans, "local": 0}.get(mode, len(lengths))
    return len(lengths), wanted, sum(lengths) + scans * USUAL_PAGE_CHARS


def _text_size(path: Path, size: int) -> int:
    """Characters of text in a file that is no PDF, without its markup; else by its size."""
    suffix = path.suffix.lower()
    try:
        if suffix in _MARKED:
            return len(_MARKUP.sub(b" ", path.read_bytes()[:_MOST_READ]))
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as package:
                parts = [i for i in package.infolist() if _PARTS.fullmatch(i.filename)]
                return sum(_part_size(package, part) for part in parts)
    except (OSError, zipfile.BadZipFile, RuntimeError, NotImplementedError):  # damaged, or with a password
        pass
    return int(size * (_MARKED_TEXT if suffix in _TEXT else _ZIPPED_TEXT))


def _part_size(package: zipfile.ZipFile, part: zipfile.ZipInfo) -> int:
    with package.open(part) as stream:
        data = stream.read(_MOST_READ)
    # tags become nothing: in office files they stand inside words
    text = len(_MARKUP.sub(b"", data))
    return int(text * _ROW_SHARE) if part.filename.startswith("xl/") else text


def read_by_pages(config: ConvertConfig) -> Callable[[str], bool]:
    """Whether files of a suffix are read by their pages."""
    routes = [
        ({".html", ".htm", ".md", ".txt", ".eml", ".epub"}, config.html_route != "web"),
        ({".xlsx", ".xls", ".ods", ".csv"}, config.sheet_route != "cells"),
    ]
    return lambda suffix: next((by for some, by in routes if suffix in some), config.office_route != "own")


def embedding_cost(home: Path, config: DracConfig, chars: int) -> Estimate:
    """Of embedding `chars` characters of text: nothing where this machine does it."""
    if not config.embeds_by_service:
        return Estimate()
    settings = service_settings(config.embed, config.model)
    prices = Prices(home, settings.price_provider or PROVIDERS[settings.provider])
    return estimate_embedding(chars, config.embed, settings, prices)


def _cells(e: Estimate, config: DracConfig) -> list[str]:
    return [
        f"{e.pages:,}",
        f"{e.model_pages:,}",
        f"{e.calls:,}",
        f"{e.convert_in:,} / {e.convert_out:,}",
        f"{e.plan_in:,} / {e.plan_out:,}",
        *([f"{e.embed_in:,}"] if config.embeds_by_service else []),
        f"{e.usd:.4f}",
    ]
