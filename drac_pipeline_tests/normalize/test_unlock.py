"""Encrypted office files, opened with the passwords of the settings."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
from msoffcrypto.format.ooxml import OOXMLFile
from msoffcrypto.method.ecma376_agile import ECMA376Agile

from drac_pipeline.errors import EncryptedDocument
from drac_pipeline.normalize.unlock import unlock_office
from drac_pipeline_tests.normalize.conftest import make_docx, make_xlsx, pdf_text


def locked(source: Path, password: str) -> Path:
    target = source.with_name(f"locked{source.suffix}")
    with source.open("rb") as f, target.open("wb") as out:
        OOXMLFile(f).encrypt(password, out)
    return target


def test_the_password_that_fits_opens_it(tmp_path: Path) -> None:
    source = locked(make_docx(tmp_path / "a.docx", "inside"), "right")
    assert unlock_office(source, tmp_path / "open", ["wrong", "right"])
    with zipfile.ZipFile(tmp_path / "open") as z:
        assert b"inside" in z.read("word/document.xml")
    assert not unlock_office(source, tmp_path / "shut", ["wrong", ""])
    assert not (tmp_path / "shut").exists()


def test_a_workbook_protected_against_changes_only_opens_by_itself(tmp_path: Path) -> None:
    source = locked(make_xlsx(tmp_path / "a.xlsx"), "VelvetSweatshop")
    assert unlock_office(source, tmp_path / "open", [])


def test_a_hash_shorter_than_the_key_is_filled_up() -> None:
    key = ECMA376Agile._derive_encryption_key(b"h", b"block", "SHA1", 256)  # pyright: ignore[reportPrivateUsage]
    assert len(key) == 32
    assert key[20:] == b"\x36" * 12


def test_a_file_that_asks_for_years_of_hashing_is_not_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = locked(make_docx(tmp_path / "a.docx"), "right")
    data = source.read_bytes()
    assert data.count(b'spinCount="100000"') == 1
    source.write_bytes(
        data.replace(b'spinCount="100000"', b"spinCount=99999999 ").replace(b"=99999999 ", b'="9999999"')
    )
    called: list[object] = []
    monkeypatch.setattr(OOXMLFile, "load_key", lambda *_, **__: called.append(1))
    monkeypatch.setattr("drac_pipeline.normalize.unlock._MAX_SPINS", 9_999_998)
    assert not unlock_office(source, tmp_path / "open", ["right"])
    assert called == []


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)])
def test_broken_files_are_no_crash(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a").write_bytes(data)
    assert not unlock_office(tmp_path / "a", tmp_path / "b", ["x"])
    assert not (tmp_path / "b").exists()


@pytest.mark.office
def test_encrypted_office_files_go_the_whole_way_with_a_password(tmp_path: Path, run) -> None:
    source = locked(make_docx(tmp_path / "a.docx", "inside"), "right")
    with pytest.raises(EncryptedDocument, match=r"normalize\.passwords"):
        run(source, passwords=["wrong"])
    done = run(source, passwords=["wrong", "right"])
    assert pdf_text(done.pdf) == "inside"
    assert (done.format, done.own_format, done.warnings) == ("docx", "docx", ["opened with a password"])
    assert done.own is not None
    with zipfile.ZipFile(io.BytesIO(done.own.read_bytes())) as z:
        assert b"inside" in z.read("word/document.xml")


@pytest.mark.office
def test_an_encrypted_workbook_is_read_decrypted(tmp_path: Path, run) -> None:
    done = run(locked(make_xlsx(tmp_path / "a.xlsx"), "right"), passwords=["right"])
    assert done.own is not None
    assert (done.own_format, zipfile.is_zipfile(done.own)) == ("xlsx", True)
