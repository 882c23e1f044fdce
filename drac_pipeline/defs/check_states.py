"""What the page of a check shows of each partition, in one pass over thousands of them.

Dagster joins sets of partitions one record at a time, which is quadratic; and counts a verdict only where
it names the materialization it was passed on, which those that are written many at a time do not.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from dagster import AssetCheckKey, DagsterInstance, DagsterRunStatus, PartitionsDefinition, RunsFilter
from dagster._core.asset_graph_view.serializable_entity_subset import SerializableEntitySubset
from dagster._core.storage.asset_check_execution_record import (
    AssetCheckExecutionRecordStatus,
    AssetCheckExecutionResolvedStatus,
    AssetCheckPartitionInfo,
)
from dagster._core.storage.asset_check_state import AssetCheckState
from dagster._core.storage.dagster_run import FINISHED_STATUSES
from dagster_shared.record import copy

_PLANNED = AssetCheckExecutionRecordStatus.PLANNED
_RESOLVED = AssetCheckExecutionResolvedStatus
_VERDICTS = {
    AssetCheckExecutionRecordStatus.SUCCEEDED: _RESOLVED.SUCCEEDED,
    AssetCheckExecutionRecordStatus.FAILED: _RESOLVED.FAILED,
}
Keys = Sequence[tuple[AssetCheckKey, PartitionsDefinition | None]]


def about_what_was_there(infos: Iterable[AssetCheckPartitionInfo]) -> list[AssetCheckPartitionInfo]:
    """Verdicts that name no materialization are about the latest one that was there when they were passed."""
    return [
        copy(info, latest_target_materialization_storage_id=info.latest_materialization_storage_id)
        if info.latest_target_materialization_storage_id is None
        and (info.latest_materialization_storage_id or 0) < info.latest_check_event_storage_id
        else info
        for info in infos
    ]


def check_states(
    instance: DagsterInstance, keys: Keys, infos: Iterable[AssetCheckPartitionInfo]
) -> dict[AssetCheckKey, AssetCheckState]:
    """The state of each check: its partitions by status, of the latest record of each (`infos`). What a run
    meant to check and did not counts as skipped, or as failed where the run failed."""
    by_key: dict[AssetCheckKey, list[AssetCheckPartitionInfo]] = defaultdict(list)
    for info in infos:
        by_key[info.check_key].append(info)
    every = [info for found in by_key.values() for info in found]
    planned = {i.latest_planned_run_id for i in every if i.latest_execution_status is _PLANNED}
    ended = _ended_runs(instance, planned)
    return {key: _state(instance, key, definition, by_key[key], ended) for key, definition in keys}


def _ended_runs(instance: DagsterInstance, run_ids: set[str]) -> Mapping[str, DagsterRunStatus]:
    if not run_ids:
        return {}
    filters = RunsFilter(run_ids=list(run_ids), statuses=FINISHED_STATUSES)
    return {run.run_id: run.status for run in instance.get_runs(filters=filters)}


def _state(
    instance: DagsterInstance,
    key: AssetCheckKey,
    definition: PartitionsDefinition | None,
    infos: Sequence[AssetCheckPartitionInfo],
    ended: Mapping[str, DagsterRunStatus],
) -> AssetCheckState:
    known = set(definition.get_partition_keys(dynamic_partitions_store=instance)) if definition else {None}
    found: dict[AssetCheckExecutionResolvedStatus, set[str | None]] = {s: set() for s in _RESOLVED}
    running: dict[str, set[str | None]] = defaultdict(set)
    latest = 0
    for info in infos:
        latest = max(latest, info.latest_check_event_storage_id, info.latest_materialization_storage_id or 0)
        if info.partition_key not in known:
            continue
        if info.latest_execution_status is not _PLANNED:
            if info.is_current:
                found[_VERDICTS[info.latest_execution_status]].add(info.partition_key)
        elif (status := ended.get(info.latest_planned_run_id)) is None:
            found[_RESOLVED.IN_PROGRESS].add(info.partition_key)
            running[info.latest_planned_run_id].add(info.partition_key)
        else:
            failed = status is DagsterRunStatus.FAILURE
            found[_RESOLVED.EXECUTION_FAILED if failed else _RESOLVED.SKIPPED].add(info.partition_key)

    def subset(keys: set[str | None]) -> SerializableEntitySubset[AssetCheckKey]:
        if definition is None:
            return SerializableEntitySubset(key, bool(keys))
        return SerializableEntitySubset(key, definition.subset_with_partition_keys([k for k in keys if k]))

    return AssetCheckState(
        latest_storage_id=latest,
        subsets={status: subset(keys) for status, keys in found.items()},
        in_progress_runs={run: subset(keys) for run, keys in running.items()},
    )
