"""A source that changes: new, changed, touched, renamed, removed and returning documents told apart."""

from __future__ import annotations

import os
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from drac_pipeline.config import DracConfig, RefreshConfig
from drac_pipeline.export import export_chunks
from drac_pipeline.pipeline import find_work, process_document
from drac_pipeline.pipeline.look import due_documents, glance, look_at_sources
from drac_pipeline.pipeline.removal import delete_expired, removals, retire
from drac_pipeline.pipeline.retry import retry
from drac_pipeline.pipeline.worklist import WorkList
from drac_pipeline.sources.folder import FolderSource
from drac_pipeline.sources.settling import wait_until_settled
from drac_pipeline.store import FailureRecord, Home, LocalStore

OLD = time.time() - 3600


@pytest.fixture
def home(tmp_path: Path, corpus: Path) -> Home:
    """All three documents done; their files are an hour old."""
    for file in corpus.rglob("*.pdf"):
        os.utime(file, (OLD, OLD))
    opened = Home(tmp_path / "home")
    run(opened, corpus)
    return opened


def run(home: Home, corpus: Path) -> WorkList:
    """A refresh without Dagster; gives what the look found."""
    found = find_work(home, corpus, home.config)
    retire(home, removals(found, home.config.refresh).retire)
    for work in found.work:
        assert process_document(home.store, work.key, home.config).failure is None
    return found


def stages(found: WorkList) -> dict[str, tuple[str, list[str]]]:
    return {w.key: (w.change, w.stages) for w in found.work}


def test_a_touched_file_needs_nothing(home: Home, corpus: Path) -> None:
    os.utime(corpus / "manual.pdf", (OLD + 60, OLD + 60))
    found = run(home, corpus)
    assert found.work == [] and found.changes == {"touched": 1, "unchanged": 2}
    assert run(home, corpus).changes == {"unchanged": 3}


def test_a_renamed_document_keeps_its_conversion(home: Home, corpus: Path) -> None:
    before = home.store.manifest("manual.pdf")
    assert before is not None
    (corpus / "guides").mkdir()
    (corpus / "manual.pdf").rename(corpus / "guides" / "pump.pdf")
    dry = find_work(home, corpus, home.config, dry=True)
    expected = {"guides/pump.pdf": ("renamed", ["chunk_plan", "chunks"])}
    assert {k: (c, s[:2]) for k, (c, s) in stages(dry).items()} == expected
    assert home.store.manifest("guides/pump.pdf") is None  # a dry look registers nothing
    found = run(home, corpus)
    assert found.renamed == {"guides/pump.pdf": "manual.pdf"}
    assert {k: (c, s[:2]) for k, (c, s) in stages(found).items()} == expected
    after = home.store.manifest("guides/pump.pdf")
    assert after is not None
    for name in ("normalized_pdf", "page_images", "markdown", "elements"):
        assert after.stages[name].made_at == before.stages[name].made_at
        assert after.stages[name].version == before.stages[name].version
    assert home.store.manifest("manual.pdf") is None
    assert not LocalStore(home.path / "store").document_dir("manual.pdf").exists()
    assert run(home, corpus).work == []


def test_a_file_under_another_ending_is_another_document(home: Home, corpus: Path) -> None:
    """How a file is read depends on its name too, so nothing is carried over."""
    (corpus / "manual.pdf").rename(corpus / "manual.txt")
    found = find_work(home, corpus, home.config)
    assert found.renamed == {} and found.gone == ["manual.pdf"]


def test_two_copies_of_a_document_that_is_gone_give_one_rename(home: Home, corpus: Path) -> None:
    data = (corpus / "manual.pdf").read_bytes()
    (corpus / "manual.pdf").unlink()
    (corpus / "a.pdf").write_bytes(data)
    (corpus / "b.pdf").write_bytes(data)
    found = run(home, corpus)
    assert found.renamed == {"a.pdf": "manual.pdf"} and found.changes["new"] == 1


