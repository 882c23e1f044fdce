"""An OOXML file as parts: XML by name, relations of a part."""

from __future__ import annotations

import posixpath
import re
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from drac_pipeline.errors import CorruptDocument, DocumentTooLarge
from drac_pipeline.normalize.ooxml import parse_part

Node = Any  # lxml's elements; their type has no useful stubs

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
DGM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
V = "{urn:schemas-microsoft-com:vml}"

MAX_PART = 256 << 20  # of XML, which takes some ten times as much memory once parsed

# files written to the strict form of the standard have namespaces of their own
_STRICT = re.compile(
    rb"http://purl\.oclc\.org/ooxml/(officeDocument|wordprocessingml|drawingml|presentationml)/"
)
_STRICT_TO = rb"http://schemas.openxmlformats.org/\1/2006/"


@dataclass(slots=True)
class Relation:
    """Where a relation of a part leads; `kind` is the last word of its type."""

    kind: str
    target: str


@dataclass
class Package:
    """The parts of the file at `path`, read when asked for."""

    path: Path
    _names: dict[str, str] = field(default_factory=dict)
    _zip: zipfile.ZipFile | None = None

    def __enter__(self) -> Package:
        self._zip = zipfile.ZipFile(self.path)
        # writers do not agree on slashes and case
        self._names = {_plain(n): n for n in self._zip.namelist()}
        return self

    def __exit__(self, *_: object) -> None:
        if self._zip is not None:
            self._zip.close()

    def part(self, name: str) -> Node | None:
        """The XML of a part, None where it is absent or not well-formed. Raises DocumentTooLarge."""
        found = self._names.get(_plain(name))
        if found is None or self._zip is None:
            return None
        if self._zip.getinfo(found).file_size > MAX_PART:
            raise DocumentTooLarge(f"{name} unpacks to more than {MAX_PART >> 20} MB", remedy="Split it.")
        data = _STRICT.sub(_STRICT_TO, self._zip.read(found))
        return parse_part(data)

    def relations(self, name: str) -> dict[str, Relation]:
        """The relations of the part `name` by their id; "" stands for the file itself."""
        folder, file = posixpath.split(name)
        root = self.part(posixpath.join(folder, "_rels", f"{file}.rels"))
        out: dict[str, Relation] = {}
        for node in root if root is not None else ():
            if not isinstance(node.tag, str) or node.get("TargetMode") == "External":
                continue
            target = (node.get("Target") or "").replace("\\", "/")
            target = posixpath.normpath(target if target.startswith("/") else posixpath.join(folder, target))
            kind = (node.get("Type") or "").rpartition("/")[2]
            out[node.get("Id") or ""] = Relation(kind, target.lstrip("/"))
        return out

    def main(self) -> str:
        """The name of the part that the document begins with. Raises CorruptDocument."""
        for relation in self.relations("").values():
            if relation.kind == "officeDocument":
                return relation.target
        raise CorruptDocument("the file does not say which of its parts is the document")


def _plain(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").casefold()


def chosen(node: Node) -> Node | None:
    """Of content given twice, for old readers and new (mc:AlternateContent), the one to read."""
    choices = [*node.findall(f"{MC}Choice"), *node.findall(f"{MC}Fallback")]
    for choice in choices:
        if next(choice.iter(f"{W}t", f"{A}t", f"{DGM}relIds", f"{C}chart"), None) is not None:
            return choice
    return choices[0] if choices else None


def is_on(node: Node | None, namespace: str = W) -> bool | None:
    """A property that is on or off; None where it is not given."""
    if node is None:
        return None
    return (node.get(f"{namespace}val") or "true").lower() not in ("0", "false", "off", "none")


def whole(value: str | None, default: int = 0) -> int:
    """An attribute as a whole number."""
    try:
        return int(float(value or ""))
    except (ValueError, OverflowError):
        return default
