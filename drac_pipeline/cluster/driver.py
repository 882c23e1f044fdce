"""Map over documents on a Ray cluster: the driver's side.

Each document is a Ray task that asks for CPUs and memory by its size, the longest first. Tries are ours
to count and not Ray's: a document whose node or worker is lost is given out again, and one that loses
its worker every time fails alone. Nodes are looked at before the first document; one that joins later and
is not fit is left out.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from drac_pipeline.counted import counted

from drac_pipeline.cluster.connect import connected, ray  # isort: skip  # says so where there is no Ray

from ray import exceptions
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from drac_pipeline.cluster.board import Begun, Board, Logged
from drac_pipeline.cluster.books import CALLS_AT_ONCE, Bookkeeper
from drac_pipeline.cluster.fitness import Expected
from drac_pipeline.cluster.nodes import (
    Node,
    calls_services,
    check_nodes,
    cluster_nodes,
    first_line,
    seen_by_nodes,
    told_unfit,
)
from drac_pipeline.cluster.requests import Request, fitted, request_for
from drac_pipeline.cluster.worker import Job, Unfit, work
from drac_pipeline.config import DracConfig
from drac_pipeline.errors import ClusterError
from drac_pipeline.logs import NODE, handle_sent
from drac_pipeline.pipeline.pool import Task, died
from drac_pipeline.pipeline.process import DocumentOutcome
from drac_pipeline.pipeline.progress import report_pages
from drac_pipeline.pipeline.watch import Killed
from drac_pipeline.store import Store

log = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
_LEAST = 16  # documents given to a cluster that has no node yet, for one that grows by what is asked of it
_CANCEL_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class _Flight:
    """A try of a document that the cluster has been given."""

    attempt: int
    task: Task
    request: Request


def map_on_cluster(
    store: Store, waiting: list[Task], config: DracConfig, *, force: bool, most: int | None, run: str
) -> Iterator[DocumentOutcome]:
    """Process each task, the last ones first, and yield its outcome as it ends.

    At most `most` documents are in work at once. Closing the generator cancels all that is not done.
    Raises ClusterError where there is no cluster, or a node is not fit.
    """
    if not waiting:
        return
    with connected(config.map), seen_by_nodes(store, waiting, config) as seen:
        yield from _Run(store, waiting, config, force, most, run, seen).outcomes()


class _Run:
    """One run of `map_on_cluster`."""

    def __init__(
        self,
        store: Store,
        waiting: list[Task],
        config: DracConfig,
        force: bool,
        most: int | None,
        run: str,
        expected: Expected,
    ) -> None:
        self.store, self.waiting, self.config, self.most = store, waiting, config, most
        self.flying: dict[Any, _Flight] = {}
        self.numbers = itertools.count(1)
        self.tries: Counter[str] = Counter()
        self.all_memory: set[str] = set()  # documents that a node had no memory left for
        self.begun: dict[int, str] = {}
        self.nodes: dict[str, Node] = {}
        self.unfit: dict[str, list[str]] = {}
        self.names: dict[str, str] = {}
        self.looked = self.alive = time.monotonic()
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        board = ray.remote(Board).options(num_cpus=0, max_restarts=-1, scheduling_strategy=here)
        self.board: Any = board.remote()
        self.books: Any = None
        if calls_services(config):
            keeper = ray.remote(Bookkeeper).options(
                num_cpus=0, max_concurrency=CALLS_AT_ONCE, scheduling_strategy=here
            )
            self.books = keeper.remote(str(store.state))
        level = logging.getLogger().getEffectiveLevel()
        self.job = Job(run, store, config, force, expected, self.board, self.books, level)
        self.shared = ray.put(self.job)
        self.work = ray.remote(work)

    def outcomes(self) -> Iterator[DocumentOutcome]:
        """All outcomes; whatever ends the generator ends the work."""
        try:
            self._look_at_nodes()
            check_nodes(list(self.nodes.values()), self.job.expected)
            while self.waiting or self.flying:
                self._feed()
                yield from self._take()
                if time.monotonic() - self.looked >= LOOK_SECONDS:
                    self._read_board()
                    self._look_at_nodes()
                    self.looked = time.monotonic()
            self._read_board()
        except SystemError as e:  # what Ray's core makes of an interrupt that is not Python's own
            if isinstance(e.__cause__, BaseException) and not isinstance(e.__cause__, Exception):
                raise e.__cause__ from None
            raise
        finally:
            self._cancel()

    # ------------------------------------------------------------- giving out

    def _feed(self) -> None:
        while self.waiting and len(self.flying) < self._most_in_flight():
            self._give(self.waiting.pop())

    def _most_in_flight(self) -> int:
        if self.most:
            return self.most
        if self.config.map.documents_in_flight:
            return self.config.map.documents_in_flight
        m = self.config.map
        by_model = self.config.converts_by_model or self.config.plans_by_model
        each = m.cpus_per_model_document if by_model else m.cpus_per_document
        room = sum(int(n.room.cpus / each) for n in self._fit_nodes())
        return max(2 * room, _LEAST)

    def _give(self, task: Task) -> None:
        key = task[0]
        attempt = next(self.numbers)
        self.tries[key] += 1
        rooms = [n.room for n in self._fit_nodes()]
        own = self.config.for_document(key)
        wanted = request_for(self.store.manifest(key), own, most_memory=key in self.all_memory)
        request = fitted(wanted, rooms)
        options: dict[str, Any] = {"num_cpus": request.cpus, "max_retries": 0, "name": f"drac {key}"[:100]}
        if request.memory:
            options["memory"] = request.memory
        if self.unfit:
            options["label_selector"] = {"ray.io/node-id": f"!in({','.join(sorted(self.unfit))})"}
        ref = self.work.options(**options).remote(self.shared, task, attempt, request.cpus)
        self.flying[ref] = _Flight(attempt, task, request)

    def _again(self, flight: _Flight, *, counts: bool) -> None:
        if not counts:
            self.tries[flight.task[0]] -= 1
        self.waiting.append(flight.task)

    # ------------------------------------------------------------- taking in

    def _take(self) -> Iterator[DocumentOutcome]:
        if not self.flying:  # every node is gone, and so is what was given to it
            time.sleep(LOOK_SECONDS)
            return
        refs = list(self.flying)
        done, rest = ray.wait(refs, num_returns=1, timeout=LOOK_SECONDS)
        if done and rest:  # what else is there comes along: a wait for each would look at all each time
            done += ray.wait(rest, num_returns=len(rest), timeout=0)[0]
        for ref in done:
            flight = self.flying.pop(ref)
            outcome = self._outcome(ref, flight)
            self.begun.pop(flight.attempt, None)
            if outcome is not None:
                yield outcome

    def _outcome(self, ref: Any, flight: _Flight) -> DocumentOutcome | None:
        """What became of a try; None where the document is given out again."""
        try:
            reply: Any = ray.get(ref)
        except exceptions.RuntimeEnvSetupError as e:
            raise ClusterError(f"map.runtime_env cannot be set up on a node: {first_line(e)}") from e
        except exceptions.RayTaskError as e:
            cause = f"{type(e.cause).__name__}: {e.cause}" if e.cause else first_line(e)
            fault = Killed("internal error", f"its worker failed: {cause}", _REPORT)
            return died(self.store, flight.task, fault, self.config)
        except exceptions.RayError as e:
            return self._lost(flight, e)
        if isinstance(reply, Unfit):
            self._leave_out(reply)
            self._again(flight, counts=False)
            return None
        return reply

    def _lost(self, flight: _Flight, error: Exception) -> DocumentOutcome | None:
        """Its node is gone, or the Ray worker that watched over it."""
        if self.books is not None:
            self.books.gone.remote(flight.attempt)
        key = flight.task[0]
        where = self.names.get(self.begun.get(flight.attempt, ""), "a node")
        short = isinstance(error, exceptions.OutOfMemoryError)
        if short:
            self.all_memory.add(key)
        why = f"{where} had no memory left" if short else f"{where} or its worker there was lost"
        tries = self.tries[key]
        if tries < self.config.map.tries:
            log.warning("%s: %s; it is given out again (%s)", key, why, first_line(error))
            self._again(flight, counts=True)
            return None
        times = "once" if tries == 1 else f"{tries} times, each of map.tries"
        killed = Killed(
            "too large" if short else "worker died",
            f"lost {times}; at last {why}",
            "Give the nodes more memory, or leave the document out." if short else _LOST,
        )
        return died(self.store, flight.task, killed, self.config)

    # ------------------------------------------------------------- looking around

    def _fit_nodes(self) -> list[Node]:
        return [n for n in self.nodes.values() if n.id not in self.unfit]

    def _look_at_nodes(self) -> None:
        nodes = {n.id: n for n in cluster_nodes()}
        self.names.update({n.id: n.name for n in nodes.values()})
        changed = nodes.keys() != self.nodes.keys()
        self.nodes = nodes
        now = time.monotonic()
        if nodes:
            self.alive = now
        elif now - self.alive > self.config.map.wait_seconds:
            raise ClusterError(
                f"the cluster has had no node with CPUs for {counted(self.config.map.wait_seconds, 'second')}"
                " (map.wait_seconds); what was finished is kept"
            )
        if changed and nodes:
            self._give_smaller([n.room for n in self._fit_nodes()])

    def _give_smaller(self, rooms: Sequence[Request]) -> None:
        """What no node that is left could ever take is given out again, as what one can."""
        for ref, flight in list(self.flying.items()):
            if rooms and not any(flight.request.fits(room) for room in rooms):
                del self.flying[ref]
                _cancel(ref)
                self._again(flight, counts=False)

    def _leave_out(self, unfit: Unfit) -> None:
        if unfit.node not in self.unfit:
            self.unfit[unfit.node] = unfit.wrong
            name = self.names.get(unfit.node, unfit.node[:8])
            log.warning("node %s is left out: it %s", name, "; ".join(unfit.wrong))
        self._look_at_nodes()
        if not self._fit_nodes():
            raise ClusterError(told_unfit({self.names.get(n, n): w for n, w in self.unfit.items()}))

    def _read_board(self) -> None:
        try:
            waiting = bool(self.waiting) or any(f.attempt not in self.begun for f in self.flying.values())
            news: Any = ray.get(self.board.read.remote(waiting), timeout=10 * LOOK_SECONDS)
        except exceptions.RayError as e:  # it comes back, without what it had: the work is not touched
            log.warning("the board of the run could not be read: %s", first_line(e))
            return
        for item in news:
            if isinstance(item, Begun):
                self.begun[item.attempt] = item.node
                log.debug("%s: begun on %s", item.key, self.names.get(item.node, item.node))
            elif isinstance(item, Logged):
                handle_sent({**item.record, NODE: self.names.get(item.node, item.node)})
            else:
                report_pages(item)

    # ------------------------------------------------------------- the end

    def _cancel(self) -> None:
        refs = list(self.flying)
        self.flying.clear()
        for ref in refs:
            _cancel(ref)
        if refs:
            with contextlib.suppress(exceptions.RayError):
                ray.wait(refs, num_returns=len(refs), timeout=_CANCEL_SECONDS)
        for actor in (self.board, self.books):
            if actor is not None:
                with contextlib.suppress(exceptions.RayError):
                    ray.kill(actor)


_REPORT = "This is a fault of drac_pipeline; the other documents are not affected."
_LOST = "Run again; if it is lost each time, give the nodes more memory or leave the document out."


def _cancel(ref: Any) -> None:
    with contextlib.suppress(exceptions.RayError, ValueError):
        ray.cancel(ref, force=True, recursive=True)
