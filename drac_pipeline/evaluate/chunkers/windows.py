"""Chunkers that know no structure: windows of a fixed size, and recursive splitting at separators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from drac_pipeline.convert.markers import PAGE_COMMENT
from drac_pipeline.errors import ConversionFailed
from drac_pipeline.evaluate.chunkers.protocol import Chunker, Piece
from drac_pipeline.evaluate.corpus import CorpusDocument

SEPARATORS = ("\n\n", "\n", ". ", "; ", ", ", " ")


class _OverText(Chunker):
    size: int = Field(default=1000, ge=1, description="most characters of a chunk")
    overlap: int = Field(default=200, ge=0, description="characters that neighbours share")
    text: Literal["pdf", "markdown"] = Field(
        default="pdf", description="what is cut: PyMuPDF's text of the PDF, or our Markdown"
    )

    @model_validator(mode="after")
    def _moves_on(self) -> _OverText:
        if self.overlap >= self.size:
            raise ValueError(f"overlap ({self.overlap}) has to be less than size ({self.size})")
        return self

    @property
    def label(self) -> str:
        """Its name with what makes it another one."""
        return f"{self.kind} {self.size}/{self.overlap}" + (" md" if self.text == "markdown" else "")

    def _source(self, document: CorpusDocument) -> str:
        text = document.pdf_text if self.text == "pdf" else PAGE_COMMENT.sub("", document.markdown)
        if not text.strip():
            pdf = self.text == "pdf"
            raise ConversionFailed(
                "PyMuPDF finds no text in its PDF (a scan?)" if pdf else "its Markdown has no text"
            )
        return text


class Fixed(_OverText):
    """Windows of the text."""

    kind: ClassVar[str] = "fixed"
    about: ClassVar[str] = "windows of a fixed number of characters, wherever that cuts"

    def chunk(self, document: CorpusDocument) -> list[Piece]:
        """The windows; the last one is shorter."""
        return [Piece(w) for w in windows(self._source(document), self.size, self.overlap)]


class Recursive(_OverText):
    """Splitting at the coarsest separator that makes pieces small enough."""

    kind: ClassVar[str] = "recursive"
    about: ClassVar[str] = "cut at blank lines, else line ends, sentences, words; packed up to the size"

    def chunk(self, document: CorpusDocument) -> list[Piece]:
        """The packed pieces without white space around them."""
        pieces = recursive(self._source(document), self.size, self.overlap)
        return [Piece(p.strip()) for p in pieces if p.strip()]


def windows(text: str, size: int, overlap: int) -> list[str]:
    """Windows of `size` characters, each beginning `size - overlap` after the one before."""
    return [text[i : i + size] for i in range(0, max(1, len(text) - overlap), size - overlap)]


def recursive(text: str, size: int, overlap: int, separators: Sequence[str] = SEPARATORS) -> list[str]:
    """Chunks of at most `size` characters. Neighbours share whole pieces of at most `overlap` characters;
    with `overlap` 0 the chunks joined are the text."""
    out: list[str] = []
    held: list[str] = []
    length = fresh = 0
    for piece in _pieces(text, size, separators):
        if fresh and length + len(piece) > size:
            out.append("".join(held))
            fresh = 0
            while held and (length > overlap or length + len(piece) > size):
                length -= len(held.pop(0))
        held.append(piece)
        length += len(piece)
        fresh += 1
    if fresh:
        out.append("".join(held))
    return out


def _pieces(text: str, size: int, separators: Sequence[str]) -> list[str]:
    """The text in pieces of at most `size`, each with the separator that ends it."""
    if len(text) <= size:
        return [text] if text else []
    if not separators:
        return [text[i : i + size] for i in range(0, len(text), size)]
    first, *finer = separators
    parts = text.split(first)
    ended = [p + first for p in parts[:-1]] + parts[-1:]
    return [piece for part in ended for piece in _pieces(part, size, finer)]
