"""Planning by a model over ids, the beginnings of texts, and hierarchy; it never writes text.

A section is one call, and sections go out together. Its elements are numbered anew, p1… and
h1…, so that a plan is kept by what the model saw: text changed elsewhere in the document costs
nothing. A reply is mended where that is clear, else asked for once more, else the section is
planned locally. Headings are derived by program, and `complete` proves the coverage after.
Of a web page the model may leave out boilerplate; the plan names it.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from drac_pipeline.config import DracConfig, PlanConfig
from drac_pipeline.llm.ledger import Purpose
from drac_pipeline.llm.prompts import PLANS, WEB, Prompt, prompt
from drac_pipeline.llm.protocol import Request, RequestRefused, Stop
from drac_pipeline.llm.results import ResultCache, key_of
from drac_pipeline.llm.service import ModelService
from drac_pipeline.model import ChunkPlan, Element, ElementKind, PlannedChunk, Section
from drac_pipeline.plan.boilerplate import left_out, may_be_left_out
from drac_pipeline.plan.local import plan_items
from drac_pipeline.plan.outline import bare_headings, chunk_of, items_of
from drac_pipeline.plan.reply import Plan, Unusable, read_plan
from drac_pipeline.plan.size import Sizes, TokenCounter, sizes_of
from drac_pipeline.title import document_title

STAGE = "chunk_plan"
RESULTS = "sections"
ASKS = 2
# (elements a section has at most, characters of each text that are shown)
PREVIEWS = ((15, 400), (30, 300))
PREVIEW_LEAST = 200
_SCHEMA = {
    "type": "object",
    "properties": {
        "chunks": {"type": "array", "items": {"type": "array", "items": {"type": "string"}}},
    },
    "required": ["chunks"],
    "additionalProperties": False,
}
_LEFT_OUT = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"id": {"type": "string"}, "reason": {"type": "string"}},
        "required": ["id", "reason"],
        "additionalProperties": False,
    },
}


@dataclass
class PlanTally:
    """Sections by who planned them; `trivial` ones have nothing to decide."""

    by_model: int = 0
    reused: int = 0
    fallback: int = 0
    trivial: int = 0
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Job:
    document: str
    config: DracConfig
    service: ModelService
    prompt: Prompt
    results: ResultCache
    by_id: dict[str, Element]
    web_page: bool


def plan_by_model(
    document: str,
    elements: Sequence[Element],
    sections: Sequence[Section],
    config: DracConfig,
    service: ModelService,
    counter: TokenCounter | None = None,
    *,
    web_page: bool = False,
) -> tuple[ChunkPlan, PlanTally]:
    """The plan of a document, and who planned what. Of a `web_page`, boilerplate may be left out.
    Raises ModelUnavailable or BudgetExceeded; sections that were planned are kept."""
    words = prompt(PLANS[config.model.plan_format])
    results = ResultCache(service.state / RESULTS)
    job = _Job(document, config, service, words, results, {e.id: e for e in elements}, web_page)
    tally = PlanTally()
    with ThreadPoolExecutor(config.model.calls_in_parallel) as pool:
        futures = [pool.submit(_plan_section, job, s) for s in sections]
        try:
            done = [f.result() for f in futures]
        except BaseException:
            pool.shutdown(cancel_futures=True)  # what is in flight is still kept
            raise
    out = {e.id: why for s, (plan, _, _) in zip(sections, done, strict=True) for e, why in _out(job, s, plan)}
    staying = [e for e in elements if e.id not in out]
    items = {e.id for e in items_of(staying)} | set(out)
    bare = bare_headings(staying)
    sizes = sizes_of(config.plan, counter, document_title(document, elements))
    headings = sizes.headings(elements)
    chunks: list[PlannedChunk] = []
    for section, (plan, who, notes) in zip(sections, done, strict=True):
        setattr(tally, who, getattr(tally, who) + 1)
        tally.warnings += [f"section {section.id}{note}" for note in notes]
        members = [job.by_id[i] for i in section.element_ids if i in items]
        if plan is None:
            chunks += plan_items(members, config.plan, sizes, headings, section.id)
        else:
            chunks += _chunks(members, plan, bare, sizes, headings, config.plan, section.id)
    name = f"model {service.model} ({words.version})"
    reported = [left_out(e, out[e.id]) for e in elements if e.id in out]
    return ChunkPlan(
        document_key=document, planner=name, chunks=chunks, left_out=reported, warnings=tally.warnings
    ), tally


def _out(job: _Job, section: Section, plan: Plan | None) -> list[tuple[Element, str]]:
    """The elements that the plan of a section leaves out, and why."""
    content = [e for i in section.element_ids if (e := job.by_id[i]).is_content]
    return [(content[n - 1], why) for n, why in plan.left_out.items()] if plan else []


def section_lines(section: Section, by_id: dict[str, Element]) -> tuple[list[str], int]:
    """What a model sees of a section: a line an element, headings above first; and how much
    content there is (p1…pn)."""
    shown = [by_id[i] for i in (*section.context_ids, *section.element_ids)]
    size = len(section.element_ids)
    most = next((chars for limit, chars in PREVIEWS if size <= limit), PREVIEW_LEAST)
    lines = []
    counts = {"h": 0, "p": 0}
    for e in shown:
        if not e.is_content and e.kind != "heading":
            continue
        letter = "p" if e.is_content else "h"
        counts[letter] += 1
        text = " ".join(e.text.split())
        text = text if len(text) <= most else text[:most].rsplit(" ", 1)[0] + " …"
        level = f" {e.level}" if e.level else ""
        lines.append(f"{letter}{counts[letter]} {e.kind}{level} {text}")
    return lines, counts["p"]


def plan_request(lines: Sequence[str], config: DracConfig, *, web_page: bool = False) -> Request:
    """The question for a section."""
    style = config.model.plan_format
    system = prompt(PLANS[style]).fill(min=str(config.plan.min_blocks), max=str(config.plan.max_blocks))
    schema = _SCHEMA
    if web_page:
        system += "\n" + prompt(WEB[style]).text
        # strict schemas have no optional fields: it may be empty
        schema = {
            **_SCHEMA,
            "properties": {**_SCHEMA["properties"], "left_out": _LEFT_OUT},
            "required": ["chunks", "left_out"],
        }
    return Request(
        ("\n".join(lines),),
        system=system,
        max_tokens=config.model.planning_tokens,
        temperature=config.model.temperature,
        schema=schema if style == "lists" else None,
    )


def _plan_section(job: _Job, section: Section) -> tuple[Plan | None, str, list[str]]:
    """The section's plan, or None for the local planner; the tally's word for who planned it; notes."""
    lines, n = section_lines(section, job.by_id)
    if n <= 1:
        return Plan([[1]]) if n else None, "trivial", []
    request = plan_request(lines, job.config, web_page=job.web_page)
    able = None
    if job.web_page:
        content = [e for i in section.element_ids if (e := job.by_id[i]).is_content]
        able = {k for k, e in enumerate(content, 1) if may_be_left_out(e)}
    purpose = Purpose(job.document, STAGE, f"section {section.id}", job.prompt.version)
    own = job.config.model.for_plans().model_dump_json()
    key = key_of(job.prompt.version, own, request.system, "\n".join(lines))
    kept = job.results.get(key)
    if kept is not None:
        job.service.ledger.reused(purpose, job.service.client.provider, job.service.model)
        out = {int(k): why for k, why in kept.get("left_out", {}).items()}
        return Plan(kept["groups"], left_out=out), "reused", []
    why = ""
    for _ in range(ASKS):
        parts = request.parts + ((f"Your last answer could not be used: {why}.",) if why else ())
        asked = Request(
            parts,
            request.system,
            request.max_tokens,
            request.temperature,
            request.schema,
            {"document": job.document, "stage": STAGE},
        )
        try:
            answer = job.service.call(asked, purpose)
        except RequestRefused as e:
            why = f"{e} {e.remedy}".strip()
            break
        try:
            if answer.reply.stop is not Stop.END:
                raise Unusable(f"it ended early ({answer.reply.stop})")
            plan = read_plan(answer.reply.text, n, able)
        except Unusable as e:
            why = str(e)
            job.service.settle(answer, why)
            continue
        job.results.put(key, {"groups": plan.groups, "left_out": plan.left_out})
        job.service.settle(answer, "; ".join(plan.mended) or "accepted")
        return plan, "by_model", [f": {m}" for m in plan.mended]
    return None, "fallback", [f" was planned locally: {why}"]


def _chunks(
    members: list[Element],
    plan: Plan,
    bare: set[str],
    sizes: Sizes,
    headings: dict[str, int],
    policy: PlanConfig,
    section_id: str,
) -> list[PlannedChunk]:
    """The chunks of a section; bare headings go with what follows, and what is longer than a chunk
    may be, or has rows that are to be alone, is cut as the local planner cuts."""
    groups: list[list[Element]] = [[] for _ in plan.groups]
    owner = {i: k for k, g in enumerate(plan.groups) for i in g}
    number, pending = 0, []
    for e in members:
        if e.id in bare:
            pending.append(e)
            continue
        number += 1
        if number in plan.left_out:
            continue
        group = groups[owner[number]]
        group.extend((*pending, e))
        pending = []
    if groups and pending:
        groups[-1].extend(pending)
    out: list[PlannedChunk] = []
    for items in groups:
        size = sizes.of(items) + sum(headings[h] for h in {a for e in items for a in e.ancestors})
        rows = policy.table_rows == "single" and any(e.kind is ElementKind.TABLE_ROW for e in items)
        if (rows or size > sizes.hard) and len(items) > 1:
            out += plan_items(items, policy, sizes, headings, section_id)
        else:
            out.append(chunk_of(items, section_id))
    return out
