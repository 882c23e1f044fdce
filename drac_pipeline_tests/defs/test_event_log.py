import json
import multiprocessing
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from dagster import (
    AssetCheckEvaluation,
    AssetCheckKey,
    AssetCheckSpec,
    AssetExecutionContext,
    AssetKey,
    AssetMaterialization,
    AssetSpec,
    BackfillPolicy,
    DagsterEvent,
    DagsterEventType,
    DagsterInstance,
    DataVersion,
    EventLogEntry,
    Failure,
    MaterializeResult,
    StaticPartitionsDefinition,
    asset,
    materialize,
    multi_asset,
)
from dagster._core.events import AssetMaterializationPlannedData, StepMaterializationData
from dagster._core.instance.ref import InstanceRef
from dagster._core.storage.event_log import SqliteEventLogStorage

from drac_pipeline.defs.event_log import EVENT_BATCH_ENV, FastSqliteEventLogStorage
from drac_pipeline.errors import ConfigError

FAST = """
event_log_storage:
  module: drac_pipeline.defs.event_log
  class: FastSqliteEventLogStorage
"""
QUIET = "telemetry: {enabled: false}\n"
KEYS = ["a.pdf", "b.pdf", "c.pdf"]
DOCUMENTS = StaticPartitionsDefinition(KEYS)


@contextmanager
def open_home(home: Path, monkeypatch: pytest.MonkeyPatch, config: str = FAST) -> Iterator[DagsterInstance]:
    home.mkdir(exist_ok=True)
    (home / "dagster.yaml").write_text(config + QUIET)
    monkeypatch.setenv("DAGSTER_HOME", str(home))
    # The storage sets it for the whole process: undone with the rest of the test's environment.
    monkeypatch.setenv(EVENT_BATCH_ENV, "100")
    with DagsterInstance.get() as instance:
        yield instance


@pytest.fixture
def instance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DagsterInstance]:
    with open_home(tmp_path / "home", monkeypatch) as opened:
        yield opened


def fast(instance: DagsterInstance) -> FastSqliteEventLogStorage:
    storage = instance.event_log_storage
    assert type(storage) is FastSqliteEventLogStorage
    return storage


def event_of(run_id: str, key: str, asset_key: str = "pages") -> EventLogEntry:
    materialization = AssetMaterialization(asset_key, partition=key, tags={"dagster/data_version": key})
    event = DagsterEvent(
        DagsterEventType.ASSET_MATERIALIZATION.value,
        "job",
        event_specific_data=StepMaterializationData(materialization),
    )
    return EventLogEntry(
        error_info=None,
        level=10,
        user_message="",
        run_id=run_id,
        timestamp=time.time(),
        dagster_event=event,
    )


def rows(database: Path, query: str) -> list[Any]:
    connection = sqlite3.connect(database)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def count(database: Path, table: str = "event_logs") -> int:
    return rows(database, f"SELECT count(*) FROM {table}")[0][0]


def databases(home: Path) -> Path:
    return home / "history" / "runs"


def test_dagster_yaml_puts_the_class_to_use(instance: DagsterInstance) -> None:
    storage = fast(instance)
    assert storage.path_for_shard("index") == os.environ["DAGSTER_HOME"] + "/history/runs/index.db"
    assert Path(os.environ["DAGSTER_HOME"], "history", "runs.db").exists()
    with DagsterInstance.from_ref(instance.get_ref()) as in_another_process:
        assert fast(in_another_process).path_for_shard("r") == storage.path_for_shard("r")


