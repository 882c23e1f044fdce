"""What the document job needs of Dagster's event log beyond its public interface.

All of it leans on internals of Dagster 1.13, so it is kept in one place, and tested against a real
instance: a new minor version shows here first.
"""

import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

import sqlalchemy as db
from dagster import (
    AssetCheckEvaluation,
    AssetExecutionContext,
    AssetKey,
    AssetMaterialization,
    AssetObservation,
    DagsterEvent,
    DagsterEventType,
    DagsterInstance,
    DagsterRun,
    DagsterRunStatus,
    EventLogEntry,
    OpExecutionContext,
    RunsFilter,
)
from dagster._core.definitions.data_version import CODE_VERSION_TAG, DATA_VERSION_TAG
from dagster._core.events import (
    AssetMaterializationPlannedData,
    AssetObservationData,
    StepMaterializationData,
)
from dagster._core.instance.utils import RUNLESS_JOB_NAME, RUNLESS_RUN_ID
from dagster._core.storage.event_log.schema import (
    AssetCheckExecutionsTable,
    AssetEventTagsTable,
    SqlEventLogStorageTable,
)
from dagster._core.storage.event_log.sql_event_log import SqlEventLogStorage
from dagster._time import get_current_timestamp

from drac_pipeline.defs.event_log_index import BatchIndex

PARTITIONS_PER_QUERY = 10_000  # SQLite takes 32,766 variables in a statement
EVENTS_PER_WRITE = 1_000  # other writers wait for a transaction to end


def record_planned(
    instance: DagsterInstance, run: DagsterRun, step_key: str, planned: Iterable[tuple[AssetKey, str]]
) -> None:
    """Record that a run means to materialize these (asset, partition) pairs, many in a write.

    Dagster records it by itself only for runs launched with a partition or a range. A pair shows as in
    progress until the run ends; then as failed if the run failed and stored no materialization of the
    pair after this. A run that succeeds or is canceled marks nothing as failed, and the next
    materialization, of any run, clears the mark.
    """
    now = get_current_timestamp()
    storage = instance.event_log_storage
    entries: list[EventLogEntry] = []
    for asset_key, partition in planned:
        if len(entries) == EVENTS_PER_WRITE:
            storage.store_event_batch(entries)
            entries = []
        data = AssetMaterializationPlannedData(asset_key, partition=partition)
        event = DagsterEvent.build_asset_materialization_planned_event(run.job_name, step_key, data)
        entries.append(
            EventLogEntry(
                error_info=None,
                level=logging.DEBUG,
                user_message="",
                run_id=run.run_id,
                timestamp=now,
                step_key=step_key,
                job_name=run.job_name,
                dagster_event=event,
            )
        )
    if entries:
        storage.store_event_batch(entries)


def latest_materialization_ids(
    instance: DagsterInstance, asset_key: AssetKey, partitions: Iterable[str]
) -> dict[str, int]:
    """Return the storage id of each partition's latest materialization, without those that have none.

    It is the value of the tag ``dagster/input_event_pointer/<parent>``. One query for many partitions.
    """
    ids: dict[str, int] = {}
    for chunk in _chunks(partitions):
        found = instance.event_log_storage.get_latest_storage_id_by_partition(
            asset_key, DagsterEventType.ASSET_MATERIALIZATION, set(chunk)
        )
        ids.update(found)
    return ids


def latest_data_versions(
    instance: DagsterInstance, asset_key: AssetKey, partitions: Iterable[str]
) -> dict[str, str]:
    """Return the data version of each partition's latest materialization, without those that have none.

    It is the value of the tag ``dagster/input_data_version/<parent>``. One query for many partitions.
    """
    return _latest_tag(instance, asset_key, partitions, DATA_VERSION_TAG)


def latest_code_versions(
    instance: DagsterInstance, asset_key: AssetKey, partitions: Iterable[str]
) -> dict[str, str]:
    """Return the code version of each partition's latest materialization, where the event log indexes it.

    Dagster's own storages do not: then there is none, nor of what they wrote before.
    """
    if not instance.event_log_storage.get_asset_tags_to_index({CODE_VERSION_TAG}):
        return {}
    return _latest_tag(instance, asset_key, partitions, CODE_VERSION_TAG)


def _latest_tag(
    instance: DagsterInstance, asset_key: AssetKey, partitions: Iterable[str], tag: str
) -> dict[str, str]:
    values: dict[str, str] = {}
    for chunk in _chunks(partitions):
        found: Mapping[str, Mapping[str, str]] = instance.event_log_storage.get_latest_tags_by_partition(
            asset_key, DagsterEventType.ASSET_MATERIALIZATION, [tag], chunk
        )
        values.update({key: tags[tag] for key, tags in found.items()})
    return values


def failed_partitions(instance: DagsterInstance, asset_key: AssetKey) -> set[str]:
    """Return the partitions that show as failed: a run that failed meant to materialize them, and did not."""
    storage = instance.event_log_storage
    attempts = storage.get_latest_asset_partition_materialization_attempts_without_materializations(asset_key)
    if not attempts:
        return set()
    runs = {run_id for run_id, _ in attempts.values()}
    failed = {
        run.run_id
        for run in instance.get_runs(RunsFilter(run_ids=list(runs), statuses=[DagsterRunStatus.FAILURE]))
    }
    return {partition for partition, (run_id, _) in attempts.items() if run_id in failed}


