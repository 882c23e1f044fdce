"""`drac export`: Markdown and chunks for use elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drac_pipeline.cli.console import HomeOption, err, existing_home, out
from drac_pipeline.cli.help import Commands
from drac_pipeline.cli.on_home import on_home
from drac_pipeline.counted import counted
from drac_pipeline.errors import ConfigError
from drac_pipeline.export import check_file, export_chunks, export_markdown
from drac_pipeline.index.export import Exported, export_langchain, export_llamaindex, export_vectors

export_app = Commands(no_args_is_help=True, help="Write Markdown, chunks or vectors for use elsewhere.")


@export_app.command()
@on_home
def markdown(
    folder: Annotated[Path, typer.Argument(metavar="OUT", help="Folder to write to.", show_default=False)],
    home: HomeOption,
) -> None:
    """Write OUT/<document key>.md for every converted document.

    What an earlier export of this home wrote there of documents that are gone is removed, unless somebody
    changed it since; OUT/.drac-export.json lists what was written. Other files are left alone.
    """
    done = export_markdown(existing_home(home).store, folder)
    out.print(f"{counted(done.written, 'document')} written to {folder}", markup=False, soft_wrap=True)
    if done.removed:
        out.print(f"{counted(len(done.removed), 'file')} of documents that are gone removed")
    if done.kept:
        told = counted(len(done.kept), "file of a document that is gone", "files of documents that are gone")
        some = ", ".join(done.kept[:3]) + (" …" if len(done.kept) > 3 else "")
        err.print(f"{told} kept, changed since the export: {some}", markup=False, soft_wrap=True)


@export_app.command()
@on_home
def chunks(
    file: Annotated[
        Path, typer.Argument(metavar="OUT", help="File that ends in .parquet or .jsonl.", show_default=False)
    ],
    home: HomeOption,
) -> None:
    """Write one row a chunk: document_key, chunk_id, ordinal, text, breadcrumb, headings, element_ids,
    page_start, page_end, n_chars and more."""
    n = export_chunks(existing_home(home).store, file)
    out.print(f"{counted(n, 'chunk')} written to {file}", markup=False, soft_wrap=True)


FileArgument = Annotated[Path, typer.Argument(metavar="OUT", help="File to write.", show_default=False)]


@export_app.command()
@on_home
def vectors(file: FileArgument, home: HomeOption) -> None:
    """Write one row a chunk with its vector and the embedder's name; .parquet or .jsonl."""
    _tell(export_vectors(existing_home(home), file), file)


@export_app.command()
@on_home
def langchain(file: FileArgument, home: HomeOption) -> None:
    """Write a LangChain document a line (JSON).

    To read it: [Document.model_validate_json(line) for line in open(OUT)]
    """
    _tell(export_langchain(existing_home(home), _json_lines(file)), file)


@export_app.command()
@on_home
def llamaindex(file: FileArgument, home: HomeOption) -> None:
    """Write a LlamaIndex node a line (JSON), with its vector, its document and its neighbours.

    To read it: [TextNode.model_validate_json(line) for line in open(OUT)]
    """
    _tell(export_llamaindex(existing_home(home), _json_lines(file)), file)


def _json_lines(file: Path) -> Path:
    check_file(file, "chunks.jsonl")
    if file.suffix.lower() == ".parquet":
        raise ConfigError(f"{file.name}: what is written are lines of JSON; name it {file.stem}.jsonl")
    return file


def _tell(done: Exported, file: Path) -> None:
    out.print(f"{counted(done.chunks, 'chunk')} written to {file}", markup=False, soft_wrap=True)
    if done.without_vectors:
        some = ", ".join(done.without_vectors[:3]) + (" …" if len(done.without_vectors) > 3 else "")
        have = counted(len(done.without_vectors), "document has", "documents have")
        err.print(
            f"{have} no vectors of their chunks yet ({some}); `drac run` makes them",
            markup=False,
            soft_wrap=True,
        )
