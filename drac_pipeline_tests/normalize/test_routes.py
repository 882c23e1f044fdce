"""Each format takes its route, and each way to fail has its type, cause and remedy."""

from __future__ import annotations

import pickle
import zipfile
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from drac_pipeline.config import NormalizeConfig
from drac_pipeline.errors import (
    CorruptDocument,
    DocumentError,
    DocumentTooLarge,
    EmptyDocument,
    EncryptedDocument,
    MissingTool,
    SourceChanged,
    UnsupportedDocument,
)
from drac_pipeline.model import SourceDocument
from drac_pipeline.normalize import normalize, normalize_many
from drac_pipeline_tests.normalize.conftest import (
    make_docx,
    make_ole,
    make_pptx,
    make_xlsx,
    make_zip,
    pdf_text,
)

AES_256 = 5  # PDF_ENCRYPT_AES_256


def save_pdf(path: Path, text: str = "Words", pages: int = 1, **options: Any) -> Path:
    doc = pymupdf.open()
    for n in range(pages):
        doc.new_page().insert_text((72, 72), f"{text} {n + 1}")
    doc.save(path, **options)
    return path


def test_a_pdf_passes_through_byte_for_byte(tmp_path: Path, run) -> None:
    path = save_pdf(tmp_path / "a.pdf", pages=3)
    done = run(path)
    assert (done.route, done.format, done.pages, done.warnings) == ("pass-through", "pdf", 3, [])
    assert done.pdf.read_bytes() == path.read_bytes()
    assert done.pdf.is_relative_to(tmp_path / "work")


def test_an_owner_password_is_no_obstacle(tmp_path: Path, run) -> None:
    path = save_pdf(tmp_path / "a.pdf", encryption=AES_256, owner_pw="boss", permissions=0)
    done = run(path)
    assert done.pdf.read_bytes() == path.read_bytes()


def test_a_user_password_is_asked_for_and_taken_from_the_settings(tmp_path: Path, run) -> None:
    path = save_pdf(tmp_path / "a.pdf", encryption=AES_256, owner_pw="boss", user_pw="pass")
    with pytest.raises(EncryptedDocument) as caught:
        run(path)
    assert caught.value.key == "a.pdf"
    assert "normalize.passwords" in caught.value.remedy
    done = run(path, passwords=["wrong", "pass"])
    assert pdf_text(done.pdf) == "Words 1"
    assert done.warnings == ["encrypted; opened with a configured password"]