def test_a_removed_document_is_retired_and_returns_for_nothing(
    home: Home, corpus: Path, tmp_path: Path
) -> None:
    data = (corpus / "manual.pdf").read_bytes()
    (corpus / "manual.pdf").unlink()
    run(home, corpus)
    manifest = home.store.manifest("manual.pdf")
    assert manifest is not None and manifest.retired is not None
    assert manifest.retired.reason == "removed from the source"
    assert "manual.pdf" not in {m.document_key for m in home.store.manifests()}
    chunks = tmp_path / "chunks.jsonl"
    export_chunks(home.store, chunks)
    assert "manual.pdf" not in chunks.read_text() and "two pages.pdf" in chunks.read_text()
    (corpus / "manual.pdf").write_bytes(data)
    found = run(home, corpus)
    assert found.changes["returned"] == 1 and found.work == []
    export_chunks(home.store, chunks)
    assert "manual.pdf" in chunks.read_text()


def test_artifacts_go_when_their_time_is_over(home: Home, corpus: Path) -> None:
    (corpus / "manual.pdf").unlink()
    (corpus / "two pages.pdf").unlink()
    retire(home, {"manual.pdf": "removed from the source"})
    assert delete_expired(home) == [] and LocalStore(home.path / "store").document_dir("manual.pdf").is_dir()

    def past(manifest):
        assert manifest.retired is not None
        gone = (datetime.now(UTC) - timedelta(seconds=1)).isoformat(timespec="seconds")
        return manifest.model_copy(
            update={"retired": manifest.retired.model_copy(update={"delete_at": gone})}
        )

    home.store.update_manifest("manual.pdf", past)
    assert delete_expired(home) == ["manual.pdf"]
    assert not LocalStore(home.path / "store").document_dir("manual.pdf").exists()


def test_no_days_means_deleted_at_once(tmp_path: Path, corpus: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "drac.toml").write_text("[refresh]\nkeep_removed_days = 0\n")
    opened = Home(tmp_path / "home")
    run(opened, corpus)
    (corpus / "manual.pdf").unlink()
    run(opened, corpus)
    assert opened.store.manifest("manual.pdf") is None
    assert not LocalStore(opened.path / "store").document_dir("manual.pdf").exists()


def test_a_source_that_is_suddenly_empty_or_unreachable_loses_nothing(
    home: Home, corpus: Path, tmp_path: Path
) -> None:
    corpus.rename(tmp_path / "unmounted")
    looked = look_at_sources(home)
    assert looked.retire == {} and "no such file or folder" in looked.unreachable[str(corpus)]
    corpus.mkdir()
    looked = look_at_sources(home)
    assert looked.retire == {}
    assert "has no document any more, and had 3" in looked.refused[0]
    assert "--confirm-removals" in looked.refused[0]
    assert len(look_at_sources(home, confirmed=True).retire) == 3


def test_many_gone_at_once_are_no_removals() -> None:
    policy = RefreshConfig(max_removed_share=0.5)
    found = WorkList("/s", keys=[f"k{i}" for i in range(9)], gone=[f"g{i}" for i in range(11)])
    assert "11 of 20 documents of /s are gone at once" in removals(found, policy).refused
    assert len(removals(found, policy, confirmed=True).retire) == 11
    found.keys = [f"k{i}" for i in range(11)]
    assert len(removals(found, policy).retire) == 11
    found.keys, found.gone = ["k"], ["a", "b"]  # so few may all go
    assert set(removals(found, policy).retire) == {"a", "b"}
    assert removals(found, RefreshConfig(removed="keep")).retire == {}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_lies_in_a_folder_that_cannot_be_read_is_not_gone(home: Home, corpus: Path) -> None:
    (corpus / "notes").chmod(0)
    try:
        assert find_work(home, corpus, home.config).gone == []
    finally:
        (corpus / "notes").chmod(0o755)


def test_a_document_newly_excluded_is_retired_with_that_reason(home: Home, corpus: Path) -> None:
    (home.path / "drac.toml").write_text('[source]\nexclude = ["notes/"]\n')
    again = Home(home.path)
    found = find_work(again, corpus, again.config)
    assert removals(found, again.config.refresh).retire == {
        "notes/site visit.pdf": "excluded by the settings"
    }


