"""Documents in a bucket, against a real server: found, told apart, missed, and never lost by accident."""

from __future__ import annotations

from pathlib import Path

import pytest

from drac_pipeline.config import RefreshConfig, SourceConfig
from drac_pipeline.errors import ConfigError, SourceChanged
from drac_pipeline.pipeline.look import glance, look_at_sources
from drac_pipeline.pipeline.origin import origin_of
from drac_pipeline.pipeline.removal import removals, retire
from drac_pipeline.pipeline.standing import overview
from drac_pipeline.pipeline.worklist import refresh_source
from drac_pipeline.s3.address import BucketAddress
from drac_pipeline.s3.bucket import Bucket
from drac_pipeline.s3.connection import Connection
from drac_pipeline.sources.bucket import BucketSource
from drac_pipeline.sources.keys import object_document_key, path_of_key
from drac_pipeline.sources.remote import Remote
from drac_pipeline.sources.settling import wait_until_settled, young
from drac_pipeline.store import Home
from drac_pipeline_tests.s3.server import Proxy


@pytest.fixture
def home(bucket: Bucket, tmp_path: Path) -> Home:
    return Home(tmp_path / "home", bucket.connection)


def put(bucket: Bucket, **texts: str) -> None:
    for key, text in texts.items():
        bucket.put(f"in/{key}", text.encode())


def source(bucket: Bucket, home: Home, prefix: str = "in", **config: list[str]) -> BucketSource:
    return BucketSource(BucketAddress(bucket.name, prefix), SourceConfig(**config), home.remote)  # pyright: ignore[reportArgumentType]


def look(bucket: Bucket, home: Home, **how: bool):
    return look_at_sources(home, [f"s3://{bucket.name}/in"], **how)


ODD = [
    "plain.pdf",
    "with space + plus.pdf",
    "100%.txt",
    "100%25.txt",
    "Übersicht/äöü.txt",
    "U\u0308bersicht.txt",
    "a//b.txt",
    "a/b.txt",
    "/lead.txt",
    "日本語/資料.txt",
    "a&b=c?d#e.txt",
]


def test_every_object_has_a_key_of_its_own_that_says_what_it_is_called(bucket, home):
    for name in ODD:
        bucket.put(f"in/{name}", name.encode())
    found = {e.address: e for e in source(bucket, home).list()}
    assert set(found) == {bucket.address(f"in/{n}") for n in ODD}
    assert len({e.key for e in found.values()}) == len(ODD)
    assert found[bucket.address("in/plain.pdf")].key == "plain.pdf"
    for name in (*ODD, "up/../down.txt", "dots/./x.txt", "...", "line\nbreak.txt", "end/"):
        key = object_document_key(name)
        assert path_of_key(key) == name and ".." not in key.split("/") and "" not in key.split("/")
    reader = source(bucket, home)
    for e in reader.list():
        assert reader.fetch(e).read_bytes().decode() in ODD


def test_listings_of_many_pages_are_read_to_their_end(bucket, tmp_path, proxy, monkeypatch):
    monkeypatch.setenv("MOTO_S3_DEFAULT_MAX_KEYS", "7")
    put(bucket, **{f"{n:02}.txt": "x" for n in range(30)})
    patient = Connection(endpoint_url=proxy.url, attempts=1, timeout=60.0)  # asks for no page twice
    reach = Remote(patient, tmp_path / "copies", 10**9)
    reader = BucketSource(BucketAddress(bucket.name, "in/"), SourceConfig(), reach)
    proxy.requests.clear()
    assert len(reader.list()) == 30
    assert proxy.count("ListObjectsV2") == 5


