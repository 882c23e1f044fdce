"""What a folder source lists, skips and refuses."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from drac_pipeline.config import SourceConfig
from drac_pipeline.errors import ConfigError, SourceChanged, UnreadableDocument
from drac_pipeline.sources import FingerprintCache, FolderSource


def put(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode("utf-8", "surrogateescape"))


def keys(root: Path, **config: object) -> list[str]:
    return [e.key for e in FolderSource(root, SourceConfig.model_validate(config)).list()]


def test_lists_files_sorted_and_leaves_out_what_is_no_document(tmp_path: Path) -> None:
    put(
        tmp_path,
        "b.pdf",
        "a/z.docx",
        "a/~$z.docx",
        ".DS_Store",
        "a/.~lock.z.docx#",
        "Thumbs.db",
        "a/thumbs.DB",
    )
    put(tmp_path, "a/thumbs.DB", ".git/config", "desktop.ini", "~notes.txt", ".hidden.pdf")
    (tmp_path / "empty.pdf").touch()
    assert keys(tmp_path) == ["a/z.docx", "b.pdf", "empty.pdf", "~notes.txt"]


@pytest.mark.parametrize(
    ("include", "exclude", "expected"),
    [
        (["*.pdf"], [], ["a.pdf", "x/b.pdf", "x/y/c.pdf"]),
        (["x/*.pdf"], [], ["x/b.pdf"]),
        (["x/**/*.pdf"], [], ["x/b.pdf", "x/y/c.pdf"]),
        (["**/*"], ["x/"], ["a.pdf", "d.docx"]),
        (["**/*"], ["**/y/**", "*.docx"], ["a.pdf", "x/b.pdf"]),
        (["[ad].*"], [], ["a.pdf", "d.docx"]),
        (["[!a].pdf"], [], ["x/b.pdf", "x/y/c.pdf"]),
        (["?.pdf"], ["/a.pdf"], ["x/b.pdf", "x/y/c.pdf"]),
        ([], [], []),
    ],
)
def test_globs(tmp_path: Path, include: list[str], exclude: list[str], expected: list[str]) -> None:
    put(tmp_path, "a.pdf", "d.docx", "x/b.pdf", "x/y/c.pdf")
    assert keys(tmp_path, include=include, exclude=exclude) == expected


def test_a_single_file_is_a_source_of_one(tmp_path: Path) -> None:
    put(tmp_path, "one.pdf", "two.pdf")
    source = FolderSource(tmp_path / "one.pdf", SourceConfig(include=["nothing"]))
    assert [e.key for e in source.list()] == ["one.pdf"]
    assert source.root == tmp_path


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere: there is no such file or folder"):
        FolderSource(tmp_path / "nowhere", SourceConfig())


def test_links_out_of_the_source_are_followed_only_if_asked(tmp_path: Path) -> None:
    put(tmp_path, "in/a.pdf", "out/secret.pdf", "out/deep/more.pdf")
    root = tmp_path / "in"
    (root / "file.pdf").symlink_to(tmp_path / "out" / "secret.pdf")
    (root / "folder").symlink_to(tmp_path / "out" / "deep")
    (root / "same.pdf").symlink_to(root / "a.pdf")
    (root / "broken.pdf").symlink_to(root / "gone.pdf")
    source = FolderSource(root, SourceConfig())
    assert [e.key for e in source.list()] == ["a.pdf", "same.pdf"]
    assert {Path(s.path).name: s.reason for s in source.skipped} == {
        "file.pdf": "a link out of the source",
        "folder": "a link out of the source",
        "broken.pdf": "a link to nothing",
    }
    assert keys(root, follow_symlinks=True) == ["a.pdf", "file.pdf", "folder/more.pdf", "same.pdf"]


def test_a_link_to_a_folder_above_does_not_go_round_in_circles(tmp_path: Path) -> None:
    put(tmp_path, "x/a.pdf")
    (tmp_path / "x" / "up").symlink_to(tmp_path)
    assert keys(tmp_path) == ["x/a.pdf"]


def test_names_that_are_not_utf8_or_differ_in_normal_form_are_documents_of_their_own(tmp_path: Path) -> None:
    put(tmp_path, "caf\u00e9.pdf", "cafe\u0301.pdf", os.fsdecode(b"\xe9.pdf"), "a\nb.pdf")
    source = FolderSource(tmp_path, SourceConfig())
    entries = source.list()
    assert [e.key for e in entries] == ["%E9.pdf", "a%0Ab.pdf", "café%NFD.pdf", "café.pdf"]
    assert len({source.fingerprint(e).fingerprint for e in entries}) == 4


def test_devices_and_pipes_are_skipped(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.pdf")
    source = FolderSource(tmp_path, SourceConfig())
    assert source.list() == []
    assert source.skipped[0].reason == "neither a file nor a folder"


def test_fingerprint_is_the_sha256_of_the_bytes(tmp_path: Path) -> None:
    data = os.urandom(3_000_000)
    (tmp_path / "a.bin").write_bytes(data)
    source = FolderSource(tmp_path, SourceConfig())
    document = source.fingerprint(source.list()[0])
    assert document.fingerprint == hashlib.sha256(data).hexdigest()
    assert (document.key, document.size, document.path) == ("a.bin", 3_000_000, tmp_path / "a.bin")


def test_a_file_that_vanished_is_a_typed_error_with_its_name(tmp_path: Path) -> None:
    put(tmp_path, "a.pdf")
    source = FolderSource(tmp_path, SourceConfig())
    [entry] = source.list()
    entry.path.unlink()
    with pytest.raises(SourceChanged) as caught:
        source.fingerprint(entry)
    assert caught.value.key == "a.pdf"


def test_a_file_that_grows_while_read_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "a.pdf")
    source = FolderSource(tmp_path, SourceConfig())
    [entry] = source.list()

    class GrowingHash:
        def update(self, _: bytes) -> None:
            with entry.path.open("ab") as f:
                f.write(b"more")

        def hexdigest(self) -> str:
            return "0" * 64

    monkeypatch.setattr("drac_pipeline.sources.fingerprint.hashlib.sha256", GrowingHash)
    with pytest.raises(SourceChanged, match="changed while it was read"):
        source.fingerprint(entry)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_no_permission_is_told_apart(tmp_path: Path) -> None:
    put(tmp_path, "a.pdf", "locked/b.pdf")
    source = FolderSource(tmp_path, SourceConfig())
    entries = source.list()
    (tmp_path / "a.pdf").chmod(0)
    (tmp_path / "locked").chmod(0)
    with pytest.raises(UnreadableDocument):
        source.fingerprint(entries[0])
    source.list()
    (tmp_path / "locked").chmod(0o700)
    assert source.skipped[0].reason.startswith("cannot be read")


def settled(root: Path) -> None:
    """Age all files, since a file of this very second is not trusted to be final."""
    for path in root.rglob("*.pdf"):
        os.utime(path, ns=(1_600_000_000_000_000_000, 1_600_000_000_000_000_000 + len(path.name)))


def test_unchanged_files_are_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "in/a.pdf", "in/b.pdf")
    settled(tmp_path)
    store = tmp_path / "cache" / "fingerprints.sqlite"
    with FingerprintCache(store) as cache:
        source = FolderSource(tmp_path / "in", SourceConfig(), cache)
        first = [source.fingerprint(e) for e in source.list()]

    (tmp_path / "in" / "b.pdf").write_bytes(b"other content")
    read: list[str] = []

    def counting(path: Path):
        read.append(path.name)
        return hash_file(path)

    from drac_pipeline.sources.fingerprint import hash_file

    monkeypatch.setattr("drac_pipeline.sources.folder.hash_file", counting)
    with FingerprintCache(store) as cache:
        source = FolderSource(tmp_path / "in", SourceConfig(), cache)
        second = [source.fingerprint(e) for e in source.list()]
    assert read == ["b.pdf"]
    assert first[0] == second[0]
    assert second[1].fingerprint == hashlib.sha256(b"other content").hexdigest()


def test_a_file_written_this_moment_is_not_remembered(tmp_path: Path) -> None:
    put(tmp_path, "in/a.pdf")
    with FingerprintCache(tmp_path / "c.sqlite") as cache:
        source = FolderSource(tmp_path / "in", SourceConfig(), cache)
        [entry] = source.list()
        source.fingerprint(entry)
        assert cache.get(entry.path, entry.path.stat()) is None


def test_a_damaged_cache_is_replaced(tmp_path: Path) -> None:
    put(tmp_path, "in/a.pdf")
    settled(tmp_path)
    store = tmp_path / "c.sqlite"
    store.write_bytes(b"this is no database" * 100)
    with FingerprintCache(store) as cache:
        source = FolderSource(tmp_path / "in", SourceConfig(), cache)
        [entry] = source.list()
        document = source.fingerprint(entry)
    assert FingerprintCache(store).get(entry.path, entry.path.stat()) == document.fingerprint
