"""Settings of every stage, as typed models with the method's defaults.

A stage's settings are part of its identity: their hash goes into the code version,
so that a change re-runs exactly the stages it affects.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import re
import tomllib
import unicodedata
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    SerializerFunctionWrapHandler,
    ValidationError,
    field_validator,
    model_serializer,
)

from drac_pipeline.errors import ConfigError
from drac_pipeline.globs import glob_pattern

CONFIG_FILE = "drac.toml"


class _Settings(BaseModel):
    """`operational` names settings that say how, how long or with what a stage may work, and
    not what it makes: a change of theirs makes nothing stale."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    operational: ClassVar[frozenset[str]] = frozenset()


class SourceConfig(_Settings):
    """Which files of a source are documents (globs on the document key)."""

    include: list[str] = Field(default=["**/*"], description="globs a key must match one of")
    exclude: list[str] = Field(default=[], description="globs that leave a key out")
    follow_symlinks: bool = False


class NormalizeConfig(_Settings):
    """Any format to PDF."""

    operational = frozenset(
        {
            "timeout_seconds",
            "max_bytes",
            "max_unpacked_bytes",
            "max_image_pixels",
            "max_memory_bytes",
            "passwords",
            "office_command",
            "browser_command",
        }
    )
    timeout_seconds: float = Field(default=300.0, gt=0, description="hard limit a tool gets per document")
    max_bytes: int = Field(default=500_000_000, gt=0, description="largest source file taken")
    max_unpacked_bytes: int = Field(
        default=2_000_000_000, gt=0, description="largest declared size of a zip-based file once unpacked"
    )
    max_image_pixels: int = Field(default=200_000_000, gt=0, description="largest image frame taken")
    max_memory_bytes: int = Field(
        default=4_000_000_000,
        gt=0,
        description="memory a tool may take, all its processes together",
    )
    tracked_changes: Literal["accepted", "rejected", "shown"] = Field(
        default="accepted", description="how tracked changes are read; `shown` prints deletions as text"
    )
    damaged_pdf: Literal["refuse", "take"] = Field(
        default="refuse",
        description="a PDF that was cut off and lost content: an error, or taken for what is left of it",
    )
    print_max_chars: int = Field(
        default=1_500_000,
        ge=0,
        description="of a web page, text or message with more markup only the beginning is printed, for"
        " showing: its text is read whole; 0: no limit",
    )
    passwords: list[SecretStr] = Field(default=[], description="tried on encrypted documents, in order")
    office_command: str = Field(default="soffice", description="LibreOffice: a name on PATH or a path")
    browser_command: str = Field(
        default="",
        description="Chromium or Chrome: a name on PATH or a path; empty finds it",
    )


class RenderConfig(_Settings):
    """PDF pages to PNG (paper: 200 DPI, no side over 1,568 px)."""

    operational = frozenset({"window"})
    dpi: int = Field(default=200, ge=36, le=600)
    max_side: int = Field(default=1568, ge=256, description="longest side in pixels after downscaling")
    window: int = Field(default=32, ge=1, description="pages rendered per open document; bounds memory")


