"""Foreign programs: limits on time and memory, and nothing left running."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from drac_pipeline.errors import DocumentTooLarge, StageTimeout
from drac_pipeline.normalize.process import clean_environment, run_tool


def run(tmp_path: Path, *command: str, timeout: float = 20, memory: int = 10**9):
    env = clean_environment(tmp_path, tmp_path)
    return run_tool(
        command, cwd=tmp_path, log=tmp_path / "log", env=env, timeout=timeout, memory_bytes=memory
    )


def test_exit_code_and_output(tmp_path: Path) -> None:
    done = run(tmp_path, "sh", "-c", "echo out; echo err >&2; pwd; exit 3")
    assert done.code == 3
    assert done.output.split() == ["out", "err", str(tmp_path)]


def test_time_limit(tmp_path: Path) -> None:
    with pytest.raises(StageTimeout, match="timeout_seconds"):
        run(tmp_path, "sleep", "60", timeout=0.3)


def test_memory_limit_counts_children(tmp_path: Path) -> None:
    hog = "import time; x = bytearray(200_000_000); x[::4096] = b'1' * len(x[::4096]); time.sleep(60)"
    with pytest.raises(DocumentTooLarge, match="100 MB of memory"):
        run(tmp_path, "sh", "-c", f'{sys.executable} -c "{hog}" & wait', memory=100_000_000)


def test_no_input_to_wait_for(tmp_path: Path) -> None:
    assert run(tmp_path, "cat").code == 0
