"""What the event logs of this project have in common: how a batch of events enters the index in one
transaction, and which tags are indexed."""

import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from dagster import AssetCheckKey, PartitionsDefinition
from dagster._core.definitions.data_version import CODE_VERSION_TAG
from dagster._core.events import ASSET_CHECK_EVENTS, ASSET_EVENTS, EVENT_TYPE_TO_PIPELINE_RUN_STATUS
from dagster._core.events.log import EventLogEntry
from dagster._core.storage.asset_check_execution_record import AssetCheckPartitionInfo
from dagster._core.storage.asset_check_state import AssetCheckState
from dagster._core.storage.event_log.schema import AssetKeyTable
from dagster._core.storage.event_log.sql_event_log import SqlEventLogStorage
from sqlalchemy.engine import Connection

from drac_pipeline.defs.check_states import about_what_was_there, check_states
from drac_pipeline.defs.event_log_checks import Stored, store_check_events

EVENT_BATCH_ENV = "DAGSTER_EVENT_BATCH_SIZE"
DEFAULT_EVENT_BATCH_SIZE = 500
INDEXED_EVENTS = ASSET_EVENTS | ASSET_CHECK_EVENTS | set(EVENT_TYPE_TO_PIPELINE_RUN_STATUS)


class BatchIndex(SqlEventLogStorage):
    """Writes the index for many events at once; a storage says how rows are inserted and connects.

    A subclass's ``index_connection`` gives ``index_connection_in_batch`` while this thread writes a batch.
    """

    _batch: threading.local

    @property
    def index_connection_in_batch(self) -> Connection | None:
        """The connection of the batch that this thread is writing, if it is."""
        return getattr(self._batch, "connection", None)

    def get_asset_tags_to_index(self, tag_keys: set[str]) -> set[str]:
        """Say which tags of asset events to index: the stock ones, and the code version."""
        return super().get_asset_tags_to_index(tag_keys) | (tag_keys & {CODE_VERSION_TAG})

    def get_asset_check_partition_info(
        self,
        keys: Sequence[AssetCheckKey],
        after_storage_id: int | None = None,
        partition_keys: Sequence[str] | None = None,
    ) -> Sequence[AssetCheckPartitionInfo]:
        """The latest record of each partition of these checks; see `about_what_was_there`."""
        return about_what_was_there(
            super().get_asset_check_partition_info(keys, after_storage_id, partition_keys)
        )

    def get_asset_check_state(
        self, keys: Sequence[tuple[AssetCheckKey, PartitionsDefinition | None]]
    ) -> Mapping[AssetCheckKey, AssetCheckState]:
        """What the pages of these checks show."""
        infos = self.get_asset_check_partition_info([key for key, _ in keys])
        return check_states(self._instance, keys, infos)

    def _store_in_index(self, conn: Connection, stored: Sequence[Stored]) -> None:
        """Write tags, assets and checks of events whose rows are in; `stored` in the order of storing."""
        with self._in_batch(conn):
            of_assets = [
                (e, id_)
                for e, id_, _ in stored
                if e.dagster_event_type in ASSET_EVENTS and e.get_dagster_event().asset_key
            ]
            self._store_asset_event_tags(conn, [e for e, _ in of_assets], [id_ for _, id_ in of_assets])
            self._store_asset_keys(conn, of_assets)
            checks = [s for s in stored if s[0].dagster_event_type in ASSET_CHECK_EVENTS]
            store_check_events(conn, checks, self.store_asset_check_event)

    @contextmanager
    def _in_batch(self, conn: Connection) -> Iterator[None]:
        self._batch.connection = conn
        try:
            yield
        finally:
            self._batch.connection = None

    def _store_asset_keys(self, conn: Connection, stored: Sequence[tuple[EventLogEntry, int]]) -> None:
        """Bring the row of each asset to what storing the events one after another would leave."""
        has_columns = self._has_asset_key_index_cols_on_connection(conn)
        last: dict[tuple[str, object], int] = {}
        for position, (event, _) in enumerate(stored):
            if key := event.get_dagster_event().asset_key:
                last[key.to_string(), event.dagster_event_type] = position
        values: dict[str, dict[str, Any]] = defaultdict(dict)
        # Later events of a type overwrite all that earlier ones set: only the last is worth serializing.
        for (key, _), position in sorted(last.items(), key=lambda item: item[1]):
            event, event_id = stored[position]
            values[key].update(self._get_asset_entry_values(event, event_id, has_columns))
        for key, changes in sorted(values.items()):
            if changes:
                self._store_asset_key(conn, key, changes)

    def _store_asset_key(self, conn: Connection, key: str, changes: Mapping[str, Any]) -> None:
        updated = conn.execute(
            AssetKeyTable.update().values(**changes).where(AssetKeyTable.c.asset_key == key)
        )
        if not updated.rowcount:
            conn.execute(AssetKeyTable.insert().values(asset_key=key, **changes))


def is_indexed(event: EventLogEntry) -> bool:
    """Say whether the index holds the event: it concerns assets, checks or the status of a run."""
    return event.is_dagster_event and event.dagster_event_type in INDEXED_EVENTS
