"""A home whose three documents have chunks and vectors, and an index of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from drac_pipeline.index.sync import sync_index
from drac_pipeline.pipeline import find_work, process_document
from drac_pipeline.store import Home


@pytest.fixture
def embedded(tmp_path: Path, corpus: Path) -> Home:
    """Not indexed yet."""
    home = Home(tmp_path / "home")
    take_in(home, corpus)
    return home


@pytest.fixture
def indexed(embedded: Home) -> Home:
    """Indexed."""
    assert sync_index(embedded).state.in_step
    return embedded


def take_in(home: Home, source: Path) -> None:
    """What a run does, in this process and without Dagster."""
    for work in find_work(home, source, home.config).work:
        assert process_document(home.store, work.key, home.config).failure is None
