"""Watch over workers from outside: what takes too long or too much memory is killed.

A worker cannot watch itself: a native library that hangs holds the interpreter's lock. So
each notes in a file which task it has begun, and the process that gave the task looks. It
notes too which processes help it, and how far it is with its pages.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from drac_pipeline.config import LimitsConfig
from drac_pipeline.counted import counted
from drac_pipeline.pages import resident_bytes

_NOTE_SECONDS = 0.3  # between two notes of how far it is


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


class Notes:
    """What the worker of one task says to the watch."""

    def __init__(self, folder: Path, task: int) -> None:
        self.folder, self.task = folder, task
        self.stage = ""
        self._told = 0.0

    def hired(self, pid: int) -> None:
        """A process helps from now on."""
        (self.folder / f"{self.task}.helper.{pid}").write_text(_started(pid))

    def left(self, pid: int) -> None:
        """It does no longer."""
        (self.folder / f"{self.task}.helper.{pid}").unlink(missing_ok=True)

    def on_stage(self, _key: str, stage: str) -> None:
        """Another stage begins."""
        self.stage = stage
        (self.folder / f"{self.task}.pages").unlink(missing_ok=True)

    def progress(self, done: int, total: int) -> None:
        """So many of its pages are done in this stage."""
        now = time.monotonic()
        if now - self._told < _NOTE_SECONDS and done < total:
            return
        self._told = now
        temporary = self.folder / f".{self.task}.pages"
        temporary.write_text(json.dumps([self.stage, done, total]))
        temporary.replace(self.folder / f"{self.task}.pages")


class Watch:
    """Kills workers beyond the limits; `folder` is where they note what they begin."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def look(self, tasks: Mapping[int, LimitsConfig]) -> dict[int, Killed]:
        """Kill the workers of those tasks that are beyond their limits; gives the tasks and why."""
        killed: dict[int, Killed] = {}
        for task, limits in tasks.items():
            note = self.folder / str(task)
            try:
                pid, began = int(note.read_text()), note.stat().st_mtime
            except (OSError, ValueError):  # not begun
                continue
            why = self._beyond(task, pid, time.time() - began, limits)
            if why:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                self.kill_helpers(task)
                killed[task] = why
        return killed

    def forget(self, task: int) -> None:
        """The task has ended: with the notes of thousands of tasks a look would take longer and longer."""
        for name in (str(task), f"{task}.pages"):
            (self.folder / name).unlink(missing_ok=True)

    def pages(self, task: int) -> tuple[str, int, int] | None:
        """The stage a task is in, its pages done and all its pages, if it says so."""
        try:
            stage, done, total = json.loads((self.folder / f"{task}.pages").read_text())
        except (OSError, ValueError):
            return None
        return stage, done, total

    def kill_helpers(self, task: int | None = None) -> None:
        """End those who help with a task (default: with any): a native library that hangs does not see
        that its worker is gone."""
        for pid in self._helpers("*" if task is None else str(task)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _helpers(self, task: str) -> list[int]:
        found = []
        for note in self.folder.glob(f"{task}.helper.*"):
            pid = int(note.suffix[1:])
            with contextlib.suppress(OSError):
                if note.read_text() == _started(pid) != "":  # and not another one of that number since
                    found.append(pid)
        return found

    def _beyond(self, task: int, pid: int, seconds: float, limits: LimitsConfig) -> Killed | None:
        if seconds > limits.document_seconds:
            return Killed(
                "timed out",
                f"not done after {counted(limits.document_seconds, 'second')}",
                "Raise limits.document_seconds, or leave the document out.",
            )
        taken = sum(resident_bytes(p) for p in (pid, *self._helpers(str(task))))
        if taken > limits.worker_memory_bytes:
            return Killed(
                "too large",
                f"it takes more than {limits.worker_memory_bytes / 1e9:g} GB of memory",
                "Raise limits.worker_memory_bytes, or split the document.",
            )
        return None


def _started(pid: int) -> str:
    """When a process was started, in the system's ticks; empty if it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
