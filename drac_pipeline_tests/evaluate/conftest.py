"""Questions in a file, and a small home."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from drac_pipeline.pipeline import find_work, process_document
from drac_pipeline.store import Home


@pytest.fixture
def questions_file(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a CSV of questions."""

    def write(text: str, encoding: str = "utf-8") -> Path:
        path = tmp_path / "questions.csv"
        path.write_bytes(text.encode(encoding))
        return path

    return write


def filled(home: Home, source: Path) -> Home:
    """A home with the documents of a folder, through all stages."""
    find_work(home, source, home.config)
    for manifest in list(home.store.manifests()):
        process_document(home.store, manifest.document_key, home.config)
    return home


@pytest.fixture
def small_home(tmp_path: Path, corpus: Path) -> Home:
    """Three small PDFs."""
    return filled(Home(tmp_path / "home"), corpus)
