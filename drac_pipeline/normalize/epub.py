"""EPUB as one HTML page: the chapters of its spine, in their order."""

from __future__ import annotations

import base64
import html
import posixpath
import re
import urllib.parse
import zipfile
from dataclasses import dataclass
from pathlib import Path

from drac_pipeline.errors import CorruptDocument, EmptyDocument
from drac_pipeline.normalize.charset import decode_text
from drac_pipeline.normalize.ooxml import parse_part
from drac_pipeline.normalize.sanitize import page, sanitize_html

_MAX_PICTURE = 20_000_000
_PICTURE = re.compile(r"""(<(?:img|image)\b[^>]*?(?:src|href)\s*=\s*)(["'])([^"']+)\2""", re.I)
_TYPES = {".png": "png", ".jpg": "jpeg", ".jpeg": "jpeg", ".gif": "gif", ".webp": "webp"}


def epub_page(source: Path) -> tuple[str, list[str]]:
    """The book in the file `source` as a page, and warnings about chapters that are missing.

    Raises CorruptDocument without a readable spine, EmptyDocument without a chapter.
    """
    with zipfile.ZipFile(source) as z:
        book = read_spine(z)
        bodies = [_chapter(z, book.names, name) for name in book.chapters]
    title = html.escape(book.title or source.stem)
    return page(title, '<hr style="visibility:hidden">'.join(bodies)), book.warnings()


@dataclass(frozen=True, slots=True)
class Spine:
    """A book's title, its chapters' names in reading order, all names, and those that are missing."""

    title: str
    chapters: list[str]
    names: set[str]
    missing: list[str]

    def warnings(self) -> list[str]:
        return [f"chapters that are not in the file: {', '.join(self.missing[:5])}"] if self.missing else []


def read_spine(z: zipfile.ZipFile) -> Spine:
    """Raises CorruptDocument without a readable spine, EmptyDocument without a chapter."""
    names = set(z.namelist())
    package_path, package = _package(z, names)
    base = posixpath.dirname(package_path)
    manifest = {i.get("id"): i for i in package.iter("{*}item")}
    chapters, missing = [], []
    for reference in package.iter("{*}itemref"):
        item = manifest.get(reference.get("idref"))
        if item is None or reference.get("linear") == "no" or "nav" in (item.get("properties") or "").split():
            continue
        name = posixpath.normpath(posixpath.join(base, urllib.parse.unquote(item.get("href", ""))))
        (chapters if name in names else missing).append(name)
    title = (package.findtext(".//{http://purl.org/dc/elements/1.1/}title") or "").strip()
    if not chapters:
        raise EmptyDocument("the book has no chapters", remedy="Export it again.")
    return Spine(title, chapters, names, missing)


def _package(z: zipfile.ZipFile, names: set[str]):
    container = parse_part(z.read("META-INF/container.xml")) if "META-INF/container.xml" in names else None
    rootfile = next(container.iter("{*}rootfile"), None) if container is not None else None
    path = rootfile.get("full-path", "") if rootfile is not None else ""
    package = parse_part(z.read(path)) if path in names else None
    if package is None:
        raise CorruptDocument("the book has no readable table of its parts", remedy="Export it again.")
    return path, package


def _chapter(z: zipfile.ZipFile, names: set[str], name: str) -> str:
    decoded = decode_text(z.read(name))
    text = decoded.text if decoded else ""
    folder = posixpath.dirname(name)

    def inline(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, urllib.parse.unquote(match.group(3))))
        kind = _TYPES.get(posixpath.splitext(target)[1].lower())
        if target not in names or not kind or z.getinfo(target).file_size > _MAX_PICTURE:
            return match.group()
        data = base64.b64encode(z.read(target)).decode()
        return f"{match.group(1)}{match.group(2)}data:image/{kind};base64,{data}{match.group(2)}"

    clean = sanitize_html(_PICTURE.sub(inline, text)).html
    return clean.partition("<body")[2].partition(">")[2].rpartition("</body>")[0]