def report_runless(
    instance: DagsterInstance,
    events: Sequence[AssetMaterialization | AssetObservation | AssetCheckEvaluation],
) -> None:
    """Store events that belong to no run: ``report_runless_asset_event`` for many at once."""
    now = get_current_timestamp()
    entries = [
        EventLogEntry(
            error_info=None,
            level=logging.INFO,
            user_message="",
            run_id=RUNLESS_RUN_ID,
            timestamp=now,
            job_name=RUNLESS_JOB_NAME,
            dagster_event=DagsterEvent(
                _event_type(event).value,
                RUNLESS_JOB_NAME,
                event_specific_data=_event_data(event),
            ),
        )
        for event in events
    ]
    for start in range(0, len(entries), EVENTS_PER_WRITE):
        instance.event_log_storage.store_event_batch(entries[start : start + EVENTS_PER_WRITE])


def forget_partitions(
    instance: DagsterInstance, asset_keys: Iterable[AssetKey], partitions: Iterable[str]
) -> None:
    """Delete what the event log says of these partitions of these assets.

    Dagster keeps the records of a partition that is removed, so that one added again under the same key
    would show as materialized at once; ``wipe_asset_partitions`` is not implemented for SQL storages.
    """
    storage = instance.event_log_storage
    if not isinstance(storage, SqlEventLogStorage):
        return
    keys = list(asset_keys)
    names = [k.to_string() for k in keys]
    events, tags, checks = SqlEventLogStorageTable, AssetEventTagsTable, AssetCheckExecutionsTable
    chunks = list(_chunks(partitions))
    with storage.index_transaction() as conn:
        for chunk in chunks:
            for name in names:
                rows = db.and_(events.c.asset_key == name, events.c.partition.in_(chunk))
                chosen = db.select(events.c.id).where(rows)
                conn.execute(tags.delete().where(tags.c.event_id.in_(chosen)))
                conn.execute(events.delete().where(rows))
                conn.execute(
                    checks.delete().where(db.and_(checks.c.asset_key == name, checks.c.partition.in_(chunk)))
                )
    if chunks:
        for key in keys:
            storage.wipe_asset_cached_status(key)


def write_together(
    context: AssetExecutionContext | OpExecutionContext,
    events: Sequence[AssetMaterialization | AssetObservation | AssetCheckEvaluation],
) -> None:
    """Store the events of a step in one write; there is nothing to yield for them.

    An event that is yielded is stored by itself, goes through the loggers of the run and stays in memory
    until the run ends: too much for a step with events of thousands of documents. A failed blocking check
    does not fail the step: the op decides.

    Raises:
        TypeError: If an event is none of the three kinds; nothing is stored then.
    """
    kinds = [_event_type(event) for event in events]
    step = context.get_step_execution_context()
    now = get_current_timestamp()
    entries = []
    for event, kind in zip(events, kinds, strict=True):
        data, message = _content(event)
        entries.append(
            EventLogEntry(
                error_info=None,
                level=logging.DEBUG,
                user_message=message,
                run_id=step.run_id,
                timestamp=now,
                step_key=step.step.key,
                job_name=step.job_name,
                dagster_event=DagsterEvent(
                    event_type_value=kind.value,
                    job_name=step.job_name,
                    step_handle=step.step.handle,
                    node_handle=step.step.node_handle,
                    step_kind_value=step.step.kind.value,
                    logging_tags=step.event_tags,
                    event_specific_data=data,
                    message=message,
                    pid=os.getpid(),
                ),
            )
        )
    storage = context.instance.event_log_storage
    if not isinstance(storage, BatchIndex):  # the stock ones take batches of one kind, if that
        for entry in entries:
            storage.store_event(entry)
        return
    for start in range(0, len(entries), EVENTS_PER_WRITE):
        storage.store_event_batch(entries[start : start + EVENTS_PER_WRITE])


def _content(
    event: AssetMaterialization | AssetObservation | AssetCheckEvaluation,
) -> tuple[StepMaterializationData | AssetObservationData | AssetCheckEvaluation, str]:
    match event:
        case AssetMaterialization():
            return StepMaterializationData(event), event.description or "Materialized value."
        case AssetObservation():
            return AssetObservationData(event), event.description or "ASSET_OBSERVATION"
        case AssetCheckEvaluation():
            outcome = "passed" if event.passed else "did not pass"
            return (
                event,
                f"Asset check '{event.check_name}' on '{event.asset_key.to_user_string()}' {outcome}.",
            )


def _event_data(
    event: AssetMaterialization | AssetObservation | AssetCheckEvaluation,
) -> StepMaterializationData | AssetObservationData | AssetCheckEvaluation:
    if isinstance(event, AssetMaterialization):
        return StepMaterializationData(event)
    return AssetObservationData(event) if isinstance(event, AssetObservation) else event


def _event_type(event: object) -> DagsterEventType:
    match event:
        case AssetMaterialization():
            return DagsterEventType.ASSET_MATERIALIZATION
        case AssetObservation():
            return DagsterEventType.ASSET_OBSERVATION
        case AssetCheckEvaluation():
            return DagsterEventType.ASSET_CHECK_EVALUATION
    raise TypeError(f"an op cannot write a {type(event).__name__} to the event log together with others")


def _chunks(partitions: Iterable[str]) -> Iterator[list[str]]:
    keys = sorted(set(partitions))
    for start in range(0, len(keys), PARTITIONS_PER_QUERY):
        yield keys[start : start + PARTITIONS_PER_QUERY]
