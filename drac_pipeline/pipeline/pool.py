"""Map over documents on the cores of this machine.

The one place where documents are spread over processes. A worker that dies (killed for
its memory, a crash in a native library) takes down only its own document: the pool is made
anew, what was in flight is tried again alone, and the document that kills its worker again
is reported as failed.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import threading
import uuid
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from datetime import UTC, datetime
from pathlib import Path

from drac_pipeline.config import DracConfig
from drac_pipeline.pipeline.process import DocumentOutcome, StageOutcome, process_document
from drac_pipeline.pipeline.stages import STAGES
from drac_pipeline.store import FailureRecord, Manifest, Store

log = logging.getLogger(__name__)

Task = tuple[str, Collection[str] | None]
SDKS = {"bedrock": "boto3", "openai": "openai"}  # imported once for all workers
MOST_WAITING = 16  # worker processes with a model; each has memory of its own


def map_documents(
    store: Store,
    tasks: Sequence[Task],
    config: DracConfig,
    *,
    force: bool = False,
    workers: int | None = None,
) -> Iterator[DocumentOutcome]:
    """Process each (key, stages) and yield its outcome as it ends, in any order.

    `workers` defaults to the cores this process may use; with one worker or one task all
    runs in this process. Closing the generator cancels what has not begun.
    """
    run = uuid.uuid4().hex[:12]
    workers = workers or _workers(config)
    if workers == 1 or len(tasks) == 1:
        for key, stages in tasks:
            yield process_document(store, key, config, stages, force, run=run)
        return
    waiting = list(reversed(tasks))
    while waiting:
        suspects: list[Task] = []
        yield from _one_pool(store, waiting, suspects, config, force, min(workers, len(waiting)), run)
        for task in suspects:
            yield from _alone(store, task, config, force, run)


def _workers(config: DracConfig) -> int:
    """The cores this process may use; with a model, whose calls are mostly waited for, as many
    documents as its quota has calls for, and a few that get ready."""
    cores = len(os.sched_getaffinity(0))
    if not (config.converts_by_model or config.plans_by_model):
        return cores
    model = config.model
    return max(cores, model.documents_in_parallel or min(3 * model.calls_in_parallel, MOST_WAITING))


def _one_pool(
    store: Store,
    waiting: list[Task],
    suspects: list[Task],
    config: DracConfig,
    force: bool,
    workers: int,
    run: str,
) -> Iterator[DocumentOutcome]:
    """Work `waiting` off until it is empty or the pool breaks; then `suspects` holds what
    was in flight."""
    pool = _new_pool(workers, config)
    running: dict[Future[DocumentOutcome], Task] = {}
    try:
        while waiting or running:
            while waiting and len(running) < workers * 2:
                task = waiting.pop()
                running[pool.submit(_work, str(store.root), task, config, force, run)] = task
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                task = running.pop(future)
                try:
                    outcome = future.result()
                except BrokenProcessPool:
                    suspects.append(task)
                    continue
                yield outcome
            if suspects:
                suspects.extend(running.values())
                return
    finally:
        pool.shutdown(wait=not suspects, cancel_futures=True)


def _alone(store: Store, task: Task, config: DracConfig, force: bool, run: str) -> Iterator[DocumentOutcome]:
    """Process one document in a worker of its own; its death is that document's failure."""
    with _new_pool(1, config) as pool:
        try:
            yield pool.submit(_work, str(store.root), task, config, force, run).result()
        except BrokenProcessPool:
            log.warning("%s: its worker died", task[0])
            yield _died(store, task)


def _died(store: Store, task: Task) -> DocumentOutcome:
    key, stages = task
    manifest = store.manifest(key)
    named = [s.name for s in STAGES if stages is None or s.name in stages]
    began = _interrupted_stage(manifest, named)
    failure = FailureRecord(
        stage=began,
        kind="worker died",
        cause="the process that worked on it was killed (out of memory, or a crash in a native library)",
        remedy="Give the run more memory, or leave the document out.",
        at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    if manifest:
        store.update_manifest(key, lambda m: (m or manifest).model_copy(update={"failure": failure}))
    return DocumentOutcome(key, [StageOutcome(began, "failed", failure=failure)])


def _interrupted_stage(manifest: Manifest | None, named: list[str]) -> str:
    """The first named stage whose output is older than a parent's: it was not reached or not ended."""
    if manifest is None:
        return named[0]
    last = ""
    for name in named:
        record = manifest.stages.get(name)
        if record is None or record.made_at < last:
            return name
        last = record.made_at
    return named[-1]


def _new_pool(workers: int, config: DracConfig) -> ProcessPoolExecutor:
    # forkserver: a fork of a process with threads (Arrow, gRPC) can deadlock, and a spawn
    # imports everything once a worker; the fork server imports once
    context = multiprocessing.get_context("forkserver")
    modules = [__name__]
    if config.converts_by_model or config.plans_by_model:
        modules += ["drac_pipeline.pipeline.by_model", SDKS[config.model.provider]]
    context.set_forkserver_preload(modules)
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_end_with_parent)


def _end_with_parent() -> None:
    """End this worker when its parent is gone: it would wait for work for ever otherwise."""

    def watch() -> None:
        parent = multiprocessing.parent_process()
        if parent:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _work(root: str, task: Task, config: DracConfig, force: bool, run: str) -> DocumentOutcome:
    key, stages = task
    return process_document(Store(Path(root)), key, config, stages, force, run=run)
