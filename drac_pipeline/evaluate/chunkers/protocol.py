"""What a way of chunking is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

from pydantic import BaseModel, ConfigDict

from drac_pipeline.errors import DocumentError
from drac_pipeline.evaluate.corpus import CorpusDocument


class NotApplicable(DocumentError):
    """This way of chunking is not for documents of this kind."""

    kind = "not applicable"


class Piece(NamedTuple):
    """A chunk: its text as it is indexed, and the headings above it."""

    text: str
    breadcrumb: str = ""


class Chunker(BaseModel, ABC):
    """A way of chunking; its fields are its options.

    `kind` is its name in the registry; `parallel` how many documents it may work on at once (calls to a
    model wait for the network).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    kind: ClassVar[str]
    about: ClassVar[str]

    @property
    def label(self) -> str:
        """What a report calls it."""
        return self.kind

    @property
    def parallel(self) -> int:
        """Documents worked on at once."""
        return 1

    def check(self) -> None:
        """Raise ConfigError where the options cannot work, before any document is read."""
        return

    @abstractmethod
    def chunk(self, document: CorpusDocument) -> list[Piece]:
        """The chunks of a document in order. Raises NotApplicable, or another DracError."""
