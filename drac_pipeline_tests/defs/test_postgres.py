"""Dagster's instance in PostgreSQL, a real server, as deploy/postgres/dagster.yaml has it."""

from __future__ import annotations

import contextlib
import fcntl
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pymupdf
import pytest
from dagster import AssetKey, DagsterInstance, DagsterRunStatus, RunsFilter, materialize
from dagster._core.execution.backfill import BulkActionStatus, PartitionBackfill
from dagster_postgres import PostgresEventLogStorage

from drac_pipeline.cli import main
from drac_pipeline.defs.launch import open_instance
from drac_pipeline.defs.postgres_event_log import BatchPostgresEventLogStorage
from drac_pipeline.defs.register import register
from drac_pipeline.pipeline import STAGES, find_work
from drac_pipeline.store import Home
from drac_pipeline_tests.defs.conftest import ASSETS, Bench
from drac_pipeline_tests.defs.test_event_log import event_of
from drac_pipeline_tests.defs.test_instance_events import COMPLETE, KEYS, together
from drac_pipeline_tests.postgres import Postgres

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "deploy" / "postgres" / "dagster.yaml"


@pytest.fixture
def home(postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home whose instance is in the server."""
    for name in ("DAGSTER_HOME", "DRAC_HOME", "DAGSTER_EVENT_BATCH_SIZE"):
        monkeypatch.setenv(name, "")  # restored when the test ends
        monkeypatch.delenv(name)
    (tmp_path / "home").mkdir()
    shutil.copy(CONFIG, tmp_path / "home" / "dagster.yaml")
    assert os.environ["DRAC_PG_PORT"] == str(postgres.port)
    return Home(tmp_path / "home")


@pytest.fixture
def instance(home: Home) -> Iterator[DagsterInstance]:
    with open_instance(home) as opened:
        yield opened


@pytest.fixture
def pg_bench(
    home: Home, instance: DagsterInstance, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Bench]:
    # a pool of processes costs seconds a run, and is tested elsewhere
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield Bench(corpus, home, instance)


def storage_of(instance: DagsterInstance) -> BatchPostgresEventLogStorage:
    storage = instance.event_log_storage
    assert type(storage) is BatchPostgresEventLogStorage
    return storage


def test_the_life_of_documents_shows_as_with_sqlite(pg_bench: Bench, postgres: Postgres) -> None:
    bench = pg_bench
    bench.register()
    good = dict.fromkeys(ASSETS, "MATERIALIZED")
    bad = {**good, "normalized_pdf": "FAILED"} | {s.name: "FAILED" for s in STAGES}
    (bench.corpus / "two pages.pdf").write_bytes(b"%PDF-1.7\nnothing")
    assert not bench.launch().success
    assert bench.statuses() == {"manual.pdf": good, "notes/site visit.pdf": good, "two pages.pdf": bad}
    assert bench.stale() == {}
    assert bench.verdicts("chunks", "verbatim") == {"manual.pdf": True, "notes/site visit.pdf": True}
    # the file is mended, another one is gone: its partition and its past go with it
    shutil.copy(bench.corpus / "manual.pdf", bench.corpus / "two pages.pdf")
    (bench.corpus / "notes" / "site visit.pdf").unlink()
    assert bench.launch().success
    assert bench.statuses() == {"manual.pdf": good, "two pages.pdf": good}
    left = "SELECT count(*) FROM event_logs WHERE partition = 'notes/site visit.pdf' AND dagster_event_type"
    assert postgres.query(f"{left} = 'ASSET_MATERIALIZATION'") == [(0,)]
    # a changed setting shows as stale from its stage on; replanning makes it again
    (bench.home.path / "drac.toml").write_text("[plan]\ntarget_chars = 300\n")
    bench.home.__dict__.pop("config", None)
    late = ["chunk_plan", "chunks", "chunk_embeddings"]
    assert bench.stale(bench.home.config) == {"manual.pdf": late, "two pages.pdf": late}
    assert bench.launch("replan").success
    assert bench.stale(bench.home.config) == {}


def test_runs_events_and_schedules_are_all_in_the_database(home: Home, instance: DagsterInstance) -> None:
    for storage in (instance.event_log_storage, instance.run_storage, instance.schedule_storage):
        assert "postgres" in type(storage).__module__
    assert not list(home.path.rglob("*.db"))
    with DagsterInstance.from_ref(instance.get_ref()) as in_another_process:
        assert storage_of(in_another_process).postgres_url == storage_of(instance).postgres_url


def test_the_stock_class_reads_what_ours_wrote(instance: DagsterInstance) -> None:
    events = [event_of("r1", key) for key in ("a", "b")]
    storage_of(instance).store_event_batch(events)
    stock = PostgresEventLogStorage(storage_of(instance).postgres_url)
    assert stock.get_logs_for_run("r1") == events
    assert stock.get_materialized_partitions(AssetKey("pages")) == {"a", "b"}
    last = stock.get_asset_records([AssetKey("pages")])[0].asset_entry.last_materialization
    assert last is not None and last.get_dagster_event().partition == "b"


def test_documents_are_told_of_in_the_stock_class_too(
    postgres: Postgres, tmp_path: Path, monkeypatch
) -> None:
    """Slower, and without code versions; nothing is lost."""
    monkeypatch.setenv("DAGSTER_EVENT_BATCH_SIZE", "100")
    stock = CONFIG.read_text().replace("drac_pipeline.defs.postgres_event_log", "dagster_postgres.event_log")
    stock = stock.replace("BatchPostgresEventLogStorage", "PostgresEventLogStorage")
    (tmp_path / "dagster.yaml").write_text(stock)
    assert postgres.port
    with DagsterInstance.from_config(str(tmp_path)) as opened:
        assert type(opened.event_log_storage) is PostgresEventLogStorage
        opened.add_dynamic_partitions("documents", KEYS)
        config = {"ops": {"together": {"config": {"keys": KEYS, "fail": ["b.pdf"]}}}}
        assert materialize([together], instance=opened, run_config=config).success
        assert opened.event_log_storage.get_materialized_partitions(AssetKey("pages")) == set(KEYS)
        history = opened.event_log_storage.get_asset_check_execution_history(COMPLETE, limit=10)
        assert {r.partition: r.status.value for r in history if r.partition}["b.pdf"] == "FAILED"


def test_ids_are_seen_in_their_order_whoever_writes(instance: DagsterInstance, postgres: Postgres) -> None:
    """A reader that goes on from the last id it saw must not miss a batch that was slower to commit."""
    batches, size = 12, 40
    storage = storage_of(instance)
    done = threading.Event()
    holes: list[tuple[int, int]] = []

    def write(name: str) -> None:
        for n in range(batches):
            storage.store_event_batch([event_of(name, f"{name} {n} {i}") for i in range(size)])

    def read() -> None:
        while not done.is_set():
            [(seen, last)] = postgres.query("SELECT count(*), coalesce(max(id), 0) FROM event_logs")
            if seen != last:
                holes.append((seen, last))

    reader = threading.Thread(target=read)
    writers = [threading.Thread(target=write, args=(f"r{w}",)) for w in range(4)]
    reader.start()
    for thread in writers:
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    reader.join()
    assert holes == []
    assert postgres.query("SELECT count(*), max(id) FROM event_logs") == [(4 * batches * size,) * 2]
    assert len(storage.get_materialized_partitions(AssetKey("pages"))) == 4 * batches * size


def test_a_batch_is_stored_whole_or_not_at_all(
    instance: DagsterInstance, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = storage_of(instance)
    with monkeypatch.context() as patch:
        patch.setattr(storage, "_store_asset_keys", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            storage.store_event_batch([event_of("r1", "a"), event_of("r1", "b")])
    assert postgres.query(
        "SELECT (SELECT count(*) FROM event_logs), (SELECT count(*) FROM asset_event_tags)"
    ) == [(0, 0)]
    storage.store_event_batch([event_of("r1", "a")])
    assert len(storage.get_logs_for_run("r1")) == 1


def test_a_database_that_was_started_again_is_written_on(
    instance: DagsterInstance, postgres: Postgres
) -> None:
    storage = storage_of(instance)
    storage.store_event_batch([event_of("r1", "a")])
    postgres.stop("immediate")
    postgres.start()
    storage.store_event_batch([event_of("r1", "b")])
    assert len(storage.get_logs_for_run("r1")) == 2


def test_a_forked_process_has_connections_of_its_own(instance: DagsterInstance) -> None:
    storage = storage_of(instance)
    storage.store_event_batch([event_of("r1", "before")])
    child = multiprocessing.get_context("fork").Process(
        target=lambda: [storage.store_event_batch([event_of("child", str(i))]) for i in range(20)]
    )
    child.start()
    for i in range(20):
        storage.store_event_batch([event_of("r1", str(i))])
    child.join(60)
    assert child.exitcode == 0
    assert (len(storage.get_logs_for_run("r1")), len(storage.get_logs_for_run("child"))) == (21, 20)


def test_a_backup_has_the_database_in_it(
    home: Home, postgres: Postgres, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    (corpus / "two pages.pdf").unlink()
    assert drac("run", corpus, "--home", home.path) == 0
    assert drac("backup", tmp_path / "backups", "--home", home.path) == 0
    counted = "SELECT dagster_event_type, count(*) FROM event_logs GROUP BY 1 ORDER BY 1"
    before = postgres.query(counted)
    # into the database that it came from: refused, and nothing is left behind
    capsys.readouterr()
    assert drac("restore", tmp_path / "backups", "--home", tmp_path / "new") == 2
    assert "holds events already" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "new").exists()
    postgres.query("CREATE DATABASE restored", database="postgres")
    monkeypatch.setenv("DRAC_PG_DB", "restored")
    assert drac("restore", tmp_path / "backups", "--home", tmp_path / "new") == 0
    assert postgres.query(counted, database="restored") == before
    assert not list((tmp_path / "new").glob("*.pgdump"))
    capsys.readouterr()
    assert drac("run", corpus, "--home", tmp_path / "new") == 0
    assert "2 unchanged" in capsys.readouterr().out
    assert postgres.query(counted, database="restored") == before


def drac(*arguments: str | Path) -> int:
    with pytest.raises(SystemExit) as end:
        main([str(a) for a in arguments])
    return int(end.value.code or 0)


def test_a_backfill_outlives_its_daemon(home: Home, postgres: Postgres, tmp_path: Path) -> None:
    """100 documents in two runs at once; the daemon is killed in the middle, and another one goes on."""
    write_notes(tmp_path / "corpus", 101)
    with open_instance(home) as instance:
        find_work(home, tmp_path / "corpus", home.config)
        keys = register(instance, home, list(home.store.manifests()))
        chosen = [*keys[:50], *keys[51:]]  # a gap: two runs
        launch_backfill(instance, chosen)
        with daemon(home, tmp_path) as first:
            wait_until(lambda: chunks_made(postgres) > 5 and len(started(instance)) == 2, tmp_path)
            first.send_signal(signal.SIGKILL)
            first.wait()
            assert chunks_made(postgres) < 100, "all was done before the daemon was killed"
            # the runs are processes of their own, and go on without it
            wait_until(lambda: not started(instance), tmp_path)
            with daemon(home, tmp_path):
                wait_until(lambda: backfill_status(instance) != BulkActionStatus.REQUESTED, tmp_path)
        assert backfill_status(instance) == BulkActionStatus.COMPLETED_SUCCESS
        assert [r.status for r in instance.get_runs()] == [DagsterRunStatus.SUCCESS] * 2
    times = postgres.query(
        "SELECT asset_key, partition, count(*) FROM event_logs WHERE run_id <> ''"
        " AND dagster_event_type = 'ASSET_MATERIALIZATION' AND partition IS NOT NULL GROUP BY 1, 2"
    )
    assert {(a, p) for a, p, _ in times} == {(f'["{a}"]', k) for a in ASSETS for k in chosen}
    assert {n for _, _, n in times} == {1}
    assert postgres.query("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == [(0,)]
    for lock in home.path.rglob(".*lock"):
        with lock.open() as held:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)  # an error where somebody still has it


def write_notes(root: Path, number: int) -> None:
    root.mkdir()
    for n in range(number):
        with pymupdf.open() as doc:
            page = doc.new_page(width=300, height=200)
            page.insert_text((20, 40), f"Note {n}", fontsize=18)
            page.insert_text((20, 80), f"The valve of line {n} is in order.")
            doc.save(root / f"note {n:03}.pdf")


def launch_backfill(instance: DagsterInstance, keys: list[str]) -> None:
    from drac_pipeline.defs.definitions import defs

    instance.add_backfill(
        PartitionBackfill.from_asset_partitions(
            backfill_id="notes",
            asset_graph=defs.resolve_asset_graph(),
            partition_names=keys,
            asset_selection=[AssetKey(a) for a in ASSETS],
            backfill_timestamp=time.time(),
            tags={},
            dynamic_partitions_store=instance,
            all_partitions=False,
            title=None,
            description=None,
            run_config=None,
        )
    )


@contextmanager
def daemon(home: Home, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [
        Path(sys.executable).with_name("dagster-daemon"),
        "run",
        "-m",
        "drac_pipeline.defs.definitions",
    ]
    env = {**os.environ, "DAGSTER_HOME": str(home.path), "PYTHONPATH": str(ROOT)}
    with (folder / "daemon.log").open("ab") as log:
        process = subprocess.Popen(command, env=env, stdout=log, stderr=log, start_new_session=True)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # with the code server that it started
        process.wait()


def wait_until(holds, folder: Path, seconds: float = 240) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, (folder / "daemon.log").read_text()[-3000:]
        time.sleep(0.1)


def started(instance: DagsterInstance) -> list[str]:
    unfinished = [DagsterRunStatus.STARTING, DagsterRunStatus.STARTED]
    return [r.run_id for r in instance.get_runs(RunsFilter(statuses=unfinished))]


def chunks_made(postgres: Postgres) -> int:
    made = "SELECT count(*) FROM event_logs WHERE dagster_event_type = 'ASSET_MATERIALIZATION' AND asset_key"
    return postgres.query(f"{made} = '[\"chunks\"]'")[0][0]


def backfill_status(instance: DagsterInstance) -> BulkActionStatus:
    backfill = instance.get_backfill("notes")
    assert backfill is not None
    return backfill.status
