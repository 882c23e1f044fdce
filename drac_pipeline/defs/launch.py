"""Open a home's Dagster instance and execute its jobs in this process.

A run launched here carries the same origin as one launched from the UI of `workspace.yaml`,
so that the UI can re-execute it. A run whose process is gone (killed, power loss) is marked as
failed the next time the home is opened here.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dagster import DagsterEventType, DagsterInstance, Definitions, RunConfig
from dagster._core.code_pointer import ModuleCodePointer
from dagster._core.definitions.job_base import InMemoryJob
from dagster._core.errors import DagsterExecutionInterruptedError
from dagster._core.execution.api import create_execution_plan, execute_run_iterator
from dagster._core.origin import DEFAULT_DAGSTER_ENTRY_POINT, JobPythonOrigin, RepositoryPythonOrigin
from dagster._core.remote_origin import (
    ManagedGrpcPythonEnvCodeLocationOrigin,
    RemoteJobOrigin,
    RemoteRepositoryOrigin,
)
from dagster._core.types.loadable_target_origin import LoadableTargetOrigin
from dagster._core.utils import make_new_run_id

from drac_pipeline.defs.names import CORPORA, DOCUMENTS, corpus_attribute, named
from drac_pipeline.defs.run_process import fail_runs_of_dead_processes, process_tags
from drac_pipeline.errors import ClusterError, ConfigError
from drac_pipeline.store import Home

DEFINITIONS = "drac_pipeline.defs.definitions"
LOCATION = DEFINITIONS  # the name Dagster gives it under `-m`, which the UI finds the run's code by
_TEMPLATE = Path(__file__).with_name("dagster.yaml")


@dataclass(frozen=True, slots=True)
class Launched:
    """A run that has ended."""

    run_id: str
    success: bool


@contextlib.contextmanager
def open_instance(home: Home, *, end_dead_runs: bool = True) -> Iterator[DagsterInstance]:
    """The Dagster instance of a home; the home gets a `dagster.yaml` if it has none.

    `end_dead_runs`: mark runs as failed whose process is gone. Raises ConfigError where the folder
    cannot be written to, DracError where a newer release wrote it.
    """
    try:
        home.prepare()
        if not (home.instance_path / "dagster.yaml").exists():
            shutil.copyfile(_TEMPLATE, home.instance_path / "dagster.yaml")
    except OSError as e:
        raise ConfigError(f"--home {home.path}: cannot be written to: {e.strerror}") from e
    os.environ["DAGSTER_HOME"], os.environ["DRAC_HOME"] = str(home.instance_path), str(home.path)
    with DagsterInstance.get() as instance:
        if end_dead_runs:
            fail_runs_of_dead_processes(instance)
        yield instance


def execute_documents(
    instance: DagsterInstance,
    job_name: str,
    keys: Sequence[str],
    *,
    stages: Sequence[str] = (),
    force: bool = False,
) -> Launched:
    """Run `job_name` over exactly these documents and stages, and wait for its end.

    Raises KeyboardInterrupt where the run was interrupted, ClusterError where the cluster of the settings
    cannot be worked on; what was finished is kept.
    """
    # imported here: the definitions read the settings of the home that is open now
    from drac_pipeline.defs.stages import NO_CLUSTER, DocumentsConfig

    home = Home.from_environment()
    code = code_of(home)
    job_name = named(job_name, home.corpus)
    job = code.load().resolve_job_def(job_name)
    asked = DocumentsConfig(documents=list(keys), stages=list(stages), force=force)
    config = RunConfig(
        ops={named(DOCUMENTS, home.corpus): asked},
        loggers={"console": {"config": {"log_level": "CRITICAL"}}},  # the run's log has it all
    ).to_config_dict()
    recipe = InMemoryJob(job)
    run_id = make_new_run_id()
    run = instance.create_run_for_job(
        job_def=job,
        run_id=run_id,
        run_config=config,
        execution_plan=create_execution_plan(recipe, config, instance_ref=instance.get_ref()),
        tags={**job.run_tags, **process_tags(run_id), "drac/documents": str(len(keys))},
        remote_job_origin=code.remote_origin(job_name),
        job_code_origin=code.python_origin(job_name),
    )
    success = interrupted = False
    cluster = ""
    for event in execute_run_iterator(recipe, run, instance):
        success = success or event.event_type == DagsterEventType.RUN_SUCCESS
        if not event.is_step_failure:
            continue
        failure = event.step_failure_data
        if failure.user_failure_data and NO_CLUSTER in failure.user_failure_data.metadata:
            cluster = failure.user_failure_data.description or NO_CLUSTER
        if failure.error is not None and failure.error.cls_name == DagsterExecutionInterruptedError.__name__:
            interrupted = True  # Dagster turns an interrupt into a failure of the step, and of the run,
            # with all that was not reached, unless somebody is ending it
            instance.report_run_canceling(run, "Interrupted (Ctrl-C); what was finished is kept.")
    if cluster:
        raise ClusterError(cluster)
    if interrupted:
        raise KeyboardInterrupt
    return Launched(run.run_id, success)


@dataclass(frozen=True, slots=True)
class Code:
    """Where the definitions of a home are, as the UI's workspace names them: it can then re-execute runs."""

    module: str
    attribute: str
    location: str

    def load(self) -> Definitions:
        return getattr(importlib.import_module(self.module), self.attribute)

    def remote_origin(self, job_name: str) -> RemoteJobOrigin:
        target = LoadableTargetOrigin(module_name=self.module, attribute=self.attribute)
        location = ManagedGrpcPythonEnvCodeLocationOrigin(target, self.location)
        return RemoteJobOrigin(RemoteRepositoryOrigin(location, "__repository__"), job_name)

    def python_origin(self, job_name: str) -> JobPythonOrigin:
        pointer = ModuleCodePointer(self.module, self.attribute, working_directory=None)
        repository = RepositoryPythonOrigin(
            executable_path=sys.executable, code_pointer=pointer, entry_point=DEFAULT_DAGSTER_ENTRY_POINT
        )
        return JobPythonOrigin(job_name, repository)


def code_of(home: Home) -> Code:
    if home.corpus:
        return Code(CORPORA, corpus_attribute(home.corpus), home.corpus)
    return Code(DEFINITIONS, "defs", LOCATION)
