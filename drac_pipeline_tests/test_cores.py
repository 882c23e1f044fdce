"""Places at the cores, over processes."""

from __future__ import annotations

import fcntl
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from drac_pipeline import cores

HOLD = (
    "import sys; from pathlib import Path; from drac_pipeline import cores\n"
    "with cores.a_place(Path(sys.argv[1]), 1):\n"
    "    print('in', flush=True); sys.stdin.readline()\n"
    "    cores.let_go(); print('out', flush=True); sys.stdin.readline()"
)


def hold(where: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", HOLD, str(where)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def test_who_has_no_place_waits_until_another_lets_go(tmp_path: Path):
    entered = threading.Event()
    with hold(tmp_path) as other:
        assert other.stdin and other.stdout
        assert other.stdout.readline() == "in\n"

        def enter() -> None:
            with cores.a_place(tmp_path, 1):
                entered.set()

        thread = threading.Thread(target=enter)
        thread.start()
        assert not entered.wait(0.2)
        other.stdin.write("\n")
        other.stdin.flush()
        assert other.stdout.readline() == "out\n"
        assert entered.wait(10)
        thread.join()
        other.stdin.write("\n")


def test_a_killed_process_leaves_its_place(tmp_path: Path):
    with hold(tmp_path) as other:
        assert other.stdout and other.stdout.readline() == "in\n"
        other.kill()
    with cores.a_place(tmp_path, 1):
        assert cores.count(tmp_path) == 0  # places are no processes at work


def test_who_is_at_work_counts_however_often_it_is_counted(tmp_path: Path):
    """A look takes each lock for a moment, in which no one may fail to take theirs."""
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            cores.count(tmp_path)

    lookers = [threading.Thread(target=look) for _ in range(3)]
    for thread in lookers:
        thread.start()
    try:
        for _ in range(300):
            with cores.at_work(tmp_path):
                (file,) = tmp_path.iterdir()
                with file.open("r+") as f, pytest.raises(BlockingIOError):
                    fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        stop.set()
        for thread in lookers:
            thread.join()
