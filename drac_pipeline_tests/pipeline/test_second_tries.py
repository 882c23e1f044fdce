"""What failed, or was made as well as could be, is tried again when it may go better: not before."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from drac_pipeline.mupdf import pymupdf
from drac_pipeline.normalize.browser import find_browser
from drac_pipeline.pipeline import find_work, process_document
from drac_pipeline.pipeline.look import due_documents, glance, look_at_sources
from drac_pipeline.store import Home, Manifest

PAGE = "page.html"
AES_256 = 5  # PDF_ENCRYPT_AES_256


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "web"
    folder.mkdir()
    return folder


def settings(home: Path, **normalize: object) -> Home:
    """The home with these settings of [normalize]; numbers and texts."""
    home.mkdir(exist_ok=True)
    lines = [f"{k} = {v!r}".replace("'", '"') for k, v in normalize.items()]
    (home / "drac.toml").write_text("\n".join(["[normalize]", *lines]))
    return Home(home)


def bring_up_to_date(home: Home, root: Path) -> dict[str, list[str]]:
    """Process what needs it; gives that."""
    work = find_work(home, root, home.config).work
    for w in work:
        process_document(home.store, w.key, home.config)
    return {w.key: w.stages for w in work}


def manifest(home: Home, key: str) -> Manifest:
    found = home.store.manifest(key)
    assert found is not None
    return found


@pytest.mark.parametrize("without", ["any program", "a browser"])
def test_a_page_is_printed_once_the_browser_is_there(tmp_path: Path, root: Path, without: str) -> None:
    (root / PAGE).write_text("<h1>Opening hours</h1><p>The gate opens at seven.</p>")
    browser = tmp_path / "browser"
    office = "no-such-office" if without == "any program" else "soffice"
    (root / "bad.pdf").write_bytes(b"%PDF-1.7 cut")  # which no program helps
    home = settings(tmp_path / "home", browser_command=str(browser), office_command=office)
    bring_up_to_date(home, root)
    before = manifest(home, PAGE).stages
    lack = before["normalized_pdf"].makeshift
    assert lack and (lack.kind, lack.attempts) == ("missing tool", 1)
    seen = glance(home).digest
    assert due_documents(home, look_at_sources(home)).documents == {}

    browser.symlink_to(find_browser())
    assert glance(home).digest != seen
    (work,) = (w for w in find_work(home, root, home.config).work if w.key == PAGE)
    assert work.stages[0] == "normalized_pdf" and "programs or limits have changed" in work.reason
    assert due_documents(home, look_at_sources(home)).documents == {PAGE: work.reason}
    bring_up_to_date(home, root)
    after = manifest(home, PAGE).stages
    assert after["normalized_pdf"].makeshift is None and after["normalized_pdf"].facts["route"] == "browser"
    assert after["page_images"].made_at >= after["normalized_pdf"].made_at
    assert due_documents(home, look_at_sources(home)).documents == {}


@pytest.mark.parametrize(
    ("kind", "minutes", "attempts", "is_due"),
    [
        ("timed out", 9, 1, False),
        ("timed out", 11, 1, True),
        ("timed out", 11, 2, False),  # twice as long each time
        ("timed out", 10_000, 6, False),
        ("too large", 10_000, 1, False),
        ("missing tool", 10_000, 1, False),
    ],
)
def test_what_may_pass_is_tried_again_after_a_while(
    tmp_path: Path, root: Path, kind: str, minutes: float, attempts: int, is_due: bool
) -> None:
    (root / PAGE).write_text("<h1>Opening hours</h1><p>The gate opens at seven.</p>")
    home = settings(tmp_path / "home", browser_command="none", office_command="none")
    bring_up_to_date(home, root)
    record = manifest(home, PAGE).stages["normalized_pdf"]
    assert record.makeshift
    lack = record.makeshift.model_copy(update={"kind": kind, "attempts": attempts})
    at = (datetime.now(UTC) - timedelta(minutes=minutes)).isoformat(timespec="seconds")
    aged = record.model_copy(update={"makeshift": lack, "made_at": at})
    home.store.update_manifest(
        PAGE,
        lambda m: (m or manifest(home, PAGE)).model_copy(
            update={"stages": {**manifest(home, PAGE).stages, "normalized_pdf": aged}}
        ),
    )
    assert bool(find_work(home, root, home.config).work) == is_due


def test_attempts_are_counted(tmp_path: Path, root: Path) -> None:
    (root / PAGE).write_text("<h1>Opening hours</h1><p>The gate opens at seven.</p>")
    home = settings(tmp_path / "home", browser_command="none", office_command="none")
    bring_up_to_date(home, root)
    process_document(home.store, PAGE, home.config, ["normalized_pdf"], force=True)
    lack = manifest(home, PAGE).stages["normalized_pdf"].makeshift
    assert lack and lack.attempts == 2


def test_a_failure_is_tried_again_under_other_limits_or_passwords(tmp_path: Path, root: Path) -> None:
    with pymupdf.open() as doc:
        doc.new_page().insert_text((72, 72), "The rent is 900 EUR.")
        doc.save(root / "lease.pdf", encryption=AES_256, user_pw="open", owner_pw="o")
        doc.save(root / "long.pdf")
    where = tmp_path / "home"
    home = settings(where, passwords=["wrong"], max_bytes=(root / "long.pdf").stat().st_size - 1)
    bring_up_to_date(home, root)
    failures = {k: manifest(home, k).failure for k in ("lease.pdf", "long.pdf")}
    assert {k: f and f.kind for k, f in failures.items()} == {
        "lease.pdf": "too large",
        "long.pdf": "too large",
    }
    home = settings(where, passwords=["wrong"])
    assert set(due_documents(home, look_at_sources(home)).documents) == {"lease.pdf", "long.pdf"}
    bring_up_to_date(home, root)
    failure = manifest(home, "lease.pdf").failure
    assert failure and failure.kind == "encrypted" and manifest(home, "long.pdf").failure is None
    assert due_documents(home, look_at_sources(home)).documents == {}
    seen = glance(home).digest

    home = settings(where, passwords=["right"])  # as many as before, and as wrong
    assert glance(home).digest != seen
    due = due_documents(home, look_at_sources(home)).documents
    assert due == {"lease.pdf": "tried again: programs, limits or passwords have changed since it failed"}
    home = settings(where, passwords=["open"])
    bring_up_to_date(home, root)
    assert manifest(home, "lease.pdf").failure is None
