"""Embedding models of services: Amazon Titan on Bedrock, and OpenAI-compatible endpoints.

They are clients like those of chat models (one try a call), so that quota, retries, budget and ledger
are the same. A request's parts are the texts, a reply's `vectors` have one each, in their order.
"""

from __future__ import annotations

import json
import os
from typing import Any

from drac_pipeline.config import ModelConfig
from drac_pipeline.counted import counted
from drac_pipeline.llm.bedrock import bedrock_runtime, told_as_failures
from drac_pipeline.llm.openai_chat import openai_client
from drac_pipeline.llm.openai_chat import told_as_failures as told_by_openai
from drac_pipeline.llm.protocol import CallFailed, Reply, Request, Stop


class TitanEmbeddings:
    """Titan Text Embeddings V2: a text a call, vectors of length 1. `dimensions` is 256, 512 or 1024."""

    provider = "bedrock"

    def __init__(self, config: ModelConfig, model: str, dimensions: int) -> None:
        self.model = model
        self._dimensions = dimensions
        self._client = bedrock_runtime(config)

    def complete(self, request: Request) -> Reply:
        """One InvokeModel call."""
        (text,) = request.parts
        body = {"inputText": text, "dimensions": self._dimensions, "normalize": True}
        with told_as_failures():
            answer: Any = self._client.invoke_model(
                modelId=self.model,
                body=json.dumps(body),
                contentType="application/json",
                accept="application/json",
            )
            data = answer["body"].read()
        try:
            found = json.loads(data)
            return _reply([found["embedding"]], int(found.get("inputTextTokenCount", 0)))
        except (ValueError, KeyError, TypeError) as e:
            raise CallFailed("malformed reply", f"{type(e).__name__}: {e}", again=True, billed=True) from e


class OpenAIEmbeddings:
    """An /embeddings endpoint: many texts a call. `dimensions` is sent where it is not 0."""

    provider = "openai"

    def __init__(self, config: ModelConfig, model: str, dimensions: int) -> None:
        self.model = model
        self._dimensions = dimensions
        self._client = openai_client(config, os.environ.get(config.api_key_env))

    def complete(self, request: Request) -> Reply:
        """One call."""
        more: dict[str, Any] = {"dimensions": self._dimensions} if self._dimensions else {}
        with told_by_openai():
            answer: Any = self._client.embeddings.create(
                model=self.model, input=[str(p) for p in request.parts], encoding_format="float", **more
            )
        rows = sorted(getattr(answer, "data", None) or [], key=lambda row: row.index)
        if len(rows) != len(request.parts):
            told = f"{counted(len(rows), 'vector')} for {counted(len(request.parts), 'text')}"
            raise CallFailed("malformed reply", told, again=True, billed=True)
        usage = getattr(answer, "usage", None)
        return _reply([r.embedding for r in rows], int(getattr(usage, "prompt_tokens", 0) or 0))


def _reply(vectors: list[list[float]], tokens: int) -> Reply:
    return Reply("", Stop.END, input_tokens=tokens, vectors=tuple(map(tuple, vectors)))
