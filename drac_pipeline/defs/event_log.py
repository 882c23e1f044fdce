"""Dagster's SQLite event log without the costs that make it slow.

The stock class opens, checks, checkpoints, syncs and closes the database for every single event.
``FastSqliteEventLogStorage`` writes the same files with the same schema, so either class can open
what the other wrote, but keeps connections, writes a batch in one transaction a database, and does
not wait for the disk at each commit: **a power loss or a crash of the operating system can cost the
last commits** (never the integrity of a file; a killed process loses nothing that was committed).

``dagster.yaml``, in the folder that ``DAGSTER_HOME`` names or where ``dagster dev`` is started::

    event_log_storage:
      module: drac_pipeline.defs.event_log
      class: FastSqliteEventLogStorage

Run and schedule storage need no entry: Dagster's defaults lie in the same home.
"""

import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as db
import sqlalchemy.event
from dagster import DagsterInstance, Field, IntSource, StringSource
from dagster._config.config_schema import UserConfigSchema
from dagster._core.event_api import EventHandlerFn
from dagster._core.events.log import EventLogEntry
from dagster._core.storage.event_log.schema import SqlEventLogStorageTable
from dagster._core.storage.event_log.sqlite.sqlite_event_log import (
    INDEX_SHARD_NAME,
    SqliteEventLogStorage,
    SqliteEventLogStorageWatchdog,
)
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS
from dagster._serdes import ConfigurableClassData
from sqlalchemy.engine import Connection, Engine
from watchdog.events import FileSystemEvent
from watchdog.observers import Observer

from drac_pipeline.defs.event_log_index import (
    DEFAULT_EVENT_BATCH_SIZE,
    EVENT_BATCH_ENV,
    BatchIndex,
    is_indexed,
)
from drac_pipeline.defs.event_log_shards import ShardEngines
from drac_pipeline.errors import ConfigError

DEFAULT_MAX_OPEN_SHARDS = 16

# A commit becomes visible a moment after its last write to the file, and a burst is worth one query.
WATCH_SETTLE_SECONDS = 0.05

BURST_KEYS = 50  # asked for one by one within the span below, are answered from one reading of all
BURST_SECONDS = 1.0

_IN_HOME = Path("history", "runs")
_INSERT_EVENT = SqlEventLogStorageTable.insert()
_INSERT_INDEXED = _INSERT_EVENT.returning(SqlEventLogStorageTable.c.id, sort_by_parameter_order=True)


