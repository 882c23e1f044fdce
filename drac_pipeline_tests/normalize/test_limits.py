"""Zip containers that declare what they are not."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

import pytest

from drac_pipeline.errors import CorruptDocument, DocumentTooLarge
from drac_pipeline.normalize import limits
from drac_pipeline.normalize.limits import check_zip
from drac_pipeline_tests.normalize.conftest import make_zip

ENTITIES = '<?xml version="1.0"{}?><!DOCTYPE a [<!ENTITY b "bbbb">]><a>&b;</a>'


def test_an_ordinary_container_passes(tmp_path: Path) -> None:
    check_zip(make_zip(tmp_path / "a.zip", {"a.xml": "<a/>", "b/c.bin": b"x" * 100}), 1000)


def test_what_it_unpacks_to_and_how_many_members_it_has_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_zip(tmp_path / "a.zip", {"a": b"\0" * 2000, "b": b"\0" * 2000})
    assert path.stat().st_size < 400
    check_zip(path, 4000)
    with pytest.raises(DocumentTooLarge, match="4,000 bytes in 2 members"):
        check_zip(path, 3999)
    monkeypatch.setattr(limits, "_MAX_MEMBERS", 1)
    with pytest.raises(DocumentTooLarge, match="2 members"):
        check_zip(path, 4000)


def test_members_that_share_bytes_are_refused(tmp_path: Path) -> None:
    """The second entry of the directory is made to point at the first member."""
    path = make_zip(tmp_path / "a.zip", {"a": b"x" * 500, "b": b"x" * 500})
    data = bytearray(path.read_bytes())
    second = data.index(b"PK\x01\x02", data.index(b"PK\x01\x02") + 4)
    struct.pack_into("<I", data, second + 42, 0)
    path.write_bytes(data)
    with pytest.raises(CorruptDocument, match="overlap"):
        check_zip(path, 10_000)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_are_refused_in_any_encoding(tmp_path: Path, encoding: str) -> None:
    text = ENTITIES.format(f' encoding="{encoding}"').encode(encoding)
    with pytest.raises(CorruptDocument, match=r"word/a\.xml declares XML entities"):
        check_zip(make_zip(tmp_path / "a.zip", {"word/a.xml": text}), 10_000)


def test_a_container_cut_off_is_corrupt(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "a.zip", {"a": b"x" * 500})
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(CorruptDocument, match="zip container is broken"):
        check_zip(path, 10_000)
    assert not zipfile.is_zipfile(path)
