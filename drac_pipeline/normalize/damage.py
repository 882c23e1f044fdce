"""What a damaged PDF has lost: a file that was cut off, or one whose structure had to be repaired.

A repaired file opens and prints, and what is missing of it is silent: a page whose fonts are gone
gives gibberish, one whose content is gone is blank. So the objects that its pages need are looked for.
"""

from __future__ import annotations

import mmap
import re
from dataclasses import dataclass, field
from pathlib import Path

from drac_pipeline.counted import counted
from drac_pipeline.mupdf import pymupdf

_REFERENCE = re.compile(r"(?<!\d)(\d+) \d+ R\b")
# what says where a thing belongs, how it is tagged, who made it: nothing that is shown
_ASIDE = re.compile(r"/(?:Parent|P|OC|Metadata|PieceInfo|StructParents?|Ref|Measure)\s*\d+ \d+ R\b")
_OBJECT = re.compile(rb"(\d{1,9})\s+\d{1,5}\s+obj\b")
_PAGES = re.compile(rb"/Linearized\b[^>]{0,400}?/N\s+(\d+)")
_HEAD = 2048


@dataclass(slots=True)
class Damage:
    """`cut_off`: the file ends before its end. `lost` maps a page (1-based) to what it lacks: `page`
    (it cannot be loaded), `content`, `fonts`, `pictures`. `missing` counts pages that the file should
    have and has not."""

    cut_off: bool = False
    lost: dict[int, list[str]] = field(default_factory=dict)
    missing: int = 0

    def __str__(self) -> str:
        by_kind: dict[str, list[int]] = {}
        for page, kinds in self.lost.items():
            by_kind.setdefault(kinds[0] if "page" in kinds else " and ".join(kinds), []).append(page)
        said = [
            pages_named(p) if kind == "page" else f"{kind} of {pages_named(p)}" for kind, p in by_kind.items()
        ]
        if self.missing:
            said.append(counted(self.missing, "more page"))
        return ", ".join(said)


def page_list(pages: list[int]) -> str:
    """`1, 3–5` with at most ten parts."""
    parts: list[list[int]] = []
    for p in pages:
        if parts and parts[-1][1] == p - 1:
            parts[-1][1] = p
        else:
            parts.append([p, p])
    shown = [str(a) if a == b else f"{a}–{b}" if b > a + 1 else f"{a}, {b}" for a, b in parts[:10]]
    more = sum(b - a + 1 for a, b in parts[10:])
    return ", ".join(shown) + (f" and {more} more" if more else "")


def pages_named(pages: list[int]) -> str:
    """`page 4` or `pages 1, 3–5`."""
    return f"page{'s' if len(pages) > 1 else ''} {page_list(pages)}"


@dataclass(frozen=True, slots=True)
class Ending:
    """How the bytes of a PDF end. `cut_off`: no pointer to the table of objects follows the last
    object; `unfinished` is the number of an object that does not end; `declared` the pages that a
    file made for streaming says it has, 0 where it does not say."""

    cut_off: bool
    unfinished: int = 0
    declared: int = 0