def test_what_is_no_document_is_left_out(bucket, home):
    put(bucket, **{"a.txt": "a", "": "", "sub/": "", "sub/b.txt": "", "old_$folder$": "", "full/": "bytes"})
    put(bucket, **{".hidden": "x", "x/.git/config": "x", "~$lock.docx": "x", "c.tmp": "x", "no.log": "x"})
    put(bucket, **{"kept/drac-store.json": "{}", "kept/manifests/x.json": "{}", "kept/a.txt": "x"})
    reader = source(bucket, home, exclude=["*.log"])
    assert [e.key for e in reader.list()] == ["a.txt", "sub/b.txt"]
    told = {str(s.path).removeprefix(f"s3://{bucket.name}/in/"): s.reason for s in reader.skipped}
    assert told == {"full/": "an object with the name of a folder", "kept/": "a store of drac, not documents"}
    assert reader.holds(bucket.address("in/no.log")) and not reader.holds(bucket.address("in/none"))


def test_one_object_is_a_source_of_its_own(bucket, home):
    put(bucket, **{"one.pdf": "x", "one.pdf.bak": "x"})
    reader = source(bucket, home, "in/one.pdf")
    assert [e.key for e in reader.list()] == ["one.pdf"] and reader.is_single_file
    assert reader.place == f"s3://{bucket.name}/in"


def test_what_has_not_changed_is_not_read_again(bucket, home, proxy):
    put(bucket, **{"a.txt": "one", "b.txt": "two"})
    assert {w.change for w in look(bucket, home).work} == {"new"}
    assert proxy.count("GetObject in/") == 2
    proxy.requests.clear()
    before = glance(home).digest
    assert {w.change for w in look(bucket, home).work} == {"unchanged"} and glance(home).digest == before
    assert proxy.operations() == {"ListObjectsV2"}
    put(bucket, **{"a.txt": "other"})
    proxy.requests.clear()
    assert {w.key: w.change for w in look(bucket, home).work} == {"a.txt": "changed", "b.txt": "unchanged"}
    assert proxy.count("GetObject") == 1 and glance(home).digest != before


def test_objects_need_no_time_to_settle(bucket, home):
    put(bucket, **{"a.txt": "now"})
    entries = source(bucket, home).list()
    assert young(entries, 60) == [] and wait_until_settled(entries, quiet=5) == []


def test_a_renamed_object_keeps_its_work_and_a_deleted_one_is_retired(bucket, home):
    put(bucket, **{"a.txt": "one", "b.txt": "two", "c.txt": "three"})
    look(bucket, home)
    bucket.copy("in/a.txt", "in/new name.txt")
    bucket.delete_all(["in/a.txt", "in/b.txt"])
    looked = look(bucket, home)
    assert looked.found[0].renamed == {"new name.txt": "a.txt"}
    assert looked.retire == {"a.txt": "renamed to new name.txt", "b.txt": "removed from the source"}
    put(bucket, **{"b.txt": "two"})  # it comes back before it is retired
    assert [m.document_key for m in retire(home, looked.retire)] == ["a.txt"]


def test_delete_markers_and_restored_versions_are_followed(bucket, home):
    client = bucket.connection.client()
    client.put_bucket_versioning(Bucket=bucket.name, VersioningConfiguration={"Status": "Enabled"})
    put(bucket, **{"a.txt": "one", "b.txt": "two"})
    put(bucket, **{"a.txt": "newer"})
    look(bucket, home)
    marker = client.delete_object(Bucket=bucket.name, Key="in/b.txt")["VersionId"]
    looked = look(bucket, home)
    assert looked.retire == {"b.txt": "removed from the source"}
    retire(home, looked.retire)
    client.delete_object(Bucket=bucket.name, Key="in/b.txt", VersionId=marker)
    assert {w.key: w.change for w in look(bucket, home).work} == {"a.txt": "unchanged", "b.txt": "returned"}


