"""E-mail and EPUB as pages."""

from __future__ import annotations

import io
from email.message import EmailMessage
from pathlib import Path

import pytest
from PIL import Image

from drac_pipeline.errors import CorruptDocument, EncryptedDocument
from drac_pipeline.normalize.epub import epub_page
from drac_pipeline.normalize.mail import mail_page
from drac_pipeline_tests.normalize.conftest import make_zip, pdf_text


def message(path: Path, *, html: str = "", encoding: str = "utf-8") -> Path:
    mail = EmailMessage()
    mail["From"] = "Jörg Müller <jm@example.org>"
    mail["To"] = "pumps@example.org"
    mail["Subject"] = "Druck überschritten"
    mail.set_content("Der Druck überschreitet 6 bar.\n\nBitte <prüfen>.", charset=encoding)
    if html:
        mail.add_alternative(html, subtype="html")
    mail.add_attachment(b"x,y", maintype="text", subtype="csv", filename="log.csv")
    path.write_bytes(mail.as_bytes())
    return path


@pytest.mark.parametrize("encoding", ["utf-8", "iso-8859-1"])
def test_plain_mail(tmp_path: Path, encoding: str) -> None:
    mail = mail_page(message(tmp_path / "a.eml", encoding=encoding))
    for text in (
        "<h1>Druck überschritten</h1>",
        "Jörg Müller",
        "überschreitet 6 bar",
        "&lt;prüfen&gt;",
        "log.csv",
    ):
        assert text in mail.html
    assert mail.taken == ["plain text body"]
    assert mail.left_out == ["attachment log.csv"]


def test_html_mail_is_sanitized(tmp_path: Path) -> None:
    html = (
        '<html><body><p>Hallo <b>alle</b></p><img src="http://evil.example/t.gif"><script>x()</script></body>'
    )
    mail = mail_page(message(tmp_path / "a.eml", html=html))
    assert "<p>Hallo <b>alle</b></p>" in mail.html
    assert "evil.example" not in mail.html
    assert "x()" not in mail.html
    assert mail.taken == ["HTML body"]


@pytest.mark.parametrize(
    "data", [b"From: x\n\n", b"From: x\nSubject: =?utf-8?q?=ZZ?=\nDate: never\n\nbody", b"\xff\xfe: 1"]
)
def test_odd_mail_is_no_crash(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.eml").write_bytes(data)
    assert "<body>" in mail_page(tmp_path / "a.eml").html


CONTAINER = '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
PACKAGE = """<package xmlns:dc="http://purl.org/dc/elements/1.1/">
<metadata><dc:title>Pumps &amp; tanks</dc:title></metadata>
<manifest><item id="n" href="nav.xhtml" properties="nav"/><item id="b" href="text/two%20b.xhtml"/>
<item id="a" href="text/one.xhtml"/><item id="x" href="text/gone.xhtml"/></manifest>
<spine><itemref idref="n"/><itemref idref="a"/><itemref idref="b"/><itemref idref="x"/></spine></package>"""


def book(path: Path, **more: str) -> Path:
    picture = io.BytesIO()
    Image.new("RGB", (4, 4), "red").save(picture, "PNG")
    chapter = "<html xmlns='h'><body><h1>{}</h1><img src='../p.png' alt='red'/></body></html>"
    members: dict[str, bytes | str] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OEBPS/book.opf": PACKAGE,
        "OEBPS/nav.xhtml": "<html><body>contents</body></html>",
        "OEBPS/text/one.xhtml": chapter.format("First"),
        "OEBPS/text/two b.xhtml": chapter.format("Second"),
        "OEBPS/p.png": picture.getvalue(),
    }
    return make_zip(path, members | more)


def test_chapters_come_in_the_order_of_the_spine(tmp_path: Path) -> None:
    html, warnings = epub_page(book(tmp_path / "a.epub"))
    assert html.index("First") < html.index("Second")
    assert "contents" not in html
    assert "<title>Pumps &amp; tanks</title>" in html
    assert html.count("data:image/png;base64,") == 2
    assert warnings == ["chapters that are not in the file: OEBPS/text/gone.xhtml"]


def test_broken_and_protected_books(tmp_path: Path, run) -> None:
    with pytest.raises(CorruptDocument):
        epub_page(book(tmp_path / "a.epub", **{"OEBPS/book.opf": "<broken"}))
    rights = '<encryption><CipherReference URI="OEBPS/text/one.xhtml"/></encryption>'
    with pytest.raises(EncryptedDocument):
        run(book(tmp_path / "b.epub", **{"META-INF/encryption.xml": rights}))


@pytest.mark.browser
def test_both_are_printed(tmp_path: Path, run) -> None:
    done = run(book(tmp_path / "a.epub"))
    assert (done.format, done.route, pdf_text(done.pdf)) == ("epub", "browser", "First Second")
    done = run(message(tmp_path / "a.eml"))
    assert (done.format, done.left_out) == ("eml", ["attachment log.csv"])
    assert "Der Druck überschreitet 6 bar." in pdf_text(done.pdf)
