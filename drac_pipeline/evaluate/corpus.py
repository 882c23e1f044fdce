"""The documents of a home as chunkers see them: what was made of each, read when asked for."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

import pyarrow.parquet as pq

from drac_pipeline.convert.route import Convertible
from drac_pipeline.errors import ConfigError, explain
from drac_pipeline.evaluate.chunk_set import organization_of
from drac_pipeline.model import Chunk, Element
from drac_pipeline.model.chunk import chunks_from_table
from drac_pipeline.mupdf import pymupdf
from drac_pipeline.pipeline.artifacts import (
    CHUNKS_FILE,
    MARKDOWN_FILE,
    PDF_FILE,
    read_convertible,
    read_elements,
)
from drac_pipeline.store import Home, Manifest


@dataclass
class CorpusDocument:
    """A document of a home. Each reading raises ArtifactMissing where its stage has no output."""

    home: Home
    manifest: Manifest
    organization: str = ""

    @property
    def key(self) -> str:
        """The document's key."""
        return self.manifest.document_key

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the file."""
        return self.manifest.source.fingerprint

    @property
    def failure(self) -> str:
        """Why its last run stopped, in words; "" where it did not."""
        f = self.manifest.failure
        return f"{f.stage}: {explain(f.kind, f.cause, f.remedy)}" if f else ""

    def file(self, stage: str, name: str) -> Path:
        """A file of a stage's output."""
        return self.home.store.path(self.key, stage, name, self.manifest)

    @cached_property
    def pdf_text(self) -> str:
        """The text that PyMuPDF reads from its PDF, pages joined by a line break."""
        with pymupdf.open(self.file("normalized_pdf", PDF_FILE)) as pdf:
            return "\n".join(str(page.get_text()) for page in pdf)

    @cached_property
    def markdown(self) -> str:
        """Its Markdown, page markers included."""
        return self.file("markdown", MARKDOWN_FILE).read_bytes().decode("utf-8")

    @cached_property
    def elements(self) -> list[Element]:
        """Its elements."""
        return read_elements(self.file)

    @property
    def own_file(self) -> Convertible:
        """Its own file, where that is kept, and its format."""
        return read_convertible(self.file)

    @property
    def chunks(self) -> list[Chunk]:
        """Its chunks."""
        return chunks_from_table(pq.read_table(self.file("chunks", CHUNKS_FILE)))


def corpus_documents(home: Home, organizations: Collection[str] = ()) -> list[CorpusDocument]:
    """The documents of a home by key; with organizations, only those in a folder of such a name.

    Raises ConfigError where there are none.
    """
    known = [o for o in organizations if o]
    out = []
    manifests = sorted(home.store.manifests(), key=lambda m: m.document_key)
    for manifest in manifests:
        organization = organization_of(manifest.document_key, known)
        if organization or "" in organizations or not known:
            out.append(CorpusDocument(home, manifest, organization))
    if not manifests:
        raise ConfigError(
            f"{home.path} holds no documents yet; fill it with `drac run SOURCE --home {home.path}`"
        )
    if not out:
        folders = sorted({f for m in manifests for f in m.document_key.split("/")[:-1]})
        raise ConfigError(
            f"no document of {home.path} is in a folder named {' or '.join(map(repr, known))}, as the"
            f" questions' organizations are; its folders: {', '.join(map(repr, folders[:10])) or 'none'}."
            " Ingest a folder that has one folder an organization, or leave the column of organizations out."
        )
    return out


def same_document(name: str, key: str) -> bool:
    """Whether `name`, a key or a file name with another ending, means the document `key`."""
    return name == key or plain_stem(name) == plain_stem(key)


def plain_stem(name: str) -> str:
    """A file's name without folders and ending, runs of blanks as one, lower case."""
    return " ".join(PurePosixPath(name).stem.split()).casefold()
