"""Which document a person means."""

from __future__ import annotations

from pathlib import Path

import pytest

from drac_pipeline.cli.documents import NoSuchDocument, find_key
from drac_pipeline.errors import ConfigError
from drac_pipeline.pipeline import find_work
from drac_pipeline.store import Home, Manifest


@pytest.fixture
def known(tmp_path: Path) -> dict[str, Manifest]:
    """Documents that are registered, none of them done."""
    for name in (
        "lease.txt",
        "2024/lease.txt",
        "2024/Old Lease.txt",
        "guide.txt",
        *(f"n{i}.md" for i in range(12)),
    ):
        (tmp_path / "source" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "source" / name).write_text("text")
    home = Home(tmp_path / "home")
    find_work(home, tmp_path / "source", home.config)
    return {m.document_key: m for m in home.store.manifests()}


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("lease.txt", "lease.txt"),  # the key itself, though others end so
        ("GUIDE", "guide.txt"),
        ("old lease.TXT", "2024/Old Lease.txt"),
        ("2024/l", "2024/lease.txt"),
        ("{source}/2024/lease.txt", "2024/lease.txt"),
    ],
)
def test_key_file_and_part(known: dict[str, Manifest], tmp_path: Path, text: str, key: str) -> None:
    assert find_key(text.format(source=tmp_path / "source"), known) == key


def test_several_and_none(known: dict[str, Manifest]) -> None:
    told = "'lease' fits 3 documents: '2024/Old Lease.txt', '2024/lease.txt', 'lease.txt'; give more"
    with pytest.raises(ConfigError, match=told):
        find_key("lease", known)
    with pytest.raises(ConfigError, match=r"fits 12 documents: 'n0.md', .* and 2 more"):
        find_key(".md", known)
    with pytest.raises(NoSuchDocument, match="`drac status --all` lists the keys"):
        find_key("s3://", known)
