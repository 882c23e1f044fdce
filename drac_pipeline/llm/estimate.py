"""What conversion, planning and embedding will take in tokens and money, before a call is made.

From the pages and the density of their text; figures of replies are the characters of the
text and of what each element costs to name. Meant to be a little high.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from drac_pipeline.config import EmbedConfig, ModelConfig
from drac_pipeline.llm.prices import Prices
from drac_pipeline.llm.prompts import CONVERT, PLANS, prompt

CHARS_PER_TOKEN = 3.6  # of English prose with numbers; lower is dearer
IMAGE_TOKENS = {"bedrock": 260, "openai": 1105}  # a page image: Gemma's one tile; GPT-4.1's at 1109 x 1568
ROWS_GROWTH = 1.25  # row sentences name their columns again
OUTLINE_TOKENS = 200
USUAL_PAGE_CHARS = 2200
ELEMENT_CHARS = 130  # characters of text for each element, on average
ELEMENT_LINE = 1.0  # share of an element's text that the planner is shown, ids included
SECTION_ELEMENTS = 40
TOKENS_PER_CHUNK = {"boundaries": 2.5, "ranges": 4.5, "lists": 26.0}
CHUNK_ELEMENTS = 4
CHUNK_CHARS = 850  # with its headings
HEADINGS_GROWTH = 1.15  # every chunk has its headings again


@dataclass(frozen=True, slots=True)
class Estimate:
    """Of a document or a corpus. Tokens are a stage's in and out; `usd` its cost."""

    pages: int = 0
    model_pages: int = 0
    calls: int = 0
    convert_in: int = 0
    convert_out: int = 0
    plan_in: int = 0
    plan_out: int = 0
    embed_in: int = 0
    usd: float = 0.0

    def __add__(self, other: Estimate) -> Estimate:
        return Estimate(*(getattr(self, f) + getattr(other, f) for f in self.__slots__))


def estimate(
    pages: int, model_pages: int, chars: int, config: ModelConfig, prices: Prices, *, plan: bool = True
) -> Estimate:
    """Of a document with `chars` characters of text, `model_pages` of whose `pages` are converted by
    the model, and which is planned by it if `plan`."""
    share = model_pages / pages if pages else 0.0
    calls = ceil(model_pages / config.pages_per_call)
    instructions = len(prompt(CONVERT).text) / CHARS_PER_TOKEN + OUTLINE_TOKENS
    convert_in = int(calls * instructions + model_pages * IMAGE_TOKENS[config.provider])
    convert_out = int(chars * share * ROWS_GROWTH / CHARS_PER_TOKEN)
    usd = _cost(prices, config.model, convert_in, convert_out, calls)
    plan_in = plan_out = 0
    if plan and chars:
        elements = max(1, chars // ELEMENT_CHARS)
        sections = ceil(elements / SECTION_ELEMENTS)
        rules = len(prompt(PLANS[config.plan_format]).text) / CHARS_PER_TOKEN
        plan_in = int(sections * rules + chars * ELEMENT_LINE / CHARS_PER_TOKEN + 5 * elements)
        plan_out = int(elements / CHUNK_ELEMENTS * TOKENS_PER_CHUNK[config.plan_format]) + sections
        usd += _cost(prices, config.plan_model or config.model, plan_in, plan_out, sections)
        calls += sections
    return Estimate(pages, model_pages, calls, convert_in, convert_out, plan_in, plan_out, usd=usd)


def estimate_embedding(chars: int, embed: EmbedConfig, model: ModelConfig, prices: Prices) -> Estimate:
    """Of embedding the chunks of `chars` characters of text by the service of `embed`, whose settings
    as a model service are `model`."""
    if not chars:
        return Estimate()
    shown = chars * ROWS_GROWTH * HEADINGS_GROWTH
    chunks = ceil(shown / CHUNK_CHARS)
    calls = chunks if embed.provider == "bedrock" else ceil(chunks / embed.texts_per_call)
    tokens = int(shown / CHARS_PER_TOKEN)
    return Estimate(calls=calls, embed_in=tokens, usd=_cost(prices, model.model, tokens, 0, calls))


def call_cost(prices: Prices, config: ModelConfig, pages: int) -> float:
    """USD that converting so many usual pages costs."""
    return estimate(pages, pages, pages * USUAL_PAGE_CHARS, config, prices, plan=False).usd


def _cost(prices: Prices, model: str, tokens_in: int, tokens_out: int, calls: int) -> float:
    """By calls of the mean size: some prices depend on how long a call is."""
    if not calls:
        return 0.0
    return calls * prices.cost(model, ceil(tokens_in / calls), ceil(tokens_out / calls)).usd
