import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dagster import (
    AssetCheckEvaluation,
    AssetCheckKey,
    AssetCheckSeverity,
    AssetCheckSpec,
    AssetExecutionContext,
    AssetKey,
    AssetMaterialization,
    AssetObservation,
    AssetSpec,
    Config,
    DagsterEventType,
    DagsterInstance,
    DagsterRun,
    DagsterRunStatus,
    Definitions,
    DynamicPartitionsDefinition,
    ExecuteInProcessResult,
    Failure,
    materialize,
    multi_asset,
)
from dagster._core.storage.partition_status_cache import AssetPartitionStatus, AssetStatusCacheValue
from dagster._core.storage.partition_status_cache import get_and_update_asset_status_cache_value as refresh
from pydantic import Field

from drac_pipeline.defs import instance_events
from drac_pipeline.defs.event_log_index import EVENT_BATCH_ENV
from drac_pipeline.defs.instance_events import (
    failed_partitions,
    forget_partitions,
    latest_code_versions,
    latest_data_versions,
    latest_materialization_ids,
    record_planned,
    report_runless,
    write_together,
)

ROOT = Path(__file__).parents[2]
INSTANCES = {
    "sqlite": ROOT / "drac_pipeline" / "defs" / "dagster.yaml",
    "postgres": ROOT / "deploy" / "postgres" / "dagster.yaml",
}
PAGES, ELEMENTS = AssetKey("pages"), AssetKey("elements")
KEYS = ["a.pdf", "b.pdf", "c.pdf"]
DOCUMENTS = DynamicPartitionsDefinition(name="documents")
COMPLETE = AssetCheckKey(PAGES, "complete")
STATUS = AssetPartitionStatus


