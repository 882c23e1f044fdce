"""Runs over many documents: what shows as done, failed and in need of a run, in each way of launching."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest
from dagster import DagsterEventType, DagsterInstance, DagsterRunStatus, RunsFilter
from dagster._core.remote_origin import ManagedGrpcPythonEnvCodeLocationOrigin
from dagster._core.workspace.load_target import ModuleTarget, PyProjectFileTarget, WorkspaceFileTarget

from drac_pipeline.defs.launch import execute_documents
from drac_pipeline.defs.metadata import check_metadata
from drac_pipeline.defs.names import DOCUMENTS
from drac_pipeline.pipeline import STAGES, DocumentOutcome, process_document
from drac_pipeline.pipeline.progress import listening

ROOT = Path(__file__).parents[2]
ALL = ["source_document", *(s.name for s in STAGES)]
STAGE_NAMES = ALL[1:]
KEYS = ["manual.pdf", "notes/site visit.pdf", "two pages.pdf"]
BAD = KEYS[1]
DONE = dict.fromkeys(ALL, "MATERIALIZED")
FAILED = dict.fromkeys(ALL, "FAILED") | {"source_document": "MATERIALIZED"}


@pytest.fixture
def broken(bench):
    """The middle one of three documents is corrupt; `good` keeps it as it was."""
    good = bench.corpus.parent / "good.pdf"
    shutil.copyfile(bench.corpus / BAD, good)
    (bench.corpus / BAD).write_bytes(good.read_bytes()[:200])
    return bench


def repair(bench) -> None:
    shutil.copyfile(bench.corpus.parent / "good.pdf", bench.corpus / BAD)


def failure_text(instance: DagsterInstance, run_id: str) -> str:
    logs = instance.all_logs(run_id, of_type=DagsterEventType.STEP_FAILURE)
    data = logs[0].get_dagster_event().step_failure_data
    assert data.user_failure_data
    shown = data.user_failure_data.metadata.values()
    return "\n".join([data.user_failure_data.description or "", *(str(m.value) for m in shown)])


@pytest.mark.parametrize("way", ["backfill", "key list", "everything"])
def test_one_bad_document_fails_alone(broken, way: str) -> None:
    keys = broken.register()
    assert keys == KEYS
    if way == "backfill":
        result = broken.backfill(keys)
    else:
        result = broken.launch(documents=keys if way == "key list" else [])
    assert not result.success
    assert broken.statuses() == {KEYS[0]: DONE, BAD: FAILED, KEYS[2]: DONE}
    manifest = broken.home.store.manifest(BAD)
    assert manifest.failure.stage == "normalized_pdf"
    told = failure_text(broken.instance, result.run_id)
    assert told.startswith("1 document failed; the others are done")
    assert f"{BAD}, normalized_pdf: {manifest.failure.kind}" in told
    [seen] = broken.instance.all_logs(result.run_id, of_type=DagsterEventType.ASSET_OBSERVATION)
    assert seen.dagster_event.partition == BAD
    assert manifest.failure.cause in seen.dagster_event.asset_observation_data.asset_observation.description
    assert broken.stale() == {}


def test_the_retry_of_a_key_list_runs_the_failed_document_from_its_failed_stage(broken) -> None:
    broken.register()
    first = broken.launch()
    assert set(broken.emitted(first)) == {KEYS[0], KEYS[2]}
    again = broken.launch()  # a re-execution copies the config
    assert (again.success, broken.emitted(again)) == (False, {})
    repair(broken)
    after = broken.launch()
    assert (after.success, broken.emitted(after)) == (True, {BAD: STAGE_NAMES})
    assert broken.statuses() == dict.fromkeys(KEYS, DONE)
    assert broken.home.store.manifest(BAD).failure is None


def test_the_retry_of_a_backfill_takes_a_repaired_file(broken) -> None:
    """The daemon retries what failed: not the source, which was materialized as it was then."""
    broken.backfill(broken.register())
    repair(broken)
    retry = broken.backfill([BAD], STAGE_NAMES)
    assert (retry.success, broken.emitted(retry)) == (True, {BAD: STAGE_NAMES})
    assert broken.statuses() == dict.fromkeys(KEYS, DONE)
    assert broken.stale() == {}


def test_an_unreadable_source_fails_its_document_alone_and_clears_when_it_is_back(bench) -> None:
    keys = bench.register()
    hidden = bench.corpus.parent / "hidden.pdf"
    (bench.corpus / BAD).rename(hidden)
    assert not bench.backfill(keys).success
    assert bench.statuses() == {KEYS[0]: DONE, BAD: dict.fromkeys(ALL, "FAILED"), KEYS[2]: DONE}
    assert bench.home.store.manifest(BAD).failure.stage == "source_document"
    hidden.rename(bench.corpus / BAD)
    assert bench.launch().success
    assert bench.statuses() == dict.fromkeys(KEYS, DONE)
    assert bench.home.store.manifest(BAD).failure is None


def test_nothing_is_emitted_where_nothing_is_due(bench) -> None:
    bench.register()
    assert set(bench.emitted(bench.launch())) == set(KEYS)
    assert bench.emitted(bench.launch()) == {}
    assert bench.emitted(bench.launch(documents=KEYS[:1])) == {}
    assert bench.emitted(bench.launch(documents=KEYS[:1], force=True)) == {KEYS[0]: STAGE_NAMES}


def test_a_launch_without_documents_takes_in_what_is_new(bench, make_pdf) -> None:
    assert bench.launch(sources=[str(bench.corpus)]).success
    make_pdf(bench.corpus / "new.pdf", "<h1>New</h1><p>Text.</p>")
    shutil.copyfile(bench.corpus / KEYS[0], bench.corpus / KEYS[2])
    result = bench.launch()  # the home remembers where to look
    emitted = bench.emitted(result)
    assert set(emitted) == {"new.pdf", KEYS[2]}
    assert emitted["new.pdf"] == STAGE_NAMES
    assert bench.statuses()["new.pdf"] == DONE


def test_a_single_file_brings_none_of_its_neighbours(bench) -> None:
    bench.launch(sources=[str(bench.corpus / KEYS[0])])
    bench.launch()
    assert set(bench.statuses()) == {KEYS[0]}


def test_one_unreachable_source_does_not_stop_the_others(bench) -> None:
    result = bench.launch(sources=["/nowhere/at/all", str(bench.corpus)])
    assert not result.success
    assert bench.statuses() == dict.fromkeys(KEYS, DONE)
    assert "/nowhere/at/all" in failure_text(bench.instance, result.run_id)


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"documents": ["no such.pdf"]}, "no such.pdf"),
        ({"stages": ["chunk_plans"]}, "no such stage: chunk_plans"),
        ({}, "remembers no source"),
    ],
)
def test_a_launch_that_cannot_begin_says_why(bench, config, told: str) -> None:
    result = bench.launch(**config)
    assert not result.success
    [event] = [e for e in result.all_events if e.event_type == DagsterEventType.STEP_FAILURE]
    assert told in event.step_failure_data.user_failure_data.description


def test_replan_takes_chosen_documents_and_never_converts(bench) -> None:
    bench.register()
    bench.launch()
    chosen = [KEYS[0], KEYS[2]]  # no neighbours
    again = bench.launch(
        "replan", documents=chosen, stages=["chunk_plan", "chunks", "chunk_embeddings"], force=True
    )
    assert bench.emitted(again) == {key: ["chunk_plan", "chunks", "chunk_embeddings"] for key in chosen}
    assert bench.stale() == {}


def test_replan_of_all_passes_over_documents_without_elements(broken) -> None:
    broken.register()
    broken.launch()
    result = broken.launch("replan", stages=["chunk_plan", "chunks", "chunk_embeddings"], force=True)
    assert result.success
    assert set(broken.emitted(result)) == {KEYS[0], KEYS[2]}


def test_selected_stages_of_selected_partitions_run_even_if_nothing_changed(bench) -> None:
    bench.backfill(bench.register())
    before = bench.home.store.manifest(KEYS[0]).stages
    assert bench.backfill(KEYS[:1], ["chunk_plan", "chunks", "chunk_embeddings"]).success
    after = bench.home.store.manifest(KEYS[0]).stages
    assert [n for n in STAGE_NAMES if before[n].version != after[n].version] == [
        "chunk_plan",
        "chunks",
        "chunk_embeddings",
    ]
    bench.backfill(KEYS)  # all stages: a refresh, which reuses what is good
    assert bench.home.store.manifest(KEYS[0]).stages == after


def test_outputs_that_were_never_reported_are_reported(bench) -> None:
    """As after a kill between publishing and reporting."""
    bench.register()
    for key in KEYS[:2]:
        assert not process_document(bench.home.store, key, bench.home.config).failure
    assert bench.statuses()[KEYS[0]]["chunks"] == "MISSING"
    before = {k: bench.home.store.manifest(k).stages for k in KEYS[:2]}
    bench.launch()
    assert bench.statuses() == dict.fromkeys(KEYS, DONE)
    assert {k: bench.home.store.manifest(k).stages for k in KEYS[:2]} == before
    assert bench.stale() == {}


def test_a_run_that_died_midway_leaves_no_failed_mark_for_good_outputs(bench) -> None:
    keys = bench.register()
    bench.launch()
    job = bench.definitions().resolve_implicit_global_asset_job_def()
    dead = bench.instance.create_run_for_job(
        job,
        tags={"dagster/asset_partition_range_start": keys[0], "dagster/asset_partition_range_end": keys[2]},
    )
    bench.instance.report_run_failed(dead, "killed")
    assert bench.statuses()[KEYS[0]]["markdown"] == "FAILED"
    bench.launch()
    assert bench.statuses() == dict.fromkeys(KEYS, DONE)


def test_an_interrupted_run_marks_nothing_as_failed_and_tells_of_what_was_done(bench) -> None:
    bench.register()
    done: list[str] = []

    def interrupt(outcome: DocumentOutcome) -> None:
        done.append(outcome.key)
        os.kill(os.getpid(), signal.SIGINT)

    with listening(interrupt), pytest.raises(KeyboardInterrupt):
        execute_documents(bench.instance, "ingest", KEYS)
    (run,) = bench.instance.get_runs()
    assert run.status == DagsterRunStatus.CANCELED
    nothing = dict.fromkeys(ALL, "MISSING") | {"source_document": "MATERIALIZED"}
    assert bench.statuses() == {k: DONE if k in done else nothing for k in KEYS}
    assert done and len(done) < len(KEYS)


def test_checks_are_recorded_for_each_document(broken) -> None:
    broken.backfill(broken.register())
    good = {KEYS[0]: True, KEYS[2]: True}
    for stage, check in (("markdown", "no_table_syntax"), ("chunk_plan", "coverage"), ("chunks", "verbatim")):
        assert broken.verdicts(stage, check) == good, check


def test_a_check_shows_lists_in_words() -> None:
    shown = check_metadata({"missing": ["p1", "p2"], "empty": [], "n": 3, "ok": True})
    assert {k: v.value for k, v in shown.items()} == {
        "missing": "p1, p2",
        "empty": "none",
        "n": 3,
        "ok": True,
    }


def test_drac_run_and_the_ui_share_the_instance(bench) -> None:
    """The command line's way in: the run can be re-executed from the UI, since it has an origin."""
    bench.register()
    launched = execute_documents(bench.instance, "ingest", KEYS)
    assert launched.success
    assert bench.statuses() == dict.fromkeys(KEYS, DONE)
    run = bench.instance.get_run_by_id(launched.run_id)
    assert run and run.remote_job_origin and run.job_code_origin
    # however the UI was started: the name is what it finds the run's code by
    for target in (
        WorkspaceFileTarget([str(ROOT / "workspace.yaml")]),
        PyProjectFileTarget(str(ROOT / "pyproject.toml")),
        ModuleTarget("drac_pipeline.defs.definitions", None, None, None),
    ):
        (origin,) = target.create_origins()
        assert origin.location_name == run.remote_job_origin.location_name
        assert isinstance(origin, ManagedGrpcPythonEnvCodeLocationOrigin)
        assert origin.loadable_target_origin.module_name == "drac_pipeline.defs.definitions"


