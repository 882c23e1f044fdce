"""Which process works on a run, and what becomes of a run whose process is gone.

Each run carries its process in a tag: host, boot, process id and start. The tag also names the
run, since a re-execution copies its parent's tags.
"""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from pathlib import Path

from dagster import DagsterInstance, DagsterRun, DagsterRunStatus, RunsFilter

PROCESS_TAG = "drac/process"


@dataclass(frozen=True, slots=True)
class RunProcess:
    """The process of a run on this machine; `alive` is False once it has ended."""

    pid: int
    alive: bool


def process_tags(run_id: str) -> dict[str, str]:
    """The tags that say this process works on the run."""
    pid = os.getpid()
    return {PROCESS_TAG: "/".join((run_id, socket.gethostname(), _boot_id(), str(pid), _started(pid)))}


def process_of(run: DagsterRun) -> RunProcess | None:
    """The process of a run, or None where it is not known or on another machine."""
    parts = run.tags.get(PROCESS_TAG, "").split("/")
    if len(parts) != 5 or parts[0] != run.run_id or parts[1] != socket.gethostname():
        return None
    pid = int(parts[3])
    return RunProcess(pid, alive=parts[2] == _boot_id() and _started(pid) == parts[4])


def fail_runs_of_dead_processes(instance: DagsterInstance) -> list[str]:
    """Mark the runs as failed whose process was killed; gives their ids."""
    unfinished = [
        DagsterRunStatus.STARTING,
        DagsterRunStatus.STARTED,
        DagsterRunStatus.NOT_STARTED,
        DagsterRunStatus.CANCELING,
    ]
    dead = []
    for run in instance.get_runs(RunsFilter(statuses=unfinished)):
        process = process_of(run)
        if process and not process.alive:
            instance.report_run_failed(run, DIED)
            dead.append(run.run_id)
    return dead


DIED = "The process of this run is gone (killed, or the machine went down); the next `drac run` or `ingest`"
DIED += " takes up what it left."


def _boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return "unknown"


def _started(pid: int) -> str:
    """When the process began, in the kernel's ticks: tells it from a later one of the same number.

    A process that has ended but was not collected by its parent counts as gone.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return "gone"
    return "gone" if fields[0] in "ZX" else fields[19]