def test_young_files_wait_and_known_ones_do_not(home: Home, corpus: Path) -> None:
    (corpus / "fresh.pdf").write_bytes((corpus / "manual.pdf").read_bytes() + b"\n")
    found = find_work(home, corpus, home.config, settle_seconds=60)
    assert found.settling == ["fresh.pdf"] and found.work == []
    os.utime(corpus / "fresh.pdf", (OLD, OLD))
    assert [w.key for w in find_work(home, corpus, home.config, settle_seconds=60).work] == ["fresh.pdf"]


def test_a_file_that_grows_is_waited_for(corpus: Path) -> None:
    target, data = corpus / "growing.pdf", (corpus / "manual.pdf").read_bytes()
    target.write_bytes(b"")
    stop = threading.Event()

    def write() -> None:
        with target.open("ab", buffering=0) as f:
            for i in range(12):
                f.write(data[i * len(data) // 12 : (i + 1) * len(data) // 12])
                time.sleep(0.05)
        stop.set()

    writer = threading.Thread(target=write)
    writer.start()
    assert wait_until_settled(FolderSource(corpus, DracConfig().source).list()) == []
    assert stop.is_set() and target.read_bytes() == data
    writer.join()


def test_downloads_that_are_not_whole_are_no_documents(corpus: Path) -> None:
    for name in ("a.pdf.part", "b.crdownload", "c.PDF.filepart", "d.docx.tmp", "e.partial", "f.download"):
        (corpus / name).write_bytes(b"x")
    assert len(FolderSource(corpus, DracConfig().source).list()) == 3


def failed(home: Home, kind: str, minutes_ago: float, attempts: int = 1) -> FailureRecord:
    """Have manual.pdf failed at its markdown stage."""
    at = (datetime.now(UTC) - timedelta(minutes=minutes_ago)).isoformat(timespec="seconds")
    manifest = home.store.manifest("manual.pdf")
    assert manifest is not None
    record = manifest.stages["markdown"]
    failure = FailureRecord(
        stage="markdown",
        kind=kind,
        cause="it did",
        at=at,
        attempts=attempts,
        inputs=record.inputs,
        code_version=record.code_version,
    )
    home.store.update_manifest(
        "manual.pdf", lambda m: (m or manifest).model_copy(update={"failure": failure})
    )
    return failure


@pytest.mark.parametrize(
    ("kind", "minutes", "attempts", "is_due", "words"),
    [
        ("corrupt", 10_000, 1, False, "until the file or the stage's settings change"),
        ("timed out", 9, 1, False, "next try"),
        ("timed out", 11, 1, True, "attempt 2 of 6 is due"),
        ("timed out", 11, 2, False, "attempt 3 of 6"),  # twice as long each time
        ("timed out", 21, 2, True, "attempt 3 of 6 is due"),
        ("timed out", 10_000, 6, False, "given up after 6 attempts"),
    ],
)
def test_failures_are_tried_again_by_their_kind(
    home: Home, kind: str, minutes: float, attempts: int, is_due: bool, words: str
) -> None:
    failed(home, kind, minutes, attempts)
    manifest = home.store.manifest("manual.pdf")
    assert manifest is not None
    verdict = retry(manifest, home.config)
    assert verdict.due == is_due and words in verdict.reason
    due = due_documents(home, look_at_sources(home))
    assert ("manual.pdf" in due.documents) == is_due
    assert (due.next_at is not None) == ("next try" in words or words == "attempt 3 of 6")


def test_a_failure_is_tried_at_once_when_file_or_settings_change(home: Home) -> None:
    failed(home, "corrupt", 0)
    manifest = home.store.manifest("manual.pdf")
    assert manifest is not None
    other = home.config.model_copy(
        update={"convert": home.config.convert.model_copy(update={"ocr_dpi": 300})}
    )
    assert retry(manifest, other).reason == "tried again: settings or code have changed since it failed"
    assert manifest.failure is not None
    elsewhere = {"stage": "normalized_pdf", "code_version": "", "inputs": {"source": "another file"}}
    lost = manifest.model_copy(update={"failure": manifest.failure.model_copy(update=elsewhere)})
    assert retry(lost, home.config).reason == "tried again: the file has changed since it failed"


def test_a_glance_moves_with_the_listing_and_the_settings(home: Home, corpus: Path) -> None:
    first = glance(home).digest
    assert glance(home).digest == first
    os.utime(corpus / "manual.pdf", (OLD + 1, OLD + 1))
    second = glance(home).digest
    assert second != first
    (home.path / "drac.toml").write_text("[plan]\nmax_blocks = 7\n")
    assert glance(Home(home.path)).digest != second


def test_a_document_that_is_back_is_not_deleted_by_who_saw_it_gone(home: Home, corpus: Path) -> None:
    """Between reading that its time is over and deleting, another process may take it in again."""
    data = (corpus / "manual.pdf").read_bytes()
    (corpus / "manual.pdf").unlink()
    retire(home, {"manual.pdf": "removed from the source"})
    seen = home.store.manifest("manual.pdf")
    assert seen is not None and seen.retired is not None
    over = seen.model_copy(update={"retired": seen.retired.model_copy(update={"delete_at": "2000"})})
    (corpus / "manual.pdf").write_bytes(data)
    assert find_work(home, corpus, home.config).returned == {"manual.pdf"}
    delete_expired(home, [over])
    assert LocalStore(home.path / "store").document_dir("manual.pdf").is_dir()
    assert run(home, corpus).work == []


def test_a_rename_that_another_process_registered_first_keeps_what_that_made(
    home: Home, corpus: Path
) -> None:
    (corpus / "manual.pdf").rename(corpus / "pump.pdf")
    run(home, corpus)
    there = home.store.manifest("pump.pdf")
    assert there is not None and "chunks" in there.stages
    bare = there.model_copy(update={"stages": {}})
    assert home.store.adopt("two pages.pdf", bare, {"markdown"}) == there
    assert home.store.manifest("pump.pdf") == there


def test_a_document_moved_to_another_source_of_the_home_is_not_retired(
    home: Home, corpus: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    home.remember_source(other)
    (corpus / "manual.pdf").rename(other / "manual.pdf")
    looked = look_at_sources(home)
    assert looked.retire == {}
    # one who saw it gone before it was taken in again changes nothing either
    assert retire(home, {"manual.pdf": "removed from the source"}) == []
    manifest = home.store.manifest("manual.pdf")
    assert manifest is not None and manifest.retired is None


def test_a_renamed_folder_is_no_removal() -> None:
    policy = RefreshConfig(max_removed_share=0.3)
    found = WorkList("/s", keys=[f"new/{i}" for i in range(12)], gone=[f"old/{i}" for i in range(12)])
    found.renamed = {f"new/{i}": f"old/{i}" for i in range(12)}
    decided = removals(found, policy)
    assert not decided.refused and decided.retire["old/3"] == "renamed to new/3"
    found.gone += [f"lost/{i}" for i in range(11)]  # of which nobody knows where they went
    decided = removals(found, policy)
    assert "11 of 23" in decided.refused and set(decided.retire) == set(found.renamed.values())


def test_a_late_failure_is_tried_again_when_the_file_or_an_earlier_setting_changes(
    home: Home, corpus: Path
) -> None:
    failed(home, "conversion failed", 0)
    waits = due_documents(home, look_at_sources(home))
    assert waits.documents == {} and set(waits.waiting) == {"manual.pdf"}
    earlier = home.config.model_copy(
        update={"normalize": home.config.normalize.model_copy(update={"tracked_changes": "shown"})}
    )
    manifest = home.store.manifest("manual.pdf")
    assert manifest is not None and retry(manifest, earlier).due
    (corpus / "manual.pdf").write_bytes((corpus / "two pages.pdf").read_bytes() + b"\n% mended\n")
    due = due_documents(home, look_at_sources(home))
    assert due.documents == {"manual.pdf": "tried again: the file has changed since it failed"}
