"""The sample corpus in a home, made once, and a small one."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from drac_pipeline.pipeline import find_work, process_document
from drac_pipeline.store import Home

DATA = Path(__file__).parents[2] / "data"


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


@pytest.fixture(scope="session")
def sample_home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Documents of the sample corpus that need neither browser nor office: PDFs, workbook, web page."""
    root = tmp_path_factory.mktemp("sample")
    for name in (
        "products/Spare Parts Price List 2025.pdf",
        "products/AN-17 Residual chlorine control.pdf",
        "finance/Supply Agreement Peltra Membranes.pdf",
        "quality/Minutes Product Safety Board 2025-04-08.pdf",
    ):
        (root / "corpus" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(DATA / "corpus" / name, root / "corpus" / name)
    return filled(Home(root / "home"), root / "corpus")
