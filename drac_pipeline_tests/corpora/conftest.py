"""A deployment of two corpora whose documents have the same keys and other words."""

from __future__ import annotations

from pathlib import Path

import pytest

from drac_pipeline.corpora import add_corpus
from drac_pipeline.defs.deployment import write_instance
from drac_pipeline.store.corpora import Deployment
from drac_pipeline_tests.conftest import write_pdf

WORDS = {"contracts": "Zwetschge", "payroll": "Mirabelle"}
KEYS = ["notes/report.pdf", "terms.pdf"]


def write_source(folder: Path, word: str) -> Path:
    for key in KEYS:
        write_pdf(
            folder / key, f"<h1>Notice period</h1><p>The notice period is three months: {word}, {key}.</p>"
        )
    return folder


@pytest.fixture
def deployment(tmp_path: Path) -> Deployment:
    made = Deployment(tmp_path / "deployment")
    for name, word in WORDS.items():
        add_corpus(made, name, write_source(tmp_path / "sources" / name, word))
        write_instance(made)
    return made
