"""Map over documents: on the cores of this machine, or by settings on a cluster (`drac_pipeline.cluster`).

The one place where documents are spread over processes. A worker that dies (killed for
its memory, a crash in a native library) takes down only its own document: the pool is made
anew, what was in flight is tried again alone, and the document that kills its worker again
is reported as failed. One that goes beyond the limits of time or memory is killed and failed.
"""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import multiprocessing.context
import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path

from drac_pipeline import cores
from drac_pipeline.config import DracConfig
from drac_pipeline.errors import DocumentError, SourceChanged, StorageError
from drac_pipeline.logs import Outlet, doing, gathered, send_to
from drac_pipeline.pages import Crew, end_with_parent, helped_by
from drac_pipeline.pipeline.freshness import parent_versions
from drac_pipeline.pipeline.process import (
    DocumentOutcome,
    StageOutcome,
    log_failure,
    now,
    process_document,
    record_failure,
)
from drac_pipeline.pipeline.progress import PageProgress, report_pages
from drac_pipeline.pipeline.stages import STAGES, STAGES_BY_NAME
from drac_pipeline.pipeline.watch import Killed, Notes, Watch, note_begin
from drac_pipeline.store import ArtifactMissing, FailureRecord, Manifest, Store

Task = tuple[str, Collection[str] | None]
SDKS = {"bedrock": "boto3", "openai": "openai"}  # imported once for all workers
LOOK_SECONDS = 1.0
_SORTED = 2000  # tasks; of more, the last ones are few of all
_PAGE_BYTES = 50_000
_WATCH = "drac-watch-"
MOST_WAITING = 16  # worker processes with a model; each has memory of its own:
WAITING_BYTES = 600_000_000  # 100 MB measured, and the OCR models where it has met a scan


def map_documents(
    store: Store,
    tasks: Sequence[Task],
    config: DracConfig,
    *,
    force: bool = False,
    workers: int | None = None,
) -> Iterator[DocumentOutcome]:
    """Process each (key, stages) and yield its outcome as it ends, in any order.

    `workers` defaults to the cores this process may use; even one document has a process of
    its own, so that nothing it does takes down the run, and helpers for its pages where cores are
    free. Closing the generator cancels what has not begun. With `map.engine = "ray"` the processes are
    those of the cluster's nodes; raises ClusterError where that cannot be.
    """
    run = uuid.uuid4().hex[:12]
    waiting = short_to_long(store, tasks)
    if config.map.engine == "ray":
        from drac_pipeline.cluster.driver import map_on_cluster  # imports Ray

        yield from map_on_cluster(store, waiting, config, force=force, most=workers, run=run)
        return
    workers = workers or count_workers(config)
    while waiting:
        suspects: list[Task] = []
        with Workers(min(workers, len(waiting)), config) as pool:
            yield from pool.work_off(store, waiting, suspects, config, force, run)
        for task in suspects:
            with Workers(1, config) as pool:
                yield pool.work_alone(store, task, config, force, run)


def short_to_long(store: Store, tasks: Sequence[Task]) -> list[Task]:
    """The tasks by the size of their documents. Work begins at the end: a long document that comes last
    keeps one core, or a few calls, busy while the others have nothing left to do."""
    backwards = list(reversed(tasks))
    if len(tasks) > _SORTED:
        return backwards
    manifests = store.manifests_of(key for key, _ in tasks)

    def size(task: Task) -> float:
        manifest = manifests.get(task[0])
        if manifest is None:
            return 0.0
        known = manifest.stages.get("normalized_pdf")
        return known.counts.get("pages", 0) if known else manifest.source.size / _PAGE_BYTES

    return sorted(backwards, key=size)


