"""Watch over workers from outside: what takes too long or too much memory is killed.

A worker cannot watch itself: a native library that hangs holds the interpreter's lock. So
each notes in a file which task it has begun, and the process that gave the task looks.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from drac_pipeline.config import LimitsConfig

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Killed:
    """Why a worker was killed, in the words of a failure."""

    kind: str
    cause: str
    remedy: str


def note_begin(folder: Path, task: int) -> None:
    """Called in the worker: it begins the task of this number."""
    temporary = folder / f".{task}"
    temporary.write_text(str(os.getpid()))
    temporary.replace(folder / str(task))


class Watch:
    """Kills workers beyond the limits; `folder` is where they note what they begin."""

    def __init__(self, folder: Path, limits: LimitsConfig) -> None:
        self.folder = folder
        self.limits = limits

    def look(self, tasks: list[int]) -> dict[int, Killed]:
        """Kill the workers of those tasks that are beyond a limit; gives the tasks and why."""
        killed: dict[int, Killed] = {}
        for task in tasks:
            note = self.folder / str(task)
            try:
                pid, began = int(note.read_text()), note.stat().st_mtime
            except (OSError, ValueError):  # not begun
                continue
            why = self._beyond(pid, time.time() - began)
            if why:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                killed[task] = why
        return killed

    def _beyond(self, pid: int, seconds: float) -> Killed | None:
        limits = self.limits
        if seconds > limits.document_seconds:
            return Killed(
                "timed out",
                f"not done after {limits.document_seconds:g} seconds",
                "Raise limits.document_seconds, or leave the document out.",
            )
        if _resident_bytes(pid) > limits.worker_memory_bytes:
            return Killed(
                "too large",
                f"it takes more than {limits.worker_memory_bytes / 1e9:g} GB of memory",
                "Raise limits.worker_memory_bytes, or split the document.",
            )
        return None


def _resident_bytes(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_BYTES
    except (OSError, IndexError):
        return 0
