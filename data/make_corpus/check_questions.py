"""Checks questions.csv: every fact's words must stand in the text of its files, in few places.

python -m make_corpus.check_questions, from the folder data/
"""

import csv
import re
import sys
import unicodedata
from html.parser import HTMLParser
from pathlib import Path

import pymupdf
from docx import Document
from docx.oxml.ns import qn
from openpyxl import load_workbook
from pptx import Presentation

from .common import CORPUS
from .markup import SOURCES
from .scan import NAME as SCAN

QUESTIONS = CORPUS.parent / "questions.csv"
TYPES = {"fact", "table lookup", "procedure", "comparison", "multi-document", "list"}
# joining words that turn a table row into a sentence and need not stand in the document
GLUE = {"is", "are", "the", "of", "for", "in", "a", "an", "and", "at", "to", "its", "with", "on", "by", "has"}


class Text(HTMLParser):
    """The visible text of a page."""

    def __init__(self):
        super().__init__()
        self.parts: list[str] = []
        self.quiet = 0

    def handle_starttag(self, tag, _attrs):
        self.quiet += tag in ("script", "style")

    def handle_endtag(self, tag):
        self.quiet -= tag in ("script", "style")

    def handle_data(self, data):
        if not self.quiet:
            self.parts.append(data)


def html_text(path: Path) -> str:
    """Text of an HTML file."""
    reader = Text()
    reader.feed(path.read_text(encoding="utf-8"))
    return " ".join(reader.parts)


def docx_text(path: Path) -> str:
    """Text of a DOCX with insertions, without deletions, with footnotes."""
    doc = Document(str(path))
    out = []
    for paragraph in doc.element.body.iter(qn("w:p")):
        out.append("".join(t.text or "" for t in paragraph.iter(qn("w:t"))))
    notes = [r.target_part.blob.decode() for r in doc.part.rels.values() if r.reltype.endswith("/footnotes")]
    return "\n".join(out + [re.sub("<[^>]+>", " ", n) for n in notes])


def pptx_text(path: Path) -> str:
    """Text of all slides and their notes."""
    out = []
    for slide in Presentation(str(path)).slides:
        for node in slide._element.iter("{http://schemas.openxmlformats.org/drawingml/2006/main}t"):
            out.append(node.text or "")
        out.append(slide.notes_slide.notes_text_frame.text if slide.has_notes_slide else "")
    return "\n".join(out)


def shown(cell) -> str:
    """A cell's value roughly as its number format shows it."""
    if hasattr(cell.value, "strftime"):
        return cell.value.strftime("%d %b %Y")
    if isinstance(cell.value, int | float):
        return f"{cell.value:,.2f} {cell.value}"
    return str(cell.value or "")


def xlsx_text(path: Path) -> str:
    """Text of the visible sheets."""
    book = load_workbook(path, data_only=True)
    sheets = [s for s in book.worksheets if s.sheet_state == "visible"]
    return "\n".join(shown(c) for s in sheets for row in s.iter_rows() for c in row)


def text_of(key: str) -> str:
    """The text of a document by its key."""
    path = CORPUS / key
    if key == SCAN:
        return html_text(SOURCES / "scan.html")
    if path.suffix == ".pdf":
        with pymupdf.open(path) as doc:
            return "\n".join(page.get_text() for page in doc)
    readers = {".html": html_text, ".docx": docx_text, ".pptx": pptx_text, ".xlsx": xlsx_text}
    return readers[path.suffix](path)


def words(text: str) -> set[str]:
    """Comparable words, hyphenation at line ends resolved both ways."""
    text = unicodedata.normalize("NFKC", text).replace("\u00ad\n", "").replace("\u00ad", "")
    both = text + " " + re.sub(r"[-\u2010]\s*\n\s*", "", text) + " " + re.sub(r"-\s*\n\s*", "-", text)
    return {w for w in (re.sub(r"^\W+|\W+$", "", w) for w in both.lower().split()) if w}


def main() -> int:
    """Print what is wrong; return the number of problems."""
    problems = 0
    cache: dict[str, set[str]] = {}
    with QUESTIONS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    counts: dict[str, int] = {}
    for number, row in enumerate(rows, 2):
        counts[row["type"]] = counts.get(row["type"], 0) + 1
        keys = row["files"].split(" || ")
        for key in keys:
            cache.setdefault(key, words(text_of(key)))
        bad = [] if row["type"] in TYPES else [f"type {row['type']}"]
        used = set()
        for fact in row["supporting_facts"].split(" || "):
            lacking = {k: words(fact) - GLUE - cache[k] for k in keys}
            best = min(lacking.values(), key=len)
            used |= {k for k, v in lacking.items() if v == best}
            if best:
                bad.append(f"not in the text: {sorted(best)} of {fact!r}")
        bad += [f"file without a fact: {k}" for k in keys if k not in used]
        problems += len(bad)
        for text in bad:
            print(f"line {number}: {text}")
    files = {p.relative_to(CORPUS).as_posix() for p in CORPUS.rglob("*") if p.is_file()}
    print(f"{len(rows)} questions {counts}, {problems} problems")
    print(f"files without a question: {sorted(files - set(cache))}")
    return problems


if __name__ == "__main__":
    sys.exit(bool(main()))
