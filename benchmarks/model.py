"""Prove what model mode promises, against the stand-in for Bedrock: speed, faults, kill -9.

    python benchmarks/model.py FOLDER_OF_PDFS [--documents 50] [--latency 4.7] [--quota 25]

speed   A call of n pages takes n x latency, and calls over the quota of pages in flight are throttled.
        The bound is what the quota allows: `area` is the sum of pages x seconds of all calls over the
        quota, `schedule` the end of the last call if each began, in order, as soon as there was room and
        nothing else took time. PDFs are read and rendered before; the stage `markdown` is timed, worker
        processes and local reading included.
faults  A fifth of all calls goes wrong, in every way the stand-in knows. Every document must have all its
        pages and the same numbers as without faults, and the ledger as many calls as the server saw.
quota   The service takes half the pages in flight that the settings ask for, and throttles what is over:
        how many calls are thrown away while the room is found.
kill    The run is killed with SIGKILL half way and run again: pages asked for twice can only be those in
        flight at that moment.
"""

import argparse
import contextlib
import heapq
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

from drac_pipeline.config import DracConfig
from drac_pipeline.llm.doubles import ALL_FAULTS, Brain, Double, FaultPlan, page_table
from drac_pipeline.llm.open import open_service
from drac_pipeline.pipeline import find_work
from drac_pipeline.pipeline.artifacts import MARKDOWN_FILE
from drac_pipeline.pipeline.pool import map_documents
from drac_pipeline.store import Home

BEFORE = ["normalized_pdf", "page_images"]