class ConvertConfig(_Settings):
    """Pages to Markdown."""

    operational = frozenset({"sheet_max_cells"})
    converter: Literal["local"] = "local"
    mode: Literal["local", "model", "auto"] = Field(
        default="local",
        description="who reads pages: the local converter, the model of [model], or the model only those "
        "that need pixels (scans, untrusted text layers, low local confidence)",
    )
    html_route: Literal["web", "pdf"] = Field(
        default="web", description="web pages, Markdown, text: read from their own file, or from their PDF"
    )
    ocr: bool = Field(default=True, description="read pages without a usable text layer by OCR")
    ocr_dpi: int = Field(default=200, ge=72, le=400, description="resolution at which pages are read by OCR")
    ocr_min_confidence: float = Field(
        default=0.6, ge=0, le=1, description="lines read less surely are left out, with a warning"
    )
    ocr_models: str = Field(
        default="",
        description="folder with other recognition models for rapidocr (rec.onnx; det.onnx and rec.txt "
        "where needed), for scripts that its own do not read; empty: its own",
    )
    layout_below: float = Field(
        default=0.8,
        ge=0,
        le=1,
        description="pages read less surely are looked at by PyMuPDF's layout model too; 0: never",
    )
    page_recall: float = Field(
        default=0.97, ge=0, le=1, description="check `fidelity`: share of a page's own words to be there"
    )
    page_precision: float = Field(
        default=0.95, ge=0, le=1, description="check `fidelity`: share of the words written to be the page's"
    )
    sheet_route: Literal["cells", "pdf"] = Field(
        default="cells", description="read spreadsheets by their cells, or from their printed pages"
    )
    sheet_max_cells: int = Field(
        default=5_000_000, gt=0, description="cells with content a workbook may have"
    )
    hidden_sheets: bool = Field(default=False, description="take in sheets that are hidden")
    hidden_rows: bool = Field(default=False, description="take in rows that are hidden by hand")
    filtered_rows: bool = Field(default=False, description="take in rows that a filter hides")
    hidden_columns: bool = Field(default=False, description="take in columns that are hidden")
    cell_comments: bool = Field(default=False, description="take in comments on cells")
    office_route: Literal["own", "pdf"] = Field(
        default="own", description="text documents and slides: read from their own file, or from their PDF"
    )
    comments: bool = Field(default=False, description="take in comments of text documents and slides")
    speaker_notes: bool = Field(default=False, description="take in speaker notes, after their slide")
    hidden_slides: bool = Field(default=False, description="take in slides that are hidden")
    headers_footers: bool = Field(
        default=False, description="take in headers and footers of text documents, each once"
    )


class LimitsConfig(_Settings):
    """What a document may take of this machine; beyond it, it fails alone."""

    document_seconds: float = Field(
        default=3600.0, gt=0, description="longest that one document is worked on in a run"
    )
    worker_memory_bytes: int = Field(
        default=4_000_000_000,
        gt=0,
        description="memory of the process that works on a document and of its helpers together",
    )
    pages_in_parallel: int = Field(
        default=0,
        ge=0,
        description="pages of one document worked on at once; 0: as many as cores are free, 1: one by one",
    )


class SectionConfig(_Settings):
    """Elements to sections."""

    budget: int = Field(default=60, ge=1, description="elements a section holds at most")


class PlanPolicy(_Settings):
    """How chunks are cut; a change re-runs `chunk_plan` and what follows, nothing before."""

    min_blocks: int = Field(default=3, ge=1, description="content blocks a chunk should have at least")
    max_blocks: int = Field(default=8, ge=1, description="content blocks a chunk should have at most")
    size_unit: Literal["characters", "tokens"] = Field(
        default="characters", description="what sizes count: characters, or tokens of the embedder of [embed]"
    )
    target_chars: int = Field(
        default=600,
        ge=100,
        description="characters, headings counted, below which a chunk takes in its neighbours; "
        "whole sections, lists and tables stay whole above it, so the mean lies about half as high again",
    )
    max_chars: int = Field(
        default=1800, ge=200, description="characters a chunk of several elements never exceeds"
    )
    leave_out_boilerplate: bool = Field(
        default=True,
        description="of web pages, leave out what is only the site's (share links, consent notices, "
        "copyright lines) and report it; other sources are always planned whole",
    )
    target_tokens: int = Field(default=140, ge=20, description="the same as target_chars, in tokens")
    max_tokens: int = Field(
        default=0,
        ge=0,
        description="the same as max_chars, in tokens; 0: all that the embedder reads of a text",
    )
    table_rows: Literal["together", "single"] = Field(
        default="together", description="rows of a table in as few chunks as sizes allow, or a chunk for each"
    )
    group_by: Literal["topic", "entity"] = Field(
        default="topic",
        description="what joins neighbours: the words they share, or the names, codes and numbers they share",
    )


