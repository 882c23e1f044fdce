"""Hostile documents: nothing is fetched, nothing beside the document is read.

A server on the loopback interface and a file next to the document are the canaries.
Each is tried with the empty network namespace switched off, so that the other
defences are seen to hold by themselves.
"""

from __future__ import annotations

import http.server
import re
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pymupdf
import pytest
from PIL import Image

from drac_pipeline.normalize import office, process
from drac_pipeline.normalize.browser import Browser, find_browser
from drac_pipeline.normalize.office import OfficeConverter
from drac_pipeline.normalize.sanitize import page, sanitize_html
from drac_pipeline_tests.normalize.conftest import pdf_text

ODF = (
    '<?xml version="1.0" encoding="UTF-8"?><office:document'
    ' xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"'
    ' xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
    ' xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"'
    ' xmlns:xlink="http://www.w3.org/1999/xlink"'
    ' xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"'
    ' office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.text">'
    "<office:body><office:text><text:p>shown</text:p>{}</office:text></office:body></office:document>"
)
PICTURE = (
    '<text:p><draw:frame text:anchor-type="as-char" svg:width="5cm" svg:height="5cm"><draw:image'
    ' xlink:href="{}" xlink:type="simple" xlink:show="embed" xlink:actuate="onLoad"/></draw:frame></text:p>'
)
SECTION = (
    '<text:section text:name="s"><text:section-source xlink:href="{}" xlink:type="simple"/>'
    "<text:p>old</text:p></text:section>"
)


REAL_PREFIX = process.no_network_prefix


class Canary:
    """An HTTP server that notes what is asked of it."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        canary = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                canary.asked.append(self.path)
                self.send_response(404)
                self.end_headers()

            do_HEAD = do_OPTIONS = do_PROPFIND = do_POST = do_GET

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def canary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Canary]:
    """The server, with the network namespace switched off."""
    monkeypatch.setattr(process, "no_network_prefix", lambda: ())
    canary = Canary()
    yield canary
    canary.server.shutdown()
    canary.server.server_close()


@pytest.fixture
def red(tmp_path: Path) -> Path:
    """A red picture that must not show."""
    path = tmp_path / "secret.png"
    Image.new("RGB", (300, 300), (255, 0, 0)).save(path)
    return path


def shows_red(pdf: Path) -> bool:
    with pymupdf.open(pdf) as doc:
        samples = [page.get_pixmap(dpi=30, alpha=False).samples for page in doc]
    return any(bytes((255, 0, 0)) in {s[i : i + 3] for i in range(0, len(s), 3)} for s in samples)


def linked_docx(path: Path, target: str, red: Path) -> None:
    """A DOCX whose picture is a link to `target`."""
    import docx

    document = docx.Document()
    document.add_paragraph("shown")
    document.add_picture(str(red))
    document.save(str(path))
    with zipfile.ZipFile(path) as z:
        members = {n: z.read(n) for n in z.namelist() if not n.startswith("word/media")}
    rels = members["word/_rels/document.xml.rels"].decode()
    rels = re.sub(r'Target="media/[^"]+"', f'Target="{target}" TargetMode="External"', rels)
    members["word/_rels/document.xml.rels"] = rels.encode()
    members["word/document.xml"] = members["word/document.xml"].replace(b"r:embed=", b"r:link=")
    with zipfile.ZipFile(path, "w") as z:
        for name, data in members.items():
            z.writestr(name, data)


@pytest.fixture(scope="module")
def converter() -> Iterator[OfficeConverter]:
    """One LibreOffice for the tests that want our profile, with the network namespace switched off."""
    converter = OfficeConverter()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process, "no_network_prefix", lambda: ())
        yield converter
        converter.close()


@pytest.fixture
def to_pdf(tmp_path: Path, converter: OfficeConverter) -> Callable[[Path], Path]:
    return lambda path: converter.convert(path, tmp_path / "out")


@pytest.mark.office
def test_the_detectors_detect(
    tmp_path: Path, canary: Canary, red: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without our profile the network is reached, and an embedded red picture is seen."""
    import docx

    monkeypatch.setattr(office, "write_profile", lambda folder: (folder / "user").mkdir(parents=True))
    bare = OfficeConverter()
    linked_docx(tmp_path / "a.docx", f"{canary.url}/x.png", red)
    bare.convert(tmp_path / "a.docx", tmp_path / "out")
    assert "/x.png" in canary.asked
    document = docx.Document()
    document.add_picture(str(red))
    document.save(str(tmp_path / "b.docx"))
    assert shows_red(bare.convert(tmp_path / "b.docx", tmp_path / "out"))
    bare.close()


@pytest.mark.office
def test_office_files_fetch_nothing(tmp_path: Path, canary: Canary, red: Path, to_pdf) -> None:
    linked_docx(tmp_path / "a.docx", f"{canary.url}/a.png", red)
    (tmp_path / "b.fodt").write_text(ODF.format(PICTURE.format(f"{canary.url}/b.png")))
    (tmp_path / "c.fodt").write_text(ODF.format(SECTION.format(f"{canary.url}/c.odt")))
    for name in ("a.docx", "b.fodt", "c.fodt"):
        assert "shown" in pdf_text(to_pdf(tmp_path / name))
    assert canary.asked == []


