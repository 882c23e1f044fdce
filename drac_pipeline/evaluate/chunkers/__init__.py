"""Ways of chunking under one interface: D-RAC and its rivals."""

from drac_pipeline.evaluate.chunkers.protocol import Chunker, NotApplicable, Piece
from drac_pipeline.evaluate.chunkers.registry import chunk_corpus, chunker

__all__ = [
    "Chunker",
    "NotApplicable",
    "Piece",
    "chunk_corpus",
    "chunker",
]
