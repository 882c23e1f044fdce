"""Chunkers over what the pipeline made: D-RAC's own chunks, and sections as headings cut them."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from drac_pipeline.errors import EmptyDocument
from drac_pipeline.evaluate.chunkers.protocol import Chunker, Piece
from drac_pipeline.evaluate.corpus import CorpusDocument
from drac_pipeline.model import Element, ElementKind


class Drac(Chunker):
    """The chunks of the home."""

    kind: ClassVar[str] = "drac"
    about: ClassVar[str] = "D-RAC: the chunks of this home, as planned from its Markdown"

    def chunk(self, document: CorpusDocument) -> list[Piece]:
        """The document's chunks as they are."""
        return [Piece(c.text, c.breadcrumb) for c in document.chunks]


class Headings(Chunker):
    """A chunk a section."""

    kind: ClassVar[str] = "headings"
    about: ClassVar[str] = "our Markdown cut at every heading, the chain of headings in front"
    max_chars: int = Field(default=0, ge=0, description="longest chunk, cut between elements; 0: no limit")

    @property
    def label(self) -> str:
        """Its name with what makes it another one."""
        return f"{self.kind} {self.max_chars}" if self.max_chars else self.kind

    def chunk(self, document: CorpusDocument) -> list[Piece]:
        """A chunk for each run of content under the same headings."""
        pieces = sections_by_heading(document.elements, self.max_chars)
        if not pieces:
            raise EmptyDocument("no content but headings")
        return pieces


def sections_by_heading(elements: list[Element], max_chars: int = 0) -> list[Piece]:
    """A chunk for each run of content elements that no heading parts."""
    titles = {e.id: e.text for e in elements if e.kind is ElementKind.HEADING}
    out: list[Piece] = []
    body: list[str] = []
    chain = ""

    def flush() -> None:
        if body:
            out.append(Piece("\n".join([chain, *body] if chain else body), chain))
        body.clear()

    for e in elements:
        if e.kind is ElementKind.HEADING:
            flush()
        elif e.is_content:
            chain = " > ".join(titles[a] for a in e.ancestors)
            if max_chars and body and len(chain) + sum(len(t) + 1 for t in (*body, e.text)) > max_chars:
                flush()
            body.append(e.text)
    flush()
    return out
