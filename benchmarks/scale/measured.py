"""Run a command and say what it took, with all the processes it started; print tables."""

import ctypes
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

BIN = Path(sys.executable).parent
_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True)
class Taken:
    """Seconds by the clock, CPU seconds of all processes, peak memory of the first one in MB, exit
    code, and what it printed."""

    wall: float
    cpu: float
    peak_mb: float
    code: int
    output: str


def become_reaper() -> None:
    """Have orphans of our children become ours, so that their CPU time is counted."""
    ctypes.CDLL(None, use_errno=True).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def command(*words: str | Path, env: Mapping[str, str] | None = None) -> Taken:
    """Run a program of this environment (`drac`, `python`) to its end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    full = [str(BIN / words[0]), *map(str, words[1:])]
    process = subprocess.Popen(
        full,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, **(env or {})},
        start_new_session=True,
    )
    peak = _Peak(process.pid)
    output, _ = process.communicate()
    wall = time.monotonic() - began
    _reap_orphans()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Taken(wall, cpu, peak.mb, process.returncode, output)


class _Peak(threading.Thread):
    """Looks at the peak of a process's memory until it ends; what `wait4` says counts this program in."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.status, self.mb = Path(f"/proc/{pid}/status"), 0.0
        self.start()

    def run(self) -> None:
        while True:
            try:
                text = self.status.read_text()
                self.mb = int(text.split("VmHWM:")[1].split()[0]) / 1024
            except (OSError, IndexError):  # it has ended
                return
            time.sleep(0.1)


def _reap_orphans(patience: float = 10.0) -> None:
    """Helpers that outlive their command for a moment; a daemon that stays is left."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            time.sleep(0.05)


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A table in plain text; numbers to the right."""
    texts = [[_text(c) for c in row] for row in rows]
    widths = [max(len(c), *(len(r[i]) for r in texts)) if texts else len(c) for i, c in enumerate(columns)]
    print(f"\n{title} (load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores)")
    print(
        "  ".join(
            c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(columns, widths, strict=True))
        )
    )
    for row in texts:
        print(
            "  ".join(
                c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))
            )
        )
    sys.stdout.flush()


def _text(cell: object) -> str:
    if isinstance(cell, float):
        return f"{cell:,.3f}" if abs(cell) < 1 else f"{cell:,.2f}" if abs(cell) < 100 else f"{cell:,.0f}"
    return f"{cell:,}" if isinstance(cell, int) else str(cell)