class PlanOverride(PlanPolicy):
    """Other settings for the documents whose key matches the glob `match`, written as in [source]: any of
    those above but `planner`. What it does not set stays as it is; of several that match, the last counts"""

    match: str

    @model_serializer(mode="wrap")
    def _only_what_is_set(self, handler: SerializerFunctionWrapHandler) -> dict[str, object]:
        return {k: v for k, v in handler(self).items() if k in self.model_fields_set}


class PlanConfig(PlanPolicy):
    """Sections to chunk plans."""

    planner: Literal["local", "model"] = "local"
    override: list[PlanOverride] = []

    @field_validator("override")
    @classmethod
    def _globs(cls, overrides: list[PlanOverride]) -> list[PlanOverride]:
        for one in overrides:
            try:
                glob_pattern(one.match)
            except re.error as e:
                raise ValueError(f"{one.match!r} is no glob: {e}") from e
        return overrides

    def for_document(self, key: str) -> PlanConfig:
        """The settings for the document of this key, with the overrides that match it applied."""
        changed: dict[str, object] = {}
        for one in self.override:
            if glob_pattern(one.match).fullmatch(unicodedata.normalize("NFC", key)):
                changed.update(one.model_dump(exclude={"match"}))
        return self.model_copy(update={**changed, "override": []}) if self.override else self

    @property
    def counts_tokens(self) -> bool:
        """Whether any document is planned by tokens: the embedder then bears on plans."""
        return "tokens" in (self.size_unit, *(o.size_unit for o in self.override))


class ModelConfig(_Settings):
    """A model service. Nothing of it is used (or imported) until `convert.mode` or `plan.planner` asks.

    Model ids, limits and prices age: Gemma 3 on Bedrock is announced to end in 2027, and what
    follows it speaks the OpenAI protocol. Defaults are the paper's; all can be set.
    """

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

    def for_pages(self) -> BaseModel:
        """What of these settings bears on a page's result: it is kept by them."""
        names = {"provider", "model", "guardrail_id", "guardrail_version", "temperature", "grounding"}
        return self._part(names | {"min_recall", "min_precision", "foreign_values", "ocr_witness"})

    def for_conversion(self) -> BaseModel:
        """What bears on converted documents: part of their stage's identity."""
        from drac_pipeline.llm.prompts import CONVERT, prompt

        return _Identity(
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
        return _Identity(settings={**self._part(names).settings, **model, **prompts})

    def _part(self, names: set[str]) -> _Identity:
        return _Identity(settings=self.model_dump(mode="json", include=names))


class _Identity(_Settings):
    settings: dict[str, str | float | bool | int]


class EmbedConfig(_Settings):
    """Chunks to vectors: by the embedded model, by Titan on Bedrock, or by an OpenAI-compatible endpoint.
    A service takes retries, timeouts and budgets from [model]."""

    operational = frozenset(
        {
            *("model_folder", "threads", "region", "profile", "endpoint_url", "api_key_env"),
            *("texts_per_call", "calls_in_parallel", "price_provider"),
        }
    )
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


class IndexConfig(_Settings):
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


class RefreshConfig(_Settings):
    """How a home follows its sources. Nothing here makes an output stale."""

    trigger: Literal["off", "sensor", "schedule"] = Field(
        default="off", description="what starts refreshes by itself: the sensor, the schedule, or nothing"
    )
    every_seconds: int = Field(default=30, ge=5, description="how often the sensor looks at the sources")
    cron: str = Field(default="0 * * * *", description="when the schedule refreshes, as a cron line")
    timezone: str = Field(default="UTC", description="the time zone of `cron`")
    settle_seconds: float = Field(
        default=10.0, ge=0, description="a file changed less long ago may still be written: it waits"
    )
    removed: Literal["retire", "keep"] = Field(
        default="retire",
        description="documents gone from the source: out of exports, index, partitions; or kept as they are",
    )
    keep_removed_days: float = Field(
        default=30.0,
        ge=0,
        description="how long a retired document's artifacts are kept, should it return; 0: deleted at once",
    )
    max_removed_share: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="share of a source's documents that may be gone at once before nothing is retired",
    )
    retry_attempts: int = Field(
        default=5, ge=0, description="how often a failure that may pass is tried again by itself"
    )
    retry_minutes: float = Field(
        default=10.0, ge=0, description="how long after the first failure; doubles with each attempt"
    )
    fresh_within_hours: float = Field(
        default=25.0,
        gt=0,
        description="how old the last look may be before Dagster calls the corpus overdue",
    )


