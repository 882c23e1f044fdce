import fcntl
import multiprocessing
import os
import pickle
import shutil
import threading
import time
from pathlib import Path

import pytest

from drac_pipeline.errors import DracError
from drac_pipeline.model import SourceDocument
from drac_pipeline.sources.paths import path_of_text, path_text
from drac_pipeline.store import ArtifactMissing, LocalStore, Manifest, SourceRecord, StageRecord

SOURCE = SourceRecord(root="/r", path="/r/a.pdf", fingerprint="f" * 64, size=1)
LARGER = SourceRecord(root="/r", path="/r/a.pdf", fingerprint="e" * 64, size=2)


def record(version: str, **more: object) -> StageRecord:
    values = {
        "version": version,
        "data_version": "d",
        "code_version": "1-x",
        "inputs": {},
        "files": ["out.txt"],
        "made_at": "2026-01-01T00:00:00+00:00",
        "seconds": 0.1,
        **more,
    }
    return StageRecord.model_validate(values)


def registered(tmp_path: Path, key: str = "a.pdf") -> LocalStore:
    store = LocalStore(tmp_path / "store")
    store.update_manifest(key, lambda _: Manifest(document_key=key, source=SOURCE))
    return store


def publish(store: LocalStore, text: str, version: str, key: str = "a.pdf") -> None:
    with store.workspace(key) as out:
        (out / "out.txt").write_text(text)
        store.publish(key, "markdown", out, record(version), lambda m: m)


def test_published_output_is_read_back_and_the_one_before_is_gone(tmp_path):
    store = registered(tmp_path)
    publish(store, "old", "v1")
    publish(store, "new", "v2")
    path = store.path("a.pdf", "markdown", "out.txt")
    assert path.read_text() == "new"
    assert sorted(p.name for p in path.parent.parent.iterdir()) == ["v2"]


def test_a_writer_that_fails_leaves_the_old_output_and_no_trace(tmp_path):
    store = registered(tmp_path)
    publish(store, "old", "v1")
    with pytest.raises(RuntimeError), store.workspace("a.pdf") as out:
        (out / "out.txt").write_text("half")
        raise RuntimeError
    assert store.path("a.pdf", "markdown", "out.txt").read_text() == "old"
    names = {p.name for p in store.document_dir("a.pdf").iterdir()}
    assert names == {"manifest.json", ".lock", "markdown"}


def test_an_output_without_its_manifest_switch_is_invisible_and_replaced(tmp_path):
    """A writer killed between the rename and the switch."""
    store = registered(tmp_path)
    publish(store, "old", "v1")
    orphan = store.document_dir("a.pdf") / "markdown" / "v2"
    orphan.mkdir()
    (orphan / "out.txt").write_text("orphan")
    assert store.path("a.pdf", "markdown", "out.txt").read_text() == "old"
    publish(store, "again", "v2")
    assert store.path("a.pdf", "markdown", "out.txt").read_text() == "again"


def test_has_files_sees_a_deleted_file(tmp_path):
    store = registered(tmp_path)
    publish(store, "x", "v1")
    assert store.has_files("a.pdf", "markdown", record("v1"))
    store.path("a.pdf", "markdown", "out.txt").unlink()
    assert not store.has_files("a.pdf", "markdown", record("v1"))
    with pytest.raises(ArtifactMissing, match=r"a\.pdf: markdown/out\.txt is gone"):
        store.path("a.pdf", "markdown", "out.txt")


def test_keys_that_differ_only_in_case_or_slashes_have_their_own_folders(tmp_path):
    store = LocalStore(tmp_path)
    keys = ["a/b.pdf", "a-b.pdf", "A/b.pdf", "../../etc/passwd", "a/b.pdf ", "ä" * 200]
    folders = [store.document_dir(k) for k in keys]
    assert len({str(f).lower() for f in folders}) == len(keys)
    assert all(f.resolve().is_relative_to(tmp_path.resolve()) for f in folders)


def test_a_manifest_of_a_newer_release_is_refused(tmp_path):
    store = registered(tmp_path)
    path = store.document_dir("a.pdf") / "manifest.json"
    path.write_text(path.read_text().replace('"schema_version": 2', '"schema_version": 99'))
    with pytest.raises(DracError, match="newer release"):
        store.manifest("a.pdf")


