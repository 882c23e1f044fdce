"""Homes of other releases: an older one opens, a newer one is refused."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from dagster import AssetKey

from drac_pipeline.cli import main
from drac_pipeline.errors import DracError
from drac_pipeline.model import (
    CHUNK_SCHEMA,
    ELEMENT_SCHEMA,
    ChunkPlan,
    ConversionReport,
    as_chunk_table,
    chunks_from_table,
    elements_from_table,
)
from drac_pipeline.pipeline import STAGES, find_work
from drac_pipeline.pipeline.standing import overview
from drac_pipeline.store import Home, home_format
from drac_pipeline.store.home_format import HOME_FILE, HOME_FORMAT, bring_to_format

OLD = Path(__file__).with_name("home_of_schema_1.tar.gz")


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    return int(end.value.code or 0)


@pytest.fixture
def old_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home that the release of manifest schema 1 made of two PDFs, and the PDFs where it found them."""
    for name in ("DAGSTER_HOME", "DRAC_HOME", "DAGSTER_EVENT_BATCH_SIZE"):
        monkeypatch.setenv(name, "")  # restored when the test ends
        monkeypatch.delenv(name)
    with tarfile.open(OLD) as tar:
        tar.extractall(tmp_path, filter="data")
    home = tmp_path / "home"
    for path in [home / "sources.txt", *home.rglob("manifest.json")]:
        path.write_text(path.read_text().replace("/srv/documents", str(tmp_path / "documents")))
    return Home(home)


def test_a_home_of_an_older_release_opens_and_goes_on(old_home: Home, tmp_path: Path, capsys) -> None:
    before = {m.document_key: m for m in old_home.store.manifests()}
    assert {
        k: json.loads(p.read_text())["schema_version"]
        for p in old_home.path.rglob("manifest.json")
        for k in [p.parent.name[:6]]
    } == {"manual": 1, "notes-": 1}
    assert set(before) == {"manual.pdf", "notes/site visit.pdf"}
    # all of it is read, before anything is made again
    for key, manifest in before.items():
        elements = pq.read_table(old_home.store.path(key, "elements", "elements.parquet", manifest))
        assert [e.part for e in elements_from_table(elements)] == [0, 0]
        chunks = pq.read_table(old_home.store.path(key, "chunks", "chunks.parquet", manifest))
        assert len(chunks_from_table(chunks)) == 1
    assert run("status", "--home", str(old_home.path)) == 0
    assert run("export", "chunks", str(tmp_path / "old.parquet"), "--home", str(old_home.path)) == 0
    assert run("search", "pressure", "--home", str(old_home.path)) in (
        0,
        2,
    )  # no vectors yet: said, not a crash
    states = {d.key: d.why for d in overview(old_home).documents}
    assert all("code changed" in why or "not made yet" in why for why in states.values()), states
    # a run brings it up to date, in the same Dagster instance
    assert run("run", str(tmp_path / "documents"), "--home", str(old_home.path)) == 0
    assert find_work(old_home, tmp_path / "documents", old_home.config).work == []
    assert json.loads((old_home.path / HOME_FILE).read_text())["format"] == HOME_FORMAT
    capsys.readouterr()
    assert run("search", "pressure below 6 bar", "--home", str(old_home.path), "-k", "1") == 0
    assert "6 bar" in capsys.readouterr().out
    from drac_pipeline.defs.launch import open_instance

    with open_instance(old_home) as instance:
        runs = instance.get_runs()
        assert len(runs) == 2  # its old run is still there
        assert all(r.is_success for r in runs)
        assert sorted(instance.get_dynamic_partitions("documents")) == sorted(before)
        for stage in STAGES:
            made = instance.event_log_storage.get_materialized_partitions(AssetKey(stage.name))
            assert made == set(before)


def test_a_home_of_a_newer_release_is_refused_and_left_alone(tmp_path: Path, capsys, make_pdf) -> None:
    make_pdf(tmp_path / "documents" / "a.pdf", "<p>A sentence.</p>")
    home = tmp_path / "home"
    home.mkdir()
    (home / HOME_FILE).write_text(json.dumps({"format": HOME_FORMAT + 1, "release": "9.1"}))
    before = sorted(home.rglob("*"))
    for command in (["run", str(tmp_path / "documents")], ["status"], ["plan"], ["search", "x"]):
        assert run(*command, "--home", str(home)) == 2
        assert "newer release, 9.1" in " ".join(capsys.readouterr().err.split())
    assert sorted(home.rglob("*")) == before


def test_a_home_that_is_too_old_is_refused_with_the_way_out(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(home_format, "OLDEST_FORMAT", 1)
    with pytest.raises(DracError, match="release in between"):
        _ = Home(tmp_path).store


def test_migrations_run_in_order_and_again_after_a_kill(tmp_path: Path, monkeypatch) -> None:
    done: list[int] = []

    def fails_once(_: Path) -> None:
        done.append(1)
        if done.count(1) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(home_format, "HOME_FORMAT", 2)
    monkeypatch.setattr(home_format, "MIGRATIONS", {0: lambda _: done.append(0), 1: fails_once})
    with pytest.raises(KeyboardInterrupt):
        bring_to_format(tmp_path, "1.0")
    assert home_format.check_format(tmp_path) == 0
    bring_to_format(tmp_path, "1.0")
    assert done == [0, 1, 0, 1]
    bring_to_format(tmp_path, "1.0")
    assert done == [0, 1, 0, 1] and home_format.check_format(tmp_path) == 2


@pytest.mark.parametrize("text", ["", "[]", '{"format": "x"}'])
def test_a_damaged_format_file_is_named(text: str, tmp_path: Path) -> None:
    (tmp_path / HOME_FILE).write_text(text)
    with pytest.raises(DracError, match=HOME_FILE):
        _ = Home(tmp_path).store


def test_artifacts_of_a_newer_release_are_refused() -> None:
    for schema, read in (
        (ELEMENT_SCHEMA, elements_from_table),
        (CHUNK_SCHEMA, chunks_from_table),
        (CHUNK_SCHEMA, as_chunk_table),
    ):
        kind = schema.metadata[b"drac_schema"].decode().split("/")[0]
        table = schema.with_metadata({"drac_schema": f"{kind}/99"}).empty_table()
        with pytest.raises(DracError, match=f"{kind}: written by a newer release .schema 99"):
            read(table)
        assert len(read(schema.with_metadata({"drac_schema": f"{kind}/1"}).empty_table())) == 0
    with pytest.raises(DracError, match="newer release"):
        ChunkPlan.model_validate_json('{"schema_version": 9, "document_key": "a", "planner": "p"}')
    with pytest.raises(DracError, match="newer release"):
        ConversionReport.model_validate_json('{"schema_version": 9, "converter": "c"}')
