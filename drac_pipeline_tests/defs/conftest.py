"""A home with three documents, its Dagster instance, and what the UI shows of it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from dagster import (
    AssetCheckKey,
    AssetKey,
    DagsterEventType,
    DagsterInstance,
    Definitions,
    ExecuteInProcessResult,
    in_process_executor,
)
from dagster._core.definitions.data_version import CachingStaleStatusResolver, StaleStatus
from dagster._core.loader import LoadingContextForTest
from dagster._core.storage.tags import ASSET_PARTITION_RANGE_END_TAG, ASSET_PARTITION_RANGE_START_TAG

from drac_pipeline.config import DracConfig
from drac_pipeline.defs.events import asset_key
from drac_pipeline.defs.jobs import INGEST, make_jobs
from drac_pipeline.defs.launch import open_instance
from drac_pipeline.defs.names import DOCUMENTS, documents_of
from drac_pipeline.defs.register import register
from drac_pipeline.defs.resources import HomeResource
from drac_pipeline.defs.stages import make_stage_assets
from drac_pipeline.pipeline import STAGES, find_work
from drac_pipeline.store import Home
from drac_pipeline_tests.postgres import Postgres, running_postgres

ASSETS = ["source_document", *(s.name for s in STAGES)]


@dataclass
class Bench:
    """A corpus, its home and instance; runs as the UI, the daemon and `drac` launch them."""

    corpus: Path
    home: Home
    instance: DagsterInstance

    def definitions(self, config: DracConfig | None = None) -> Definitions:
        """The definitions as a code location with these settings loads them."""
        return Definitions(
            assets=[make_stage_assets(config or DracConfig())],
            jobs=make_jobs(),
            resources={"home": HomeResource()},
            executor=in_process_executor,
        )

    def register(self) -> list[str]:
        """Look at the source and register partitions, as `register_documents` does; gives all keys."""
        find_work(self.home, self.corpus, self.home.config)
        register(self.instance, self.home, list(self.home.store.manifests()))
        return sorted(m.document_key for m in self.home.store.manifests())

    def launch(self, job: str = INGEST, op: str = DOCUMENTS, **config: object) -> ExecuteInProcessResult:
        """A run without partitions, as from the Launchpad or `drac run`."""
        return (
            self.definitions()
            .resolve_job_def(job)
            .execute_in_process(
                run_config={"ops": {op: {"config": config}}},
                instance=self.instance,
                raise_on_error=False,
            )
        )

    def backfill(self, keys: Sequence[str], assets: Sequence[str] = ASSETS) -> ExecuteInProcessResult:
        """A run over a range of partitions, as the daemon launches it; `keys` are neighbours."""
        return (
            self.definitions()
            .resolve_implicit_global_asset_job_def()
            .execute_in_process(
                asset_selection=[AssetKey(a) for a in assets],
                tags={ASSET_PARTITION_RANGE_START_TAG: keys[0], ASSET_PARTITION_RANGE_END_TAG: keys[-1]},
                instance=self.instance,
                raise_on_error=False,
            )
        )

    def statuses(self) -> dict[str, dict[str, str]]:
        """Per document the status of each asset: MATERIALIZED, FAILED, IN_PROGRESS or MISSING."""
        keys = sorted(self.instance.get_dynamic_partitions("documents"))
        out: dict[str, dict[str, str]] = {k: {} for k in keys}
        for name in ASSETS:
            found = self.instance.get_status_by_partition(AssetKey(name), keys, documents_of()) or {}
            for key in keys:
                status = found.get(key)
                out[key][name] = status.name if status else "MISSING"
        return out

    def stale(self, config: DracConfig | None = None) -> dict[str, list[str]]:
        """Per document the assets that show as stale under these settings."""
        graph = self.definitions(config).resolve_asset_graph()
        resolver = CachingStaleStatusResolver(self.instance, graph, LoadingContextForTest(self.instance))
        out: dict[str, list[str]] = {}
        for key in sorted(self.instance.get_dynamic_partitions("documents")):
            names = [n for n in ASSETS if resolver.get_status(AssetKey(n), key) == StaleStatus.STALE]
            if names:
                out[key] = names
        return out

    def emitted(self, result: ExecuteInProcessResult) -> dict[str, list[str]]:
        """Per document the assets that a run materialized."""
        out: dict[str, list[str]] = {}
        stored = self.instance.all_logs(result.run_id, of_type=DagsterEventType.ASSET_MATERIALIZATION)
        for event in (entry.get_dagster_event() for entry in stored):
            if event.partition and event.asset_key:
                out.setdefault(event.partition, []).append(event.asset_key.path[-1])
        return {key: [n for n in ASSETS if n in names] for key, names in out.items()}

    def verdicts(self, stage: str, check: str) -> dict[str, bool]:
        """Per document the latest verdict of a check."""
        records = self.instance.event_log_storage.get_asset_check_execution_history(
            AssetCheckKey(asset_key(stage), check), limit=100
        )
        out: dict[str, bool] = {}
        for record in records:  # newest first
            event = record.event.dagster_event if record.event else None
            if event and event.event_type == DagsterEventType.ASSET_CHECK_EVALUATION:
                verdict = event.asset_check_evaluation_data
                out.setdefault(str(verdict.partition), verdict.passed)
        return out


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Postgres]:
    """A PostgreSQL server, started when the first test asks for it."""
    with running_postgres() as server:
        yield server


@pytest.fixture
def postgres(postgres_server: Postgres, monkeypatch: pytest.MonkeyPatch) -> Postgres:
    """The server, its database without rows, and the environment that names it to Dagster."""
    postgres_server.empty()
    for name, value in postgres_server.environment.items():
        monkeypatch.setenv(name, value)
    return postgres_server


@pytest.fixture
def bench(tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    # a pool of processes costs seconds a run, and is tested elsewhere
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    for name in ("DAGSTER_HOME", "DRAC_HOME", "DAGSTER_EVENT_BATCH_SIZE"):
        monkeypatch.setenv(name, "")  # restored when the test ends
        monkeypatch.delenv(name)
    home = Home(tmp_path / "home")
    with warnings.catch_warnings(), open_instance(home) as instance:
        warnings.simplefilter("ignore")
        yield Bench(corpus, home, instance)