@pytest.mark.parametrize(
    ("config", "folder"),
    [
        ("config: {home: {env: ELSEWHERE}}", "elsewhere/history/runs"),
        ("config: {base_dir: {env: ELSEWHERE}}", "elsewhere"),
        ("config: {max_open_shards: 2}", "root/history/runs"),
    ],
)
def test_databases_lie_where_the_config_says(
    config: str, folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    monkeypatch.setenv(EVENT_BATCH_ENV, "100")
    monkeypatch.setenv("ELSEWHERE", str(tmp_path / "elsewhere"))
    for name in ("root", "configured"):
        (tmp_path / name).mkdir()
    (tmp_path / "configured" / "dagster.yaml").write_text(f"{FAST.rstrip()}\n  {config}\n{QUIET}")
    # As `dagster dev` does when DAGSTER_HOME is not set: the configuration lies in another folder.
    ref = InstanceRef.from_dir(str(tmp_path / "root"), config_dir=str(tmp_path / "configured"))
    with DagsterInstance.from_ref(ref) as instance:
        fast(instance).store_event(event_of("r1", "a"))
    assert (tmp_path / folder / "r1.db").exists()


def test_config_takes_one_folder() -> None:
    with pytest.raises(ConfigError, match="one of `home` and `base_dir`"):
        FastSqliteEventLogStorage.from_config_value(None, {"home": "/h", "base_dir": "/b"})


@pytest.mark.parametrize(
    ("size", "environment", "expected"), [(7, None, "7"), (7, "3", "3"), (0, None, None)]
)
def test_config_sets_batch_size_where_the_environment_does_not(
    size: int,
    environment: str | None,
    expected: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(EVENT_BATCH_ENV, "to be restored")
    monkeypatch.delenv(EVENT_BATCH_ENV)
    if environment:
        monkeypatch.setenv(EVENT_BATCH_ENV, environment)
    config = {"base_dir": str(tmp_path), "event_batch_size": size}
    FastSqliteEventLogStorage.from_config_value(None, config).dispose()
    assert os.environ.get(EVENT_BATCH_ENV) == expected


# ---- the same as stock


@asset(partitions_def=DOCUMENTS, backfill_policy=BackfillPolicy.single_run())
def source(context: AssetExecutionContext) -> MaterializeResult[Any]:
    return MaterializeResult(metadata={"keys": len(context.partition_keys)}, data_version=DataVersion("1"))


@multi_asset(
    specs=[
        AssetSpec("pages", partitions_def=DOCUMENTS, deps=[source], skippable=True, code_version="1"),
        AssetSpec("elements", partitions_def=DOCUMENTS, deps=["pages"], skippable=True),
    ],
    check_specs=[AssetCheckSpec("complete", asset="pages", partitions_def=DOCUMENTS)],
    can_subset=True,
    backfill_policy=BackfillPolicy.single_run(),
)
def stages(context: AssetExecutionContext) -> Iterator[Any]:
    for key in context.partition_keys:
        yield AssetMaterialization("pages", partition=key, tags={"dagster/data_version": f"v-{key}"})
        yield AssetCheckEvaluation(
            asset_key=AssetKey("pages"), check_name="complete", passed=key != "c.pdf", partition=key
        )
        if key == "b.pdf":
            continue
        yield AssetMaterialization("elements", partition=key, metadata={"elements": 3})
    raise Failure("b.pdf failed", allow_retries=False)


def run_documents(instance: DagsterInstance) -> str:
    tags = {"dagster/asset_partition_range_start": KEYS[0], "dagster/asset_partition_range_end": KEYS[-1]}
    return materialize([source, stages], instance=instance, tags=tags, raise_on_error=False).run_id


def what_the_instance_says(instance: DagsterInstance, run_id: str) -> dict[str, Any]:
    keys = [AssetKey("source"), AssetKey("pages"), AssetKey("elements")]
    check = AssetCheckKey(AssetKey("pages"), "complete")
    storage = instance.event_log_storage
    events = [record.event_log_entry for record in instance.get_records_for_run(run_id).records]
    history = storage.get_asset_check_execution_history(check, limit=50)
    assets = {record.asset_entry.asset_key: record.asset_entry for record in instance.get_asset_records(keys)}
    failures = [DagsterEventType.PIPELINE_FAILURE, DagsterEventType.ASSET_MATERIALIZATION_PLANNED]
    return {
        "events": [
            (e.dagster_event.event_type_value, e.dagster_event.asset_key, e.dagster_event.partition)
            for e in events
            if e.dagster_event
        ],
        "assets": {
            key: (
                entry.last_materialization_storage_id,
                entry.last_materialization and entry.last_materialization.get_dagster_event().partition,
                entry.last_run_id == run_id,
            )
            for key, entry in assets.items()
        },
        "statuses": {key: instance.get_status_by_partition(key, KEYS, DOCUMENTS) for key in keys},
        "versions": storage.get_latest_tags_by_partition(
            AssetKey("pages"), DagsterEventType.ASSET_MATERIALIZATION, ["dagster/data_version"]
        ),
        "checks": {(r.partition, r.status, r.event is not None and r.run_id == run_id) for r in history},
        "latest check": storage.get_latest_asset_check_execution_by_key([check])[check].partition,
        "run status changes": len(storage.fetch_run_status_changes(failures[0], limit=10).records),
        "planned": storage.get_latest_storage_id_by_partition(AssetKey("pages"), failures[1]),
        "stats": instance.get_run_stats(run_id).materializations,
        "steps": [(s.step_key, s.status) for s in instance.get_run_step_stats(run_id)],
    }


def tables_of(home: Path, run_id: str) -> dict[str, list[Any]]:
    """Every row that does not hold a time, a process or a run id."""
    index = databases(home) / "index.db"
    logged = "SELECT id, dagster_event_type, step_key, asset_key, partition FROM event_logs ORDER BY id"
    return {
        "run": rows(databases(home) / f"{run_id}.db", logged),
        "index": rows(index, logged),
        "tags": rows(
            index,
            "SELECT event_id, asset_key, key, value FROM asset_event_tags"
            " WHERE key != 'dagster/code_version' ORDER BY id",  # indexed by ours alone
        ),
        "checks": rows(
            index,
            "SELECT asset_key, check_name, partition, execution_status, evaluation_event_storage_id,"
            " materialization_event_storage_id FROM asset_check_executions ORDER BY id",
        ),
        "schema": rows(index, "SELECT type, name, sql FROM sqlite_master ORDER BY type, name"),
        "run schema": rows(
            databases(home) / f"{run_id}.db", "SELECT type, name, sql FROM sqlite_master ORDER BY type, name"
        ),
    }


def test_a_run_leaves_what_stock_leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said, tables = [], []
    for name, config in (("stock", ""), ("fast", FAST)):
        with open_home(tmp_path / name, monkeypatch, config) as instance:
            run_id = run_documents(instance)
            said.append(what_the_instance_says(instance, run_id))
            assert isinstance(instance.event_log_storage, FastSqliteEventLogStorage) == (name == "fast")
        tables.append(tables_of(tmp_path / name, run_id))
    assert said[1] == said[0]
    assert said[1]["statuses"][AssetKey("elements")]["b.pdf"].value == "FAILED"
    checks = {partition: status.value for partition, status, _ in said[1]["checks"]}
    assert checks == {"a.pdf": "SUCCEEDED", "b.pdf": "SUCCEEDED", "c.pdf": "FAILED"}
    assert tables[1] == tables[0]


@pytest.mark.parametrize(("first", "then"), [("", FAST), (FAST, "")])
def test_either_class_opens_the_others_home(
    first: str, then: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_home(tmp_path / "home", monkeypatch, first) as instance:
        before_id = run_documents(instance)
        before = what_the_instance_says(instance, before_id)
    with open_home(tmp_path / "home", monkeypatch, then) as instance:
        assert what_the_instance_says(instance, before_id) == before
        after_id = run_documents(instance)
        assert instance.get_run_stats(after_id).materializations == 8
        record = instance.get_asset_records([AssetKey("pages")])[0].asset_entry
        assert record.last_run_id == after_id
    with open_home(tmp_path / "home", monkeypatch, first) as instance:
        assert instance.get_asset_records([AssetKey("pages")])[0].asset_entry.last_run_id == after_id


def test_planned_events_of_a_range_are_one_batch(
    instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches: list[list[str]] = []
    store = FastSqliteEventLogStorage.store_event_batch

    def spy(self: FastSqliteEventLogStorage, events: Sequence[EventLogEntry]) -> None:
        batches.append([e.dagster_event.event_type_value for e in events if e.dagster_event])
        store(self, events)

    monkeypatch.setattr(FastSqliteEventLogStorage, "store_event_batch", spy)
    run_documents(instance)
    planned = [b for b in batches if "ASSET_MATERIALIZATION_PLANNED" in b]
    assert [b.count("ASSET_MATERIALIZATION_PLANNED") for b in planned] == [9]
    assert ["ASSET_MATERIALIZATION"] * 3 in batches  # the outputs of `source`


# ---- writing


def test_failed_batch_leaves_nothing(instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = fast(instance)

    def fail(*_: object) -> None:
        raise RuntimeError("index is broken")

    with monkeypatch.context() as patch, pytest.raises(RuntimeError, match="index is broken"):
        patch.setattr(storage, "_store_asset_keys", fail)
        storage.store_event_batch([event_of("r1", key) for key in KEYS])
    assert count(Path(storage.path_for_shard("r1"))) == 0
    assert count(Path(storage.path_for_shard("index"))) == 0
    storage.store_event_batch([event_of("r1", key) for key in KEYS])  # its connections still work
    assert count(Path(storage.path_for_shard("r1"))) == count(Path(storage.path_for_shard("index"))) == 3


def test_batch_over_runs_and_assets_goes_to_each_run(instance: DagsterInstance) -> None:
    storage = fast(instance)
    storage.store_event_batch([event_of("r1", "a"), event_of("r2", "b"), event_of("r1", "c", "elements")])
    partitions = {
        run_id: [r.event_log_entry.get_dagster_event().partition for r in connection.records]
        for run_id in ("r1", "r2")
        if (connection := storage.get_records_for_run(run_id))
    }
    assert partitions == {"r1": ["a", "c"], "r2": ["b"]}
    records = {r.asset_entry.asset_key: r.asset_entry for r in instance.get_asset_records()}
    assert records[AssetKey("pages")].last_run_id == "r2"
    assert records[AssetKey("elements")].last_run_id == "r1"


def planned_event_of(run_id: str, key: str) -> EventLogEntry:
    data = AssetMaterializationPlannedData(AssetKey("pages"), partition=key)
    event = DagsterEvent.build_asset_materialization_planned_event("job", "step", data)
    return event_of(run_id, key)._replace(dagster_event=event)


@pytest.mark.parametrize("materialized_last", [True, False])
def test_asset_follows_the_last_event_of_a_batch(instance: DagsterInstance, materialized_last: bool) -> None:
    batch = [event_of("r1", "a"), event_of("r2", "b"), planned_event_of("r3", "c")]
    if materialized_last:
        batch = [batch[2], *batch[:2]]
    fast(instance).store_event_batch(batch)
    entry = instance.get_asset_records([AssetKey("pages")])[0].asset_entry
    assert entry.last_run_id == ("r2" if materialized_last else "r3")
    assert entry.last_materialization is not None
    assert entry.last_materialization.get_dagster_event().partition == "b"


def test_commits_do_not_wait_for_the_disk(instance: DagsterInstance) -> None:
    storage = fast(instance)
    storage.store_event(event_of("r1", "a"))
    for connect in (storage.index_connection, lambda: storage.run_connection("r1")):
        with connect() as conn:
            assert conn.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
            assert conn.exec_driver_sql("PRAGMA synchronous").scalar() == 1
            assert conn.exec_driver_sql("PRAGMA busy_timeout").scalar() == 30_000


def test_threads_lose_nothing(instance: DagsterInstance) -> None:
    storage = fast(instance)
    errors: list[BaseException] = []

    def write(number: int) -> None:
        try:
            for i in range(25):
                storage.store_event(event_of(f"r{number % 2}", f"{number}-{i}"))
                storage.get_materialized_partitions(AssetKey("pages"))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=[number]) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert len(storage.get_materialized_partitions(AssetKey("pages"))) == 150
    assert [len(storage.get_records_for_run(run_id).records) for run_id in ("r0", "r1")] == [75, 75]


# ---- several processes

WRITER = """
import sys
from dagster import DagsterInstance
from drac_pipeline_tests.defs.test_event_log import event_of

run_id, number = sys.argv[1], int(sys.argv[2])
with DagsterInstance.get() as instance:
    storage = instance.event_log_storage
    print(type(storage).__name__, flush=True)
    sys.stdin.readline()
    for i in range(0, number, 5):
        storage.store_event_batch([event_of(run_id, f"{run_id}-{i + j}") for j in range(4)])
        storage.store_event(event_of(run_id, f"{run_id}-{i + 4}"))
"""


def start_writer(run_id: str, number: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, run_id, str(number)]
    root = Path(__file__).parents[2]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=root)


@contextmanager
def writer(run_id: str, number: int) -> Iterator[subprocess.Popen[str]]:
    """A process that opened the home and waits for a line before it writes that many events."""
    with start_writer(run_id, number) as process:
        assert process.stdout
        assert process.stdout.readline().strip() == "FastSqliteEventLogStorage"
        yield process
        assert process.wait(60) == 0


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin
    process.stdin.write("go\n")
    process.stdin.flush()


def test_processes_lose_nothing(instance: DagsterInstance) -> None:
    storage = fast(instance)
    with ExitStack() as stack:
        processes = [stack.enter_context(writer(f"p{i}", 100)) for i in range(3)]
        for process in processes:
            go(process)
        while any(process.poll() is None for process in processes):
            storage.store_event(event_of("own", f"own-{time.monotonic_ns()}"))
            storage.get_asset_records([AssetKey("pages")])
            time.sleep(0.005)
    assert [len(storage.get_records_for_run(f"p{i}").records) for i in range(3)] == [100] * 3
    others = [k for k in storage.get_materialized_partitions(AssetKey("pages")) if not k.startswith("own")]
    assert len(others) == 300
    assert count(Path(storage.path_for_shard("index")), "asset_event_tags") == 300 + len(
        storage.get_records_for_run("own").records
    )


def test_processes_may_create_the_home_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "dagster.yaml").write_text(FAST + QUIET)
    monkeypatch.setenv("DAGSTER_HOME", str(home))
    # Run storage, which is not ours, cannot be created by two at once.
    monkeypatch.setenv(EVENT_BATCH_ENV, "100")
    DagsterInstance.get().dispose()
    for file in databases(home).glob("index.db*"):
        file.unlink()
    processes = [start_writer("shared", 50) for _ in range(3)]
    for process in processes:
        process.communicate("go\n", timeout=60)
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert count(databases(home) / "shared.db") == count(databases(home) / "index.db") == 150


def test_watch_tells_of_another_process_at_once(instance: DagsterInstance) -> None:
    storage = fast(instance)
    heard: list[EventLogEntry] = []
    with writer("watched", 5) as process:
        # The database exists, and a reader holds it open as the webserver would: only its journal will grow.
        storage.store_event(event_of("watched", "before"))
        cursor = storage.get_records_for_run("watched").cursor
        storage.watch("watched", cursor, lambda event, _: heard.append(event))
        go(process)
        wait_until(lambda: len(heard) == 5, 5)  # stock would hear of it at a checkpoint, 1000 pages later
    assert [e.get_dagster_event().partition for e in heard] == [f"watched-{i}" for i in range(5)]
    storage.end_watch("watched", next(iter(storage._watchers["watched"])))


def wait_until(condition: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)


# ---- what stays open


def in_fork(work: Callable[[], Any]) -> Any:
    """Return what ``work`` returns in a forked child."""
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)

    def child() -> None:
        try:
            send.send(json.dumps(work()))
        except BaseException as error:
            send.send(json.dumps(repr(error)))

    process = context.Process(target=child)
    process.start()
    try:
        assert receive.poll(30), "the child hangs"
        return json.loads(receive.recv())
    finally:
        process.join(10)
        process.kill()


def open_files(prefix: str) -> list[str]:
    targets = []
    for link in Path("/proc/self/fd").iterdir():
        try:
            targets.append(str(link.readlink()))
        except FileNotFoundError:  # the descriptor of the listing itself
            continue
    return [target for target in targets if target.startswith(prefix)]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts open files by /proc")
def test_forked_child_opens_its_own(instance: DagsterInstance) -> None:
    storage = fast(instance)
    folder = str(Path(storage.path_for_shard("index")).parent)
    storage.store_event(event_of("r1", "parent before"))
    assert open_files(folder)

    def child() -> tuple[list[str], list[str], int]:
        inherited = open_files(folder)
        with storage.index_connection():
            shards = list(storage.engines.open_shards)
        storage.store_event(event_of("r1", "child"))
        return inherited, shards, len(storage.get_records_for_run("r1").records)

    assert in_fork(child) == [[], ["index"], 2]
    storage.store_event(event_of("r1", "parent after"))
    assert "child" in storage.get_materialized_partitions(AssetKey("pages"))
    assert rows(Path(storage.path_for_shard("index")), "PRAGMA integrity_check") == [("ok",)]
    assert rows(Path(storage.path_for_shard("r1")), "PRAGMA integrity_check") == [("ok",)]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts open files by /proc")
def test_fork_waits_for_connections_in_use(instance: DagsterInstance) -> None:
    storage = fast(instance)
    folder = str(Path(storage.path_for_shard("index")).parent)
    entered = threading.Event()

    def read() -> None:
        with storage.run_connection("r1"):
            entered.set()
            time.sleep(0.5)

    thread = threading.Thread(target=read)
    thread.start()
    assert entered.wait(10)
    assert in_fork(lambda: open_files(folder)) == []
    thread.join()


def test_fork_while_another_thread_writes(instance: DagsterInstance) -> None:
    storage = fast(instance)
    stop, written = threading.Event(), []

    def write() -> None:
        while not stop.is_set():
            storage.store_event(event_of("r1", str(len(written))))
            written.append(1)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        wait_until(lambda: len(written) > 3, 10)

        def child() -> int:
            storage.store_event(event_of("r2", "child"))
            return len(storage.get_records_for_run("r2").records)

        assert [in_fork(child) for _ in range(10)] == list(range(1, 11))
    finally:
        stop.set()
        thread.join()
    assert len(storage.get_records_for_run("r1").records) == len(written)


def test_least_recently_used_shard_is_closed(tmp_path: Path) -> None:
    storage = FastSqliteEventLogStorage(str(tmp_path), max_open_shards=3)
    for run_id in ("r1", "r2", "r1", "r3"):
        storage.store_event(event_of(run_id, "a"))
    assert set(storage.engines.open_shards) == {"index", "r1", "r3"}
    assert not (tmp_path / "r2.db-wal").exists()  # closing the last connection folds the journal in
    assert (tmp_path / "r3.db-wal").exists()
    assert len(storage.get_records_for_run("r2").records) == 1
    storage.dispose()
    assert list(storage.engines.open_shards) == []
    assert not list(tmp_path.glob("*-wal"))


def test_shard_in_use_is_not_closed(tmp_path: Path) -> None:
    storage = FastSqliteEventLogStorage(str(tmp_path), max_open_shards=1)
    with storage.run_connection("r1") as conn:
        for run_id in ("r2", "r3"):
            storage.store_event(event_of(run_id, "a"))
        assert conn.exec_driver_sql("SELECT count(*) FROM event_logs").scalar() == 0
        assert list(storage.engines.open_shards) == ["r1"]
    storage.store_event(event_of("r2", "b"))
    assert "r1" not in storage.engines.open_shards
    storage.dispose()


def test_wipe_by_another_process_loses_no_later_event(instance: DagsterInstance) -> None:
    storage = fast(instance)
    storage.store_event(event_of("r1", "a"))
    stock = SqliteEventLogStorage(str(Path(storage.path_for_shard("index")).parent))
    stock.register_instance(instance)
    stock.wipe()
    storage.store_event(event_of("r1", "b"))
    assert count(Path(storage.path_for_shard("r1"))) == 1
    assert stock.get_materialized_partitions(AssetKey("pages")) == {"b"}


def test_wipe_and_go_on(instance: DagsterInstance) -> None:
    storage = fast(instance)
    storage.store_event(event_of("r1", "a"))
    storage.wipe()
    assert "r1" not in storage.engines.open_shards  # else its deleted file would keep its space
    assert storage.get_all_run_ids() == []
    assert storage.get_materialized_partitions(AssetKey("pages")) == set()
    storage.store_event(event_of("r1", "b"))
    assert len(storage.get_records_for_run("r1").records) == 1


def test_a_burst_of_questions_for_keys_sees_what_was_added_and_removed(instance: DagsterInstance) -> None:
    keys = [f"{n}.pdf" for n in range(200)]
    instance.add_dynamic_partitions("documents", keys)
    assert all(instance.has_dynamic_partition("documents", k) for k in keys)
    assert not instance.has_dynamic_partition("documents", "other.pdf")
    instance.add_dynamic_partitions("documents", ["other.pdf"])
    instance.delete_dynamic_partition("documents", keys[0])
    assert [instance.has_dynamic_partition("documents", k) for k in ("other.pdf", keys[0])] == [True, False]
