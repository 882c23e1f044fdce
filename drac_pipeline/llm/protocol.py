"""What the library asks of a model service, and what it gets: the seam between both clients."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from drac_pipeline.errors import DocumentError, DracError


@dataclass(frozen=True, slots=True)
class ImagePart:
    """An image in a request; `data` is a PNG."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Request:
    """One question. `parts` are texts and images in order; `schema` is a JSON schema that the
    reply shall follow, used where the model can; `metadata` goes into the service's own logs."""

    parts: tuple[str | ImagePart, ...]
    system: str = ""
    max_tokens: int = 4096
    temperature: float = 0.1
    schema: dict[str, Any] | None = None
    metadata: dict[str, str] = field(default_factory=dict)

    @property
    def n_images(self) -> int:
        """Images in the request."""
        return sum(isinstance(p, ImagePart) for p in self.parts)

    @property
    def n_chars(self) -> int:
        """Characters of its texts."""
        return len(self.system) + sum(len(p) for p in self.parts if isinstance(p, str))


class Stop(StrEnum):
    """Why a reply ended."""

    END = "end"
    LENGTH = "length"
    FILTERED = "filtered"
    MALFORMED = "malformed"
    CONTEXT = "context full"


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back; tokens are as the service counted (and bills) them. An embedding model gives
    `vectors` in place of a text."""

    text: str
    stop: Stop
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    vectors: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a model takes: configured or probed, never assumed."""

    images: bool = True
    system: bool = True
    structured: bool = False
    output_cap: int = 8192
    images_per_call: int = 20


class ModelClient(Protocol):
    """A model behind a service. `complete` makes exactly one try and is safe in threads."""

    provider: str
    model: str

    def complete(self, request: Request) -> Reply:
        """The reply. Raises CallFailed for anything else."""
        ...


class CallFailed(DracError):
    """One try failed.

    `outcome` is a stable word for the ledger; `again` says whether the same call may succeed
    later, `throttled` whether the service asked to slow down; `retry_after` in seconds is what
    it said about when. `billed` says that the service may have done the work all the same.
    """

    def __init__(
        self,
        outcome: str,
        cause: str,
        *,
        again: bool,
        throttled: bool = False,
        retry_after: float = 0.0,
        status: int = 0,
        billed: bool = False,
    ) -> None:
        super().__init__(f"{outcome}: {cause}")
        self.outcome = outcome
        self.cause = cause
        self.again = again
        self.throttled = throttled
        self.retry_after = retry_after
        self.status = status
        self.billed = billed


class RequestRefused(DracError):
    """The service will not take this request, now or later (its size, its content). `remedy` names a
    setting where the service's words say that one is wrong."""

    def __init__(self, cause: str, remedy: str = "") -> None:
        super().__init__(cause)
        self.remedy = remedy


class ModelUnavailable(DocumentError):
    """The service is down, over its quota, or does not let us in."""

    kind = "model unavailable"


class BudgetExceeded(DocumentError):
    """The next call could cost more than the budget leaves."""

    kind = "over budget"
