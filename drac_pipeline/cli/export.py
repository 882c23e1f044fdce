"""`drac export`: Markdown and chunks for use elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drac_pipeline.cli.console import HomeOption, existing_home, out
from drac_pipeline.export import export_chunks, export_markdown

export_app = typer.Typer(no_args_is_help=True, help="Write Markdown or chunks for use elsewhere.")


@export_app.command()
def markdown(
    folder: Annotated[Path, typer.Argument(metavar="OUT", help="Folder to write to.", show_default=False)],
    home: HomeOption,
) -> None:
    """Write OUT/<document key>.md for every converted document."""
    n = export_markdown(existing_home(home).store, folder)
    out.print(f"{n} documents written to {folder}")


@export_app.command()
def chunks(
    file: Annotated[
        Path, typer.Argument(metavar="OUT", help="File that ends in .parquet or .jsonl.", show_default=False)
    ],
    home: HomeOption,
) -> None:
    """Write one row a chunk: document_key, chunk_id, ordinal, text, breadcrumb, headings, element_ids,
    page_start, page_end, n_chars and more."""
    n = export_chunks(existing_home(home).store, file)
    out.print(f"{n} chunks written to {file}")
