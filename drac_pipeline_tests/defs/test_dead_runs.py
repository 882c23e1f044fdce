"""Runs whose process was killed, and runs that are alive and must be left alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from dagster import DagsterRun, DagsterRunStatus
from dagster._core.launcher import WorkerStatus

from drac_pipeline.defs import run_process
from drac_pipeline.defs.run_launcher import WatchingRunLauncher
from drac_pipeline.defs.run_process import PROCESS_TAG, fail_runs_of_dead_processes, process_of, process_tags


@pytest.fixture
def sleeper():
    """A process that does nothing until it is told to end."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    yield process
    process.kill()
    process.wait()


def started(bench, tags: dict[str, str], run_id: str | None = None) -> DagsterRun:
    job = bench.definitions().resolve_job_def("ingest")
    run = bench.instance.create_run_for_job(job, status=DagsterRunStatus.STARTED, run_id=run_id)
    bench.instance.add_run_tags(run.run_id, tags)
    return bench.instance.get_run_by_id(run.run_id)


def tags_of(pid: int, run_id: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    with monkeypatch.context() as patched:
        patched.setattr(os, "getpid", lambda: pid)
        return process_tags(run_id)


def alive(run: DagsterRun) -> bool:
    process = process_of(run)
    assert process
    return process.alive


def run_of(bench, pid: int, monkeypatch: pytest.MonkeyPatch) -> DagsterRun:
    run = started(bench, {})
    bench.instance.add_run_tags(run.run_id, tags_of(pid, run.run_id, monkeypatch))
    return bench.instance.get_run_by_id(run.run_id)


def test_only_the_run_of_the_dead_process_is_failed(bench, sleeper, monkeypatch) -> None:
    dead = run_of(bench, sleeper.pid, monkeypatch)
    mine = run_of(bench, os.getpid(), monkeypatch)
    unknown = started(bench, {})
    elsewhere = started(bench, {PROCESS_TAG: f"{dead.run_id}/another-host/boot/1/1"})
    # a re-execution copies the tags of its parent before it has a process of its own
    child = started(bench, {PROCESS_TAG: dead.tags[PROCESS_TAG]})
    assert fail_runs_of_dead_processes(bench.instance) == []
    sleeper.kill()
    while alive(dead):  # a zombie counts as gone
        time.sleep(0.01)
    assert fail_runs_of_dead_processes(bench.instance) == [dead.run_id]
    status = {r.run_id: r.status for r in bench.instance.get_runs()}
    assert status[dead.run_id] == DagsterRunStatus.FAILURE
    for run in (mine, unknown, elsewhere, child):
        assert status[run.run_id] == DagsterRunStatus.STARTED


def test_a_recycled_process_number_is_another_process(bench, monkeypatch) -> None:
    run = run_of(bench, os.getpid(), monkeypatch)
    assert alive(run)
    monkeypatch.setattr(run_process, "_started", lambda _: "1")
    assert not alive(run)


def test_the_daemon_sees_a_dead_run_and_can_stop_a_live_one(bench, sleeper, monkeypatch) -> None:
    launcher = bench.instance.run_launcher
    assert isinstance(launcher, WatchingRunLauncher)  # as dagster.yaml says
    run = run_of(bench, sleeper.pid, monkeypatch)
    assert launcher.check_run_worker_health(run).status == WorkerStatus.RUNNING
    assert launcher.terminate(run.run_id)
    assert sleeper.wait(timeout=20) == -signal.SIGINT
    assert bench.instance.get_run_by_id(run.run_id).status == DagsterRunStatus.CANCELING
    assert launcher.check_run_worker_health(run).status == WorkerStatus.FAILED
    assert not launcher.terminate(run.run_id)
    assert launcher.check_run_worker_health(started(bench, {})).status == WorkerStatus.RUNNING


def test_a_run_says_which_process_works_on_it(bench) -> None:
    bench.register()
    result = bench.launch()
    run = bench.instance.get_run_by_id(result.run_id)
    assert process_of(run) == run_process.RunProcess(os.getpid(), alive=True)
