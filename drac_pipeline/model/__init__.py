"""The nouns of the pipeline and the versioned schemas of its artifacts."""

from drac_pipeline.model.box import Box
from drac_pipeline.model.chunk import (
    CHUNK_SCHEMA,
    CHUNK_SCHEMA_VERSION,
    Chunk,
    as_chunk_table,
    chunks_from_table,
    chunks_to_table,
)
from drac_pipeline.model.conversion import (
    BlockSpan,
    ConversionReport,
    Converted,
    Dropped,
    PageReport,
    TableData,
    TableRow,
)
from drac_pipeline.model.document import SourceDocument
from drac_pipeline.model.element import (
    CONTENT_KINDS,
    ELEMENT_SCHEMA,
    ELEMENT_SCHEMA_VERSION,
    Element,
    ElementKind,
    elements_from_table,
    elements_to_table,
)
from drac_pipeline.model.embedding import (
    EMBEDDING_SCHEMA_VERSION,
    embedder_of,
    embedding_schema,
    embeddings_to_table,
)
from drac_pipeline.model.plan import PLAN_SCHEMA_VERSION, ChunkPlan, LeftOut, PlannedChunk
from drac_pipeline.model.section import Section

__all__ = [
    "CHUNK_SCHEMA",
    "CHUNK_SCHEMA_VERSION",
    "CONTENT_KINDS",
    "ELEMENT_SCHEMA",
    "ELEMENT_SCHEMA_VERSION",
    "EMBEDDING_SCHEMA_VERSION",
    "PLAN_SCHEMA_VERSION",
    "BlockSpan",
    "Box",
    "Chunk",
    "ChunkPlan",
    "ConversionReport",
    "Converted",
    "Dropped",
    "Element",
    "ElementKind",
    "LeftOut",
    "PageReport",
    "PlannedChunk",
    "Section",
    "SourceDocument",
    "TableData",
    "TableRow",
    "as_chunk_table",
    "chunks_from_table",
    "chunks_to_table",
    "elements_from_table",
    "elements_to_table",
    "embedder_of",
    "embedding_schema",
    "embeddings_to_table",
]
