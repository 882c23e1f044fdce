"""Time this project's event log storage against Dagster's own, in one run of this script.

    python benchmarks/event_log.py [--materializations 350] [--rounds 3] [--daemon]

One run whose step yields that many materializations, as the document job does. Columns: `one by one`
yields them; `together` writes them ten at a time (`write_together`); `planned` records as many planned
events (`record_planned`). With `--daemon`, the first also as a queued run, which a live daemon launches
next to a live webserver: from start to success. Each round opens a fresh home
for each class, in turns. Trust the ratios (medians), not the seconds.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dagster import (
    AssetExecutionContext,
    AssetKey,
    AssetMaterialization,
    AssetSpec,
    Config,
    DagsterInstance,
    Definitions,
    DynamicPartitionsDefinition,
    define_asset_job,
    materialize,
    multi_asset,
)

from drac_pipeline.defs.instance_events import record_planned, write_together

STORAGES = {
    "stock": "",
    "fast": "event_log_storage: {module: drac_pipeline.defs.event_log, class: FastSqliteEventLogStorage}\n",
}
PAGES = AssetKey("pages")
TOGETHER = 10
DAEMON_PATIENCE_SECONDS = 180


class Work(Config):
    """What the step does, and how often."""

    number: int
    way: str


@multi_asset(
    specs=[
        AssetSpec(
            PAGES, partitions_def=DynamicPartitionsDefinition(name="benchmark_documents"), skippable=True
        )
    ],
    can_subset=True,
)
def stages(context: AssetExecutionContext, config: Work) -> Iterator[Any]:
    """Write events the way the configuration names."""
    keys = [f"folder/document-{i}.pdf" for i in range(config.number)]
    events = [
        AssetMaterialization(
            PAGES,
            partition=key,
            metadata={"pages": 12, "path": f"/home/artifacts/pages/{key}", "seconds": 1.5},
            tags={"dagster/data_version": key, "dagster/code_version": "1"},
        )
        for key in keys
    ]
    if config.way == "planned":
        record_planned(context.instance, context.run, "stages", [(PAGES, key) for key in keys])
    elif config.way == "together":
        for start in range(0, len(events), TOGETHER):
            write_together(context, events[start : start + TOGETHER])
    else:
        yield from events


defs = Definitions(assets=[stages], jobs=[define_asset_job("documents", [stages])])


@contextmanager
def home(storage: str, root: Path) -> Iterator[DagsterInstance]:
    """Open a fresh instance on the given storage."""
    folder = Path(tempfile.mkdtemp(dir=root, prefix=f"{storage}-"))
    (folder / "dagster.yaml").write_text(f"telemetry: {{enabled: false}}\n{STORAGES[storage]}")
    os.environ["DAGSTER_HOME"] = str(folder)
    os.environ.pop("DAGSTER_EVENT_BATCH_SIZE", None)
    with DagsterInstance.get() as instance:
        yield instance


def run_config(number: int, way: str) -> dict[str, Any]:
    return {
        "ops": {"stages": {"config": {"number": number, "way": way}}},
        "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
    }


def in_process(storage: str, number: int, way: str, root: Path) -> float:
    """Seconds of the run less those of the same run without events."""
    with home(storage, root) as instance:
        seconds = []
        for count in (0, 0, number):  # the first pays for what Python and Dagster load once
            started = time.perf_counter()
            materialize([stages], instance=instance, run_config=run_config(count, way))
            seconds.append(time.perf_counter() - started)
        recorded = instance.event_log_storage.get_materialized_partitions(PAGES)
        if way != "planned" and len(recorded) != number:
            raise SystemExit(f"{storage}: {len(recorded)} of {number} materializations were recorded")
        return seconds[2] - seconds[1]


def through_daemon(storage: str, number: int, root: Path) -> float:
    """Seconds from start to success of one queued run, beside a live daemon and webserver."""
    with home(storage, root) as instance:
        config = Path(os.environ["DAGSTER_HOME"], "run.yaml")
        config.write_text(str(run_config(number, "one by one")))
        location = ["-f", str(Path(__file__).resolve())]
        quiet = subprocess.DEVNULL
        servers = [
            subprocess.Popen([sys.executable, "-m", *command, *location], stdout=quiet, stderr=quiet)
            for command in (["dagster._daemon", "run"], ["dagster_webserver"])
        ]
        try:
            launch = ["dagster", "job", "launch", *location, "-j", "documents", "-c", str(config)]
            subprocess.run([sys.executable, "-m", *launch], check=True, capture_output=True)
            deadline = time.monotonic() + DAEMON_PATIENCE_SECONDS
            while time.monotonic() < deadline:
                record = instance.get_run_records(limit=1)[0]
                if record.dagster_run.is_success and record.start_time and record.end_time:
                    return record.end_time - record.start_time
                if record.dagster_run.is_finished:
                    break
                time.sleep(0.2)
            raise SystemExit(f"{storage}: the run did not succeed in time")
        finally:
            for server in servers:
                server.terminate()
            for server in servers:
                server.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--materializations", type=int, default=350)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--daemon", action="store_true")
    arguments = parser.parse_args()
    number = arguments.materializations
    ways = ["one by one", "together", "planned"] + (["daemon"] if arguments.daemon else [])
    seconds: dict[tuple[str, str], list[float]] = {(s, way): [] for way in ways for s in STORAGES}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as root:
        for _ in range(arguments.rounds):
            for storage, way in seconds:
                if way == "daemon":
                    taken = through_daemon(storage, number, Path(root))
                else:
                    taken = in_process(storage, number, way, Path(root))
                seconds[storage, way].append(taken)
    print(f"{number} events a run, median of {arguments.rounds} rounds")
    for way in ways:
        stock, fast = (statistics.median(seconds[s, way]) for s in STORAGES)
        each = 1000 / number
        print(
            f"{way:>11}: stock {stock:6.2f} s ({stock * each:5.2f} ms each), "
            f"fast {fast:6.2f} s ({fast * each:5.2f} ms each), ratio {stock / fast:5.1f}"
        )


if __name__ == "__main__":
    main()
