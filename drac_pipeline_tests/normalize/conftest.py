"""Documents of many formats, made here, and the marks for tests that need a program."""

from __future__ import annotations

import shutil
import struct
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from drac_pipeline.config import NormalizeConfig
from drac_pipeline.errors import MissingTool
from drac_pipeline.model import SourceDocument
from drac_pipeline.normalize import Normalized, normalize
from drac_pipeline.normalize.browser import find_browser
from drac_pipeline.sources.fingerprint import hash_file


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a program that is not installed."""
    skips = {}
    if not shutil.which("soffice"):
        skips["office"] = pytest.mark.skip(reason="LibreOffice is not installed")
    try:
        find_browser()
    except MissingTool:
        skips["browser"] = pytest.mark.skip(reason="Chromium is not installed")
    for item in items:
        for name, mark in skips.items():
            if item.get_closest_marker(name):
                item.add_marker(mark)


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Normalized]:
    """Normalize the file at a path with settings given by name."""

    def call(path: Path, **settings: object) -> Normalized:
        digest, stat = hash_file(path)
        document = SourceDocument(path.name, path, digest, stat.st_size)
        return normalize(document, tmp_path / "work", NormalizeConfig.model_validate(settings))

    return call


def pdf_text(pdf: Path) -> str:
    """The text layer of all pages with single spaces."""
    import pymupdf

    with pymupdf.open(pdf) as doc:
        return " ".join(" ".join(str(page.get_text()) for page in doc).split())


def make_docx(path: Path, *paragraphs: str) -> Path:
    import docx

    document = docx.Document()
    for text in paragraphs or ("A paragraph of the document.",):
        document.add_paragraph(text)
    document.save(str(path))
    return path


def make_xlsx(path: Path, rows: list[list[object]] | None = None) -> Path:
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in rows or [["Name", "Amount"], ["Bolt", 12]]:
        sheet.append(row)
    book.save(path)
    return path


def make_pptx(path: Path, title: str = "A slide") -> Path:
    import pptx

    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[0])
    assert slide.shapes.title is not None
    slide.shapes.title.text = title
    deck.save(str(path))
    return path


def make_zip(path: Path, members: Mapping[str, bytes | str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in members.items():
            z.writestr(name, data)
    return path


def make_ole(path: Path, streams: dict[str, bytes]) -> Path:
    """A compound file with 512-byte sectors: FAT in sector 0, directory in sector 1, then the
    streams, each padded to 4,096 bytes so that none goes into the mini stream."""
    names = list(streams)[:3]  # with the root that is one directory sector
    blobs = [streams[n].ljust(4096, b"\0") for n in names]
    fat = [0xFFFFFFFD, 0xFFFFFFFE]
    starts = []
    for blob in blobs:
        starts.append(len(fat))
        count = len(blob) // 512
        fat += [len(fat) + i + 1 for i in range(count - 1)] + [0xFFFFFFFE]

    def entry(name: str, kind: int, start: int, size: int, child: int) -> bytes:
        raw = name.encode("utf-16-le") + b"\0\0"
        head = raw.ljust(64, b"\0") + struct.pack("<HBB3I", len(raw), kind, 1, 0xFFFFFFFF, 0xFFFFFFFF, child)
        return head.ljust(116, b"\0") + struct.pack("<IQ", start, size)

    directory = entry("Root Entry", 5, 0xFFFFFFFE, 0, 1)
    directory += b"".join(
        entry(n, 2, s, len(b), 0xFFFFFFFF) for n, s, b in zip(names, starts, blobs, strict=True)
    )
    header = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6)
    header += bytes(6) + struct.pack("<IIIIIIIII", 0, 1, 1, 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0)
    header += struct.pack("<I", 0) + b"\xff" * 4 * 108
    body = struct.pack(f"<{len(fat)}I", *fat).ljust(512, b"\xff") + directory.ljust(512, b"\0")
    path.write_bytes(header + body + b"".join(blobs))
    return path


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_for(condition) -> None:
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def assert_ends_with_its_worker(code: str) -> None:
    """`code` starts a program, prints its process and its folder, and waits: when it is killed, both go."""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout
        pid, _, home = worker.stdout.readline().strip().partition(" ")
        assert alive(int(pid))
        assert Path(home).is_dir()
        worker.kill()
    wait_for(lambda: not alive(int(pid)) and not Path(home).exists())
