"""Vectors, the index, and how well chunks are found."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from drac_pipeline.config.base import Settings
from drac_pipeline.config.overrides import ByDocument


class EmbedConfig(ByDocument):
    """Chunks to vectors: by the embedded model, by Titan on Bedrock, or by an OpenAI-compatible endpoint.
    A service takes retries, timeouts and budgets from [model]."""

    operational = frozenset(
        {
            *("model_folder", "threads", "region", "profile", "endpoint_url", "api_key_env"),
            *("texts_per_call", "calls_in_parallel", "price_provider"),
        }
    )
    for_all = operational | {"provider", "model", "dimensions", "document_prefix", "query_prefix"}
    provider: Literal["local", "bedrock", "openai"] = "local"
    model: str = Field(
        default="",
        description="model of a service; empty: amazon.titan-embed-text-v2:0, or text-embedding-3-small",
    )
    dimensions: int = Field(
        default=0, ge=0, description="length of a service's vectors; 0: 1,024 for Titan, else the model's own"
    )
    document_prefix: str = Field(
        default="", description="put before chunks, where a service's model wants it"
    )
    query_prefix: str = Field(default="", description="put before questions, likewise")
    region: str = Field(
        default="", description="AWS region; empty: that of [model], or as the environment says"
    )
    profile: str = Field(default="", description="AWS profile; empty: likewise")
    endpoint_url: str = Field(default="", description="another endpoint; the base URL for `openai`")
    api_key_env: str = Field(
        default="OPENAI_API_KEY", description="environment variable with the key for `openai`"
    )
    texts_per_call: int = Field(
        default=64, ge=1, description="texts sent at once to `openai`; Titan takes one"
    )
    calls_in_parallel: int = Field(
        default=8, ge=1, description="most calls in flight, all runs of the home together"
    )
    price_provider: str = Field(
        default="", description="whose prices: a provider of genai-prices; empty: aws or openai"
    )
    model_folder: str = Field(
        default="",
        description="folder with the embedded model's model.onnx and tokenizer.json; empty: the installed"
        " package, or the model hub's cache",
    )
    max_tokens: int = Field(
        default=0,
        ge=0,
        description="most tokens the embedder reads of a text; 0: as the model is made",
    )
    too_long: Literal["split", "cut", "refuse"] = Field(
        default="split",
        description="a chunk of more tokens: embedded in parts whose mean is taken, cut, or refused;"
        " reported in any case",
    )
    threads: int = Field(
        default=0, ge=0, description="texts embedded at a time by the embedded model; 0: by the cores"
    )

    @property
    def by_service(self) -> bool:
        """Whether chunks go to a service."""
        return self.provider != "local"


class IndexConfig(Settings):
    """The vector index, and how its two rankings become one."""

    uri: str = Field(
        default="",
        description="where the index is kept: a folder, or an address such as s3://bucket/prefix; empty: the"
        " home's folder index",
    )
    rrf_k: float = Field(
        default=20.0, gt=0, description="reciprocal rank fusion: how little the first places stand out"
    )
    vector_weight: float = Field(
        default=0.7, ge=0, description="what a place in the ranking by vectors counts against one by words"
    )


class EvaluateConfig(Settings):
    """Questions and what answers them: `drac eval`."""

    questions: str = Field(
        default="", description="CSV of questions with supporting facts; relative to the home"
    )
    chunkers: list[str] = Field(
        default=["drac", "fixed", "recursive", "headings", "wrac"],
        description="what `--compare` compares: name or name:option=value,…",
    )
    embedders: list[str] = Field(
        default=["home"],
        description="`home`, `none`, or settings of [embed] changed: key=value,…",
    )
    threshold: float = Field(
        default=0.6, gt=0, le=1, description="share of a fact's content words that supports it"
    )
    ndcg: Literal["retrieved", "full", "bench"] = Field(
        default="retrieved", description="the ideal order that NDCG is held against"
    )
