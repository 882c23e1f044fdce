"""The model service that may read pages and plan chunks."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field, model_validator

from drac_pipeline.config.base import Identity, Settings


class ModelConfig(Settings):
    """A model service. Nothing of it is used (or imported) until `convert.mode` or `plan.planner` asks.

    Model ids, limits and prices age: Gemma 3 on Bedrock is announced to end in 2027, and what
    follows it speaks the OpenAI protocol. Defaults are the paper's; all can be set.
    """

    ordered = (("backoff_seconds", "backoff_cap"),)
    provider: Literal["bedrock", "openai"] = Field(
        default="bedrock", description="Bedrock Converse, or any OpenAI-compatible chat endpoint"
    )
    model: str = Field(default="google.gemma-3-27b-it", description="converts pages, and plans by default")
    plan_model: str = Field(default="", description="plans chunks; empty: the same model")
    region: str = Field(default="", description="AWS region; empty: as the AWS environment says")
    profile: str = Field(default="", description="AWS profile; empty: as the AWS environment says")
    endpoint_url: str = Field(default="", description="another endpoint; the base URL for `openai`")
    api_key_env: str = Field(
        default="OPENAI_API_KEY", description="environment variable with the key for `openai`"
    )
    guardrail_id: str = ""
    guardrail_version: str = ""
    temperature: float = Field(default=0.1, ge=0, le=2)
    images: Literal["yes", "no", "probe"] = Field(default="yes", description="whether it takes images")
    system_prompt: Literal["yes", "no", "probe"] = Field(
        default="yes", description="whether it takes a system prompt; else it is put before the question"
    )
    structured_output: Literal["yes", "no", "probe"] = Field(
        default="no", description="whether it can be held to a JSON schema"
    )
    output_cap: int = Field(default=8192, ge=256, description="most tokens it writes in a call")
    images_per_call: int = Field(default=20, ge=1, description="most images it takes in a call")
    conversion_tokens: int = Field(default=8192, ge=256, description="output tokens asked for, per call")
    planning_tokens: int = Field(default=16384, ge=256, description="output tokens asked for, per section")
    pages_per_call: int = Field(default=5, ge=1, le=50)
    calls_in_parallel: int = Field(
        default=5,
        ge=1,
        description="times pages_per_call: the most pages in flight, all runs of the home together",
    )
    documents_in_parallel: int = Field(
        default=0, ge=0, description="documents worked on at once with a model; 0: so that the quota is used"
    )
    grounding: bool = Field(default=False, description="give the page's own text layer with its image")
    plan_format: Literal["boundaries", "ranges", "lists"] = Field(
        default="boundaries",
        description="how plans are written: first ids and the last one (1 5 6 /11, fewest tokens), ranges"
        " (1-4 5 6-11), or the paper's lists of ids",
    )
    connect_timeout: float = Field(default=10.0, gt=0)
    read_timeout: float = Field(default=300.0, gt=0)
    attempts: int = Field(
        default=8, ge=1, description="tries of a call that is throttled or fails in passing"
    )
    backoff_seconds: float = Field(default=0.5, gt=0, description="doubles with each try, full jitter")
    backoff_cap: float = Field(default=30.0, gt=0)
    breaker_failures: int = Field(
        default=12, ge=1, description="failures in a row after which the service counts as down"
    )
    breaker_seconds: float = Field(default=60.0, gt=0, description="how long it then is left alone")
    min_recall: float = Field(
        default=0.85, ge=0, le=1, description="share of the page's own words a conversion must have"
    )
    min_precision: float = Field(
        default=0.85, ge=0, le=1, description="share of a conversion's words the page must have"
    )
    foreign_values: int = Field(
        default=0, ge=0, description="numbers and identifiers a page may have that the PDF does not"
    )
    ocr_witness: bool = Field(
        default=True,
        description="read scans by OCR too, while the model is at work, and compare numbers and identifiers: "
        "where OCR is sure and they differ, the page is asked for once more, and what still differs is said",
    )
    auto_confidence: float = Field(
        default=0.8, ge=0, le=1, description="`auto`: pages read locally with less than this go to the model"
    )
    budget_per_run: float = Field(default=0.0, ge=0, description="USD; 0: no limit")
    budget_per_day: float = Field(default=0.0, ge=0, description="USD a UTC day; 0: no limit")
    price_provider: str = Field(
        default="", description="whose prices: a provider of genai-prices; empty: aws or openai"
    )

    @model_validator(mode="after")
    def _guardrail(self) -> ModelConfig:
        if self.guardrail_version and not self.guardrail_id:
            raise ValueError("guardrail_version is set and guardrail_id is not: set both, or neither")
        return self

    def for_pages(self) -> BaseModel:
        """What of these settings bears on a page's result: it is kept by them."""
        names = {"provider", "model", "guardrail_id", "guardrail_version", "temperature", "grounding"}
        return self._part(names | {"min_recall", "min_precision", "foreign_values", "ocr_witness"})

    def for_conversion(self) -> BaseModel:
        """What bears on converted documents: part of their stage's identity."""
        from drac_pipeline.llm.prompts import CONVERT, prompt

        return Identity(
            settings={
                "prompt": prompt(CONVERT).version,
                **self.for_pages().model_dump()["settings"],
                "auto_confidence": self.auto_confidence,
                "pages_per_call": self.pages_per_call,
            }
        )

    def for_plans(self) -> BaseModel:
        """What bears on plans."""
        from drac_pipeline.llm.prompts import PLANS, WEB, prompt

        prompts = {
            "prompt": prompt(PLANS[self.plan_format]).version,
            "web": prompt(WEB[self.plan_format]).version,
        }
        names = {"provider", "guardrail_id", "guardrail_version", "temperature", "plan_format"}
        model = {"model": self.plan_model or self.model}
        return Identity(settings={**self._part(names).settings, **model, **prompts})

    def _part(self, names: set[str]) -> Identity:
        return Identity(settings=self.model_dump(mode="json", include=names))
