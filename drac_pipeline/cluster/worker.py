"""What runs on a node: one document after another, each in a process of its own under watch.

The Ray worker itself only watches, as the driver of a local run does, so that time and memory have the
same limits here, and a document that kills its process is a failed document and not a lost worker. Its
process stays for the next document, with what it has loaded.
"""

from __future__ import annotations

import functools
import logging
import sys
from dataclasses import dataclass
from typing import Any

import ray
from ray import exceptions

from drac_pipeline.cluster.board import Begun, ToBoard
from drac_pipeline.cluster.books import NO_BOOKS
from drac_pipeline.cluster.desk import Desk, at_desk
from drac_pipeline.cluster.fitness import Expected, look, take_over
from drac_pipeline.cluster.lend import lend
from drac_pipeline.config import DracConfig
from drac_pipeline.pipeline.pool import Task, Workers
from drac_pipeline.pipeline.process import DocumentOutcome
from drac_pipeline.pipeline.progress import PageProgress, listening_to_pages
from drac_pipeline.store import Store


@dataclass(frozen=True)
class Job:
    """What all documents of a run have in common. `board` and `books` (None where no service is called) are
    handles of actors, `level` is what the driver logs from."""

    run: str
    store: Store
    config: DracConfig
    force: bool
    expected: Expected
    board: Any
    books: Any
    level: int


@dataclass(frozen=True)
class Unfit:
    """A node that cannot work for this driver, and why."""

    node: str
    wrong: list[str]


@dataclass(frozen=True)
class _AtWork:
    """What this process works on."""

    job: Job
    key: str
    attempt: int

    def answer(self, what: str, args: tuple[Any, ...]) -> Any:
        """To the process that has the document."""
        assert what == "books"
        try:
            return ray.get(self.job.books.call.remote(self.attempt, *args))
        except exceptions.RayTaskError as e:
            raise (e.cause or NO_BOOKS) from None
        except exceptions.RayError:
            raise NO_BOOKS from None

    def over(self) -> None:
        """What it held of the quota is free."""
        if self.job.books is not None:
            self.job.books.gone.remote(self.attempt)


_fit: set[str] = set()  # runs that this process was found fit for
_workers: dict[str, tuple[Workers, Desk]] = {}  # of the run that this process works for
_now: list[_AtWork] = []  # one, while there is one


def work(job: Job, task: Task, attempt: int, cpus: float) -> DocumentOutcome | Unfit:
    """Bring a document up to date, with so many CPUs for it."""
    node = ray.get_runtime_context().get_node_id()
    if job.run not in _fit:
        if wrong := look(job.expected):
            return Unfit(node, wrong)
        _fit.add(job.run)
    job.board.tell.remote(Begun(attempt, task[0], node))
    config = _with_cpus(job.config.for_document(task[0]), cpus)

    def tell(progress: PageProgress) -> None:
        job.board.tell.remote(progress)

    at_work = _AtWork(job, task[0], attempt)
    _now[:] = [at_work]
    with listening_to_pages(tell):
        workers, desk = _workers_of(job)
        try:
            outcome = workers.work_alone(job.store, task, config, job.force, job.run)
        finally:
            at_work.over()
    if workers.broken:
        del _workers[job.run]
        workers.close()
        desk.close()
    return outcome


def _with_cpus(config: DracConfig, cpus: float) -> DracConfig:
    """The settings for a document with so many CPUs: Ray has given the others to others."""
    pages = max(1, int(cpus))
    limits = config.limits
    if limits.pages_in_parallel:
        pages = min(pages, limits.pages_in_parallel)
    return config.model_copy(update={"limits": limits.model_copy(update={"pages_in_parallel": pages})})


def _workers_of(job: Job) -> tuple[Workers, Desk]:
    if job.run not in _workers:
        for run in list(_workers):  # of an earlier run of the same driver
            workers, desk = _workers.pop(run)
            workers.close()
            desk.close()
        be_as_driver(job)
        desk = Desk(
            lambda what, args: _now[0].answer(what, args), lambda *come: lend(job, _now[0].key, *come)
        )
        around = functools.partial(at_desk, desk.place, job.config.map.page_helpers)
        _workers[job.run] = Workers(1, job.config, around), desk
    return _workers[job.run]


def be_as_driver(job: Job) -> None:
    """Have children of this process find what those of the driver would, and the driver what they log."""
    root = logging.getLogger()
    root.setLevel(job.level)
    root.handlers = [h for h in root.handlers if not isinstance(h, ToBoard)]
    root.addHandler(ToBoard(job.board, ray.get_runtime_context().get_node_id()))
    take_over(job.expected.environment)
    # children import what their parent was started as: Ray's worker, which they are not
    main: Any = sys.modules["__main__"]
    main.__spec__ = main.__file__ = None