class FastSqliteEventLogStorage(BatchIndex, SqliteEventLogStorage):
    """``SqliteEventLogStorage`` that keeps its connections and writes batches in one transaction.

    Power loss can cost the last commits: the journal is synced at checkpoints only. Safe to use from
    several threads and from several processes at once; the stock class may be among them.

    Args:
        base_dir: Folder of the databases. Without it they lie where Dagster puts them by default, in
            ``history/runs`` under the root of the instance, and are opened once the instance is known.
        max_open_shards: How many databases to keep open; one a run, and the index.

    Raises:
        ValueError: If ``max_open_shards`` is below 1.
    """

    def __init__(
        self,
        base_dir: str | None = None,
        inst_data: ConfigurableClassData | None = None,
        max_open_shards: int = DEFAULT_MAX_OPEN_SHARDS,
    ):
        self.engines = ShardEngines(self.path_for_shard, self._open_engine, max_open_shards)
        self._known: set[str] = set()  # tables, columns and data migrations that are there: none ever goes
        self._asked: dict[str, tuple[float, int, frozenset[str] | None]] = {}
        self._batch = threading.local()
        self._watch_pid = os.getpid()
        self._inst_data = inst_data
        self._is_open = base_dir is not None
        if base_dir is not None:
            super().__init__(base_dir, inst_data)

    def register_instance(self, instance: DagsterInstance) -> None:
        """Learn which instance this is the event log of, and so where it lies if nothing else said so."""
        if not self._is_open:
            super().__init__(str(Path(instance.root_directory) / _IN_HOME), self._inst_data)
            self._is_open = True
        super().register_instance(instance)

    @classmethod
    def config_type(cls) -> UserConfigSchema:
        return {
            "base_dir": Field(
                StringSource,
                is_required=False,
                description="Folder of the databases, instead of the default.",
            ),
            "home": Field(
                StringSource, is_required=False, description="Root of a home, if not that of the instance."
            ),
            "max_open_shards": Field(IntSource, default_value=DEFAULT_MAX_OPEN_SHARDS),
            "event_batch_size": Field(
                IntSource,
                default_value=DEFAULT_EVENT_BATCH_SIZE,
                description=f"Value of {EVENT_BATCH_ENV} where it is not set; 0 leaves it unset.",
            ),
        }

    @classmethod
    def from_config_value(  # pyright: ignore[reportIncompatibleMethodOverride]  # the stock one is as narrow
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> "FastSqliteEventLogStorage":
        """Build the storage from ``dagster.yaml``, and have Dagster batch the events it can batch.

        Every process that opens the instance comes by here, so the setting reaches the webserver and the
        daemon (which record what a run plans) as well as the run.

        Raises:
            ConfigError: If both ``home`` and ``base_dir`` are given.
        """
        home, base_dir = config_value.get("home"), config_value.get("base_dir")
        if home is not None and base_dir is not None:
            raise ConfigError("event_log_storage: give at most one of `home` and `base_dir` in dagster.yaml")
        if home is not None:
            base_dir = str(Path(home).expanduser() / _IN_HOME)
        batch_size = config_value.get("event_batch_size", DEFAULT_EVENT_BATCH_SIZE)
        if batch_size:
            os.environ.setdefault(EVENT_BATCH_ENV, str(batch_size))
        max_open = config_value.get("max_open_shards", DEFAULT_MAX_OPEN_SHARDS)
        return cls(base_dir, inst_data, max_open)

    # ---- connections

    def _open_engine(self, shard: str) -> Engine:
        engine = db.create_engine(
            self.conn_string_for_shard(shard),
            connect_args={"timeout": SQLITE_BUSY_TIMEOUT_SECONDS},
            max_overflow=-1,  # a webserver reads with more threads than a pool would let
        )
        sqlalchemy.event.listen(engine, "connect", _relax_sync)
        with engine.connect() as conn:
            initialized = (
                db.inspect(conn).has_table("alembic_version")
                and conn.execute(db.text("SELECT 1 FROM alembic_version")).first()
            )
        if not initialized:
            self._initdb(engine)
            engine.dispose()  # its connections are older than the switch to WAL
        return engine

    @contextmanager
    def _connect(self, shard: str) -> Iterator[Connection]:
        in_batch = self.index_connection_in_batch
        if in_batch is not None and shard == INDEX_SHARD_NAME:
            yield in_batch
            return
        with self.engines.engine(shard) as engine, engine.begin() as conn:
            yield conn

    def index_connection(self) -> AbstractContextManager[Connection]:
        """Connect to the index; within a batch this thread is writing, that batch's connection."""
        return self._connect(INDEX_SHARD_NAME)

    # ---- what is known not to change

    def _remember(self, fact: str, holds: Callable[[], bool]) -> bool:
        if fact not in self._known and holds():
            self._known.add(fact)
        return fact in self._known

    def has_table(self, table_name: str) -> bool:
        """Say whether the index has a table; a yes is remembered."""

        def look() -> bool:
            with self.index_connection() as conn:
                return db.inspect(conn).has_table(table_name)

        return self._remember(f"table {table_name}", look)

    def _has_asset_key_col_on_connection(self, conn: Connection, column_name: str) -> bool:
        stock = super()._has_asset_key_col_on_connection
        return self._remember(f"column {column_name}", lambda: stock(conn, column_name))

    def has_asset_key_col(self, column_name: str) -> bool:
        """Say whether the table of assets has a column; a yes is remembered."""
        stock = super().has_asset_key_col
        return self._remember(f"column {column_name}", lambda: stock(column_name))

    def has_secondary_index(self, name: str) -> bool:
        """Say whether a data migration was completed; a yes is remembered."""
        stock = super().has_secondary_index
        return self._remember(f"migration {name}", lambda: stock(name))

    # ---- partitions

    def has_dynamic_partition(self, partitions_def_name: str, partition_key: str) -> bool:
        """Say whether a key is there. Dagster asks for each key of a check's page by itself: where that
        is a burst, all keys are read at once and hold for a second."""
        until, asked, keys = self._asked.get(partitions_def_name, (0.0, 0, None))
        if time.monotonic() > until:
            until, asked, keys = time.monotonic() + BURST_SECONDS, 0, None
        if keys is None and asked == BURST_KEYS:
            keys = frozenset(self.get_dynamic_partitions(partitions_def_name))
        self._asked[partitions_def_name] = (until, min(asked + 1, BURST_KEYS), keys)
        if keys is not None:
            return partition_key in keys
        return super().has_dynamic_partition(partitions_def_name, partition_key)

    def add_dynamic_partitions(self, partitions_def_name: str, partition_keys: Sequence[str]) -> None:
        """Add keys."""
        super().add_dynamic_partitions(partitions_def_name, partition_keys)
        self._asked.clear()

    def delete_dynamic_partition(self, partitions_def_name: str, partition_key: str) -> None:
        """Remove a key."""
        super().delete_dynamic_partition(partitions_def_name, partition_key)
        self._asked.clear()

    # ---- writing

    def store_event(self, event: EventLogEntry) -> None:
        """Store one event: in its run's database and, if it concerns assets or run status, in the index."""
        self.store_event_batch([event])

    def store_event_batch(self, events: Sequence[EventLogEntry]) -> None:
        """Store events in one transaction for each run's database and one for the index.

        All of it or nothing, since Dagster writes the events one by one after a batch has failed. Only
        between the commits can a killed process leave the index with events its run lacks: the index
        commits first, because the index is what says a document is done.
        """
        rows = [self._event_to_row(event) for event in events]
        by_run: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in rows:
            by_run[row["run_id"]].append(row)
        indexed = [(event, row) for event, row in zip(events, rows, strict=True) if is_indexed(event)]
        with self.engines.writing(), ExitStack() as transactions:
            for run_id in sorted(by_run):
                conn = transactions.enter_context(self.run_connection(run_id))
                conn.execute(_INSERT_EVENT, by_run[run_id])
            if indexed:
                conn = transactions.enter_context(self.index_connection())
                ids = [int(row[0]) for row in conn.execute(_INSERT_INDEXED, [row for _, row in indexed])]
                stored = [(event, id_, row["event"]) for (event, row), id_ in zip(indexed, ids, strict=True)]
                self._store_in_index(conn, stored)

    # ---- watching and closing

    def watch(self, run_id: str, cursor: str | None, callback: EventHandlerFn) -> None:
        """Call back with the events of a run that other processes store from now on."""
        self._leave_parents_watchers()
        if not self._obs:
            self._obs = Observer()
            self._obs.start()
        handler = _JournalWatchdog(self, run_id, callback, cursor)
        scheduled = self._obs.schedule(handler, self._base_dir, recursive=True)
        self._watchers[run_id][callback] = (handler, scheduled)

    def _leave_parents_watchers(self) -> None:
        if self._watch_pid != os.getpid():  # threads do not survive a fork
            self._watch_pid, self._obs = os.getpid(), None
            self._watchers.clear()

    def upgrade(self) -> None:
        """Migrate the schema of every database in the home."""
        super().upgrade()
        self._known.clear()

    def wipe(self) -> None:
        """Delete all events, and the files of all runs."""
        with self.engines.writing():
            self.engines.close()
            super().wipe()

    def dispose(self) -> None:
        """Stop watching and close the connections, which folds the journals into their databases."""
        if not self._is_open:
            return
        self._leave_parents_watchers()
        super().dispose()
        self.engines.close()


class _JournalWatchdog(SqliteEventLogStorageWatchdog):
    """Reads a run's new events when its journal grows: the database itself changes at checkpoints only."""

    def __init__(
        self, storage: SqliteEventLogStorage, run_id: str, callback: EventHandlerFn, cursor: str | None
    ):
        super().__init__(storage, run_id, callback, cursor)
        self._patterns = [self._log_path, f"{self._log_path}-wal"]

    def on_modified(self, event: FileSystemEvent) -> None:  # noqa: ARG002 - either file means the same
        time.sleep(WATCH_SETTLE_SECONDS)
        self._process_log()


def _relax_sync(connection: Any, _record: object) -> None:
    # Without WAL, less than full sync could damage the file: then it stays as it is.
    if connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal":
        connection.execute("PRAGMA synchronous=NORMAL")
