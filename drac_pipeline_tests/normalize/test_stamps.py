"""The same document is the same PDF, whenever and wherever it is made."""

from __future__ import annotations

import time
from pathlib import Path

import pymupdf
import pytest
from PIL import Image

from drac_pipeline_tests.normalize.conftest import make_docx, pdf_text


def made_twice(run, path: Path) -> tuple[bytes, bytes]:
    first = run(path).pdf.read_bytes()
    time.sleep(1.1)  # PDF knows seconds
    return first, run(path).pdf.read_bytes()


@pytest.mark.office
def test_office_files(tmp_path: Path, run) -> None:
    one = make_docx(tmp_path / "one.docx", "The valve is closed.")
    other = make_docx(tmp_path / "other.docx", "The valve is open.")
    first, again = made_twice(run, one)
    assert first == again
    made = run(other).pdf
    with pymupdf.open(stream=first) as a, pymupdf.open(made) as b:
        assert a.xref_get_key(-1, "ID") != b.xref_get_key(-1, "ID")
        assert str((a.metadata or {})["creationDate"]).startswith("D:19700101000000Z")
    assert "open" in pdf_text(made)


@pytest.mark.browser
def test_web_pages(tmp_path: Path, run) -> None:
    page = tmp_path / "page.html"
    page.write_text("<h1>Pump</h1><p>It is oiled. /CreationDate (D:20240101)</p>")
    first, again = made_twice(run, page)
    assert first == again
    assert "D:20240101" in pdf_text(run(page).pdf)


def test_images(tmp_path: Path, run) -> None:
    path = tmp_path / "scan.png"
    Image.new("RGB", (300, 200), "white").save(path)
    first, again = made_twice(run, path)
    assert first == again
