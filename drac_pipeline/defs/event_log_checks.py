"""The table of check verdicts, written for thousands of partitions.

Dagster writes one verdict after another, with a look for the row of a planned one each time, and makes
its text a second time.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as db
from dagster import AssetCheckEvaluation
from dagster._core.events.log import EventLogEntry
from dagster._core.storage.asset_check_execution_record import AssetCheckExecutionRecordStatus
from dagster._core.storage.event_log.schema import AssetCheckExecutionsTable
from sqlalchemy.engine import Connection

_INSERT = AssetCheckExecutionsTable.insert()
_STATUS = AssetCheckExecutionRecordStatus

Stored = tuple[EventLogEntry, int, str]  # an event, its storage id, and the event as text
CheckRun = tuple[str, str, str]


def store_check_events(
    conn: Connection, stored: Sequence[Stored], store_one: Callable[[EventLogEntry, int], None]
) -> None:
    """Write the rows of check events. Verdicts that nobody planned, one of a check, run and partition, are
    new rows, written at once; `store_one` gets the others."""
    verdicts: dict[CheckRun, dict[str | None, list[Stored]]] = defaultdict(lambda: defaultdict(list))
    for one in stored:
        data = one[0].get_dagster_event().event_specific_data
        if isinstance(data, AssetCheckEvaluation) and one[0].run_id:
            which = (data.asset_key.to_string(), data.check_name, one[0].run_id)
            verdicts[which][data.partition].append(one)
        else:
            store_one(one[0], one[1])
    rows = []
    for which, by_partition in verdicts.items():
        there = _partitions_there(conn, which, list(by_partition))
        for partition, found in by_partition.items():
            if partition in there or len(found) > 1:
                for event, event_id, _ in found:
                    store_one(event, event_id)
            else:
                rows.append(_row(which, partition, *found[0]))
    if rows:
        conn.execute(_INSERT, rows)


def _partitions_there(conn: Connection, which: CheckRun, partitions: Sequence[str | None]) -> set[str | None]:
    """For which of these partitions the run has a row of the check already."""
    table = AssetCheckExecutionsTable.c
    wanted = db.or_(
        table.partition.in_([p for p in partitions if p is not None]),
        *([table.partition.is_(None)] if None in partitions else []),
    )
    asset, name, run = which
    query = db.select(table.partition).where(
        db.and_(table.asset_key == asset, table.check_name == name, table.run_id == run, wanted)
    )
    return {row[0] for row in conn.execute(query)}


def _row(
    which: CheckRun, partition: str | None, event: EventLogEntry, event_id: int, text: str
) -> dict[str, Any]:
    data = event.get_dagster_event().event_specific_data
    assert isinstance(data, AssetCheckEvaluation)
    target = data.target_materialization_data
    return {
        "asset_key": which[0],
        "check_name": which[1],
        "run_id": which[2],
        "partition": partition,
        "execution_status": (_STATUS.SUCCEEDED if data.passed else _STATUS.FAILED).value,
        "evaluation_event": text,
        "evaluation_event_timestamp": datetime.fromtimestamp(event.timestamp, UTC).replace(tzinfo=None),
        "evaluation_event_storage_id": event_id,
        "materialization_event_storage_id": target.storage_id if target else None,
    }
