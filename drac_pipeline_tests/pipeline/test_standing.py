"""Where each document of a home stands: also those it does not know yet, and those it cannot see."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pymupdf
import pytest

from drac_pipeline.config import DracConfig
from drac_pipeline.pipeline import find_work, process_document
from drac_pipeline.pipeline.look import Looked
from drac_pipeline.pipeline.standing import overview
from drac_pipeline.store import Home


@pytest.fixture
def home(tmp_path: Path, corpus: Path) -> Home:
    opened = Home(tmp_path / "home")
    refresh(opened, corpus)
    return opened


def refresh(home: Home, corpus: Path) -> None:
    for work in find_work(home, corpus, home.config).work:
        process_document(home.store, work.key, home.config)


def states(home: Home) -> dict[str, str]:
    return {d.key: d.state for d in overview(home).documents}


def test_new_changed_gone_and_excluded_documents_show_before_the_next_run(
    home: Home, corpus: Path, make_pdf
) -> None:
    assert set(states(home).values()) == {"up to date"}
    make_pdf(corpus / "fresh.pdf", "<p>Not run yet.</p>")
    make_pdf(corpus / "manual.pdf", "<p>Changed.</p>")
    (corpus / "two pages.pdf").unlink()
    (home.path / "drac.toml").write_text('[source]\nexclude = ["notes/*"]\n')
    again = Home(home.path)
    assert states(again) == {
        "fresh.pdf": "new",
        "manual.pdf": "changed",
        "two pages.pdf": "gone",
        "notes/site visit.pdf": "gone",
    }
    assert states(again) == states(again), "looking changes nothing"


def test_a_failed_document_says_when_it_is_tried_again_by_itself(home: Home, corpus: Path) -> None:
    (corpus / "bad.pdf").write_bytes(b"%PDF-1.7 cut")
    refresh(home, corpus)
    (home.path / "drac.toml").write_text('[refresh]\ntrigger = "sensor"\n')
    (bad,) = (d for d in overview(Home(home.path)).documents if d.key == "bad.pdf")
    assert bad.state == "failed"
    assert bad.why.endswith("Not tried again by itself until the file or the stage's settings change.")


@pytest.mark.parametrize("settings", ['passwords = ["geheim"]', "max_bytes = 400000000"])
@pytest.mark.parametrize("trigger", ["off", "sensor"])
def test_a_failure_whose_cause_was_mended_is_tried_by_the_next_run(
    home: Home, corpus: Path, settings: str, trigger: str
) -> None:
    with pymupdf.open(corpus / "manual.pdf") as doc:
        doc.save(corpus / "secret.pdf", encryption=5, user_pw="geheim")
    refresh(home, corpus)
    (failed,) = (d for d in overview(home).documents if d.key == "secret.pdf")
    assert failed.state == "failed" and "next run" not in failed.why
    (home.path / "drac.toml").write_text(f'[refresh]\ntrigger = "{trigger}"\n[normalize]\n{settings}\n')
    (failed,) = (d for d in overview(Home(home.path)).documents if d.key == "secret.pdf")
    assert failed.state == "failed"
    told = "The next run tries it again: programs, limits or passwords have changed since it failed."
    assert failed.why.endswith(told)


def test_documents_that_are_done_and_not_whole(home: Home, corpus: Path) -> None:
    with pymupdf.open() as doc:
        doc.new_page()
        doc.save(corpus / "blank.pdf")
    with pymupdf.open() as doc:
        for n in (1, 2, 3):
            doc.new_page().insert_text((72, 72), f"Words of page {n}")
        doc.update_stream(doc[1].get_contents()[0], b"BT /helv 11 Tf (cut off", compress=False)
        broken = doc.tobytes()
    at = broken.index(b"BT /helv 11 Tf (cut off")
    # a stream that says it is compressed and is not
    head = broken.rindex(b"<<", 0, at)
    (corpus / "partial.pdf").write_bytes(broken[:head] + b"<</Filter/FlateDecode" + broken[head + 2 :])
    refresh(home, corpus)
    found = {d.key: d for d in overview(home).documents}
    assert found["blank.pdf"].state == "blank" and "nothing to index" in found["blank.pdf"].why
    assert found["partial.pdf"].state == "partial", found["partial.pdf"]
    assert found["partial.pdf"].why.startswith("page 2 of 3")


def test_a_source_that_is_not_there_makes_nothing_gone(home: Home, corpus: Path) -> None:
    shutil.move(corpus, corpus.with_name("elsewhere"))
    found = overview(home)
    assert {d.state for d in found.documents} == {"unknown"}
    assert found.blocked


def without_rights(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """`drac …` by a user who may not read everything, as root may."""
    drop = "-dac_override,-dac_read_search"
    tool: Sequence[str] = ("setpriv", "--inh-caps", drop, "--bounding-set", drop) if not os.geteuid() else ()
    command = [
        *tool,
        sys.executable,
        "-c",
        "from drac_pipeline.cli import main; main()",
        *map(str, arguments),
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.skipif(not os.geteuid() and not shutil.which("setpriv"), reason="root may read everything")
def test_an_unreadable_folder_keeps_its_documents_and_says_so(home: Home, corpus: Path) -> None:
    (corpus / "notes").chmod(0)
    (corpus / "manual.pdf").chmod(0)
    try:
        status = without_rights("status", "--home", home.path)
        run = without_rights("run", corpus, "--home", home.path)
    finally:
        (corpus / "notes").chmod(0o755)
        (corpus / "manual.pdf").chmod(0o644)
    assert status.returncode == 1 and "Traceback" not in status.stderr
    assert "1 unknown" in status.stdout and "gone" not in status.stdout
    assert run.returncode == 1, run.stdout
    assert "notes" in run.stderr and "cannot be read" in run.stderr
    kept = home.store.manifest("notes/site visit.pdf")
    assert kept is not None and kept.retired is None
    assert process_document(home.store, "notes/site visit.pdf", DracConfig()).failure is None


@pytest.mark.parametrize("what", ["retire", "unreadable"])
def test_what_goes_through_all_documents_is_asked_once(
    home: Home, corpus: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    asked = []
    real = getattr(Looked, what)
    monkeypatch.setattr(Looked, what, property(lambda looked: asked.append(1) or real.fget(looked)))
    assert len(overview(home).documents) > 1
    few = len(asked)
    for n in range(20):
        (corpus / f"more {n}.txt").write_text(f"Line {n}.")
    find_work(home, corpus, home.config)
    asked.clear()
    assert len(overview(home).documents) > 20
    assert len(asked) == few