def test_a_damaged_manifest_costs_its_document_alone(tmp_path, caplog):
    store = registered(tmp_path)
    store.update_manifest("b.pdf", lambda _: Manifest(document_key="b.pdf", source=SOURCE))
    path = store.document_dir("a.pdf") / "manifest.json"
    path.write_text("{")
    assert store.manifest("a.pdf") is None
    assert [m.document_key for m in store.manifests()] == ["b.pdf"]
    assert str(path) in caplog.text


def test_a_truncated_file_is_seen(tmp_path):
    store = registered(tmp_path)
    publish(store, "whole", "v1")
    whole = record("v1", sizes={"out.txt": 5})
    assert store.has_files("a.pdf", "markdown", whole)
    store.path("a.pdf", "markdown", "out.txt").write_text("")
    assert not store.has_files("a.pdf", "markdown", whole)


def _publish_stage(root: Path, stage: str) -> None:
    store = LocalStore(root)
    for n in range(20):
        with store.workspace("a.pdf") as out:
            (out / "out.txt").write_text(stage)
            store.publish("a.pdf", stage, out, record(f"v{n}"), lambda m: m)


def test_writers_of_different_stages_lose_nothing_of_each_other(tmp_path):
    store = registered(tmp_path)
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_publish_stage, args=(store.root, s)) for s in ("one", "two", "three")]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    assert [w.exitcode for w in workers] == [0, 0, 0]
    manifest = store.manifest("a.pdf")
    assert manifest is not None
    assert {s: r.version for s, r in manifest.stages.items()} == {"one": "v19", "two": "v19", "three": "v19"}


def test_a_listing_shows_what_was_written_since_the_one_before(tmp_path):
    store = registered(tmp_path)
    store.update_manifest("b.pdf", lambda _: Manifest(document_key="b.pdf", source=SOURCE))

    def listed() -> dict[str, int]:
        return {m.document_key: m.source.size for m in store.manifests()}

    for key in ("a.pdf", "b.pdf"):  # as old as what a listing remembers
        os.utime(store.document_dir(key) / "manifest.json", (1_000_000_000, 1_000_000_000))
    assert listed() == {"a.pdf": 1, "b.pdf": 1}
    other = LocalStore(store.root)  # another run in the same process
    assert {id(m) for m in other.manifests()} == {id(m) for m in store.manifests()}
    other.update_manifest("a.pdf", lambda _: Manifest(document_key="a.pdf", source=LARGER))
    assert listed() == {"a.pdf": 2, "b.pdf": 1}
    other.forget("b.pdf")
    assert listed() == {"a.pdf": 2}
    elsewhere = pickle.loads(pickle.dumps(store))
    assert elsewhere.manifest("a.pdf") == store.manifest("a.pdf")


def test_a_path_that_is_not_utf8_survives_the_manifest():
    path = Path("/corpus/caf\udce9 100%.pdf")
    document = SourceDocument("caf%E9 100%.pdf", path, "f" * 64, 1)
    source = SourceRecord.of(Path("/corpus"), document)
    again = SourceRecord.model_validate_json(source.model_dump_json())
    assert again.local_path == path
    assert again.root == "/corpus"
    assert path_of_text(path_text(Path("/plain/ä.pdf"))) == Path("/plain/ä.pdf")


def test_who_waits_for_a_document_that_is_deleted_is_alone_with_it_still(tmp_path):
    store = registered(tmp_path)
    entered, leave = threading.Event(), threading.Event()

    def wait() -> None:
        with store.working_on("a.pdf"):
            entered.set()
            leave.wait(10)

    waiter = threading.Thread(target=wait)
    with store.working_on("a.pdf"):
        waiter.start()
        time.sleep(0.1)  # it waits for the lock by now, and not, it is as good
        shutil.rmtree(store.document_dir("a.pdf"))  # as `forget` does with the lock in its hands
    assert entered.wait(10)
    with (store.document_dir("a.pdf") / ".work-lock").open("w") as next_comer:
        with pytest.raises(BlockingIOError):
            fcntl.flock(next_comer, fcntl.LOCK_EX | fcntl.LOCK_NB)
        leave.set()
        waiter.join()
        fcntl.flock(next_comer, fcntl.LOCK_EX | fcntl.LOCK_NB)
