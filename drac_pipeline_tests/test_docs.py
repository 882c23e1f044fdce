"""Every command in the docs is run, and what is made from the code is the code's."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from drac_pipeline.artifact_reference import artifact_reference
from drac_pipeline.defs.catalogue import catalogue
from drac_pipeline.defs.definitions import defs
from drac_pipeline_tests.conftest import MANUAL, write_pdf

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```sh( server)?\n(.*?)^```", re.M | re.S)
CODE = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
UP = ("Serving dagster-webserver", "documents are shown at", "Instance is configured", "answers at")


def commands(server: bool) -> list[str]:
    """The lines of all `sh` blocks, each once, in the order of reading; comments cut."""
    found = []
    for page in PAGES:
        for m in BLOCK.finditer(page.read_text(encoding="utf-8")):
            if bool(m[1]) == server:
                found += [re.sub(r"\s{2,}#.*$", "", line).strip() for line in m[2].splitlines()]
    return [c for c in dict.fromkeys(found) if c and not c.startswith("#")]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's folder: contracts, questions, and nothing else."""
    root = tmp_path_factory.mktemp("user")
    write_pdf(root / "contracts" / "supply agreement.pdf", MANUAL)
    write_pdf(root / "contracts" / "2024" / "lease.pdf", "<h1>Lease</h1><p>The rent is 900 EUR a month.</p>")
    (root / "questions.csv").write_text(
        "question,supporting_facts\nWhat is the rent?,The rent is 900 EUR a month.\n", encoding="utf-8"
    )
    return root


def environment(place: Path) -> dict[str, str]:
    own = {k: v for k, v in os.environ.items() if not k.startswith(("DRAC_", "DAGSTER_", "AWS_"))}
    path = f"{Path(sys.executable).parent}{os.pathsep}{own.get('PATH', '')}"
    python = os.pathsep.join([str(ROOT), own.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    return {**own, "HOME": str(place), "PATH": path, "PYTHONPATH": python}


def test_every_command_in_the_docs_works(place: Path) -> None:
    found = commands(server=False)
    assert len(found) >= 8
    for command in found:
        if command.startswith("make "):
            done = subprocess.run(
                ["make", "-n", command.split()[1]], cwd=ROOT, capture_output=True, text=True
            )
        else:
            done = subprocess.run(
                ["bash", "-c", command], cwd=place, env=environment(place), capture_output=True, text=True
            )
        assert done.returncode == 0, f"{command}\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}"


def test_the_code_in_the_docs_runs(place: Path) -> None:
    write_pdf(place / "report.pdf", MANUAL)
    found = [m[1] for page in PAGES for m in CODE.finditer(page.read_text(encoding="utf-8"))]
    assert found
    for code in found:
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=place, env=environment(place), capture_output=True, text=True
        )
        assert done.returncode == 0, f"{code}\n{done.stderr[-1500:]}"
        assert done.stdout.strip()


def test_every_service_in_the_docs_comes_up(place: Path) -> None:
    first = "drac run ./contracts --home ~/drac/contracts"
    subprocess.run(["bash", "-c", first], cwd=place, env=environment(place), check=True, capture_output=True)
    for command in commands(server=True):
        assert came_up(re.sub(r"(-p|--port) \d+", rf"\1 {free_port()}", command), place), command


def came_up(command: str, place: Path) -> bool:
    log = place / "service.log"
    with log.open("w") as out:
        process = subprocess.Popen(
            ["bash", "-c", f"exec env {command}"],
            cwd=place,
            env=environment(place),
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            end = time.monotonic() + 180
            while time.monotonic() < end and process.poll() is None:
                if any(word in log.read_text(errors="replace") for word in UP):
                    return True
                time.sleep(0.3)
            return False
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.parametrize(
    ("name", "module", "made"),
    [
        ("artifacts.md", "drac_pipeline.artifact_reference", lambda: artifact_reference()),
        ("catalogue.md", "drac_pipeline.defs.catalogue", lambda: catalogue(defs)),
    ],
)
def test_what_is_made_from_the_code_is_the_codes(name: str, module: str, made) -> None:
    written = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert written == made(), f"run: python -m {module} docs/{name}"