def test_a_prefix_that_is_suddenly_empty_or_silent_retires_nothing(bucket, home, proxy: Proxy):
    put(bucket, **{"a.txt": "one", "b.txt": "two"})
    look(bucket, home)
    for fault in ("denied", "slow down"):
        proxy.fault = lambda _, f=fault: f
        looked = look(bucket, home)
        assert not looked.retire and f"s3://{bucket.name}/in" in looked.unreachable
        assert {s.state for s in overview(home).documents} == {"unknown"}
    proxy.fault = None
    bucket.delete_all(["in/a.txt", "in/b.txt"])
    looked = look(bucket, home)
    assert not looked.retire and "has no document any more" in looked.refused[0]
    assert set(look(bucket, home, confirmed=True).retire) == {"a.txt", "b.txt"}
    assert removals(looked.found[0], RefreshConfig(removed="keep")).retire == {}
    gone = Bucket("no-such-bucket", bucket.connection)
    assert "NoSuchBucket" in str(look(gone, home).unreachable)


def test_an_object_that_cannot_be_read_is_alone_in_that(bucket, home, proxy: Proxy):
    put(bucket, **{"a.txt": "one", "b.txt": "two", "c.txt": "three"})
    proxy.fault = lambda r: "denied" if str(r) == "GetObject in/b.txt" else None
    looked = look(bucket, home)
    assert {k: e.kind for k, e in looked.unreadable.items()} == {"b.txt": "access denied"}
    assert {w.key for w in looked.work} == {"a.txt", "c.txt"}


def test_an_object_replaced_after_the_listing_is_not_taken_for_the_listed_one(bucket, home):
    put(bucket, **{"a.txt": "one"})
    reader = source(bucket, home)
    (entry,) = reader.list()
    put(bucket, **{"a.txt": "two"})
    with pytest.raises(SourceChanged, match=r"a.txt, source: .*replaced after it was listed"):
        reader.fingerprint(entry)


def test_a_registered_document_is_read_as_it_was_registered_or_not_at_all(bucket, home, tmp_path):
    put(bucket, **{"a.txt": "one"})
    look(bucket, home)
    record = home.store.manifest("a.txt").source
    elsewhere = Remote(bucket.connection, tmp_path / "another machine")
    origin = origin_of(record, elsewhere)
    with origin.file() as path:
        assert path.read_text() == "one" and path.name == "a.txt"
    path.write_text("xxx")  # a damaged copy is not believed
    with pytest.raises(SourceChanged), origin.file():
        pass
    with origin.file() as path:
        assert path.read_text() == "one"
    put(bucket, **{"a.txt": "two"})
    with pytest.raises(SourceChanged, match="not the one that was registered"):
        origin.check()
    news = refresh_source(home.store, "a.txt").source
    assert news.fingerprint != record.fingerprint and news.version != record.version
    bucket.delete("in/a.txt")
    with pytest.raises(SourceChanged, match="does not exist any more"):
        origin.check()


def test_keys_that_mean_documents_of_another_source_are_refused_while_those_are_there(bucket, home):
    put(bucket, **{"a.txt": "one"})
    bucket.put("other/a.txt", b"something else")
    look(bucket, home)
    told = look_at_sources(home, [f"s3://{bucket.name}/other"]).unreachable
    assert "already mean documents of" in str(told)
    bucket.delete("in/a.txt")
    (work,) = look_at_sources(home, [f"s3://{bucket.name}/other"]).work
    assert work.manifest.source.path == bucket.address("other/a.txt")


def test_a_source_within_its_own_store_is_refused(bucket, tmp_path):
    place = tmp_path / "home"
    place.mkdir()
    (place / "drac.toml").write_text(f'[store]\nurl = "s3://{bucket.name}/in"\n')
    opened = Home(place, bucket.connection)
    told = look_at_sources(opened, [f"s3://{bucket.name}/in/documents"]).unreachable
    assert "lies in the store" in str(told)


@pytest.mark.parametrize("text", ["s3://", "s3:///x", "s3://b ucket/x", "s3:// /"])
def test_addresses_that_are_none_say_so(text, home):
    with pytest.raises(ConfigError, match="s3://bucket/prefix"):
        look_at_sources(home, [text])


def test_sources_in_buckets_are_remembered(bucket, home):
    put(bucket, **{"a.txt": "one"})
    look(bucket, home)
    assert home.sources() == [BucketAddress(bucket.name, "in")]
    assert len(look_at_sources(home).found) == 1
