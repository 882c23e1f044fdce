"""What a Ray cluster costs a document, and how many page batches one driver can have in flight.

    python benchmarks/ray_map.py [overhead] [batches] [model] [--documents 200] [--batches 1000]

A cluster of two nodes is started on this machine.

overhead  Documents whose stages are all up to date, so that what is timed is the way there and back: local
          pool and cluster in one run, from the first outcome to the last, and plain Ray tasks that do
          nothing beside them. The start of each, to the first outcome, is said apart.
batches   Page batches that wait for a model, each as asyncio's sleep on a node, let in and written down by
          the run's bookkeeper as real ones are: how many are in flight, and how many end a second, for
          shorter and shorter replies. While replies take long, the rate is what `in flight / seconds`
          allows; where it no longer follows, the driver's machine is the limit, and the figures say
          whether its driver or its bookkeeper is.
model     The pipeline itself against the stand-in for a model: documents of 125 pages, a call a page.
"""

import argparse
import asyncio
import contextlib
import itertools
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pymupdf

from drac_pipeline.cluster.books import CALLS_AT_ONCE, Bookkeeper
from drac_pipeline.config import DracConfig
from drac_pipeline.llm.books import Account
from drac_pipeline.llm.doubles import Brain, Double, FaultPlan, page_table
from drac_pipeline.llm.ledger import Purpose
from drac_pipeline.llm.protocol import Reply
from drac_pipeline.pipeline import find_work
from drac_pipeline.pipeline.pool import map_documents
from drac_pipeline.store import Home

NODE: dict[str, Any] = {"num_cpus": 1, "memory": 4_000_000_000, "object_store_memory": 80_000_000}
PAGES = 125


@contextlib.contextmanager
def cluster() -> Iterator[str]:
    """The address of a cluster of two nodes."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    from ray.cluster_utils import Cluster

    with tempfile.TemporaryDirectory(prefix="r", ignore_cleanup_errors=True) as folder:
        started = Cluster(
            initialize_head=True, head_node_args={**NODE, "include_dashboard": False, "temp_dir": folder}
        )
        started.add_node(**NODE)
        yield started.address
        started.shutdown()


def write_pdfs(folder: Path, documents: int, pages: int) -> Path:
    """Small PDFs, each page with words of its own."""
    folder.mkdir(parents=True)
    for n in range(documents):
        with pymupdf.open() as doc:
            for p in range(pages):
                page, chance = doc.new_page(width=300, height=200), random.Random(f"{n} {p}")
                for line in range(6):
                    words = ("".join(chance.choices("abcdefghilmnoprstu", k=6)) for _ in range(5))
                    page.insert_text((20, 30 + 25 * line), " ".join(words))
            doc.save(folder / f"{n:04}.pdf")
    return folder


def overhead(address: str, folder: Path, documents: int) -> None:
    """Milliseconds a document."""
    home = Home(folder / "home")
    tasks = [
        (w.key, ["normalized_pdf"])
        for w in find_work(home, write_pdfs(folder / "pdf", documents, 1), DracConfig()).work
    ]
    list(map_documents(home.store, tasks, DracConfig()))
    for name, config in (
        ("local pool", DracConfig()),
        ("cluster", DracConfig.model_validate({"map": {"engine": "ray", "address": address}})),
    ):
        began = time.monotonic()
        outcomes = map_documents(home.store, tasks, config)
        next(outcomes)
        first = time.monotonic()
        n = sum(1 for _ in outcomes)
        each = (time.monotonic() - first) / n
        print(f"{name:12} {1000 * each:7.2f} ms a document, {first - began:5.1f} s to the first")
    import ray

    with connected(address):
        nothing = ray.remote(_nothing).options(num_cpus=1)
        ray.get([nothing.remote() for _ in range(20)])
        began = time.monotonic()
        ray.get([nothing.remote() for _ in range(documents)])
        each = (time.monotonic() - began) / documents
        began = time.monotonic()
        for _ in range(documents):
            ray.get(nothing.remote())
        one_by_one = (time.monotonic() - began) / documents
    print(f"{'plain tasks':12} {1000 * each:7.2f} ms a task, {1000 * one_by_one:.2f} one by one")


def _nothing() -> None:
    pass


class CountingBookkeeper(Bookkeeper):
    """Counts who is inside, and its own seconds."""

    def __init__(self, state: str) -> None:
        super().__init__(state)
        self.inside = self.most = 0

    async def call(self, *asked: Any) -> Any:
        if asked[3] == "leave":
            self.inside -= 1
        answer = await super().call(*asked)
        if asked[3] == "enter":
            self.inside += 1
            self.most = max(self.most, self.inside)
        return answer

    async def figures(self) -> tuple[int, float]:
        """The most inside at once since the last call, and the CPU seconds of the process."""
        most, self.most = self.most, self.inside
        return most, time.process_time()


class Node:
    """Stands for all document processes of a node: their batches in flight, each let in by the bookkeeper."""

    def __init__(self, keeper: Any, account: Account) -> None:
        self.keeper, self.account = keeper, account

    async def batch(self, seconds: float) -> None:
        """One page batch: in, written down, sent, a reply after so long, written down, out."""
        ask = self._ask
        number = await ask("gate", "enter", 1)
        purpose = Purpose("a.pdf", "markdown", "1", "p", 1)
        call = await ask("ledger", "begin", purpose, "x", "m", "c", 1, 0.001)
        await asyncio.sleep(seconds)
        await asyncio.gather(
            self._ask("ledger", "end", call, "ok", reply=Reply("", "end", 10, 10)),  # type: ignore[arg-type]
            ask("gate", "succeeded", 1),
            ask("gate", "leave", number),
        )

    async def _ask(self, part: str, name: str, *args: Any, **more: Any) -> Any:
        return await self.keeper.call.remote(1, self.account, part, name, args, more)


def batches(address: str, folder: Path, at_once: int, seconds: float) -> None:
    """How many end a second, for replies of shorter and shorter latency."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    with connected(address):
        ids = [n["NodeID"] for n in ray.nodes() if n["Alive"]]
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        keeper: Any = (
            ray.remote(CountingBookkeeper)
            .options(num_cpus=0, max_concurrency=CALLS_AT_ONCE, scheduling_strategy=here)
            .remote(str(folder / "model"))
        )
        account = Account("run", "service", at_once, 12, 60.0, 0.0, 0.0)
        nodes: list[Any] = [
            ray.remote(Node)
            .options(
                num_cpus=0,
                max_concurrency=CALLS_AT_ONCE,
                scheduling_strategy=NodeAffinitySchedulingStrategy(i, soft=False),
            )
            .remote(keeper, account)
            for i in ids
        ]
        ray.get([n.batch.remote(0.0) for n in nodes])
        for latency in (20.0, 10.0, 5.0, 2.0, 1.0):
            before: float = ray.get(keeper.figures.remote())[1]
            began = time.monotonic()
            done, driver, wall = _drive(nodes, at_once, latency, max(seconds, 2 * latency))
            most, after = ray.get(keeper.figures.remote())
            keeps = (after - before) / (time.monotonic() - began)
            could = at_once / latency
            print(
                f"replies after {latency:4.1f} s: {most:5} in flight at most, {done / wall:6.1f} end a second"
                f" of {could:6.1f} that could ({100 * done / wall / could:3.0f} %); of a core the driver has"
                f" {100 * driver / wall:3.0f} %, the bookkeeper {100 * keeps:3.0f} %",
                flush=True,
            )


