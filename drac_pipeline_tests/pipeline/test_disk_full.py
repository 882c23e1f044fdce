"""A disk without room: one clear failure a document, nothing half-written, and the next run goes on."""

from __future__ import annotations

import errno
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from drac_pipeline.config import DracConfig
from drac_pipeline.errors import is_disk_full
from drac_pipeline.pipeline import find_work, process_document
from drac_pipeline.store import Home


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of a megabyte."""
    where = tmp_path / "small"
    where.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(where)]
    try:
        done = subprocess.run(mount, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("no mount here")
    if done.returncode:
        pytest.skip("this system does not let us mount")
    yield where
    subprocess.run(["umount", "-l", str(where)], check=True)


def test_a_full_disk_is_told_and_costs_no_whole_output(small: Path, corpus: Path) -> None:
    home = Home(small / "home")
    keys = [w.key for w in find_work(home, corpus, home.config).work]
    ballast = small / "ballast"
    with ballast.open("wb", buffering=0) as f, pytest.raises(OSError, match="No space"):
        while True:
            f.write(bytes(4096))
    first = process_document(home.store, keys[0], DracConfig())
    assert first.failure is not None
    assert (first.failure.kind, "Free some space" in first.failure.remedy) == ("disk full", True)
    assert not list((small / "home").rglob("*.pdf"))
    ballast.unlink()
    (home.path / "drac.toml").write_text("[render]\ndpi = 36\n")
    again = process_document(home.store, keys[0], Home(home.path).config)
    assert again.failure is None
    manifest = home.store.manifest(keys[0])
    assert manifest is not None and manifest.failure is None


def test_what_a_full_disk_looks_like() -> None:
    try:
        try:
            raise OSError(errno.ENOSPC, "No space left on device")
        except OSError as e:
            raise RuntimeError("while writing") from e
    except RuntimeError as e:
        assert is_disk_full(e)
    assert is_disk_full(Exception("(sqlite3.OperationalError) database or disk is full"))
    assert not is_disk_full(OSError(errno.EACCES, "no"))


def test_a_run_on_a_full_disk_ends_with_one_error_and_goes_on_later(small: Path, corpus: Path) -> None:
    command = [sys.executable, "-c", "from drac_pipeline.cli import main; main()"]
    command += ["run", str(corpus), "--home", str(small / "home")]
    ballast = small / "ballast"
    ballast.write_bytes(bytes(600_000))
    full = subprocess.run(command, capture_output=True, text=True, check=False)
    assert full.returncode in (1, 2) and "Traceback" not in full.stderr
    told = full.stdout + full.stderr
    assert "disk full" in told or "the disk of the home is full" in told
    ballast.unlink()
    subprocess.run(["mount", "-o", "remount,size=100m", str(small)], check=True)
    again = subprocess.run(command, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stdout + again.stderr
