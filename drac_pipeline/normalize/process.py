"""Run a foreign program under a time and a memory limit, without a network where the system allows.

The program gets a session of its own, so that everything it starts dies with it, and
a supervisor shell that kills the session when our process goes away (a pipe closes),
so that a killed worker leaves no orphan. Memory is watched as the resident size of
the whole session: an address-space limit would stop browsers, which reserve far more
than they use.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from drac_pipeline.counted import counted
from drac_pipeline.errors import DocumentTooLarge, StageTimeout

_SUPERVISOR = """
ulimit -c 0
ulimit -f 8388608
exec 3<&0
scratch=$1
shift
{
  read -r _
  trap '' TERM
  kill -TERM 0
  sleep 0.5
  [ -n "$scratch" ] && rm -rf -- "$scratch"
  kill -KILL 0
} <&3 &
watch=$!
"$@" </dev/null 3<&- &
wait $!
code=$?
kill -KILL $watch 2>/dev/null
exit $code
"""  # ulimit -f counts 512-byte blocks: no file over 4 GiB
_POLL = 0.1


@dataclass(frozen=True, slots=True)
class ToolResult:
    """Exit code and the last 4,000 characters of what the program wrote to either stream."""

    code: int
    output: str


class Tool:
    """A running program. Use as a context manager: it is dead afterwards, and so are its children.

    `scratch` is a folder that the supervisor deletes if our process dies before the program.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        log: Path,
        env: Mapping[str, str],
        isolate: bool = True,
        scratch: Path | None = None,
    ) -> None:
        self.log = log
        full = [*(no_network_prefix() if isolate else ()), *command]
        with log.open("wb") as out:
            self.process = subprocess.Popen(
                ["/bin/sh", "-c", _SUPERVISOR, "sh", str(scratch or ""), *full],
                cwd=cwd,
                env=dict(env),
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def __enter__(self) -> Tool:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def running(self) -> bool:
        """True while the program has not ended."""
        return self.process.poll() is None

    def kill(self) -> None:
        """End the program and everything in its session; returns when its main process is gone."""
        for pid in session_pids(self.process.pid):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        if self.process.stdin:
            self.process.stdin.close()
        self.process.wait()

    def wait(self, timeout: float, memory_bytes: int, *others: Tool) -> ToolResult:
        """Wait for the end. Raises as `check` does."""
        began = time.monotonic()
        while True:
            try:
                code = self.process.wait(_POLL)
                return ToolResult(code, self.output())
            except subprocess.TimeoutExpired:
                self.check(began, timeout, memory_bytes, *others)

    def check(self, began: float, timeout: float, memory_bytes: int, *others: Tool) -> None:
        """Raises StageTimeout `timeout` seconds after `began` (monotonic), DocumentTooLarge when the
        session (with those of `others`) takes more than `memory_bytes`."""
        if time.monotonic() > began + timeout:
            raise StageTimeout(
                f"not finished after {counted(timeout, 'second')}",
                remedy="Split the document, or raise normalize.timeout_seconds.",
            )
        used = sum(resident_bytes(t.process.pid) for t in (self, *others))
        if used > memory_bytes:
            raise DocumentTooLarge(
                f"took more than {memory_bytes // 1_000_000:,} MB of memory",
                remedy="Split the document, or raise normalize.max_memory_bytes.",
            )

    def output(self) -> str:
        """The end of the program's log."""
        with contextlib.suppress(OSError), self.log.open("rb") as f:
            f.seek(max(0, self.log.stat().st_size - 4000))
            return f.read().decode("utf-8", "replace")
        return ""


def run_tool(
    command: Sequence[str],
    *,
    cwd: Path,
    log: Path,
    env: Mapping[str, str],
    timeout: float,
    memory_bytes: int,
    scratch: Path | None = None,
) -> ToolResult:
    """Run `command` to its end under the limits of `Tool.wait`; nothing of it survives the call."""
    with Tool(command, cwd=cwd, log=log, env=env, scratch=scratch) as tool:
        return tool.wait(timeout, memory_bytes)


def clean_environment(home: Path, temporary: Path) -> dict[str, str]:
    """A minimal environment: no proxies, no credentials, private home and temporary folder, and the same
    language and time zone on every machine."""
    path = os.environ.get("PATH", "/usr/local/bin:/usr/bin:/bin")
    places = {"PATH": path, "HOME": str(home), "TMPDIR": str(temporary)}
    return {**places, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC"}


@functools.lru_cache(maxsize=1)
def no_network_prefix() -> tuple[str, ...]:
    """A command prefix that gives a program an empty network namespace, () where that is not allowed."""
    unshare = shutil.which("unshare")
    if not unshare:
        return ()
    for options in (("-n",), ("--map-current-user", "-n")):
        prefix = (unshare, *options, "--")
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            if (
                subprocess.run([*prefix, "true"], capture_output=True, timeout=10, check=False).returncode
                == 0
            ):
                return prefix
    return ()


def session_pids(leader: int) -> list[int]:
    """Processes of the session that `leader` started (Linux; elsewhere only the leader)."""
    found = [pid for pid, session, _ in _processes() if session == leader]
    return found or [leader]


def resident_bytes(leader: int) -> int:
    """Resident memory of the session, shared pages counted in each process (Linux; elsewhere 0)."""
    return sum(size for _, session, size in _processes() if session == leader)


def _processes() -> list[tuple[int, int, int]]:
    out = []
    page = os.sysconf("SC_PAGE_SIZE")
    with contextlib.suppress(OSError):
        for item in Path("/proc").iterdir():
            if item.name.isdigit():
                with contextlib.suppress(OSError, ValueError, IndexError):
                    # after the name, which may hold spaces: state ppid pgrp session … rss is field 24 of all
                    fields = (item / "stat").read_text().rpartition(")")[2].split()
                    out.append((int(item.name), int(fields[3]), int(fields[21]) * page))
    return out
