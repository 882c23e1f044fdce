"""What runs on a node: one document after another, each in a process of its own under watch.

The Ray worker itself only watches, as the driver of a local run does, so that time and memory have the
same limits here, and a document that kills its process is a failed document and not a lost worker. Its
process stays for the next document, with what it has loaded.
"""

from __future__ import annotations

import logging
import os
import sys
from dataclasses import dataclass
from typing import Any

from drac_pipeline.cluster.board import Begun, PageProgress
from drac_pipeline.cluster.fitness import Expected, look
from drac_pipeline.config import DracConfig
from drac_pipeline.pipeline.pool import Task, Workers
from drac_pipeline.pipeline.process import DocumentOutcome
from drac_pipeline.pipeline.progress import listening_to_pages
from drac_pipeline.store import Store

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Job:
    """What all documents of a run have in common. `board` is the handle of the actor, `environment` what
    the processes of the driver have in theirs and those of a node may not."""

    run: str
    store: Store
    config: DracConfig
    force: bool
    expected: Expected
    board: Any
    environment: dict[str, str | None]


@dataclass(frozen=True)
class Unfit:
    """A node that cannot work for this driver, and why."""

    node: str
    wrong: list[str]


_fit: set[str] = set()  # runs that this process was found fit for
_workers: dict[str, Workers] = {}  # of the run that this process works for


def work(job: Job, task: Task, attempt: int, cpus: float) -> DocumentOutcome | Unfit:
    """Bring a document up to date, with so many CPUs for it."""
    import ray

    node = ray.get_runtime_context().get_node_id()
    if job.run not in _fit:
        if wrong := look(job.expected):
            return Unfit(node, wrong)
        _fit.add(job.run)
    job.board.tell.remote(Begun(attempt, task[0], node))
    config = _with_cpus(job.config.for_document(task[0]), cpus)

    def tell(progress: PageProgress) -> None:
        job.board.tell.remote(progress)

    with listening_to_pages(tell):
        workers = _workers_of(job)
        outcome = workers.work_alone(job.store, task, config, job.force, job.run)
        if workers.broken:
            _workers.pop(job.run).close()
        return outcome


def _with_cpus(config: DracConfig, cpus: float) -> DracConfig:
    """The settings for a document with so many CPUs: Ray has given the others to others."""
    pages = max(1, int(cpus))
    limits = config.limits
    if limits.pages_in_parallel:
        pages = min(pages, limits.pages_in_parallel)
    return config.model_copy(update={"limits": limits.model_copy(update={"pages_in_parallel": pages})})


def _workers_of(job: Job) -> Workers:
    if job.run not in _workers:
        for run in list(_workers):  # of an earlier run of the same driver
            _workers.pop(run).close()
        for name, value in job.environment.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        # children import what their parent was started as: Ray's worker, which they are not
        main: Any = sys.modules["__main__"]
        main.__spec__ = main.__file__ = None
        _workers[job.run] = Workers(1, job.config)
    return _workers[job.run]
