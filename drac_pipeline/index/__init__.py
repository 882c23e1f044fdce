"""From chunks to answers: embedders, the vector index, search."""

from drac_pipeline.index.embedder import Embedder
from drac_pipeline.index.fusion import fuse
from drac_pipeline.index.open import open_embedder
from drac_pipeline.index.words import WordIndex

__all__ = ["Embedder", "WordIndex", "fuse", "open_embedder"]  # search and sync: from their modules