@pytest.mark.office
@pytest.mark.usefixtures("canary")
def test_office_files_read_no_other_file(tmp_path: Path, red: Path, to_pdf) -> None:
    text = tmp_path / "secret.txt"
    text.write_text("CANARY")
    linked_docx(tmp_path / "a.docx", red.as_uri(), red)
    (tmp_path / "b.fodt").write_text(ODF.format(PICTURE.format(red.as_uri())))
    (tmp_path / "c.fodt").write_text(ODF.format(SECTION.format(text.as_uri())))
    (tmp_path / "d.rtf").write_text(
        r"{\rtf1 shown {\field{\*\fldinst INCLUDETEXT \"" + str(text) + r"\"}{\fldrslt old}}}"
    )
    for name in ("a.docx", "b.fodt", "c.fodt", "d.rtf"):
        pdf = to_pdf(tmp_path / name)
        assert "shown" in pdf_text(pdf)
        assert "CANARY" not in pdf_text(pdf)
        assert not shows_red(pdf)


HOSTILE = """<html><head>
<base href="{url}/"><meta http-equiv="refresh" content="0;url={url}/refresh">
<link rel="stylesheet" href="{url}/style.css"><link rel="prefetch" href="{url}/prefetch">
<style>@import "{url}/import.css"; body {{ background: url({url}/bg.png) }}
@font-face {{ src: u\\72l({url}/f) }}</style>
<script src="{url}/script.js"></script><script>document.write("RAN")</script></head>
<body onload="document.body.innerText='RAN'" background="{url}/body.png">
<p style="background-image: url('{url}/style.png')">shown</p>
<img src="{url}/img.png" srcset="{url}/set.png 2x" alt="a picture">
<img src="{file}" onerror="document.write('RAN')">
<iframe src="{file}"></iframe><iframe srcdoc="<script>RAN</script>"></iframe><object data="{file}"></object>
<embed src="{file}"><video poster="{url}/poster.png"><source src="{url}/v.mp4"></video>
<picture><source srcset="{url}/p.png"><img src="{url}/q.png" alt="a drawing"></picture>
<audio src="{url}/a.mp3"></audio>
<svg><script>document.write("RAN")</script><image href="{url}/svg.png"/><use href="{url}/u.svg#a"/>
<foreignObject><iframe src="{file}"></iframe></foreignObject><rect fill="url({url}/fill)"/></svg>
<a href="javascript:alert(1)" ping="{url}/ping">link</a>
<form action="{url}/form">
<input type="image" src="{url}/in.png"></form>
<table background="{url}/table.png"><tr><td>cell</td></tr></table><math><mi xlink:href="{url}/m">x</mi></math>
</body></html>"""


def print_to(target: Path, html: str) -> str:
    own = Browser(find_browser())  # one that others have started may have no network
    try:
        own.print(html, target)
    finally:
        own.close()
    return pdf_text(target)


@pytest.mark.browser
def test_pages_fetch_and_run_and_read_nothing(tmp_path: Path, canary: Canary, red: Path) -> None:
    clean = sanitize_html(HOSTILE.format(url=canary.url, file=red.as_uri()))
    text = print_to(tmp_path / "a.pdf", clean.html)
    assert canary.asked == []
    assert "RAN" not in text
    assert not shows_red(tmp_path / "a.pdf")
    for word in ("shown", "a picture", "a drawing", "link", "cell"):
        assert word in text


@pytest.mark.browser
def test_the_policy_holds_where_sanitizing_fails(tmp_path: Path, canary: Canary, red: Path) -> None:
    body = HOSTILE.format(url=canary.url, file=red.as_uri()).partition("<body")[2].partition(">")[2]
    text = print_to(
        tmp_path / "a.pdf", page("t", body.replace("<form", "<script>document.write('RAN')</script><form"))
    )
    assert "RAN" not in text
    assert not shows_red(tmp_path / "a.pdf")
    assert canary.asked == []
    assert "shown" in text


@pytest.mark.browser
def test_scripts_do_not_run_where_sanitizing_and_policy_fail(tmp_path: Path) -> None:
    html = "<!DOCTYPE html><p>shown</p><script>document.write('RAN')</script><p onclick=''>here</p>"
    assert print_to(tmp_path / "a.pdf", html) == "shown here"


def test_programs_have_no_network_where_the_system_allows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "no_network_prefix", REAL_PREFIX)  # switched off for this module's converter
    prefix = process.no_network_prefix()
    if not prefix:
        pytest.skip("this system grants no network namespace")
    done = process.run_tool(
        ["cat", "/proc/net/route"],
        cwd=tmp_path,
        log=tmp_path / "log",
        env=process.clean_environment(tmp_path, tmp_path),
        timeout=10,
        memory_bytes=10**9,
    )
    assert len(done.output.splitlines()) <= 1


def test_programs_see_none_of_our_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    assert set(process.clean_environment(tmp_path, tmp_path)) == {
        "PATH",
        "HOME",
        "TMPDIR",
        "LANG",
        "LC_ALL",
        "TZ",
    }
