"""The page of a check shows the verdict on each document, as long as it is about what is there."""

from __future__ import annotations

import pytest
from dagster import AssetCheckKey
from dagster._core.definitions.partitions.context import partition_loading_context
from dagster._core.storage.asset_check_execution_record import (
    AssetCheckExecutionRecordStatus,
    AssetCheckPartitionInfo,
)
from dagster._core.storage.asset_check_state import AssetCheckState
from dagster._core.storage.dagster_run import DagsterRun, DagsterRunStatus
from dagster._core.test_utils import create_run_for_test

from drac_pipeline.defs.check_states import about_what_was_there, check_states
from drac_pipeline.defs.events import asset_key, stale_materialization
from drac_pipeline.defs.instance_events import report_runless
from drac_pipeline.defs.names import documents_of
from drac_pipeline.pipeline import STAGES_BY_NAME

VERBATIM = AssetCheckKey(asset_key("chunks"), "verbatim")
RECORD = AssetCheckExecutionRecordStatus


def shown(state: AssetCheckState) -> dict[str, list[str]]:
    return {
        status.name: sorted(subset.subset_value.get_partition_keys())
        for status, subset in state.subsets.items()
        if not subset.is_empty
    }


def on_page(bench, key: AssetCheckKey = VERBATIM) -> dict[str, list[str]]:
    return shown(bench.instance.event_log_storage.get_asset_check_state([(key, documents_of())])[key])


def test_each_document_shows_its_verdict_until_something_newer_is_there(bench) -> None:
    keys = bench.register()
    assert on_page(bench) == {}
    bench.backfill(keys)
    assert on_page(bench) == {"SUCCEEDED": keys}
    manifest = bench.home.store.manifest(keys[1])
    newer = stale_materialization(bench.home, manifest, STAGES_BY_NAME["chunks"], "other")
    report_runless(bench.instance, [newer])
    assert on_page(bench) == {"SUCCEEDED": [keys[0], keys[2]]}
    bench.backfill(keys, ["chunks"])
    assert on_page(bench) == {"SUCCEEDED": keys}


def test_a_verdict_against_a_document_shows_as_failed(bench) -> None:
    keys = bench.register()
    bench.backfill(keys)
    manifest = bench.home.store.manifest(keys[0])
    record = manifest.stages["chunks"]
    checks = {**record.checks, "verbatim": record.checks["verbatim"].model_copy(update={"passed": False})}
    changed = record.model_copy(update={"checks": checks})
    bench.home.store.update_manifest(
        keys[0], lambda m: m.model_copy(update={"stages": {**m.stages, "chunks": changed}})
    )
    result = (
        bench.definitions()
        .resolve_implicit_global_asset_job_def()
        .get_subset(asset_check_selection={VERBATIM}, asset_selection=set())
        .execute_in_process(instance=bench.instance)
    )
    assert result.success
    assert on_page(bench) == {"FAILED": [keys[0]], "SUCCEEDED": keys[1:]}


@pytest.mark.parametrize("status", [DagsterRunStatus.FAILURE, DagsterRunStatus.SUCCESS, None])
def test_it_says_what_dagster_says_record_by_record(bench, status: DagsterRunStatus | None) -> None:
    keys = [f"{n}.pdf" for n in range(40)]
    bench.instance.add_dynamic_partitions("documents", keys)
    run: DagsterRun = create_run_for_test(
        bench.instance, status=status or DagsterRunStatus.STARTED, job_name="any"
    )
    kinds = [RECORD.SUCCEEDED, RECORD.FAILED, RECORD.PLANNED]
    infos = [
        AssetCheckPartitionInfo(
            check_key=VERBATIM,
            partition_key=key,
            latest_execution_status=kinds[n % 3],
            latest_planned_run_id=run.run_id,
            latest_check_event_storage_id=100 + n,
            latest_materialization_storage_id=[None, 50, 500][n % 4 % 3],
            latest_target_materialization_storage_id=[50, 500, 49][n % 5 % 3],
        )
        for n, key in enumerate([*keys, "gone.pdf"])
    ]
    ended = {run.run_id: run.status} if run.is_finished else {}
    with partition_loading_context(dynamic_partitions_store=bench.instance):
        theirs = AssetCheckState.empty().with_updates(VERBATIM, documents_of(), infos, ended)
    ours = check_states(bench.instance, [(VERBATIM, documents_of())], infos)[VERBATIM]
    assert shown(ours) == shown(theirs)
    assert ours.latest_storage_id == theirs.latest_storage_id
    assert set(ours.in_progress_runs) == set(theirs.in_progress_runs)
    assert len(shown(ours)) == 3


def test_a_verdict_without_a_target_is_about_what_was_there_before_it() -> None:
    def info(check: int, made: int | None, target: int | None) -> AssetCheckPartitionInfo:
        return AssetCheckPartitionInfo(
            check_key=VERBATIM,
            partition_key="a.pdf",
            latest_execution_status=RECORD.SUCCEEDED,
            latest_planned_run_id="",
            latest_check_event_storage_id=check,
            latest_materialization_storage_id=made,
            latest_target_materialization_storage_id=target,
        )

    given = [info(9, 5, None), info(9, 12, None), info(9, None, None), info(9, 5, 3), info(9, 5, 5)]
    current = [i.is_current for i in about_what_was_there(given)]
    assert current == [True, False, True, False, True]
