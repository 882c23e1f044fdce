"""How stages use a model: the service of the home, who read and planned what, and what it cost."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drac_pipeline import cores
from drac_pipeline.config import ConvertConfig, DracConfig, PlanConfig
from drac_pipeline.convert.model.places import find_places
from drac_pipeline.convert.vlm import STAGE as CONVERTS
from drac_pipeline.convert.vlm import convert_by_model, local_reading, pages_for_model
from drac_pipeline.llm.estimate import call_cost
from drac_pipeline.llm.open import open_service
from drac_pipeline.llm.prices import PROVIDERS, Prices
from drac_pipeline.model import ChunkPlan, Converted, Element, Section
from drac_pipeline.parse import parse_markdown
from drac_pipeline.plan.llm import STAGE as PLANS
from drac_pipeline.plan.llm import plan_by_model
from drac_pipeline.plan.size import TokenCounter

if TYPE_CHECKING:
    from drac_pipeline.pipeline.stage import StageContext


@dataclass
class ModelPages:
    """Reads PDFs with the model; `counts` and `facts` say afterwards who read what and the cost."""

    config: DracConfig
    document: str
    state: Path
    run: str
    images: Callable[[], dict[int, Path]]
    counts: dict[str, float] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)

    def __call__(self, pdf: Path, _: ConvertConfig) -> Converted:
        local = local_reading(pdf, self.config)
        pages = pages_for_model(local, self.config)
        if not pages:
            self.counts = {"model_pages": 0, "cost_usd": 0.0}
            self._saved(sum(not p.blank for p in local.report.pages))
            return local
        service = open_service(self.config.model, self.state, self.run)
        cores.let_go()
        converted, tally = convert_by_model(
            pdf, self.images(), local, pages, self.config, service, self.document
        )
        spent = service.ledger.spent(self.document, CONVERTS)
        self.counts = {
            "model_pages": tally.by_model,
            "model_pages_reused": tally.reused,
            "model_pages_refused": tally.fallback,
            **spent,
        }
        self._saved(tally.spared)
        service.export()
        blocks = [(e.start, e.end, e.page_start) for e in parse_markdown(converted.markdown, converted.spans)]
        by_model = {p.page for p in converted.report.pages if p.reader == tally.reader}
        converted.spans = find_places(pdf, converted, blocks, by_model, tally.scans)
        return converted

    def _saved(self, pages: int) -> None:
        """What the pages would have cost that needed no model."""
        if self.config.convert.mode == "auto":
            model = self.config.model
            prices = Prices(self.state.parent, model.price_provider or PROVIDERS[model.provider])
            self.counts["pages_spared"] = pages
            self.counts["saved_usd"] = round(call_cost(prices, model, pages), 6)


def page_images(ctx: StageContext) -> dict[int, Path]:
    """The images of the page_images stage by page."""
    listing = json.loads(ctx.read("page_images", "pages.json").read_bytes())
    return {p["page"]: ctx.read("page_images", p["file"]) for p in listing if p["file"]}


def model_pages(ctx: StageContext) -> ModelPages:
    """The reader of PDFs for a stage's document."""
    return ModelPages(ctx.config, ctx.document.key, ctx.state, ctx.run, lambda: page_images(ctx))


def model_plan(
    ctx: StageContext,
    elements: list[Element],
    cut: list[Section],
    policy: PlanConfig,
    counter: TokenCounter | None = None,
    *,
    web_page: bool = False,
) -> tuple[ChunkPlan, dict[str, float]]:
    """The plan of a stage's document, and counts."""
    model = ctx.config.model.plan_model or ctx.config.model.model
    service = open_service(ctx.config.model, ctx.state, ctx.run, model)
    cores.let_go()
    config = ctx.config.model_copy(update={"plan": policy})
    plan, tally = plan_by_model(ctx.document.key, elements, cut, config, service, counter, web_page=web_page)
    counts = {
        "sections_by_model": tally.by_model,
        "sections_reused": tally.reused,
        "sections_refused": tally.fallback,
        **service.ledger.spent(ctx.document.key, PLANS),
    }
    service.export()
    return plan, counts