def count_workers(config: DracConfig) -> int:
    """The cores this process may use; with a model, whose calls are mostly waited for, as many
    documents as its quota has calls for, and a few that get ready, if there is memory for them."""
    available = cores.usable()
    if not (config.converts_by_model or config.plans_by_model):
        return available
    model = config.model
    if model.documents_in_parallel:
        return max(available, model.documents_in_parallel)
    most = min(3 * model.calls_in_parallel, MOST_WAITING)
    return max(available, min(most, cores.free_memory() // WAITING_BYTES))


class Workers:
    """`count` processes that work on documents, watched from here. Use as a context manager: afterwards
    they are gone, at once where an exception (an interrupt) ends the block.

    `around` is a context that each document is worked on within, in its process.
    """

    def __init__(
        self,
        count: int,
        config: DracConfig,
        around: Callable[[], contextlib.AbstractContextManager[object]] | None = None,
    ) -> None:
        self.count = count
        self.broken = False
        self._around = around
        self._pool = _new_pool(count, config)
        self._numbers = itertools.count()
        self._notes = watch_folder()
        self._watch = Watch(Path(self._notes.name))
        self._crowded = config.converts_by_model or config.plans_by_model  # then more workers than cores
        self._log = contextlib.ExitStack()
        self._outlet = self._log.enter_context(gathered(Path(self._notes.name)))

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        self.close(kill=error is not None)

    def close(self, *, kill: bool = False) -> None:
        """End the processes; with `kill` in the middle of what they do."""
        if kill:
            for process in list((self._pool._processes or {}).values()):  # Python 3.14 has kill_workers
                process.kill()
            self.broken = True
        self._pool.shutdown(wait=not self.broken, cancel_futures=True)
        if self.broken:
            self._watch.kill_helpers()
        self._log.close()
        self._notes.cleanup()

    def work_off(
        self,
        store: Store,
        waiting: list[Task],
        suspects: list[Task],
        config: DracConfig,
        force: bool,
        run: str,
    ) -> Iterator[DocumentOutcome]:
        """Work `waiting` off from its end until it is empty or the pool is `broken`; then `suspects` holds
        what was in flight. A document beyond the limits is not among them: it has failed."""
        running: dict[Future[DocumentOutcome], tuple[int, Task]] = {}
        killed: dict[int, Killed] = {}
        told: dict[int, tuple[str, int, int]] = {}
        while (waiting and not self.broken) or running:
            while waiting and not self.broken and len(running) < self.count * 2:
                number, task = next(self._numbers), waiting.pop()
                try:
                    own = config.for_document(task[0])
                    future = self._pool.submit(_work, store, task, own, self._given(number, force, run))
                except BrokenProcessPool:
                    suspects.append(task)
                    self.broken = True
                    break
                running[future] = number, task
            done, _ = wait(running, timeout=LOOK_SECONDS, return_when=FIRST_COMPLETED)
            for future in done:
                number, task = running.pop(future)
                self._watch.forget(number)
                told.pop(number, None)
                try:
                    outcome = future.result()
                except BrokenProcessPool:
                    self.broken = True
                    if number in killed:
                        yield died(store, task, killed[number], config)
                    else:
                        suspects.append(task)
                    continue
                yield outcome
            if not self.broken:
                limits = {n: config.for_document(task[0]).limits for n, task in running.values()}
                killed.update(self._watch.look(limits))
            for number, task in running.values():
                pages = self._watch.pages(number)
                if pages and pages != told.get(number):
                    told[number] = pages
                    report_pages(PageProgress(task[0], *pages))

    def _given(self, number: int, force: bool, run: str) -> _Given:
        return _Given(force, run, self._notes.name, number, self._crowded, self._outlet, self._around)

    def work_alone(
        self, store: Store, task: Task, config: DracConfig, force: bool, run: str
    ) -> DocumentOutcome:
        """Work one document off; one that kills its process has failed."""
        suspects: list[Task] = []
        for outcome in self.work_off(store, [task], suspects, config, force, run):
            return outcome
        return died(store, task, CRASHED, config)


def watch_folder() -> tempfile.TemporaryDirectory[str]:
    """A folder for what workers of this process say; those that killed processes have left go."""
    for left in Path(tempfile.gettempdir()).glob(f"{_WATCH}[0-9]*-*"):
        with contextlib.suppress(PermissionError):  # another user's process
            try:
                os.kill(int(left.name.removeprefix(_WATCH).split("-")[0]), 0)
            except (ProcessLookupError, ValueError):
                shutil.rmtree(left, ignore_errors=True)
    return tempfile.TemporaryDirectory(prefix=f"{_WATCH}{os.getpid()}-")


CRASHED = Killed(
    "worker died",
    "the process that worked on it was killed (out of memory, or a crash in a native library)",
    "Give the run more memory, or leave the document out.",
)


def died(store: Store, task: Task, why: Killed, config: DracConfig) -> DocumentOutcome:
    key, stages = task
    named = [s.name for s in STAGES if stages is None or s.name in stages]
    try:
        manifest = store.manifest(key)
    except StorageError as e:  # nor can it be written down: the outcome says it, and the next run tries again
        failure = FailureRecord(stage=named[0], kind=why.kind, cause=f"{why.cause}; {e}", at=now())
        return DocumentOutcome(key, [StageOutcome(named[0], "failed", failure=failure)])
    began = _interrupted_stage(manifest, named)
    if manifest is None:
        return _left(key, began)
    stage = STAGES_BY_NAME[began]
    error = DocumentError(why.cause, remedy=why.remedy)
    error.kind = why.kind
    inputs = parent_versions(stage, manifest, manifest.source.fingerprint) or {}
    failure = record_failure(store, key, stage, inputs, config, error)
    with doing(document=key, stage=began):
        log_failure(failure)
    return DocumentOutcome(key, [StageOutcome(began, "failed", failure=failure)])


def _left(key: str, stage: str) -> DocumentOutcome:
    """The outcome of a document that was deleted from the home while a run had it to do."""
    failure = FailureRecord(
        stage=stage,
        kind=SourceChanged.kind,
        cause="the document has left this home since the run began",
        remedy="Run `drac run SOURCE` if it is to be there.",
        at=now(),
    )
    return DocumentOutcome(key, [StageOutcome(stage, "failed", failure=failure)])


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
    context = prepare_fork_server(config)
    return ProcessPoolExecutor(workers, mp_context=context, initializer=end_with_parent)


def prepare_fork_server(config: DracConfig) -> multiprocessing.context.ForkServerContext:
    """Have processes start from one that has imported what documents need.

    A fork of a process with threads (Arrow, gRPC) can deadlock, and a spawn imports everything once a
    worker; the fork server imports once.
    """
    context = multiprocessing.get_context("forkserver")
    modules = [__name__]
    if config.converts_by_model or config.plans_by_model:
        modules += ["drac_pipeline.pipeline.by_model", SDKS[config.model.provider]]
    context.set_forkserver_preload(modules)
    return context


@dataclass(frozen=True, slots=True)
class _Given:
    """What goes with a task to a worker: where it notes what it does (`notes`, by `number`), whether it has
    to wait for a core (`crowded`), and where its log lines go."""

    force: bool
    run: str
    notes: str
    number: int
    crowded: bool
    outlet: Outlet
    around: Callable[[], contextlib.AbstractContextManager[object]] | None


def _work(store: Store, task: Task, config: DracConfig, given: _Given) -> DocumentOutcome:
    key, stages = task
    send_to(given.outlet)
    note_begin(Path(given.notes), given.number)
    say = Notes(Path(given.notes), given.number)
    limits = config.limits
    crew = Crew(limits.pages_in_parallel, limits.worker_memory_bytes, say.hired, say.left, say.progress)
    own = cores.a_place(crew.where, cores.usable()) if given.crowded else contextlib.nullcontext()
    within = given.around() if given.around else contextlib.nullcontext()
    with own, cores.at_work(crew.where), helped_by(crew), within:
        try:
            return process_document(store, key, config, stages, given.force, say.on_stage, given.run)
        except ArtifactMissing:  # retired and deleted by another process: this document's affair alone
            return _left(key, next(s.name for s in STAGES if stages is None or s.name in stages))
