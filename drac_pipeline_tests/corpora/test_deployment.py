"""One Dagster instance for several corpora, with a real daemon: names apart, turns in the queue."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from dagster import AssetKey, DagsterInstance, DagsterRunStatus, RunsFilter
from dagster._core.run_coordinator import SubmitRunContext

from drac_pipeline.cli import main
from drac_pipeline.corpora import open_corpus
from drac_pipeline.defs import corpora
from drac_pipeline.defs.deployment import forget_corpus, open_deployment, unfinished_runs
from drac_pipeline.defs.launch import code_of, execute_documents, open_instance
from drac_pipeline.defs.names import CORPUS_TAG, UNFINISHED, corpus_tags, named
from drac_pipeline.defs.register import register
from drac_pipeline.errors import ConfigError
from drac_pipeline.pipeline import find_work
from drac_pipeline.store import Home
from drac_pipeline.store.corpora import Deployment
from drac_pipeline_tests.conftest import write_pdf
from drac_pipeline_tests.corpora.conftest import KEYS, WORDS

ROOT = Path(__file__).parents[2]
QUEUED = 12


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, deployment: Deployment) -> Iterator[None]:
    for name in ("DAGSTER_HOME", "DRAC_HOME", "DAGSTER_EVENT_BATCH_SIZE"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setenv("DAGSTER_HOME", str(deployment.path))
    yield
    corpora.corpus_definitions.cache_clear()


def test_definitions_of_two_corpora_share_no_name() -> None:
    names: list[set[str]] = []
    for name in WORDS:
        defs = getattr(corpora, f"corpus_{name}")
        repository = defs.get_repository_def()
        assets = {k.to_user_string() for k in repository.asset_graph.get_all_asset_keys()}
        assert len(assets) == 11 and all(a.startswith(f"{name}/") for a in assets)
        jobs = {j.name for j in repository.get_all_jobs() if not j.name.startswith("__")}
        others = {s.name for s in (*repository.sensor_defs, *repository.schedule_defs)}
        ops = {n.name for j in repository.get_all_jobs() for n in j.nodes}
        partitions = {named("documents", name)}
        assert all(n.startswith(f"{name}_") for n in (jobs | others))
        names.append(assets | jobs | others | partitions | {o for o in ops if o != "look_at_sources"})
        assert defs.resolve_job_def(f"{name}_ingest").run_tags[CORPUS_TAG] == name
    assert not names[0] & names[1]
    with pytest.raises(ConfigError, match="has no corpus 'legal'"):
        _ = corpora.corpus_legal
    with pytest.raises(AttributeError):
        _ = corpora.something


def test_the_workspace_has_a_code_location_for_each(deployment: Deployment) -> None:
    workspace = yaml.safe_load((deployment.path / "workspace.yaml").read_text())
    targets = [t["python_module"] for t in workspace["load_from"]]
    assert [t["location_name"] for t in targets] == list(WORDS)
    for target in targets:
        assert getattr(corpora, target["attribute"]) is corpora.corpus_definitions(
            deployment.path, target["location_name"]
        )


def made(instance: DagsterInstance, corpus: str) -> set[str]:
    return instance.get_materialized_partitions(AssetKey([corpus, "chunks"]))


def ingest(home: Home) -> str:
    with open_instance(home) as instance:
        for source in home.sources():
            find_work(home, source, home.config)
        keys = register(instance, home, list(home.store.manifests()))
        return execute_documents(instance, "ingest", keys).run_id


def test_runs_of_two_corpora_in_one_instance(deployment: Deployment) -> None:
    """As of `drac run`: the same keys, each in its own assets, partitions and tags; one is deleted whole."""
    runs = {name: ingest(open_corpus(deployment, name)) for name in WORDS}
    with open_deployment(deployment) as instance:
        for name in WORDS:
            run = instance.get_run_by_id(runs[name])
            assert run is not None and (run.status, run.tags[CORPUS_TAG]) == (DagsterRunStatus.SUCCESS, name)
            assert run.remote_job_origin is not None and run.remote_job_origin.location_name == name
            assert (
                set(instance.get_dynamic_partitions(f"{name}_documents")) == set(KEYS) == made(instance, name)
            )
        assert not (deployment.home_path("payroll") / "dagster.yaml").exists()
    with pytest.raises(SystemExit):
        main(["corpus", "remove", "payroll", "--home", str(deployment.path), "--delete", "--yes"])
    assert not deployment.home_path("contracts").with_name("payroll").exists()
    with open_deployment(deployment) as instance:
        assert instance.get_run_by_id(runs["payroll"]) is None and made(instance, "payroll") == set()
        assert [k for k in instance.all_asset_keys() if k.path[0] == "payroll"] == []
        assert made(instance, "contracts") == set(KEYS)
        assert forget_corpus(instance, "payroll") == 0


def queue(instance: DagsterInstance, home: Home, *, tagged: bool = True) -> str:
    """A run that re-plans all documents, as the UI submits it: one of the job, or of assets picked there."""
    code = code_of(home)
    defs = code.load()
    if tagged:
        job = defs.resolve_job_def(named("replan", home.corpus))
        selection = None
    else:
        job = defs.resolve_implicit_global_asset_job_def()
        selection = frozenset({AssetKey([home.corpus, "corpus_overview"])})
        job = job.get_subset(asset_selection=selection)
    run = instance.create_run_for_job(
        job_def=job,
        asset_selection=selection,
        tags=dict(job.run_tags),
        remote_job_origin=code.remote_origin(job.name),
        job_code_origin=code.python_origin(job.name),
    )
    instance.run_coordinator.submit_run(SubmitRunContext(run, None))  # pyright: ignore[reportArgumentType]
    return run.run_id


def test_one_corpus_s_flood_and_failures_hold_up_no_other(deployment: Deployment, tmp_path: Path) -> None:
    """A real daemon: a corpus with many runs in the queue, one broken file and a source that is gone; the
    other's new document is found, and its run goes through while the first one's still wait."""
    flooded, calm = (open_corpus(deployment, n) for n in WORDS)
    for home in (flooded, calm):
        ingest(home)
        (home.path / "drac.toml").write_text(
            "[refresh]\ntrigger = 'sensor'\nevery_seconds = 5\nsettle_seconds = 0\n[inspect]\nurl = ''\n"
        )
    sources = tmp_path / "sources"
    (sources / "contracts" / "bad.pdf").write_bytes(b"%PDF-1.7 cut off")
    flooded.remember_source(tmp_path / "nowhere")
    with open_deployment(deployment) as instance:
        runs = [queue(instance, flooded, tagged=n % 4 != 0) for n in range(QUEUED)]
        tags = [instance.get_run_by_id(r).tags for r in runs]  # pyright: ignore[reportOptionalMemberAccess]
        assert {t[CORPUS_TAG] for t in tags} == {"contracts"}
        assert [int(t["dagster/priority"]) for t in tags] == [-n for n in range(QUEUED)]
        write_pdf(sources / "payroll" / "new.pdf", f"<h1>New</h1><p>A new {WORDS['payroll']}.</p>")
        most = 0

        def done() -> bool:
            nonlocal most
            most = max(most, len(going(instance, "contracts")))
            return "new.pdf" in made(instance, "payroll") and not unfinished_runs(instance, "payroll")

        with daemon(deployment, tmp_path):
            wait_until(done, tmp_path)
            waiting = [
                r.run_id
                for r in instance.get_runs(
                    RunsFilter(tags=corpus_tags("contracts"), statuses=[DagsterRunStatus.QUEUED])
                )
            ]
        assert waiting, "the flood was over before the other corpus's run"
        assert most == 1  # of one corpus no more than one at a time
        newest = instance.get_runs(RunsFilter(tags=corpus_tags("payroll")), limit=1)[0]
        assert newest.status == DagsterRunStatus.SUCCESS and newest.tags["drac/trigger"] == "sensor"
        asked: Any = newest.run_config["ops"]
        assert asked["payroll_documents"]["config"]["documents"] == ["new.pdf"]


def going(instance: DagsterInstance, corpus: str) -> list[str]:
    statuses = [s for s in UNFINISHED if s != DagsterRunStatus.QUEUED]
    found = instance.get_runs(RunsFilter(tags=corpus_tags(corpus), statuses=statuses))
    return [r.run_id for r in found]


@contextlib.contextmanager
def daemon(deployment: Deployment, folder: Path) -> Iterator[None]:
    program = Path(sys.executable).with_name("dagster-daemon")
    command = [program, "run", "-w", deployment.path / "workspace.yaml"]
    env = {**os.environ, "DAGSTER_HOME": str(deployment.path), "PYTHONPATH": str(ROOT)}
    env.pop("DRAC_HOME", None)
    with (folder / "daemon.log").open("ab") as log:
        process = subprocess.Popen(command, env=env, stdout=log, stderr=log, start_new_session=True)
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # with the code servers and runs that it started
        process.wait()


def wait_until(holds: Callable[[], bool], folder: Path, seconds: float = 400) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, (folder / "daemon.log").read_text()[-4000:]
        time.sleep(0.2)