class AlertsConfig(_Settings):
    """Who is told of a failed run, and of a source that looks emptied by accident."""

    webhook: str = Field(default="", description="address that takes a JSON message by POST; empty: none")
    webhook_env: str = Field(
        default="DRAC_ALERT_WEBHOOK",
        description="environment variable with that address, where it holds a secret",
    )
    timeout_seconds: float = Field(default=10.0, gt=0, description="how long a message may take")

    def address(self) -> str:
        """The webhook, from the settings or the environment; "" where there is none."""
        return self.webhook or os.environ.get(self.webhook_env, "")


class InspectConfig(_Settings):
    """Pages to look at documents."""

    url: str = Field(
        default="http://127.0.0.1:3070",
        description="where `drac inspect --serve` is reached, for links in the Dagster UI; empty: no links",
    )


class EvaluateConfig(_Settings):
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


class DracConfig(_Settings):
    """All settings; the sections of `drac.toml` have these names."""

    source: SourceConfig = SourceConfig()
    normalize: NormalizeConfig = NormalizeConfig()
    render: RenderConfig = RenderConfig()
    convert: ConvertConfig = ConvertConfig()
    limits: LimitsConfig = LimitsConfig()
    section: SectionConfig = SectionConfig()
    plan: PlanConfig = PlanConfig()
    model: ModelConfig = ModelConfig()
    embed: EmbedConfig = EmbedConfig()
    index: IndexConfig = IndexConfig()
    inspect: InspectConfig = InspectConfig()
    refresh: RefreshConfig = RefreshConfig()
    alerts: AlertsConfig = AlertsConfig()
    evaluate: EvaluateConfig = EvaluateConfig()

    @property
    def converts_by_model(self) -> bool:
        """Whether any page may go to a model."""
        return self.convert.mode != "local"

    @property
    def plans_by_model(self) -> bool:
        """Whether chunks are planned by a model."""
        return self.plan.planner == "model"


def settings_hash(*settings: BaseModel) -> str:
    """Twelve hex digits of the SHA-256 of the settings as canonical JSON, operational ones left out."""
    values = [s.model_dump(mode="json", exclude=set(getattr(s, "operational", ()))) for s in settings]
    text = json.dumps(values, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def load_config(home: Path) -> DracConfig:
    """The settings of `home/drac.toml`, or the defaults where there is none.

    Raises ConfigError naming the key and what it may be.
    """
    path = home / CONFIG_FILE
    if not path.is_file():
        return DracConfig()
    try:
        return DracConfig.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise ConfigError(f"{path}: not valid TOML: {e}") from e
    except ValidationError as e:
        lines = [f"  {'.'.join(map(str, x['loc']))}: {_told(x)}" for x in e.errors()]
        raise ConfigError(f"{path}: settings are wrong:\n" + "\n".join(lines)) from e


def _told(error: Any) -> str:
    """What is wrong with a setting; for a key that there is none, the nearest one or where it belongs."""
    if error["type"] != "extra_forbidden":
        return error["msg"]
    *above, key = map(str, error["loc"])
    if len(above) > 1:
        return "there is no such setting here"
    sections = {n: list(f.default.__class__.model_fields) for n, f in DracConfig.model_fields.items()}
    known = sections.get(above[0], []) if above else list(sections)
    if near := difflib.get_close_matches(key, known, n=1, cutoff=0.6):
        return f"there is no such setting; did you mean {'.'.join([*above, near[0]])}?"
    if owners := [n for n, keys in sections.items() if key in keys]:
        return f"there is no such setting here; it belongs into [{owners[0]}]"
    place = f"[{above[0]}]" if above else CONFIG_FILE
    return f"there is no such setting; {place} may have {', '.join(known)}"
