"""Pages of a long document on other nodes, while no document of the run waits for their CPUs.

The process that has the document asks at its desk; its Ray worker then asks the cluster for an actor,
whose process takes page after page, and hands their results on. Whatever goes wrong there, the page
comes back to the document's own process.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ray
from ray import exceptions

from drac_pipeline import cores
from drac_pipeline.cluster.fitness import look
from drac_pipeline.logs import gathered
from drac_pipeline.pages import HELPER_BYTES, READY, resident_bytes, start_helper
from drac_pipeline.pipeline.pool import prepare_fork_server, watch_folder
from drac_pipeline.store import LocalStore

if TYPE_CHECKING:
    from drac_pipeline.cluster.worker import Job

_LOOK_SECONDS = 0.5


class PageReader:
    """The actor's class: one process that reads pages, under the memory limit of a document."""

    def __init__(self, job: Job, key: str, make: Callable[..., Any], args: tuple[Any, ...]) -> None:
        from drac_pipeline.cluster.worker import be_as_driver

        if wrong := look(job.expected):
            raise RuntimeError("; ".join(wrong))
        be_as_driver(job)
        prepare_fork_server(job.config)
        self._limit = job.config.limits.worker_memory_bytes
        self._folder = watch_folder()
        outlet = contextlib.ExitStack().enter_context(gathered(Path(self._folder.name)))
        outlet = replace(outlet, doing=(("document", key),))
        self._process, self._talk = start_helper(make, args, cores.folder(), outlet)

    def ready(self) -> str:
        """Answers once the actor is there."""
        return READY

    def read(self, number: int) -> tuple[bool, Any]:
        """A page, as `pages._help` answers it. Raises EOFError where the process is gone."""
        self._talk.send(number)
        while not self._talk.poll(_LOOK_SECONDS):
            if resident_bytes(self._process.pid or 0) > self._limit:
                self._process.kill()
        return self._talk.recv()


def lend(job: Job, key: str, came: Any, make: Callable[..., Any], args: tuple[Any, ...]) -> None:
    """Serve pages to who came to the desk, until it leaves. Returns at once where nobody is free, or nodes do
    not share the files."""
    if not isinstance(job.store, LocalStore) or not ray.get(job.board.nobody_waits.remote()):
        return
    limit = job.config.limits.worker_memory_bytes
    actor = ray.remote(PageReader).options(num_cpus=1, memory=min(HELPER_BYTES, limit), max_restarts=0)
    reader: Any = actor.remote(job, key, make, args)
    try:
        came.send(_got(reader.ready.remote(), came))
        while True:
            number = came.recv()
            came.send(_got(reader.read.remote(number), came))
    except exceptions.RayError:  # its node or process is gone, or not fit: the connection ends, and says so
        return
    finally:
        ray.kill(reader)


def _got(ref: Any, came: Any) -> Any:
    """What an actor answers, if who came waits so long."""
    while not ray.wait([ref], timeout=_LOOK_SECONDS)[0]:
        if came.poll(0):  # it says nothing while it waits: it is gone
            raise EOFError
    return ray.get(ref)
