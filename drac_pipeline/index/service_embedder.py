"""Vectors from a model service, through the same quota, retries, budget and ledger as all model calls."""

from __future__ import annotations

import contextlib
import hashlib
import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from drac_pipeline.config import EmbedConfig, ModelConfig
from drac_pipeline.counted import counted
from drac_pipeline.errors import ConfigError, DocumentError
from drac_pipeline.index.embedder import TooLong, fitting, mean_of_parts, normalized

if TYPE_CHECKING:
    from drac_pipeline.llm.service import ModelService

STAGE = "chunk_embeddings"
TITAN = "amazon.titan-embed-text-v2:0"
MODELS = {"bedrock": TITAN, "openai": "text-embedding-3-small"}
TITAN_DIMENSIONS = 1024
MAX_TOKENS = 8192  # Titan V2's; OpenAI's models read 8,191
BYTES_PER_TOKEN = 3.0  # to the safe side: English has more, and Chinese about as many a character

_document: ContextVar[str] = ContextVar("document", default="")


class EmbeddingRefused(DocumentError):
    """The service will not embed a text, now or later."""

    kind = "embedding refused"


@contextlib.contextmanager
def spent_on(document: str) -> Iterator[None]:
    """Have calls written down as made for this document."""
    token = _document.set(document)
    try:
        yield
    finally:
        _document.reset(token)


class ServiceEmbedder:
    """An embedding model of a service. `state` is the folder of the ledger, None where only tokens are
    counted; nothing of an SDK is imported before the first call. Token counts are estimates, to the
    safe side; the ledger has the ones that are billed."""

    def __init__(self, config: EmbedConfig, model: ModelConfig, state: Path | None, run: str = "") -> None:
        self._config = config
        self._settings = service_settings(config, model)
        self._state = state
        self._run = run
        usual = TITAN_DIMENSIONS if config.provider == "bedrock" else 0
        self._asked_dimensions = config.dimensions or usual
        self._seen_dimensions = 0
        size = f"/{self._asked_dimensions}" if self._asked_dimensions else ""
        prefixes = f"{config.document_prefix}\0{config.query_prefix}"
        marked = f"/{hashlib.sha256(prefixes.encode()).hexdigest()[:6]}" if len(prefixes) > 1 else ""
        self.name = self._settings.model + size + marked
        self.max_tokens = config.max_tokens or MAX_TOKENS - 1
        self.too_long: TooLong = config.too_long

    @property
    def dimensions(self) -> int:
        """As set, or else as the service's vectors are."""
        if not self._asked_dimensions and not self._seen_dimensions:
            self._send(["dimensions"])
        return self._asked_dimensions or self._seen_dimensions

    @cached_property
    def service(self) -> ModelService:
        """The service, opened with the first call."""
        from drac_pipeline.llm.embeddings import OpenAIEmbeddings, TitanEmbeddings
        from drac_pipeline.llm.service import ModelService

        if self._state is None:
            raise ConfigError("embedding by a service needs a home for its ledger")
        make = TitanEmbeddings if self._config.provider == "bedrock" else OpenAIEmbeddings
        client = make(self._settings, self._settings.model, self._asked_dimensions)
        return ModelService(self._settings, self._state, self._run, client=client)

    def count_tokens(self, text: str) -> int:
        """An estimate for a text to be found, its prefix counted, to the safe side."""
        return self._count(self._config.document_prefix + text)

    def _count(self, text: str) -> int:
        return math.ceil(len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN)

    def embed_documents(self, texts: list[str]) -> np.ndarray:
        """Vectors of texts to be found. Raises ModelUnavailable, BudgetExceeded or EmbeddingRefused."""
        return self._embed(texts, self.too_long, self._config.document_prefix)

    def embed_queries(self, texts: list[str]) -> np.ndarray:
        """Vectors of questions; one that is too long is cut."""
        return self._embed(texts, "cut", self._config.query_prefix)

    def _embed(self, texts: list[str], too_long: TooLong, prefix: str) -> np.ndarray:
        parts: list[str] = []
        owners: list[int] = []
        for i, text in enumerate(texts):
            for part in fitting(text, lambda t: self._count(prefix + t), self.max_tokens, too_long):
                parts.append(prefix + part or " ")  # services refuse an empty text
                owners.append(i)
        if not parts:
            return np.zeros((0, self.dimensions), np.float32)
        size = 1 if self._config.provider == "bedrock" else self._config.texts_per_call
        batches = [parts[i : i + size] for i in range(0, len(parts), size)]
        document = _document.get()
        _ = self.service  # opened here, once: threads would each open one

        def send(batch: list[str]) -> np.ndarray:
            with spent_on(document):  # threads have a context of their own
                return self._send(batch)

        with ThreadPoolExecutor(min(self._config.calls_in_parallel, len(batches))) as pool:
            vectors = np.concatenate(list(pool.map(send, batches)))
        return mean_of_parts(vectors, owners, [self._count(p) for p in parts], len(texts))

    def _send(self, batch: Sequence[str]) -> np.ndarray:
        from drac_pipeline.llm.ledger import Purpose
        from drac_pipeline.llm.protocol import Request, RequestRefused

        purpose = Purpose(_document.get(), STAGE, counted(len(batch), "text"), "")
        try:
            answer = self.service.send(Request(tuple(batch), max_tokens=0, temperature=0.0), purpose)
        except RequestRefused as e:
            raise EmbeddingRefused(
                str(e), remedy="Check [embed] model, dimensions and max_tokens in drac.toml."
            ) from e
        vectors = np.array(answer.reply.vectors, np.float32)
        wanted = self._asked_dimensions or (vectors.shape[-1] if vectors.ndim == 2 else 0)
        if vectors.shape != (len(batch), wanted) or not np.isfinite(vectors).all() or not wanted:
            raise EmbeddingRefused(
                f"{self.name} gave vectors of shape {vectors.shape} for {counted(len(batch), 'text')}"
                f" of {wanted or 'unknown'} dimensions",
                remedy="Check [embed] model and dimensions in drac.toml.",
            )
        self._seen_dimensions = wanted
        return normalized(vectors)


def service_settings(config: EmbedConfig, model: ModelConfig) -> ModelConfig:
    """The connection of [embed], with the retries and budgets of [model]."""
    return model.model_copy(
        update={
            "provider": config.provider,
            "model": config.model or MODELS[config.provider],
            "region": config.region or model.region,
            "profile": config.profile or model.profile,
            "endpoint_url": config.endpoint_url,
            "api_key_env": config.api_key_env,
            "pages_per_call": 1,
            "calls_in_parallel": config.calls_in_parallel,
            "price_provider": config.price_provider,
        }
    )
