"""The format is told by content; names only decide between kinds of plain text."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import pymupdf
import pytest
from PIL import Image

from drac_pipeline.normalize import sniff
from drac_pipeline.normalize.detect import flat_kind
from drac_pipeline_tests.normalize.conftest import make_docx, make_ole, make_pptx, make_xlsx, make_zip

ODF = "application/vnd.oasis.opendocument."


@pytest.mark.parametrize(
    ("make", "expected"), [(make_docx, "docx"), (make_xlsx, "xlsx"), (make_pptx, "pptx")]
)
def test_office_files_under_any_name(tmp_path: Path, make, expected: str) -> None:
    path = make(tmp_path / f"right.{expected}")
    assert (sniff(path).format, sniff(path).wrong_extension, sniff(path).family) == (
        expected,
        False,
        "office",
    )
    wrong = path.rename(tmp_path / "wrong.pdf")
    assert (sniff(wrong).format, sniff(wrong).declared, sniff(wrong).wrong_extension) == (
        expected,
        "pdf",
        True,
    )
    bare = wrong.rename(tmp_path / "no extension")
    assert (sniff(bare).format, sniff(bare).wrong_extension) == (expected, False)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "WEBP", "GIF", "BMP"])
def test_images(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "picture"
    Image.new("RGB", (8, 8), "red").save(path, kind)
    assert (sniff(path).format, sniff(path).family) == (kind.lower(), "image")


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.txt", b"plain words", "text"),
        ("a", b"plain words", "text"),
        ("a.md", b"# Title\n\nText", "markdown"),
        ("a.csv", b"a,b\n1,2", "csv"),
        ("a.tsv", b"a\tb\n1\t2", "csv"),
        ("a.md", b"<div align=center>\n# Title\n</div>", "markdown"),
        ("a.html", b"<p>fragment</p>", "html"),
        ("a.txt", b"\xef\xbb\xbf<!DOCTYPE html><html><p>x</html>", "html"),
        ("a.htm", "<html><p>x</p></html>".encode("utf-16"), "html"),
        ("a", b'<?xml version="1.0"?><html xmlns="x"><p/></html>', "html"),
        ("a", b'<?xml version="1.0"?><!-- c --><svg/>', "svg"),
        ("a.xml", b'<?xml version="1.0"?><invoice/>', "xml"),
        ("a.fodt", b'<?xml version="1.0"?><office:document xmlns:office="u"/>', "fodf"),
        ("a.eml", b"From: a@b.c\nSubject: x\n\nbody", "eml"),
        ("a.txt", b"Received: x\n by y\nMIME-Version: 1.0\n\nbody", "eml"),
        ("a.txt", b"Note: this\nSubject: that\n\nbody", "text"),
        ("a.rtf", b"{\\rtf1 x}", "rtf"),
        ("a.doc", b"{\\rtf1 x}", "rtf"),
        ("a.pdf", b"junk before %PDF-1.4", "pdf"),
        ("a.bin", bytes(range(256)) * 4, "unknown"),
        ("a.zip", b"Rar!\x1a\x07\x00", "archive"),
        ("a.heic", b"\0\0\0\x18ftypheic", "heic"),
        ("a.pdf", b"", "empty"),
    ],
)
def test_other_content(tmp_path: Path, name: str, content: bytes, expected: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert sniff(path).format == expected


@pytest.mark.parametrize(
    ("kind", "expected"), [("text", "odt"), ("spreadsheet", "ods"), ("presentation-template", "odp")]
)
def test_open_document(tmp_path: Path, kind: str, expected: str) -> None:
    plain = make_zip(tmp_path / "a", {"mimetype": ODF + kind, "content.xml": "<x/>"})
    assert (sniff(plain).format, sniff(plain).encrypted, sniff(plain).corrupt) == (expected, False, "")
    manifest = "<manifest><encryption-data/></manifest>"
    locked = make_zip(
        tmp_path / "b", {"mimetype": ODF + kind, "content.xml": "?", "META-INF/manifest.xml": manifest}
    )
    assert (sniff(locked).format, sniff(locked).encrypted) == (expected, True)
    assert "content.xml" in sniff(make_zip(tmp_path / "c", {"mimetype": ODF + kind})).corrupt


def test_epub_with_obfuscated_fonts_is_not_locked(tmp_path: Path) -> None:
    base = {"mimetype": "application/epub+zip", "META-INF/container.xml": "<x/>"}
    fonts = make_zip(tmp_path / "a", base | {"META-INF/encryption.xml": '<CipherReference URI="f.otf"/>'})
    text = make_zip(tmp_path / "b", base | {"META-INF/encryption.xml": '<CipherReference URI="c1.xhtml"/>'})
    assert [(sniff(p).format, sniff(p).encrypted) for p in (fonts, text)] == [("epub", False), ("epub", True)]


def test_broken_containers(tmp_path: Path) -> None:
    whole = make_docx(tmp_path / "whole.docx").read_bytes()
    cut = tmp_path / "cut.docx"
    cut.write_bytes(whole[: len(whole) // 2])
    assert (sniff(cut).format, bool(sniff(cut).corrupt)) == ("docx", True)
    cut = cut.rename(tmp_path / "cut")
    assert bool(sniff(cut).corrupt)
    hollow = make_zip(tmp_path / "hollow.xlsx", {"[Content_Types].xml": "<Types/>"})
    assert "no main document part" in sniff(hollow).corrupt
    types = (
        '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument'
        '.wordprocessingml.document.main+xml"/>'
    )
    missing = make_zip(tmp_path / "missing.docx", {"[Content_Types].xml": types})
    assert "word/document.xml is missing" in sniff(missing).corrupt
    assert sniff(make_zip(tmp_path / "plain.zip", {"a.txt": "x"})).format == "zip"


def test_legacy_and_encrypted_office(tmp_path: Path) -> None:
    def found(**streams: bytes):
        result = sniff(make_ole(tmp_path / "file", {n.replace("_", " "): s for n, s in streams.items()}))
        return result.format, result.encrypted

    fib = bytearray(64)
    assert found(WordDocument=bytes(fib)) == ("doc", False)
    fib[11] = 1
    assert found(WordDocument=bytes(fib)) == ("doc", True)
    bof = struct.pack("<HHHH", 0x809, 4, 0x600, 5)
    assert found(Workbook=bof + struct.pack("<HH", 0x42, 2) + b"\0\0") == ("xls", False)
    assert found(Workbook=bof + struct.pack("<HH", 0x2F, 6) + bytes(6)) == ("xls", True)
    assert found(PowerPoint_Document=b"x", Current_User=bytes(16)) == ("ppt", False)
    token = bytes(12) + struct.pack("<I", 0xF3D1C4DF)
    assert found(PowerPoint_Document=b"x", Current_User=token) == ("ppt", True)
    assert found(EncryptionInfo=b"x", EncryptedPackage=b"y") == ("ooxml", True)


def test_hostile_ole_structures_end(tmp_path: Path) -> None:
    good = make_ole(tmp_path / "a.doc", {"WordDocument": b"x"}).read_bytes()
    assert not sniff(tmp_path / "a.doc").corrupt
    (tmp_path / "cut.doc").write_bytes(
        good[:-600]
    )  # the directory is whole, the end of the text is not there
    assert "cut off" in sniff(tmp_path / "cut.doc").corrupt
    for at in range(24, 80, 2):
        for value in (b"\0\0", b"\xff\xff", b"\x01\x00"):
            (tmp_path / "b.doc").write_bytes(good[:at] + value + good[at + 2 :])
            sniff(tmp_path / "b.doc")
    for length in (8, 100, 511, 512, 700, 1100):
        (tmp_path / "b.doc").write_bytes(good[:length])
        assert sniff(tmp_path / "b.doc").corrupt


def test_a_pdf_is_a_pdf(tmp_path: Path) -> None:
    doc = pymupdf.open()
    doc.new_page()
    buffer = io.BytesIO()
    doc.save(buffer)
    path = tmp_path / "letter.docx"
    path.write_bytes(buffer.getvalue())
    assert (sniff(path).format, sniff(path).wrong_extension) == ("pdf", True)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("text", "odt"),
        ("spreadsheet", "ods"),
        ("presentation", "odp"),
        ("graphics-template", "odg"),
        ("x", "odt"),
    ],
)
def test_a_flat_file_says_what_it_holds(tmp_path: Path, kind: str, expected: str) -> None:
    (tmp_path / "a.xml").write_text(
        f'<office:document office:mimetype="application/vnd.oasis.opendocument.{kind}"></office:document>'
    )
    assert flat_kind(tmp_path / "a.xml") == expected
