"""An event log of so many documents without any document: partitions, and a materialization of each stage,
written by this project's event log storage."""

import os
import time
from pathlib import Path
from types import SimpleNamespace

from dagster import AssetMaterialization
from dagster._core.definitions.data_version import CODE_VERSION_TAG, DATA_VERSION_TAG
from dagster._core.definitions.job_base import InMemoryJob
from dagster._core.execution.api import create_execution_plan

from drac_pipeline.defs.definitions import defs
from drac_pipeline.defs.events import SOURCE_CODE_VERSION, asset_key
from drac_pipeline.defs.instance_events import PARTITIONS_PER_QUERY, write_together
from drac_pipeline.defs.jobs import INGEST
from drac_pipeline.defs.launch import open_instance
from drac_pipeline.defs.names import DOCUMENTS
from drac_pipeline.defs.versions import defined_versions
from drac_pipeline.pipeline.stage import SOURCE
from drac_pipeline.pipeline.stages import STAGES
from drac_pipeline.store import Home

AT_ONCE = 1_000


def write(home: Home, documents: int) -> dict[str, float]:
    """Write it where it is not there; gives CPU seconds: to add keys, to list them, an event in ms; and
    the bytes of the log."""
    keys = [f"{n // 500:04}/note {n:07}.txt" for n in range(documents)]
    versions = {SOURCE: SOURCE_CODE_VERSION, **defined_versions(home.config)}
    out = {}
    with open_instance(home) as instance:
        began = time.process_time()
        for start in range(0, documents, PARTITIONS_PER_QUERY):
            instance.add_dynamic_partitions(DOCUMENTS, keys[start : start + PARTITIONS_PER_QUERY])
        out["add all keys, cpu s"] = time.process_time() - began
        began = time.process_time()
        assert len(instance.get_dynamic_partitions(DOCUMENTS)) == documents
        out["list all keys, cpu s"] = time.process_time() - began
        job = defs.resolve_job_def(INGEST)
        plan = create_execution_plan(InMemoryJob(job))
        run = instance.create_run_for_job(job_def=job, execution_plan=plan)
        step = SimpleNamespace(
            run_id=run.run_id, job_name=run.job_name, step=plan.get_step_by_key(DOCUMENTS), event_tags={}
        )
        context = SimpleNamespace(instance=instance, get_step_execution_context=lambda: step)
        began = time.process_time()
        for start in range(0, documents, AT_ONCE):
            for name in (SOURCE, *(s.name for s in STAGES)):
                events = [_event(name, key, versions[name]) for key in keys[start : start + AT_ONCE]]
                write_together(context, events)  # pyright: ignore[reportArgumentType]
            if start % 20_000 == 0:
                print(f"  events of {start + AT_ONCE:,} documents written", flush=True)
        count = documents * (len(STAGES) + 1)
        out["write an event, cpu ms"] = 1000 * (time.process_time() - began) / count
    files = (home.path / "history").rglob("*")
    out["log, MB"] = sum(f.stat().st_size for f in files if f.is_file()) / 1e6
    return out


def _event(name: str, key: str, version: str) -> AssetMaterialization:
    return AssetMaterialization(
        asset_key(name),
        partition=key,
        metadata={"pages": 1, "seconds": 0.1, "files": f"/home/store/documents/{key}/{name}"},
        tags={DATA_VERSION_TAG: f"{hash((name, key)) & 0xFFFFFFFFFFFF:x}", CODE_VERSION_TAG: version},
    )


def made(folder: Path, documents: int) -> tuple[Home, dict[str, float]]:
    """A home with such a log, made anew."""
    os.environ["DAGSTER_HOME"] = os.environ["DRAC_HOME"] = str(folder)
    home = Home(folder)
    return home, write(home, documents)