@pytest.fixture(params=["sqlite", "postgres"])
def instance(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[DagsterInstance]:
    if request.param == "postgres":
        request.getfixturevalue("postgres")
    shutil.copy(INSTANCES[request.param], tmp_path / "dagster.yaml")
    monkeypatch.setenv(EVENT_BATCH_ENV, "100")
    with DagsterInstance.from_config(str(tmp_path)) as opened:
        opened.add_dynamic_partitions("documents", KEYS)
        yield opened


class Documents(Config):
    keys: list[str]
    fail: list[str] = Field(default=[])


@multi_asset(
    specs=[
        AssetSpec("pages", partitions_def=DOCUMENTS, skippable=True),
        AssetSpec("elements", partitions_def=DOCUMENTS, deps=["pages"], skippable=True),
    ],
    can_subset=True,
)
def stages(context: AssetExecutionContext, config: Documents) -> Iterator[Any]:
    """Launched without a partition, as a run over any set of documents is."""
    planned = [(asset_key, key) for key in config.keys for asset_key in (PAGES, ELEMENTS)]
    record_planned(context.instance, context.run, context.get_step_execution_context().step.key, planned)
    for key in config.keys:
        yield AssetMaterialization(PAGES, partition=key, tags={"dagster/data_version": f"pages of {key}"})
        if key not in config.fail:
            yield AssetMaterialization(ELEMENTS, partition=key)
    if config.fail:
        raise Failure("some failed", allow_retries=False)


def run(instance: DagsterInstance, keys: list[str], fail: list[str] | None = None) -> ExecuteInProcessResult:
    config = {"ops": {"stages": {"config": {"keys": keys, "fail": fail or []}}}}
    return materialize([stages], instance=instance, run_config=config, raise_on_error=False)


def statuses(instance: DagsterInstance, asset_key: AssetKey) -> dict[str, AssetPartitionStatus | None]:
    return dict(instance.get_status_by_partition(asset_key, KEYS, DOCUMENTS) or {})


def shown_as_failed(instance: DagsterInstance, asset_key: AssetKey) -> set[str]:
    """What the UI shows: it reads a cache that is brought up to date event by event."""
    cached = refresh(instance, asset_key, DOCUMENTS)
    assert isinstance(cached, AssetStatusCacheValue)
    return set(cached.deserialize_failed_partition_subsets(DOCUMENTS).get_partition_keys())


def test_failed_document_shows_as_failed_until_it_succeeds(instance: DagsterInstance) -> None:
    assert not run(instance, ["a.pdf", "b.pdf"], fail=["b.pdf"]).success
    assert statuses(instance, PAGES) == {
        "a.pdf": STATUS.MATERIALIZED,
        "b.pdf": STATUS.MATERIALIZED,
        "c.pdf": None,
    }
    assert statuses(instance, ELEMENTS) == {
        "a.pdf": STATUS.MATERIALIZED,
        "b.pdf": STATUS.FAILED,
        "c.pdf": None,
    }
    assert shown_as_failed(instance, ELEMENTS) == {"b.pdf"}

    assert run(instance, ["b.pdf"]).success
    assert statuses(instance, ELEMENTS)["b.pdf"] == STATUS.MATERIALIZED
    assert shown_as_failed(instance, ELEMENTS) == set()

    run(instance, ["b.pdf"], fail=["b.pdf"])  # a success before this run does not hide its failure
    assert statuses(instance, ELEMENTS)["b.pdf"] == STATUS.FAILED
    assert shown_as_failed(instance, ELEMENTS) == {"b.pdf"}
    assert shown_as_failed(instance, PAGES) == set()


def test_planned_shows_as_in_progress_while_the_run_lasts_and_not_after_a_cancel(
    instance: DagsterInstance,
) -> None:
    dagster_run = planning_run(instance)
    record_planned(instance, dagster_run, "stages", [(PAGES, "a.pdf"), (PAGES, "c.pdf")])
    shown = statuses(instance, PAGES)
    assert shown == {"a.pdf": STATUS.IN_PROGRESS, "b.pdf": None, "c.pdf": STATUS.IN_PROGRESS}
    instance.report_run_canceled(dagster_run)
    assert statuses(instance, PAGES) == dict.fromkeys(KEYS)


def planning_run(instance: DagsterInstance) -> DagsterRun:
    return instance.create_run(
        job_name="documents",
        run_id=None,
        run_config=None,
        status=DagsterRunStatus.STARTED,
        tags=None,
        root_run_id=None,
        parent_run_id=None,
        step_keys_to_execute=None,
        execution_plan_snapshot=None,
        job_snapshot=None,
        parent_job_snapshot=None,
        asset_selection=None,
        asset_check_selection=None,
        resolved_op_selection=None,
        op_selection=None,
        remote_job_origin=None,
        job_code_origin=None,
        asset_graph=Definitions(assets=[stages]).resolve_asset_graph(),
    )


def test_planned_is_one_write(instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(EVENT_BATCH_ENV)  # it does not depend on it
    sizes = batch_sizes(instance, monkeypatch)
    record_planned(instance, planning_run(instance), "stages", [(PAGES, key) for key in KEYS])
    assert sizes[-1] == 3
    record_planned(instance, planning_run(instance), "stages", [])
    assert 0 not in sizes


def batch_sizes(instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    sizes: list[int] = []
    kind = type(instance.event_log_storage)
    store = kind.store_event_batch

    def spy(self: Any, events: Any) -> None:
        sizes.append(len(events))
        store(self, events)

    monkeypatch.setattr(kind, "store_event_batch", spy)
    return sizes


def test_latest_ids_and_versions(instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    run(instance, ["a.pdf", "b.pdf"])
    before = latest_materialization_ids(instance, PAGES, KEYS)
    run(instance, ["b.pdf"])
    after = latest_materialization_ids(instance, PAGES, KEYS)
    assert set(after) == {"a.pdf", "b.pdf"}
    assert after["a.pdf"] == before["a.pdf"]
    assert after["b.pdf"] > before["b.pdf"]
    latest = instance.get_latest_data_version_record(PAGES, partition_key="b.pdf")
    assert latest is not None
    assert after["b.pdf"] == latest.storage_id
    assert latest_data_versions(instance, PAGES, KEYS) == {
        "a.pdf": "pages of a.pdf",
        "b.pdf": "pages of b.pdf",
    }
    monkeypatch.setattr(instance_events, "PARTITIONS_PER_QUERY", 1)
    assert latest_materialization_ids(instance, PAGES, KEYS) == after
    assert set(latest_data_versions(instance, PAGES, KEYS)) == set(after)


def test_no_partitions_ask_for_nothing(instance: DagsterInstance) -> None:
    run(instance, ["a.pdf"])  # Dagster itself takes an empty set for all partitions
    assert latest_materialization_ids(instance, PAGES, []) == {}
    assert latest_data_versions(instance, PAGES, []) == {}


@multi_asset(
    specs=[AssetSpec("pages", partitions_def=DOCUMENTS, skippable=True)],
    check_specs=[AssetCheckSpec("complete", asset="pages", partitions_def=DOCUMENTS, blocking=True)],
    can_subset=True,
)
def together(context: AssetExecutionContext, config: Documents) -> Iterator[Any]:
    yield from ()
    for key in config.keys:
        write_together(
            context,
            [
                AssetMaterialization(PAGES, partition=key),
                AssetCheckEvaluation(
                    asset_key=PAGES,
                    check_name="complete",
                    passed=key not in config.fail,
                    partition=key,
                    blocking=True,
                    severity=AssetCheckSeverity.ERROR,
                ),
            ],
        )


def test_written_together(instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = batch_sizes(instance, monkeypatch)
    config = {"ops": {"together": {"config": {"keys": KEYS, "fail": ["b.pdf"]}}}}
    result = materialize([together], instance=instance, run_config=config)
    assert result.success  # a failed blocking check is the op's affair
    assert sizes.count(2) == 4  # three documents, and what the run plans: an asset and its check
    stored = instance.all_logs(result.run_id, of_type=DagsterEventType.ASSET_MATERIALIZATION)
    assert [e.get_dagster_event().partition for e in stored] == KEYS
    assert {e.step_key for e in stored} == {"together"}
    assert statuses(instance, PAGES) == dict.fromkeys(KEYS, STATUS.MATERIALIZED)
    history = instance.event_log_storage.get_asset_check_execution_history(COMPLETE, limit=10)
    assert {r.partition: r.status.value for r in history if r.partition} == {
        "a.pdf": "SUCCEEDED",
        "b.pdf": "FAILED",
        "c.pdf": "SUCCEEDED",
    }


@multi_asset(
    specs=[AssetSpec("pages", partitions_def=DOCUMENTS, skippable=True)],
    check_specs=[AssetCheckSpec("complete", asset="pages", partitions_def=DOCUMENTS)],
    can_subset=True,
)
def again(context: AssetExecutionContext) -> Iterator[Any]:
    yield from ()
    for verdicts in ({"a.pdf": [False]}, {"a.pdf": [True], "b.pdf": [False], "c.pdf": [False, True]}):
        told = [(key, passed) for key, several in verdicts.items() for passed in several]
        write_together(
            context,
            [
                AssetCheckEvaluation(asset_key=PAGES, check_name="complete", passed=p, partition=k)
                for k, p in told
            ],
        )


def test_of_verdicts_of_a_run_the_last_one_stays(instance: DagsterInstance) -> None:
    assert materialize([again], instance=instance).success
    history = instance.event_log_storage.get_asset_check_execution_history(COMPLETE, limit=10)
    found = [(r.partition, r.status.value) for r in history if r.partition]
    assert sorted(found) == [("a.pdf", "SUCCEEDED"), ("b.pdf", "FAILED"), ("c.pdf", "SUCCEEDED")]


@multi_asset(specs=[AssetSpec("pages", skippable=True)])
def wrong(context: AssetExecutionContext) -> Iterator[Any]:
    yield from ()
    events: Any = [AssetMaterialization(PAGES), "nothing of the kind"]
    write_together(context, events)


def test_wrong_event_stores_nothing(instance: DagsterInstance) -> None:
    with pytest.raises(TypeError, match="a str"):
        materialize([wrong], instance=instance)
    assert instance.get_latest_materialization_event(PAGES) is None


def test_a_partition_that_is_forgotten_has_no_past(instance: DagsterInstance) -> None:
    config = {"ops": {"together": {"config": {"keys": KEYS, "fail": []}}}}
    materialize([together], instance=instance, run_config=config)
    run(instance, ["a.pdf", "b.pdf"], fail=["b.pdf"])
    assert failed_partitions(instance, ELEMENTS) == {"b.pdf"}
    forget_partitions(instance, [PAGES, ELEMENTS], ["b.pdf"])
    assert statuses(instance, PAGES) == {
        "a.pdf": STATUS.MATERIALIZED,
        "b.pdf": None,
        "c.pdf": STATUS.MATERIALIZED,
    }
    assert failed_partitions(instance, ELEMENTS) == shown_as_failed(instance, ELEMENTS) == set()
    assert latest_data_versions(instance, PAGES, KEYS) == {"a.pdf": "pages of a.pdf"}
    history = instance.event_log_storage.get_asset_check_execution_history(COMPLETE, limit=10)
    assert {r.partition for r in history if r.partition} == {"a.pdf", "c.pdf"}


def test_events_without_a_run_are_there_with_their_versions(instance: DagsterInstance) -> None:
    tags = {"dagster/data_version": "1", "dagster/code_version": "7"}
    report_runless(
        instance,
        [
            AssetMaterialization(PAGES, partition="a.pdf", tags=tags),
            AssetObservation(PAGES, partition="b.pdf", description="retired"),
        ],
    )
    assert statuses(instance, PAGES) == {"a.pdf": STATUS.MATERIALIZED, "b.pdf": None, "c.pdf": None}
    assert latest_data_versions(instance, PAGES, KEYS) == {"a.pdf": "1"}
    assert latest_code_versions(instance, PAGES, KEYS) == {"a.pdf": "7"}
    observed = instance.fetch_observations(PAGES, limit=5).records
    assert [r.partition_key for r in observed] == ["b.pdf"]
