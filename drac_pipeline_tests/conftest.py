"""Small documents that many tests need, made here."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pymupdf
import pytest

# Worker processes have the environment of the moment in which the first of them was asked for, which may be
# any test: none of these opens anything, and nothing but loopback is asked.
for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
    os.environ.setdefault(name, "double")
os.environ.setdefault("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture(autouse=True)
def own_logging() -> Iterator[None]:
    """A command run within a test sets up logging for its process: the next test has it as it was."""
    root = logging.getLogger()
    level = root.level
    yield
    root.setLevel(level)
    root.handlers = [h for h in root.handlers if h.get_name() != "drac"]


def write_pdf(path: Path, *pages: str) -> Path:
    """A PDF of A4 pages; each is HTML, so that headings, lists and tables are real."""
    path.parent.mkdir(parents=True, exist_ok=True)
    doc = pymupdf.open()
    for html in pages:
        page = doc.new_page(width=595, height=842)
        page.insert_htmlbox(
            pymupdf.Rect(60, 60, 535, 782), html, css="body{font-family:sans-serif;font-size:11px}"
        )
    doc.save(path, no_new_id=True, garbage=3, deflate=True)
    doc.close()
    return path


MANUAL = """<h1>Pump manual</h1><p>The pump moves water from the lower to the upper tank.</p>
<h2>Starting</h2><p>Start the pump as follows:</p>
<ol><li>Open the inlet valve.</li><li>Press the green button.</li><li>Wait for ten seconds.</li></ol>
<h2>Limits</h2><p>The pressure must stay below 6 bar at all times.</p>"""


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A source of three small PDFs, one in a folder."""
    root = tmp_path / "corpus"
    write_pdf(root / "manual.pdf", MANUAL)
    write_pdf(
        root / "notes" / "site visit.pdf", "<h1>Site visit</h1><p>The roof of hall 3 leaks near gate B.</p>"
    )
    write_pdf(root / "two pages.pdf", "<h1>First</h1><p>Alpha one.</p>", "<h1>Second</h1><p>Beta two.</p>")
    return root


@pytest.fixture
def effort() -> Callable[[Callable[[], object]], int]:
    """Counts the calls, Python's and C's, that running something takes: the same figure on any
    machine under any load, and so a fit measure of how work grows with size."""

    def measure(run: Callable[[], object]) -> int:
        calls = 0

        def count(_frame: object, event: str, _arg: object) -> None:
            nonlocal calls
            calls += event in ("call", "c_call")

        sys.setprofile(count)
        try:
            run()
        finally:
            sys.setprofile(None)
        return calls

    return measure


@pytest.fixture
def make_pdf() -> Callable[..., Path]:
    """The function that writes a small PDF."""
    return write_pdf