def test_register_documents_adds_partitions_and_processes_nothing(bench) -> None:
    job = bench.definitions().resolve_job_def("register_documents")
    config = {"ops": {"look_at_sources": {"config": {"sources": [str(bench.corpus)]}}}}
    assert job.execute_in_process(run_config=config, instance=bench.instance).success
    assert sorted(bench.instance.get_dynamic_partitions(DOCUMENTS)) == KEYS
    registered = dict.fromkeys(ALL, "MISSING") | {"source_document": "MATERIALIZED"}
    assert bench.statuses() == dict.fromkeys(KEYS, registered)
    assert not any(m.stages for m in bench.home.store.manifests())
    (bench.corpus / "also.pdf").write_bytes((bench.corpus / KEYS[0]).read_bytes())
    assert job.execute_in_process(instance=bench.instance).success  # the source is remembered
    assert "also.pdf" in bench.instance.get_dynamic_partitions(DOCUMENTS)


def test_no_run_is_left_open(broken) -> None:
    broken.backfill(broken.register())
    broken.launch()
    open_runs = RunsFilter(statuses=[DagsterRunStatus.STARTED, DagsterRunStatus.STARTING])
    assert broken.instance.get_runs(open_runs) == []
    assert not list(Path(broken.home.path).rglob(".tmp-*"))