def test_one_bad_page_is_a_warning_and_no_good_page_an_error(tmp_path: Path, run) -> None:
    doc = pymupdf.open()
    for _ in range(3):
        doc.new_page().insert_text((72, 72), "fine")
    doc.xref_set_key(doc.page_xref(1), "Parent", "null")
    doc.xref_set_key(doc.page_xref(1), "Type", "/Nonsense")
    doc.xref_set_key(doc.page_xref(1), "MediaBox", "[0 0 0 0]")
    doc.save(tmp_path / "a.pdf")
    assert run(tmp_path / "a.pdf").pages >= 2
    (tmp_path / "b.pdf").write_bytes(b"%PDF-1.4\n1 0 obj <</Type/Catalog>> endobj\ntrailer <</Root 1 0 R>>")
    with pytest.raises(CorruptDocument):
        run(tmp_path / "b.pdf")


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("a.pdf", b"", EmptyDocument),
        ("a.docx", b"", EmptyDocument),
        ("a.pdf", b"%PDF-1.7\nnothing of use", CorruptDocument),
        ("a.txt", b" \n\t\n", EmptyDocument),
        ("a.zip", b"PK\x05\x06" + bytes(18), UnsupportedDocument),
        ("a.bin", bytes(range(256)), UnsupportedDocument),
        ("a.docx", b"PK\x03\x04 word/ and then nothing", CorruptDocument),
        ("a.png", b"\x89PNG\r\n\x1a\n and then nothing", CorruptDocument),
        ("a.doc", bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600), CorruptDocument),
    ],
)
def test_bad_files_have_typed_errors(
    tmp_path: Path, run, name: str, content: bytes, error: type[DocumentError]
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(error) as caught:
        run(tmp_path / name)
    assert type(caught.value) is error
    assert (caught.value.key, caught.value.stage) == (name, "normalize")
    assert caught.value.cause
    assert caught.value.remedy
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_limits(tmp_path: Path, run) -> None:
    with pytest.raises(DocumentTooLarge, match="max_bytes"):
        run(save_pdf(tmp_path / "a.pdf"), max_bytes=100)
    with pytest.raises(DocumentTooLarge, match="max_unpacked_bytes"):
        run(make_docx(tmp_path / "a.docx"), max_unpacked_bytes=1000)


def test_a_file_that_changed_since_its_fingerprint_is_not_read(tmp_path: Path) -> None:
    path = save_pdf(tmp_path / "a.pdf")
    document = SourceDocument("a.pdf", path, "0" * 64, path.stat().st_size)
    with pytest.raises(SourceChanged):
        normalize(document, tmp_path / "work", NormalizeConfig())
    path.unlink()
    with pytest.raises(SourceChanged):
        normalize(document, tmp_path / "work", NormalizeConfig())


@pytest.mark.office
@pytest.mark.parametrize("make", [make_docx, make_xlsx, make_pptx])
def test_office_files(tmp_path: Path, run, make) -> None:
    kind = make.__name__.removeprefix("make_")
    path = make(tmp_path / f"in.{kind}")
    done = run(path)
    assert (done.route, done.format, done.pages) == ("libreoffice", kind, 1)
    assert done.tool.startswith("LibreOffice ")
    expected = {"docx": "A paragraph of the document.", "xlsx": "Bolt", "pptx": "A slide"}
    assert expected[kind] in pdf_text(done.pdf)


@pytest.mark.office
def test_a_wrong_extension_is_handled_and_reported(tmp_path: Path, run) -> None:
    done = run(make_docx(tmp_path / "in.docx").rename(tmp_path / "in.xls"))
    assert done.format == "docx"
    assert done.warnings == ["named as xls, is docx"]


@pytest.mark.office
def test_encrypted_and_broken_office_files(tmp_path: Path, run) -> None:
    with pytest.raises(EncryptedDocument, match="password"):
        run(make_ole(tmp_path / "a.docx", {"EncryptionInfo": b"x", "EncryptedPackage": b"y"}))
    good = make_docx(tmp_path / "good.docx")
    with zipfile.ZipFile(good) as z:
        members = {n: z.read(n) for n in z.namelist()}
    members["word/document.xml"] = members["word/document.xml"][:200]
    with pytest.raises(CorruptDocument):
        run(make_zip(tmp_path / "b.docx", members))


def test_xml_entities_in_an_office_file_are_refused(tmp_path: Path, run) -> None:
    with zipfile.ZipFile(make_docx(tmp_path / "good.docx")) as z:
        members = {n: z.read(n) for n in z.namelist()}
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>'
    members["word/document.xml"] = members["word/document.xml"].replace(b"?>", b"?>" + bomb, 1)
    with pytest.raises(CorruptDocument, match="entities"):
        run(make_zip(tmp_path / "bomb.docx", members))


@pytest.mark.browser
@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.html", "<h1>Title</h1><p>Grüße", "Title Grüße"),
        ("a.md", "# Title\n\nSome *fine* words.", "Title Some fine words."),
        ("a.txt", "One line\nand another.", "One line and another."),
        ("a.csv", "Name;Amount\nBolt;12", "Name Amount Bolt 12"),
    ],
)
def test_pages_are_printed(tmp_path: Path, run, name: str, content: str, expected: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    done = run(tmp_path / name)
    assert done.route == "browser"
    assert "Chrom" in done.tool
    assert pdf_text(done.pdf) == expected


@pytest.mark.office
def test_a_long_table_is_printed_by_libreoffice_with_its_header_on_each_page(tmp_path: Path, run) -> None:
    lines = ["Part,Place,Note"] + [f"part {n},shelf {n % 7},a < b & c" for n in range(4000)]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    done = run(tmp_path / "a.csv")
    assert (done.format, done.route) == ("csv", "libreoffice")
    with pymupdf.open(done.pdf) as doc:
        pages = [" ".join(str(page.get_text()).split()) for page in doc]
    assert all(text.startswith("Part Place Note") for text in pages)
    assert f"part 3999 shelf {3999 % 7} a < b & c" in pages[-1]


@pytest.mark.office
def test_without_a_browser_libreoffice_prints_and_says_so(tmp_path: Path, run) -> None:
    (tmp_path / "a.html").write_text("<h1>Title</h1><p>Words")
    done = run(tmp_path / "a.html", browser_command="no-such-browser")
    assert done.route == "libreoffice"
    assert "no-such-browser is not installed" in done.warnings[0]
    assert pdf_text(done.pdf) == "Title Words"


def test_missing_tools_are_named_with_the_way_to_get_them(tmp_path: Path, run) -> None:
    (tmp_path / "a.html").write_text("<h1>Title</h1>")
    with pytest.raises(MissingTool, match="apt install chromium"):
        run(tmp_path / "a.html", browser_command="no-such-browser", office_command="no-such-office")
    with pytest.raises(MissingTool, match="apt install libreoffice"):
        run(make_docx(tmp_path / "a.docx"), office_command="no-such-office")


def test_many_documents_fail_each_for_itself(tmp_path: Path) -> None:
    good = save_pdf(tmp_path / "good.pdf")
    bad = tmp_path / "bad.pdf"
    bad.write_bytes(b"")
    documents = [SourceDocument(p.name, p, "", p.stat().st_size) for p in (good, bad, good)]
    results = list(normalize_many(documents, tmp_path / "work", NormalizeConfig()))
    assert [type(r).__name__ for _, r in results] == ["Normalized", "EmptyDocument", "Normalized"]
