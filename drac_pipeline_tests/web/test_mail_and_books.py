"""E-mail and EPUB to Markdown."""

from __future__ import annotations

import io
import zipfile
from email.message import EmailMessage

import pytest

from drac_pipeline.config import ConvertConfig
from drac_pipeline.errors import CorruptDocument, EmptyDocument
from drac_pipeline.web import convert_eml, convert_epub


def mail(html: str = "") -> bytes:
    out = EmailMessage()
    out["From"] = "Jörg Müller <jm@example.org>"
    out["To"] = "pumps@example.org"
    out["Subject"] = "Druck überschritten"
    out.set_content("Guten Tag,\n\n- sechs bar\n- zu viel\n")
    if html:
        out.add_alternative(html, subtype="html")
    out.add_attachment(b"x,y", maintype="text", subtype="csv", filename="log.csv")
    return out.as_bytes()


HEAD = """# Druck überschritten

From: Jörg Müller <jm@example.org>
To: pumps@example.org
Attachments: log.csv
"""


def test_plain_mail() -> None:
    done = convert_eml(mail(), ConvertConfig())
    assert done.markdown == HEAD + "\nGuten Tag,\n\n- sechs bar\n- zu viel\n"
    assert done.report.warnings == ["attachment not read: log.csv"]


def test_html_mail_keeps_its_tables_and_drops_what_is_hidden() -> None:
    html = """<div style="display:none">Preview</div><table><tr><th>Bar<th>Max<tr><td>6<td>5</table>
    <script>x()</script><p>Gruß</p>"""
    done = convert_eml(mail(html), ConvertConfig())
    assert done.markdown == HEAD + "\nBar: 6; Max: 5.\n\nGruß\n"
    assert [(d.text, d.reason) for d in done.report.dropped] == [("Preview", "hidden")]


def test_odd_mail() -> None:
    with pytest.raises(EmptyDocument):
        convert_eml(b"From: x\n\n", ConvertConfig())
    assert "body" in convert_eml(b"From: x\nDate: never\n\nbody", ConvertConfig()).markdown


CONTAINER = '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
PACKAGE = """<package><manifest><item id="a" href="one.xhtml"/><item id="b" href="two.xhtml"/>
<item id="c" href="gone.xhtml"/></manifest>
<spine><itemref idref="b"/><itemref idref="a"/><itemref idref="c"/></spine></package>"""


def book(**more: str) -> bytes:
    out = io.BytesIO()
    members = {
        "META-INF/container.xml": CONTAINER,
        "OEBPS/book.opf": PACKAGE,
        "OEBPS/one.xhtml": '<?xml version="1.0"?><html><head><title/></head><body><h1>One</h1></body></html>',
        "OEBPS/two.xhtml": "<html><body><h1>Two</h1><nav>stays</nav><img src='p' alt='red'/></body></html>",
    }
    with zipfile.ZipFile(out, "w") as z:
        for name, text in (members | more).items():
            z.writestr(name, text)
    return out.getvalue()


def test_chapters_come_in_the_order_of_the_spine() -> None:
    done = convert_epub(book(), ConvertConfig())
    assert done.markdown == "# Two\n\nstays\n\n# One\n"
    assert [d.text for d in done.report.dropped] == ["red"]
    assert done.report.warnings == ["chapters that are not in the file: OEBPS/gone.xhtml"]


@pytest.mark.parametrize("data", [book()[:300], b"PK\x03\x04", book(**{"OEBPS/book.opf": "<broken"})])
def test_broken_books(data: bytes) -> None:
    with pytest.raises(CorruptDocument):
        convert_epub(data, ConvertConfig())
