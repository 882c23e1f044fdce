"""Time a backfill from the UI against the same work without Dagster.

    python benchmarks/backfill.py [--documents 50 250]

Makes trivial one-page PDFs, runs the pipeline over them (`pipeline`), then in a fresh home starts
`dagster dev`, registers them and launches a backfill of all assets as the UI does. Printed per size, in
seconds: `pipeline` the pure work on all cores; `to runs` from the click to the first run's start (the
daemon looks every 30 s); `runs` from there to the end of the last run; `shown` until the backfill itself
shows as done (again a look of the daemon); `beyond` = click to the end of the last run, less the pure work;
`drac run` the same work by the command line, process start included. Trust the ratios, not the seconds.
"""

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import pymupdf

from drac_pipeline.defs.launch import open_instance
from drac_pipeline.defs.register import register
from drac_pipeline.pipeline import STAGES, find_work
from drac_pipeline.pipeline.pool import map_documents
from drac_pipeline.store import Home

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
ASSETS = ["source_document", *(s.name for s in STAGES)]
PATIENCE_SECONDS = 900
LAUNCH = """mutation($p: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $p) {
  __typename ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }"""
STATE = """query($id: String!) { partitionBackfillOrError(backfillId: $id) { ... on PartitionBackfill {
  status timestamp endTimestamp runs(limit: 1000) { status startTime endTime } } } }"""


def make_corpus(root: Path, number: int) -> None:
    """One-page PDFs of a heading and a sentence."""
    root.mkdir()
    for n in range(number):
        with pymupdf.open() as doc:
            page = doc.new_page()
            page.insert_text((72, 72), f"Note {n}", fontsize=18)
            page.insert_text((72, 110), f"The valve of line {n} was checked and found in order.")
            doc.save(root / f"note {n:05}.pdf")


def pipeline(folder: Path, corpus: Path) -> float:
    """Seconds of the work itself."""
    home = Home(folder / "plain")
    began = time.monotonic()
    tasks = [(w.key, None) for w in find_work(home, corpus, home.config).work]
    failed = [o.key for o in map_documents(home.store, tasks, home.config) if o.failure]
    assert not failed, failed
    return time.monotonic() - began


def command_line(folder: Path, corpus: Path) -> float:
    """Seconds of `drac run`."""
    began = time.monotonic()
    command = [BIN / "drac", "run", corpus, "--home", folder / "by-command"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - began


def backfill(folder: Path, corpus: Path) -> tuple[float, float, float]:
    """Seconds from the click to the first run's start, to the last run's end, to the backfill's end."""
    home = Home(folder / "by-daemon")
    with open_instance(home) as instance:
        find_work(home, corpus, home.config)
        keys = register(instance, home, list(home.store.manifests()))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    env = {**os.environ, "DAGSTER_HOME": str(home.path)}
    command = [BIN / "dagster", "dev", "-w", ROOT / "workspace.yaml", "-p", str(port)]
    with (folder / "dagster.log").open("w") as log:
        server = subprocess.Popen(command, env=env, cwd=ROOT, stdout=log, stderr=log, start_new_session=True)
    try:
        _wait_for(port)
        time.sleep(20)  # past the daemon's first look
        params = {"assetSelection": [{"path": [a]} for a in ASSETS], "partitionNames": keys}
        launched = _ask(port, LAUNCH, p=params)["launchPartitionBackfill"]
        state = _ended(port, launched["backfillId"])
    finally:
        os.killpg(server.pid, signal.SIGKILL)
    assert state["status"] == "COMPLETED_SUCCESS", state
    click = state["timestamp"]
    runs = state["runs"]
    print(f"  {len(runs)} runs of {[round(r['endTime'] - r['startTime'], 1) for r in runs]} s", flush=True)
    first, last = min(r["startTime"] for r in runs), max(r["endTime"] for r in runs)
    return first - click, last - click, state["endTimestamp"] - click


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + 180
    while True:
        try:
            if _ask(port, "{ assetNodes { id } }")["assetNodes"]:
                return
        except OSError:
            pass
        assert time.monotonic() < deadline, "dagster dev does not answer"
        time.sleep(1)


def _ended(port: int, backfill_id: str) -> dict[str, Any]:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        state = _ask(port, STATE, id=backfill_id)["partitionBackfillOrError"]
        if state["status"] not in ("REQUESTED", "CANCELING", "FAILING"):
            return state
        assert time.monotonic() < deadline, state
        time.sleep(2)


def _ask(port: int, query: str, **variables: Any) -> dict[str, Any]:
    body = json.dumps({"query": query, "variables": variables}).encode()
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/graphql", body, {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.load(reply)["data"]


def main() -> None:
    """Run it for each size and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--documents", type=int, nargs="+", default=[50, 250])
    args = parser.parse_args()
    rows = []
    for number in args.documents:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            make_corpus(folder / "corpus", number)
            pure = pipeline(folder, folder / "corpus")
            command = command_line(folder, folder / "corpus")
            first, last, shown = backfill(folder, folder / "corpus")
            rows.append((number, pure, first, last - first, shown, last - pure, command))
            load = os.getloadavg()[0]
            print(f"  {number} documents done, load average {load:.1f}", flush=True)
    names = ("documents", "pipeline", "to runs", "runs", "shown", "beyond", "drac run")
    print(" ".join(f"{n:>9}" for n in names))
    for number, *seconds in rows:
        print(f"{number:>9} " + " ".join(f"{s:>9.1f}" for s in seconds))


if __name__ == "__main__":
    main()
