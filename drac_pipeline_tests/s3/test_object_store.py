"""The store in a bucket, against a real server: the guarantees of a folder, whatever goes wrong."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from drac_pipeline.errors import ConfigError, DracError, StorageError
from drac_pipeline.s3.address import BucketAddress
from drac_pipeline.s3.bucket import Bucket
from drac_pipeline.s3.connection import Connection
from drac_pipeline.store import ArtifactMissing, LocalStore, Manifest, SourceRecord, StageRecord
from drac_pipeline.store.objects import ObjectStore
from drac_pipeline.store.sweep import Swept, sweep
from drac_pipeline_tests.s3.server import Proxy, Request

SOURCE = SourceRecord(root="/corpus", path="/corpus/a.pdf", fingerprint="f" * 64, size=3)
KEY = "a.pdf"


def open_store(bucket: Bucket, folder: Path) -> ObjectStore:
    address = BucketAddress(bucket.name, "kept here")
    return ObjectStore(address, bucket.connection, folder / "model", folder / "cache")


@pytest.fixture
def store(bucket: Bucket, tmp_path: Path, proxy: Proxy) -> ObjectStore:
    made = open_store(bucket, tmp_path)
    register(made)
    proxy.requests.clear()
    return made


def register(store: ObjectStore, key: str = KEY) -> None:
    store.update_manifest(key, lambda _: Manifest(document_key=key, source=SOURCE))


def record(version: str, *files: str) -> StageRecord:
    return StageRecord(
        version=version,
        data_version=version,
        code_version="1",
        inputs={},
        files=list(files or ("out.txt",)),
        made_at="2026-01-01T00:00:00+00:00",
        seconds=0.0,
    )


def publish(store: ObjectStore, text: str, version: str, key: str = KEY, stage: str = "markdown") -> None:
    with store.workspace(key) as out:
        (out / "out.txt").write_text(text)
        store.publish(key, stage, out, record(version), lambda m: m)


def elsewhere(store: ObjectStore, tmp_path: Path) -> ObjectStore:
    """The same store on a machine that has seen nothing of it."""
    return open_store(store.bucket, tmp_path / "another machine")


def stages(store: ObjectStore) -> dict[str, StageRecord]:
    manifest = store.manifest(KEY)
    assert manifest is not None
    return manifest.stages


def objects(store: ObjectStore) -> list[str]:
    return [o.key.removeprefix(store.prefix) for o in store.bucket.list(store.prefix)]


def test_an_output_is_seen_everywhere_and_replaces_the_one_before(store, tmp_path):
    publish(store, "one", "v1")
    other = elsewhere(store, tmp_path)
    assert other.path(KEY, "markdown", "out.txt").read_text() == "one"
    publish(store, "two", "v2")
    assert other.path(KEY, "markdown", "out.txt").read_text() == "two"
    assert [k for k in objects(store) if "/v1/" in k or k.startswith("leases")] == []
    assert [m.document_key for m in other.manifests()] == [KEY]
    assert not list((store._cache_root / "work").iterdir())  # no workspace is left


def test_within_working_on_the_manifest_follows_once_and_after_the_files(store, tmp_path, proxy):
    other = elsewhere(store, tmp_path)
    with store.working_on(KEY):
        for stage in ("normalized_pdf", "page_images", "markdown"):
            publish(store, stage, f"v-{stage}", stage=stage)
            assert store.path(KEY, stage, "out.txt").read_text() == stage
        assert stages(other) == {}
        store.settle(KEY)
        assert set(stages(other)) == {"normalized_pdf", "page_images", "markdown"}
    puts = [r.key for r in proxy.requests if r.operation == "PutObject"]
    assert [k for k in puts if "/manifests/" in k] == puts[-1:]
    assert proxy.count("GetObject .*/documents/") == 0  # what was made here is read here


def test_outputs_that_wait_are_switched_to_while_a_long_stage_is_at_work(store, tmp_path, monkeypatch):
    monkeypatch.setattr("drac_pipeline.store.objects._SWITCH_SECONDS", 0.05)
    other = elsewhere(store, tmp_path)
    with store.working_on(KEY):
        publish(store, "one", "v1")
        for _ in range(200):
            if stages(other):
                break
            multiprocessing.Event().wait(0.05)
        assert other.path(KEY, "markdown", "out.txt").read_text() == "one"


def test_a_look_at_many_documents_is_one_listing(store, tmp_path, proxy):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: register(store, f"{n}.pdf"), range(60)))
    other = elsewhere(store, tmp_path)
    assert len(list(other.manifests())) == 61
    proxy.requests.clear()
    assert len(list(other.manifests())) == 61 and len(list(store.manifests())) == 61
    assert sorted(r.operation for r in proxy.requests) == ["ListObjectsV2"] * 2
    register_again = Manifest(document_key="7.pdf", source=SOURCE.model_copy(update={"size": 4}))
    store.update_manifest("7.pdf", lambda _: register_again)
    proxy.requests.clear()
    assert {m.source.size for m in other.manifests()} == {3, 4}
    assert proxy.count("GetObject") == 1  # the one that changed


def _add_stages(store: ObjectStore, names: list[str]) -> None:
    for name in names:

        def add(m: Manifest | None, n: str = name) -> Manifest:
            assert m is not None
            return m.model_copy(update={"stages": {**m.stages, n: record(n)}})

        store.update_manifest(KEY, add)


def test_no_update_of_two_writers_is_lost(store, tmp_path):
    context = multiprocessing.get_context("spawn")
    names = [[f"{who}-{n}" for n in range(12)] for who in "ab"]
    workers = [context.Process(target=_add_stages, args=(store, part)) for part in names]
    for w in workers:
        w.start()
    with store.working_on(KEY):  # and one who has the document at work
        publish(store, "mine", "v1")
        for w in workers:
            w.join()
    assert [w.exitcode for w in workers] == [0, 0]
    assert set(stages(elsewhere(store, tmp_path))) == {*names[0], *names[1], "markdown"}


@pytest.mark.parametrize("fault", ["slow down", "drop", "lose", "break", "hang"])
def test_a_fault_that_passes_is_not_noticed(store, tmp_path, proxy, fault):
    seen: set[str] = set()

    def first_time(request: Request) -> str | None:
        kind = f"{request.operation} {request.key.split('/')[1]}"
        if kind in seen or (fault == "hang" and "PutObject doc" not in kind):
            return None
        seen.add(kind)
        return fault

    proxy.fault = first_time
    with store.working_on(KEY):
        publish(store, "whole" * 5000, "v1")
    other = elsewhere(store, tmp_path)
    assert other.path(KEY, "markdown", "out.txt").read_text() == "whole" * 5000
    assert len(seen) >= (1 if fault == "hang" else 4)
    proxy.fault = None
    assert [k for k in objects(store) if k.startswith("leases")] == []


def test_what_cannot_go_up_leaves_the_old_output_and_says_why(store, tmp_path, proxy):
    publish(store, "old", "v1")
    proxy.fault = lambda r: "slow down" if "/v2/" in r.key else None
    told = r"throttled: PUT s3://.*/v2/out.txt: SlowDown"
    with pytest.raises(StorageError, match=told), store.working_on(KEY):
        publish(store, "new", "v2")
    assert store.path(KEY, "markdown", "out.txt").read_text() == "old"
    assert elsewhere(store, tmp_path).path(KEY, "markdown", "out.txt").read_text() == "old"
    proxy.fault = None
    publish(store, "new", "v3")
    assert elsewhere(store, tmp_path / "later").path(KEY, "markdown", "out.txt").read_text() == "new"


def test_outputs_before_one_that_cannot_go_up_are_kept(store, tmp_path, proxy):
    proxy.fault = lambda r: "denied" if "/page_images/" in r.key else None
    told = r"access denied: PUT s3://.*/page_images/"
    with pytest.raises(StorageError, match=told), store.working_on(KEY):
        for stage in ("normalized_pdf", "page_images", "markdown"):
            publish(store, stage, f"v-{stage}", stage=stage)
    proxy.fault = None
    assert set(stages(elsewhere(store, tmp_path))) == {"normalized_pdf"}


def _die_at_work(store: ObjectStore) -> None:
    with store.working_on(KEY):
        publish(store, "never named", "v9", stage="elements")
        for _, uploads in store._sessions[KEY].pending:
            for upload in uploads:
                upload.result()
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_process_leaves_no_lock_and_no_garbage(store):
    publish(store, "kept", "v1")
    worker = multiprocessing.get_context("spawn").Process(target=_die_at_work, args=(store,))
    worker.start()
    worker.join()
    assert worker.exitcode == -signal.SIGKILL
    assert any("/v9/" in k for k in objects(store)) and any(k.startswith("leases") for k in objects(store))
    with store.working_on(KEY):  # at once, though the lease has not run out
        assert "elements" not in stages(store)
    assert not any("/v9/" in k or k.startswith("leases") for k in objects(store))
    assert store.path(KEY, "markdown", "out.txt").read_text() == "kept"


def test_a_lease_that_is_not_renewed_is_taken_over(store):
    foreign = b'{"owner": "x", "host": "another machine", "pid": 1, "started": "1"}'
    store.bucket.put(store._lease(KEY), foreign)
    store._lease_seconds = 1.0
    with store.working_on(KEY):
        assert store.bucket.get(store._lease(KEY)).data != foreign


def test_one_who_waits_gets_the_document_when_it_is_free(store):
    order: list[str] = []

    def second() -> None:
        with store.__reduce__()[0](*store.__reduce__()[1]).working_on(KEY):
            order.append("second")

    with ThreadPoolExecutor(1) as pool:
        with store.working_on(KEY):
            done = pool.submit(second)
            multiprocessing.Event().wait(0.4)
            order.append("first")
        done.result()
    assert order == ["first", "second"]


def test_an_output_deleted_by_hand_is_found_out_and_made_again(store, tmp_path):
    publish(store, "one", "v1")
    other = elsewhere(store, tmp_path)
    store.bucket.delete_all(o.key for o in store.bucket.list(store._document(KEY)))
    with pytest.raises(ArtifactMissing, match="run `drac run` again"):
        other.path(KEY, "markdown", "out.txt")
    assert "markdown" not in stages(store)


def test_an_output_replaced_while_it_is_read_is_not_taken_for_a_loss(store, tmp_path):
    publish(store, "one", "v1")
    other = elsewhere(store, tmp_path)
    before = other.manifest(KEY)
    publish(store, "two", "v2")
    with pytest.raises(ArtifactMissing):
        other.path(KEY, "markdown", "out.txt", before)
    assert other.path(KEY, "markdown", "out.txt").read_text() == "two"


def test_adopted_outputs_belong_to_both_and_forgetting_one_leaves_the_other(store, tmp_path):
    publish(store, "one", "v1")
    new = Manifest(document_key="b.pdf", source=SOURCE)
    assert store.adopt(KEY, new, {"markdown"}).stages["markdown"].version == "v1"
    store.forget(KEY)
    assert store.manifest(KEY) is None and not any("a-pdf" in k for k in objects(store))
    assert elsewhere(store, tmp_path).path("b.pdf", "markdown", "out.txt").read_text() == "one"


def test_forgetting_stops_where_the_document_has_returned(store):
    store.forget(KEY, lambda m: m.retired is not None)
    assert store.manifest(KEY) is not None


def test_a_damaged_manifest_counts_as_none_and_a_newer_one_is_refused(store):
    name = store.catalogue.object_key(KEY)
    store.bucket.put(name, b"{ not json")
    assert store.manifest(KEY) is None and list(store.manifests()) == []
    register(store)
    assert store.manifest(KEY).source == SOURCE
    newer = store.manifest(KEY).model_copy(update={"schema_version": 99})
    store.bucket.put(name, newer.model_dump_json().encode())
    with pytest.raises(DracError, match="newer release"):
        store.manifest(KEY)


def test_a_service_without_conditional_writes_is_refused(bucket, tmp_path, proxy):
    proxy.fault = lambda _: "unconditional"
    with pytest.raises(ConfigError, match="ignores If-None-Match"):
        register(open_store(bucket, tmp_path))


def test_the_store_pickles_without_its_connections(store):
    publish(store, "one", "v1")
    again = pickle.loads(pickle.dumps(store))
    assert again.path(KEY, "markdown", "out.txt").read_text() == "one" and again.address == store.address


def test_a_large_file_goes_up_in_parts(store, tmp_path, monkeypatch, proxy):
    monkeypatch.setattr("drac_pipeline.s3.bucket.PART_BYTES", 5 << 20)
    data = os.urandom(11 << 20)
    (tmp_path / "large").write_bytes(data)
    failed: list[Request] = []

    def once(r: Request) -> str | None:
        if r.operation == "UploadPart" and not failed:
            failed.append(r)
            return "drop"
        return None

    proxy.fault = once
    store.bucket.upload("large", tmp_path / "large")
    assert failed and proxy.count("UploadPart") == 4
    store.bucket.download("large", tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == data


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "no-such-bucket"}, "no bucket: .*NoSuchBucket.*Create the bucket"),
        ({"endpoint_url": "http://127.0.0.1:9"}, "storage unreachable: .*endpoint_url"),
        ({"profile": "nobody"}, "no credentials: .*nobody.*AWS_PROFILE"),
        ({"denied": "1"}, "access denied: GET s3://.*AccessDenied.*object-storage.md"),
    ],
)
def test_errors_name_the_object_the_cause_and_the_way_out(bucket, tmp_path, proxy, change, words):
    if change.pop("denied", ""):
        proxy.fault = lambda _: "denied"
    name = change.pop("name", bucket.name)
    connection = Connection(**{"endpoint_url": proxy.url, "attempts": 1, "timeout": 2.0, **change})
    store = open_store(Bucket(name, connection), tmp_path)
    with pytest.raises(StorageError, match=words):
        store.manifest(KEY)


def test_without_credentials_it_says_so(bucket, tmp_path, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    # a client is kept for all that connect alike: no other test connects like this
    connection = Connection(endpoint_url=bucket.connection.endpoint_url, attempts=2, timeout=2.5)
    with pytest.raises(StorageError, match=r"no credentials.*AWS_ACCESS_KEY_ID"):
        open_store(Bucket(bucket.name, connection), tmp_path).manifest(KEY)


def test_copies_are_kept_below_their_size(store, tmp_path):
    other = elsewhere(store, tmp_path)
    for n in range(4):
        register(store, f"{n}.pdf")
        publish(store, "x" * 1000, "v1", key=f"{n}.pdf")
        os.utime(other.path(f"{n}.pdf", "markdown", "out.txt").parent, (n, n))
    other.cache.size = 2500
    other.cache.shrink()
    assert len(list((other._cache_root / "objects").glob("*/*/*"))) == 2
    assert other.path("0.pdf", "markdown", "out.txt").read_text() == "x" * 1000  # read again


def test_a_sweep_deletes_what_nothing_names_and_finds_what_is_missing(store, monkeypatch):
    publish(store, "kept", "v1")
    publish(store, "lost", "v2", stage="elements")
    garbage = store._output(KEY, "markdown", "v0") + "out.txt"
    store.bucket.put(garbage, b"left by a killed process")
    store.bucket.delete(store._output(KEY, "elements", "v2") + "out.txt")
    upload = {"Bucket": store.bucket.name, "Key": f"{store.prefix}documents/half"}
    store.bucket.connection.client().create_multipart_upload(**upload)
    # the server says of every upload that it was begun in 2010; the others are too young to be garbage
    assert sweep(store, 3600) == Swept(uploads=1, lost=[(KEY, "elements")])
    monkeypatch.setattr("time.time", lambda now=time.time: now() + 7200)
    publish(store, "again", "v3", stage="elements")
    assert sweep(store, 3600, dry=True).files == 1 and store.bucket.head(garbage)
    found = sweep(store, 3600)
    assert (found.files, found.size, found.lost) == (1, 24, [])
    assert store.bucket.head(garbage) is None
    assert store.path(KEY, "markdown", "out.txt").read_text() == "kept"
    assert set(stages(store)) == {"markdown", "elements"}


def test_a_sweep_of_a_folder_does_the_same(tmp_path, monkeypatch):
    store = LocalStore(tmp_path / "store")
    store.update_manifest(KEY, lambda _: Manifest(document_key=KEY, source=SOURCE))
    publish(store, "kept", "v1")  # pyright: ignore[reportArgumentType]
    folder = store.document_dir(KEY)
    for left in (
        folder / "markdown" / "v0",
        folder / ".tmp-killed",
        folder.parent / "forgotten" / "markdown",
    ):
        left.mkdir(parents=True)
        (left / "out.txt").write_text("left")
    assert sweep(store, 3600).files == 0
    monkeypatch.setattr("time.time", lambda now=time.time: now() + 7200)
    found = sweep(store, 3600)
    assert (found.files, found.size) == (3, 12) and sweep(store, 3600).files == 0
    assert store.path(KEY, "markdown", "out.txt").read_text() == "kept"
