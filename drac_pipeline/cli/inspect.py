"""`drac inspect`: a document as a page to look at."""

from __future__ import annotations

import os
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from drac_pipeline.cli.console import HomeOption, err, existing_home, out
from drac_pipeline.cli.documents import LISTED, find_key
from drac_pipeline.counted import counted
from drac_pipeline.errors import ConfigError
from drac_pipeline.sources.keys import artifact_dirname
from drac_pipeline.store import Home

_MOST_NAME_BYTES = 255


def inspect(
    home: HomeOption,
    document: Annotated[
        str | None,
        typer.Argument(help="Key, file, or a part of the key that only one has.", show_default=False),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="File to write, or a folder; else inspect/… in the home.", show_default=False
        ),
    ] = None,
    pages: Annotated[
        str, typer.Option(help="Pages to show, as 1-20,25; else the first 100.", show_default=False)
    ] = "",
    open_it: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve the pages of all documents instead, on 127.0.0.1.")
    ] = False,
    port: Annotated[int, typer.Option(help="Port of --serve; 0 takes a free one.")] = 3070,
) -> None:
    """Write one self-contained HTML page of a document: page images with boxes beside elements, Markdown and
    chunks, with what was left out and what the fidelity check found.

    Hovering a chunk shows where on the page it came from. The page loads nothing: it can be sent as it is.
    With --serve the pages are made when asked for; links in the Dagster UI lead there.

    Examples:

      drac inspect "Employee Handbook" --home ~/drac/hr --open

      drac inspect --serve --home ~/drac/hr
    """
    opened = existing_home(home)
    if serve:
        _serve(opened, port, open_it)
        return
    if document is None:
        raise ConfigError(f"name a document ({LISTED}), or give --serve")
    from drac_pipeline.inspection import inspect_document
    from drac_pipeline.inspection.pages import default_pages, parse_pages

    if opened.store.manifest(document):
        key = document
    else:
        key = find_key(document, {m.document_key: m for m in opened.store.manifests()})
    target = file or opened.path / "inspect" / f"{artifact_dirname(key)}.html"
    if target.is_dir():
        target /= _file_name(key)
    chosen = parse_pages(pages) if pages else default_pages(opened.store, key)
    inspect_document(opened, key, target, chosen)
    out.print(str(target), soft_wrap=True, markup=False)
    if chosen is not None and not pages:
        err.print(f"the first {counted(len(chosen), 'page')}; --pages shows others")
    if open_it:
        webbrowser.open(target.resolve().as_uri())


def _file_name(key: str) -> str:
    """What the page of a document is called in a folder of a person's."""
    name = f"{key.replace('/', '_')}.html"
    return name if len(os.fsencode(name)) <= _MOST_NAME_BYTES else f"{artifact_dirname(key)}.html"


def _serve(opened: Home, port: int, open_it: bool) -> None:
    from drac_pipeline.inspection.serve import InspectionServer

    try:
        server = InspectionServer(opened, port)
    except OSError as e:
        raise ConfigError(f"port {port} cannot be used ({e.strerror}); --port takes another") from e
    with server:
        out.print(f"documents are shown at {server.url} (Ctrl-C ends it)")
        if open_it:
            webbrowser.open(server.url)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            out.print("ended")