def config_for(url: str, quota: int, **more: object) -> DracConfig:
    """Model mode at the stand-in."""
    model = {"region": "eu-west-1", "endpoint_url": url, "calls_in_parallel": max(1, quota // 5), **more}
    return DracConfig.model_validate({"convert": {"mode": "model"}, "model": model})


def prepare(folder: Path, pdfs: list[Path]) -> Home:
    """A home with the documents read and rendered."""
    source = folder / "source"
    source.mkdir(parents=True)
    for n, pdf in enumerate(pdfs):
        (source / f"{n:03} {pdf.name}").symlink_to(pdf)
    home = Home(folder / "home")
    config = DracConfig.model_validate({"source": {"follow_symlinks": True}})
    keys = [w.key for w in find_work(home, source, config).work]
    list(map_documents(home.store, [(k, BEFORE) for k in keys], config))
    return home


def convert(home: Home, config: DracConfig) -> tuple[float, list[str]]:
    """Seconds of the markdown stage over all documents, and failures."""
    keys = sorted(m.document_key for m in home.store.manifests())
    began = time.monotonic()
    done = list(map_documents(home.store, [(k, ["markdown"]) for k in keys], config))
    failures = [f"{o.key}: {o.failure.cause}" for o in done if o.failure]
    return time.monotonic() - began, failures


def texts(home: Home) -> dict[str, str]:
    """The Markdown of each document."""
    keys = sorted(m.document_key for m in home.store.manifests())
    return {k: home.store.path(k, "markdown", MARKDOWN_FILE).read_text(encoding="utf-8") for k in keys}


def ledger(home: Home, config: DracConfig) -> list[dict]:
    """All calls of a home."""
    return open_service(config.model, home.path / "model", "report").ledger.records()


def bounds(home: Home, latency: float, quota: int, per_call: int = 5) -> tuple[float, float, int]:
    """Seconds by area and by schedule, and pages."""
    counts = [
        int(m.stages["page_images"].counts["pages"])
        for m in sorted(home.store.manifests(), key=lambda m: m.document_key)
    ]
    calls = [min(per_call, n - at) for n in counts for at in range(0, n, per_call)]
    area = sum(n * n * latency for n in calls) / quota
    now, room, flying = 0.0, quota, []
    for n in calls:
        while room < n:
            now, back = heapq.heappop(flying)
            room += back
        heapq.heappush(flying, (now + n * latency, n))
        room -= n
    return area, max(end for end, _ in flying), sum(counts)


class Taken:
    """The most processes below this one, and the most memory they have to themselves, inside the block."""

    most_processes = most_bytes = 0

    def __enter__(self) -> "Taken":
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._end.wait(2.0):
            below = _below(os.getpid())
            self.most_processes = max(self.most_processes, len(below))
            self.most_bytes = max(self.most_bytes, sum(_own_bytes(p) for p in below))


def _below(pid: int) -> list[int]:
    out = []
    for child in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for p in map(int, child.read_text().split()):
                out += [p, *_below(p)]
    return out


def _own_bytes(pid: int) -> int:
    """The proportional share of memory: what processes share counts once."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0


def speed(home: Home, table: dict[str, str], latency: float, quota: int) -> None:
    with Double(Brain(table), latency=latency, quota=quota) as server:
        config = config_for(server.url, quota)
        with Taken() as taken:
            seconds, failures = convert(home, config)
        area, schedule, pages = bounds(home, latency, quota)
        calls = Counter(r["outcome"] for r in ledger(home, config))
        print(
            f"speed   {pages} pages in {seconds:.1f} s; bound by area {area:.1f} s ({seconds / area:.2f}x),"
            f" by schedule {schedule:.1f} s ({seconds / schedule:.2f}x)"
        )
        print(
            f"        failed documents {len(failures)}, most pages in flight {server.most_flying},"
            f" throttled {server.throttled}, calls {dict(calls)}, load {os.getloadavg()[0]:.1f}"
        )
        print(
            f"        {taken.most_processes} processes, memory of their own {taken.most_bytes / 1e6:.0f} MB"
        )
        rows = [r for r in ledger(home, config) if r["outcome"] == "ok"]
        first = min(r["started"] for r in rows)
        print(f"        pages in flight, every {seconds / 20:.1f} s from the first call on:", end="")
        for step in range(20):
            at = first.timestamp() + step * seconds / 20
            flying = [
                r["pages"]
                for r in rows
                if r["started"].timestamp() <= at < r["started"].timestamp() + r["latency_seconds"]
            ]
            print(f" {sum(flying)}", end="")
        print()


def narrow(home: Home, table: dict[str, str], latency: float, quota: int) -> None:
    with Double(Brain(table), latency=latency, quota=quota // 2) as server:
        config = config_for(server.url, quota)
        seconds, failures = convert(home, config)
        area, _, pages = bounds(home, latency, quota // 2)
        calls = len(ledger(home, config))
        print(
            f"quota   {pages} pages in {seconds:.1f} s at half the quota; bound by area {area:.1f} s"
            f" ({seconds / area:.2f}x); {server.throttled} of {calls} calls throttled, failed documents"
            f" {len(failures)}"
        )


def faults(home: Home, table: dict[str, str], truth: dict[str, str], rate: float, seed: int) -> bool:
    plan = FaultPlan(rate=rate, kinds=ALL_FAULTS, seed=seed)
    with Double(Brain(table), faults=plan, latency=0.05, quota=25) as server:
        config = config_for(server.url, 25, backoff_seconds=0.05, backoff_cap=0.5, breaker_failures=50)
        seconds, failures = convert(home, config)
        rows = ledger(home, config)
        got = texts(home)
    pages = {k: re.findall(r"<!-- page (\d+) -->", t) for k, t in got.items()}
    wrong_pages = [k for k in truth if pages.get(k) != re.findall(r"<!-- page (\d+) -->", truth[k])]
    numbers = [
        k
        for k in truth
        if Counter(re.findall(r"\d+", got.get(k, ""))) != Counter(re.findall(r"\d+", truth[k]))
    ]
    same = sum(" ".join(got.get(k, "").split()) == " ".join(truth[k].split()) for k in truth)
    sent = [r for r in rows if r["outcome"] != "reused"]
    local = sum(m.stages["markdown"].counts.get("model_pages_refused", 0) for m in home.store.manifests())
    verdicts = Counter(
        re.sub(r"[:(].*", "", v.split(": ", 1)[1])
        for r in rows
        if r["verdict"] not in ("", "accepted")
        for v in r["verdict"].split("; page ")
        if ": " in v
    )
    good = not failures and not wrong_pages and not numbers and len(sent) == server.requests
    print(
        f"faults  {sum(plan.seen.values()) - plan.seen['none']} of {server.requests} calls went wrong"
        f" ({dict(plan.seen)}) in {seconds:.1f} s"
    )
    print(
        f"        failed documents {len(failures)}, pages lost or twice {len(wrong_pages)}, documents with"
        f" other numbers {len(numbers)}, word for word as without faults {same} of {len(truth)}"
    )
    print(
        f"        ledger {len(sent)} calls, server {server.requests}, pages read locally {local:.0f};"
        f" refused: {dict(verdicts)}"
    )
    print(
        f"        outcomes {dict(Counter(r['outcome'] for r in rows))}"
        f" cost ${sum(r['cost_usd'] for r in rows):.4f} -> {'holds' if good else 'DOES NOT HOLD'}"
    )
    for line in failures + [f"pages: {k}" for k in wrong_pages] + [f"numbers: {k}" for k in numbers]:
        print("        ", line)
    return good


def kill(home: Home, table: dict[str, str], quota: int) -> bool:
    with Double(Brain(table), latency=0.4, quota=quota) as server:
        config = config_for(server.url, quota)
        settings = home.path / "settings.json"
        settings.write_text(config.model_dump_json(exclude={"normalize"}))
        command = [sys.executable, __file__, "--child", str(home.path), str(settings)]
        child = subprocess.Popen(command, start_new_session=True)
        total = sum(int(m.stages["page_images"].counts["pages"]) for m in home.store.manifests())
        while server.pages < total / 2 and child.poll() is None:
            time.sleep(0.02)
        flying = server.flying
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        before = server.pages
        _, failures = convert(home, config)
        again = server.pages - total
        rows = ledger(home, config)
    # pages that were refused, or throttled while the killed run's calls were in flight, are asked for again
    more = sum(r["pages"] for r in rows if r["verdict"] not in ("", "accepted"))
    throttled = sum(r["pages"] for r in rows if r["outcome"] == "ThrottlingException")
    lost = sum(r["pages"] for r in rows if r["outcome"] == "interrupted")
    good = not failures and again <= lost + more + throttled
    print(
        f"kill    SIGKILL after {before} of {total} pages with {flying} in flight; the second run asked for"
        f" {server.pages - before}, twice asked {again}, in the ledger as interrupted {lost},"
        f" refused by the checks {more}, throttled {throttled}"
        f" -> {'holds' if good else 'DOES NOT HOLD'}"
    )
    return good


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--documents", type=int, default=50)
    parser.add_argument("--latency", type=float, default=4.7)
    parser.add_argument("--quota", type=int, default=25)
    parser.add_argument("--rate", type=float, default=0.2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--parts", nargs="+", default=["faults", "kill", "quota", "speed"])
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        home = Home(Path(options.child[0]))
        convert(home, DracConfig.model_validate(json.loads(Path(options.child[1]).read_text())))
        return
    os.environ.setdefault("AWS_ACCESS_KEY_ID", "double")
    os.environ.setdefault("AWS_SECRET_ACCESS_KEY", "double")
    pdfs = sorted(options.folder.resolve().rglob("*.pdf"))[: options.documents]
    good = True
    with tempfile.TemporaryDirectory() as folder:
        table = page_table(pdfs)
        print(f"{len(pdfs)} documents, {len(table)} different pages")
        for part in options.parts:
            home = prepare(Path(folder) / part, pdfs)
            if part == "speed":
                speed(home, table, options.latency, options.quota)
            elif part == "quota":
                narrow(home, table, options.latency, options.quota)
            elif part == "kill":
                good &= kill(home, table, options.quota)
            else:
                quiet = prepare(Path(folder) / "quiet", pdfs)
                with Double(Brain(table)) as server:
                    convert(quiet, config_for(server.url, 25))
                    for r in ledger(quiet, config_for(server.url, 25)):
                        if r["verdict"] != "accepted":
                            print("without faults refused:", r["document"], r["verdict"])
                good &= faults(home, table, texts(quiet), options.rate, options.seed)
    if not good:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
