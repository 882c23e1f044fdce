"""Dagster's PostgreSQL event log, written in batches over connections that are kept.

The stock class connects anew for every statement and batches only events of one kind.
``BatchPostgresEventLogStorage`` has the same tables, so either class can open what the other wrote. It
writes a batch in one transaction, and lets writers take turns: storage ids become visible in their order,
so that whoever reads on from the last id it saw (the UI's partition status, run status sensors) misses
nothing. Needs the extra ``postgres`` of this project; ``deploy/postgres/dagster.yaml`` has it set up.
"""

import os
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, cast

import sqlalchemy as db
from dagster import Field, IntSource
from dagster._config.config_schema import UserConfigSchema
from dagster._core.events.log import EventLogEntry
from dagster._core.storage.config import pg_config
from dagster._core.storage.event_log.schema import AssetKeyTable, SqlEventLogStorageTable
from dagster._serdes import ConfigurableClassData
from dagster_postgres import PostgresEventLogStorage
from dagster_postgres.utils import (
    create_pg_engine,
    get_token_provider_from_config,
    pg_url_from_config,
)
from sqlalchemy.dialects import postgresql
from sqlalchemy.engine import Connection

from drac_pipeline.defs.event_log_index import (
    DEFAULT_EVENT_BATCH_SIZE,
    EVENT_BATCH_ENV,
    BatchIndex,
    is_indexed,
)

KEPT_CONNECTIONS = 2
MOST_CONNECTIONS = 20  # of a process; a server takes 100 where nothing else is set
_WRITERS_TURN = 0x64726163  # the number of the lock: any, as long as nobody else in this database takes it
_INSERT_EVENT = SqlEventLogStorageTable.insert()
_INSERT_INDEXED = _INSERT_EVENT.returning(SqlEventLogStorageTable.c.id, sort_by_parameter_order=True)


class BatchPostgresEventLogStorage(BatchIndex, PostgresEventLogStorage):
    """``PostgresEventLogStorage`` that keeps connections and writes a batch of any events in one transaction.

    Safe to use from several threads, processes and machines at once. The configuration is that of the
    stock class, and ``event_batch_size``.
    """

    def __init__(self, *args: Any, **kwargs: Any):
        self._batch = threading.local()
        self._known: set[str] = set()  # tables that are there: none ever goes
        super().__init__(*args, **kwargs)
        self._engine.dispose()
        self._engine = create_pg_engine(
            self.postgres_url,
            self._token_provider,
            isolation_level="AUTOCOMMIT",
            pool_size=KEPT_CONNECTIONS,
            max_overflow=MOST_CONNECTIONS - KEPT_CONNECTIONS,
            pool_pre_ping=True,  # a server that was started again, or let go of an idle connection
        )
        _ALL.add(self)

    @classmethod
    def config_type(cls) -> UserConfigSchema:
        return {
            **cast(dict[str, Any], pg_config()),
            "event_batch_size": Field(
                IntSource,
                default_value=DEFAULT_EVENT_BATCH_SIZE,
                description=f"Value of {EVENT_BATCH_ENV} where it is not set; 0 leaves it unset.",
            ),
        }

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> "BatchPostgresEventLogStorage":
        """Build the storage from ``dagster.yaml``, and have Dagster batch the events it can batch."""
        if batch_size := config_value.get("event_batch_size", DEFAULT_EVENT_BATCH_SIZE):
            os.environ.setdefault(EVENT_BATCH_ENV, str(batch_size))
        return cls(
            postgres_url=pg_url_from_config(config_value),
            should_autocreate_tables=config_value.get("should_autocreate_tables", True),
            inst_data=inst_data,
            token_provider=get_token_provider_from_config(config_value),
        )

    # ---- connections

    def index_connection(self) -> AbstractContextManager[Connection]:
        """Connect; within a batch this thread is writing, that batch's connection."""
        return self._connect_index()

    @contextmanager
    def _connect_index(self) -> Iterator[Connection]:
        if (in_batch := self.index_connection_in_batch) is not None:
            yield in_batch
            return
        with self._connect() as conn:
            yield conn

    def has_table(self, table_name: str) -> bool:
        """Say whether the database has a table; a yes is remembered."""
        if table_name not in self._known and super().has_table(table_name):
            self._known.add(table_name)
        return table_name in self._known

    def _has_asset_key_index_cols_on_connection(self, conn: Connection) -> bool:  # noqa: ARG002
        return self.has_secondary_index("asset_key_index_columns")

    def upgrade(self) -> None:
        """Migrate the schema."""
        super().upgrade()
        self._known.clear()

    def dispose(self) -> None:
        """Stop watching and close the connections."""
        super().dispose()
        self._engine.dispose()

    # ---- writing

    def store_event(self, event: EventLogEntry) -> None:
        """Store one event."""
        self.store_event_batch([event])

    def store_event_batch(self, events: Sequence[EventLogEntry]) -> None:
        """Store events in one transaction: all of them or nothing.

        Those that the index holds come after one another in the order of their ids, whoever writes them.
        """
        wanted = [e for e in events if not _failed_to_materialize(e)]
        if not wanted:
            return
        indexed = [e for e in wanted if is_indexed(e)]
        with self.index_transaction() as conn:
            if not indexed:
                conn.execute(_INSERT_EVENT, [self._event_to_row(e) for e in wanted])
                return
            conn.execute(db.select(db.func.pg_advisory_xact_lock(_WRITERS_TURN)))
            rows = [self._event_to_row(e) for e in wanted]
            ids = [int(row[0]) for row in conn.execute(_INSERT_INDEXED, rows)]
            stored = [
                (e, id_, row["event"]) for e, id_, row in zip(wanted, ids, rows, strict=True) if is_indexed(e)
            ]
            self._store_in_index(conn, stored)

    def _store_asset_key(self, conn: Connection, key: str, changes: Mapping[str, Any]) -> None:
        insert = postgresql.insert(AssetKeyTable).values(asset_key=key, **changes)
        conn.execute(
            insert.on_conflict_do_update(index_elements=[AssetKeyTable.c.asset_key], set_=dict(changes))
        )


def _failed_to_materialize(event: EventLogEntry) -> bool:
    return event.is_dagster_event and event.get_dagster_event().is_asset_failed_to_materialize


_ALL: "weakref.WeakSet[BatchPostgresEventLogStorage]" = weakref.WeakSet()


def _leave_parents_connections() -> None:
    # two processes on one connection would read each other's answers; closing it would close the parent's
    for storage in list(_ALL):
        storage._engine.dispose(close=False)
        storage._batch = threading.local()


_register: Callable[..., object] | None = getattr(os, "register_at_fork", None)
if _register is not None:
    _register(after_in_child=_leave_parents_connections)
