"""Backups: whole while runs go on, cheap the second time; a restored home goes on as the old one."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from dagster import AssetKey, DagsterRunStatus

from drac_pipeline.backup import make_backup, restore_backup, snapshots
from drac_pipeline.backup import repository as repository_module
from drac_pipeline.backup.repository import BACKUP_FILE
from drac_pipeline.cli import main
from drac_pipeline.errors import ConfigError, DracError
from drac_pipeline.pipeline import STAGES, find_work
from drac_pipeline.store import Home
from drac_pipeline.store.home_format import HOME_FORMAT

ROOT = Path(__file__).parents[2]
DRAC = Path(sys.executable).with_name("drac")


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DAGSTER_HOME", "DRAC_HOME", "DAGSTER_EVENT_BATCH_SIZE"):
        monkeypatch.setenv(name, "")  # restored when the test ends
        monkeypatch.delenv(name)


def run(*arguments: str | Path) -> int:
    with pytest.raises(SystemExit) as end:
        main([str(a) for a in arguments])
    return int(end.value.code or 0)


def shown(home: Home) -> dict[str, object]:
    """What the UI shows of a home: its partitions, and which of them each asset is materialized for."""
    from drac_pipeline.defs.launch import open_instance

    with open_instance(home) as instance:
        made = instance.event_log_storage.get_materialized_partitions
        return {
            "partitions": sorted(instance.get_dynamic_partitions("documents")),
            "runs": sorted(r.status.value for r in instance.get_runs()),
            **{s.name: sorted(made(AssetKey(s.name))) for s in STAGES},
        }


def test_a_restored_home_is_the_home(tmp_path: Path, corpus: Path, capsys) -> None:
    home, place = Home(tmp_path / "home"), tmp_path / "backups"
    home.path.mkdir()
    (home.path / "drac.toml").write_text("[plan]\ntarget_chars = 500\n")
    assert run("run", corpus, "--home", home.path) == 0
    assert run("backup", place, "--home", home.path) == 0
    (corpus / "manual.pdf").rename(corpus / "pump.pdf")  # the second one is of another state
    assert run("run", corpus, "--home", home.path) == 0
    capsys.readouterr()
    assert run("backup", place, "--home", home.path) == 0
    told = capsys.readouterr().out
    first, second = snapshots(place)
    assert second.new_size < second.size and "are new" in told
    # what did not change is there once
    same = [p for p in second.path.rglob("*.png") if (first.path / p.relative_to(second.path)).exists()]
    assert len(same) >= 3
    assert all(p.samefile(first.path / p.relative_to(second.path)) for p in same)

    seen = shown(home)
    shutil.rmtree(home.path)  # the machine is lost
    restored = Home(tmp_path / "elsewhere" / "home")
    assert run("restore", place, "--home", restored.path) == 0
    assert shown(restored) == seen
    assert restored.config.plan.target_chars == 500 and restored.sources() == [corpus]
    capsys.readouterr()
    assert run("run", corpus, "--home", restored.path) == 0
    assert "3 unchanged" in capsys.readouterr().out
    assert run("search", "pressure below 6 bar", "--home", restored.path, "-k", "1") == 0
    assert "pump.pdf" in capsys.readouterr().out
    # the snapshots stay as they are, and the first one still is the home of before
    assert run("restore", first.path, "--home", tmp_path / "before") == 0
    keys = {m.document_key for m in Home(tmp_path / "before").store.manifests()}
    assert keys == {"manual.pdf", "notes/site visit.pdf", "two pages.pdf"}


def test_backups_made_while_a_run_goes_on_are_whole(tmp_path: Path, make_pdf) -> None:
    corpus, home, place = tmp_path / "corpus", Home(tmp_path / "home"), tmp_path / "backups"
    for n in range(24):
        make_pdf(corpus / f"{n:02}.pdf", f"<h1>Note {n}</h1><p>The valve of line {n} is in order.</p>")
    command = [DRAC, "run", corpus, "--home", home.path]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    in_between = 0
    try:
        while process.poll() is None:
            done = sum("chunks" in m.stages for m in home.store.manifests())
            if done and done < 24 and in_between < 3:
                make_backup(home, place)
                in_between += 1
            time.sleep(0.05)
    finally:
        process.kill()
        process.wait()
    assert in_between, "the run was over before a backup began"
    for number, snapshot in enumerate(snapshots(place)):
        target = tmp_path / f"restored {number}"
        assert restore_backup(snapshot.path, target).damaged == []
        if number:
            continue
        # its run was going on: it shows as failed, and the next one does what it left
        shutil.rmtree(target)
        assert run("restore", snapshot.path, "--home", target) == 0
        assert shown(Home(target))["runs"] == [DagsterRunStatus.FAILURE.value]
        assert run("run", corpus, "--home", target) == 0
        assert find_work(Home(target), corpus, Home(target).config).work == []
        assert len(shown(Home(target))["chunks"]) == 24  # type: ignore[arg-type]


def test_only_a_whole_backup_has_a_name(tmp_path: Path, corpus: Path, monkeypatch) -> None:
    home, place = Home(tmp_path / "home"), tmp_path / "backups"
    find_work(home, corpus, home.config)
    with monkeypatch.context() as patch:
        patch.setattr(repository_module, "_copy_index", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            make_backup(home, place)
    assert snapshots(place) == [] and not list(place.glob("*Z*"))
    (place / ".partial-of-a-killed-one").mkdir()
    deleted = []
    made = [make_backup(home, place, keep=2, on_delete=deleted.append) for _ in range(3)]
    assert [s.path for s in deleted] == [made[0].path]
    assert [s.path for s in snapshots(place)] == [m.path for m in made[1:]]
    assert not list(place.glob(".partial-*"))
    assert place.stat().st_mode & 0o077 == 0  # settings may hold passwords


def test_what_cannot_be_is_refused(tmp_path: Path, corpus: Path) -> None:
    home, place = Home(tmp_path / "home"), tmp_path / "backups"
    find_work(home, corpus, home.config)
    with pytest.raises(ConfigError, match="lies in the home"):
        make_backup(home, home.path / "backups")
    place.mkdir()
    with (place / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(ConfigError, match="another backup"):
            make_backup(home, place)
    with pytest.raises(ConfigError, match="holds no backup"):
        restore_backup(place, tmp_path / "new")
    made = make_backup(home, place)
    other = Home(tmp_path / "other")
    find_work(other, corpus, other.config)
    with pytest.raises(ConfigError, match=f"holds backups of {home.path}; give every home a folder"):
        make_backup(other, place, keep=1)
    assert made.path.is_dir()
    with pytest.raises(ConfigError, match="not empty"):
        restore_backup(place, home.path)
    record = json.loads((made.path / BACKUP_FILE).read_text())
    (made.path / BACKUP_FILE).write_text(json.dumps({**record, "home_format": HOME_FORMAT + 1}))
    with pytest.raises(DracError, match="newer release"):
        restore_backup(place, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_documents_that_lack_files_are_named_and_made_again(tmp_path: Path, corpus: Path) -> None:
    home, place = Home(tmp_path / "home"), tmp_path / "backups"
    assert run("run", corpus, "--home", home.path) == 0
    made = make_backup(home, place)
    next(made.path.rglob("page-0001.png")).unlink()
    done = restore_backup(place, tmp_path / "new")
    assert len(done.damaged) == 1
    assert run("run", corpus, "--home", tmp_path / "new") == 0
    assert find_work(done.home, corpus, done.home.config).work == []


def test_the_command_names_what_it_deletes(tmp_path: Path, corpus: Path, capsys) -> None:
    home, place = Home(tmp_path / "home"), tmp_path / "backups"
    find_work(home, corpus, home.config)
    assert run("backup", place, "--home", home.path, "--keep", "1") == 0
    (first,) = snapshots(place)
    assert "deleted" not in capsys.readouterr().out
    assert run("backup", place, "--home", home.path, "--keep", "1") == 0
    assert f"deleted, as --keep 1 says: {first.path}" in capsys.readouterr().out