def _drive(nodes: list[Any], at_once: int, latency: float, seconds: float) -> tuple[int, float, float]:
    """Keep so many in flight from this driver; batches that ended, its CPU and wall seconds."""
    import ray

    turn = itertools.cycle(nodes)
    flying = {next(turn).batch.remote(latency) for _ in range(at_once)}
    ray.wait(list(flying), num_returns=1)  # the first ramp is not counted
    began, cpu, ended = time.monotonic(), time.process_time(), 0
    while time.monotonic() - began < seconds:
        done, rest = ray.wait(list(flying), num_returns=1, timeout=1.0)
        done += ray.wait(rest, num_returns=len(rest), timeout=0)[0] if rest else []
        ray.get(done)
        ended += len(done)
        flying.difference_update(done)
        flying.update(next(turn).batch.remote(latency) for _ in done)
    wall, cpu = time.monotonic() - began, time.process_time() - cpu
    ray.get(list(flying))
    return ended, cpu, wall


def model(address: str, folder: Path, at_once: int, seconds: float) -> None:
    """Documents that a model reads, a call a page: how many calls are at the service at once."""
    source = write_pdfs(folder / "pdf", at_once // PAGES, PAGES)
    home = Home(folder / "home")
    render = {"render": {"dpi": 72}}
    keys = [w.key for w in find_work(home, source, DracConfig()).work]
    before = DracConfig.model_validate(render)
    list(map_documents(home.store, [(k, ["normalized_pdf", "page_images"]) for k in keys], before))
    os.environ["OPENAI_API_KEY"] = "stand-in"
    brain = Brain(page_table(sorted(source.glob("*.pdf"))))
    with Double(brain, faults=FaultPlan(), latency=seconds) as server:
        config = DracConfig.model_validate(
            {
                **render,
                "convert": {"mode": "model"},
                "model": {
                    **{"provider": "openai", "endpoint_url": f"{server.url}/v1", "model": "m"},
                    **{"pages_per_call": 1, "calls_in_parallel": at_once, "read_timeout": 600},
                },
                "map": {"engine": "ray", "address": address, "cpus_per_model_document": 2 / len(keys)},
            }
        )
        began = time.monotonic()
        outcomes = list(map_documents(home.store, [(k, ["markdown"]) for k in keys], config))
        wall = time.monotonic() - began
        failed = [o.key for o in outcomes if o.failure]
        print(
            f"{len(keys)} documents, {server.pages} pages by the model in {wall:.1f} s, replies after"
            f" {seconds:g} s: {server.most_flying} calls at the service at once; failed: {failed or 'none'}"
        )


@contextlib.contextmanager
def connected(address: str) -> Iterator[None]:
    """This process is a driver."""
    import ray

    ray.init(address=address, log_to_driver=False, configure_logging=False)
    try:
        yield
    finally:
        ray.shutdown()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", default=["overhead", "batches", "model"])
    parser.add_argument("--documents", type=int, default=200)
    parser.add_argument("--batches", type=int, default=1000)
    parser.add_argument("--calls", type=int, default=250, help="of `model`, at the service at once")
    parser.add_argument("--seconds", type=float, default=20.0)
    args = parser.parse_args()
    with cluster() as address:
        for part in args.parts:
            with tempfile.TemporaryDirectory(prefix="ray-map-") as name:
                print(f"--- {part}", flush=True)
                if part == "overhead":
                    overhead(address, Path(name), args.documents)
                elif part == "batches":
                    batches(address, Path(name), args.batches, args.seconds)
                elif part == "model":
                    model(address, Path(name), args.calls, args.seconds)
                else:
                    sys.exit(f"no such part: {part}")


if __name__ == "__main__":
    main()