def ending(pdf: Path | bytes) -> Ending:
    """Look at the bytes of a PDF, whatever state they are in."""
    if isinstance(pdf, bytes):
        return _ending(pdf)
    if not pdf.stat().st_size:
        return Ending(cut_off=True)
    with pdf.open("rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return _ending(data)


def _ending(data: bytes | mmap.mmap) -> Ending:
    pointer, closed = data.rfind(b"startxref"), data.rfind(b"endobj")
    begun = unfinished = 0
    at = len(data)
    while (at := data.rfind(b"obj", 0, at)) > closed + 3:
        if m := _OBJECT.search(data, max(0, at - 20), at + 3):
            begun, unfinished = m.start(), int(m[1])
            break
    linear = _PAGES.search(data[:_HEAD])
    cut_off = pointer < max(closed, begun)
    return Ending(cut_off, unfinished if cut_off else 0, int(linear[1]) if linear else 0)


def find_damage(doc: pymupdf.Document, end: Ending) -> Damage:
    """What `doc`, whose bytes end like `end`, has lost. Cheap for a file that is whole."""
    damage = Damage(cut_off=end.cut_off)
    count = doc.page_count
    look = _Look(doc, end.unfinished) if doc.is_repaired or end.cut_off else None
    for n in range(count):
        if not _loads(doc, n):
            damage.lost[n + 1] = ["page"]
        elif look and (kinds := look.at_page(n)):
            damage.lost[n + 1] = kinds
    if look:
        damage.missing = max(0, end.declared - count)
    return damage


def _loads(doc: pymupdf.Document, number: int) -> bool:
    try:
        return not doc.load_page(number).rect.is_empty
    except Exception:  # MuPDF has a class for each fault, of no common kind: any says "not there"
        return False


class _Look:
    """Whether objects, and all that they are made of, are there."""

    def __init__(self, doc: pymupdf.Document, unfinished: int) -> None:
        self.doc, self.unfinished = doc, unfinished
        self.known: dict[int, bool] = {}

    def at_page(self, number: int) -> list[str]:
        xref = self.doc.page_xref(number)
        if not self._object(xref):  # its number is known and it is not there
            return ["page"]
        resources = self._inherited(xref, "Resources")
        content = self._key(xref, "Contents")
        kinds = set[str]()
        if content and (resources is None or not self._whole_text(content)):
            kinds.add("content")
        if resources:
            kinds |= self._lost_of(resources, set())
        return sorted(kinds)

    def _lost_of(self, resources: str, above: set[int]) -> set[str]:
        """Kinds of what `resources` (a reference, or a dictionary as text) lack, forms included."""
        if _REFERENCE.fullmatch(resources) and not self._text_of(resources):
            return {"fonts"}
        kinds = set[str]()
        if not self._whole_part(resources, "Font"):
            kinds.add("fonts")
        if self._whole_part(resources, "XObject"):
            return kinds
        for xref in map(int, _REFERENCE.findall(self._part(resources, "XObject"))):
            if xref in above or self._whole(xref):
                continue
            inner = self._key(xref, "Resources") if self._key(xref, "Subtype") == "/Form" else ""
            kinds |= (self._lost_of(inner, above | {xref}) if inner else set()) or {"pictures"}
        return kinds or {"pictures"}

    def _key(self, xref: int, name: str) -> str:
        try:
            kind, value = self.doc.xref_get_key(xref, name)
        except Exception:  # MuPDF has a class for each fault, of no common kind: any says "not there"
            return ""
        return "" if kind == "null" else value

    def _inherited(self, xref: int, name: str) -> str | None:
        for _ in range(50):
            if value := self._key(xref, name):
                return value
            parent = _REFERENCE.fullmatch(self._key(xref, "Parent"))
            if parent is None:
                return None
            xref = int(parent[1])
        return None

    def _part(self, resources: str, name: str) -> str:
        if m := _REFERENCE.fullmatch(resources):
            return self._key(int(m[1]), name)
        return _entry(resources, name)

    def _whole_part(self, resources: str, name: str) -> bool:
        return self._whole_text(self._part(resources, name))

    def _text_of(self, reference: str) -> str:
        m = _REFERENCE.fullmatch(reference)
        return self._object(int(m[1])) if m else reference

    def _object(self, xref: int) -> str:
        try:
            text = self.doc.xref_object(xref, compressed=True)
        except Exception:  # MuPDF has a class for each fault, of no common kind: any says "not there"
            return ""
        return "" if text == "null" else text

    def _whole_text(self, text: str) -> bool:
        return all(self._whole(int(x)) for x in _REFERENCE.findall(_ASIDE.sub("", text)))

    def _whole(self, start: int) -> bool:
        """Nothing that `start` reaches is missing."""
        seen, waiting = set[int](), [start]
        while waiting:
            xref = waiting.pop()
            if xref in seen or self.known.get(xref):
                continue
            if self.known.get(xref) is False:
                return self._say(start, False)
            seen.add(xref)
            text = self._object(xref)
            if not text or xref == self.unfinished:
                return self._say(start, False)
            waiting += map(int, _REFERENCE.findall(_ASIDE.sub("", text)))
        for xref in seen:
            self.known[xref] = True
        return True

    def _say(self, xref: int, whole: bool) -> bool:
        self.known[xref] = whole
        return whole


def _entry(dictionary: str, name: str) -> str:
    """The value of a key of a dictionary written as text: up to the key after it."""
    m = re.search(rf"/{name}\s*(<<|\d+ \d+ R)", dictionary)
    if m is None:
        return ""
    if m[1] != "<<":
        return m[1]
    depth, at = 1, m.end()
    for found in re.finditer(r"<<|>>", dictionary[at:]):
        depth += 1 if found[0] == "<<" else -1
        if not depth:
            return dictionary[at : at + found.start()]
    return dictionary[at:]
