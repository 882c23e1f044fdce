"""The proof that a plan holds every content element exactly once, and the repair of one that does not."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence

from pydantic import BaseModel, Field

from drac_pipeline.config import PlanConfig
from drac_pipeline.model.element import Element, ElementKind
from drac_pipeline.model.plan import ChunkPlan, PlannedChunk
from drac_pipeline.plan.local import plan_items
from drac_pipeline.plan.outline import bare_headings, chunk_of
from drac_pipeline.plan.size import TokenCounter, sizes_of
from drac_pipeline.title import document_title

_NAMED = 8  # ids a warning names


class CoverageReport(BaseModel):
    """What is wrong with a plan, as ids in reading order (unknown ones as they come).

    missing           content elements in no chunk's body
    duplicated        content elements more than once in bodies
    unknown           ids that the document does not have, or that are error markers
    out_of_order      body ids that come after one that stands later in the document, or again;
                      the first content of a chunk that comes after a later chunk
    headings_missing  headings that no chunk shows
    headings_wrong    headings shown on top of a body that is not below them, or in the body with
                      nothing below them; headings not shown though they are above an element
    empty             ordinals of chunks with nothing in their body

    `left_out` are the elements of a web page that the plan leaves out, with a reason: no fault there,
    and missing in any other source.
    """

    n_content: int = 0
    n_chunks: int = 0
    missing: list[str] = Field(default_factory=list)
    duplicated: list[str] = Field(default_factory=list)
    unknown: list[str] = Field(default_factory=list)
    out_of_order: list[str] = Field(default_factory=list)
    headings_missing: list[str] = Field(default_factory=list)
    headings_wrong: list[str] = Field(default_factory=list)
    empty: list[int] = Field(default_factory=list)
    left_out: list[str] = Field(default_factory=list)

    @property
    def ok(self) -> bool:
        """True if nothing is wrong."""
        return not (
            self.missing
            or self.duplicated
            or self.unknown
            or self.out_of_order
            or self.headings_missing
            or self.headings_wrong
            or self.empty
        )


def verify_coverage(
    elements: Sequence[Element], plan: ChunkPlan, *, web_page: bool = False
) -> CoverageReport:
    """Compares the plan with the elements it is for. Only of a `web_page` may it leave any out."""
    out = {x.id for x in plan.left_out if x.reason} if web_page else set()
    in_chunks = {i for c in plan.chunks for i in (*c.heading_ids, *c.body_ids)}
    out -= in_chunks
    report = _verify([e for e in elements if e.id not in out], plan)
    report.n_content = sum(e.is_content for e in elements)
    report.left_out = [e.id for e in elements if e.id in out]
    return report


def _verify(elements: Sequence[Element], plan: ChunkPlan) -> CoverageReport:
    by_id = {e.id: e for e in elements if e.kind is not ElementKind.ERROR}
    times: Counter[str] = Counter()
    shown: set[str] = set()
    bare = bare_headings(elements)
    report = CoverageReport(n_content=sum(e.is_content for e in elements), n_chunks=len(plan.chunks))
    begun = -1
    unknown: list[str] = []
    wrong: list[str] = []
    for number, chunk in enumerate(plan.chunks):
        unknown += [i for i in (*chunk.heading_ids, *chunk.body_ids) if i not in by_id]
        shown.update(chunk.heading_ids, chunk.body_ids)
        body = [by_id[i] for i in chunk.body_ids if i in by_id]
        if not body:
            report.empty.append(number)
            continue
        times.update(e.id for e in body if e.is_content)
        highest = -1
        for e in body:
            if e.ordinal <= highest:
                report.out_of_order.append(e.id)
            highest = max(highest, e.ordinal)
        if _position(body) < begun:
            report.out_of_order.append(body[0].id)
        begun = max(begun, _position(body))
        wrong += _wrong_headings(chunk, body, by_id, bare)
    report.missing = [e.id for e in elements if e.is_content and not times[e.id]]
    report.duplicated = [e.id for e in elements if times[e.id] > 1]
    report.headings_missing = [e.id for e in elements if e.kind is ElementKind.HEADING and e.id not in shown]
    report.unknown = list(dict.fromkeys(unknown))
    report.headings_wrong = list(dict.fromkeys(wrong))
    return report


def _position(body: Sequence[Element]) -> int:
    """Where in the document a chunk stands: at its first content, or its last heading if it has none."""
    return next((e.ordinal for e in body if e.is_content), body[-1].ordinal)


def _wrong_headings(
    chunk: PlannedChunk, body: list[Element], by_id: dict[str, Element], bare: set[str]
) -> list[str]:
    """Headings that a chunk should not show, or should and does not."""
    top = [i for i in chunk.heading_ids if i in by_id]
    wrong = [i for i in top if any(i not in e.ancestors for e in body)]
    wrong += [b for a, b in itertools.pairwise(top) if by_id[a].ordinal >= by_id[b].ordinal]
    above = {a for e in body if e.is_content or e.id in bare for a in e.ancestors}
    shown = set(top)
    for e in body:
        wrong += [a for a in e.ancestors if a not in shown]
        if not e.is_content and e.id not in bare and e.id not in above:
            wrong.append(e.id)
        shown.add(e.id)
    return wrong


def complete(
    elements: Sequence[Element],
    plan: ChunkPlan,
    config: PlanConfig | None = None,
    counter: TokenCounter | None = None,
    *,
    web_page: bool = False,
) -> ChunkPlan:
    """The plan mended, so that `verify_coverage` finds nothing wrong with it; `warnings` say what was.

    Unknown ids are dropped and of duplicates the first is kept; a body is put into reading
    order; the headings of a chunk become the chains of what it holds; missing content goes
    to fallback chunks between its neighbours, and a heading without content to the chunk
    that follows it. What of a `web_page` is left out stays out; of any other source it comes back. A
    sound plan comes back as it is.
    """
    report = verify_coverage(elements, plan, web_page=web_page)
    out = set(report.left_out)
    if len(out) < len(plan.left_out):
        plan = plan.model_copy(update={"left_out": [x for x in plan.left_out if x.id in out]})
    if report.ok:
        return plan
    elements = [e for e in elements if e.id not in out]
    policy = config or PlanConfig()
    sizes = sizes_of(policy, counter, document_title(plan.document_key, elements))
    by_id = {e.id: e for e in elements}
    bare = bare_headings(elements)
    taken: set[str] = set()
    kept: list[tuple[PlannedChunk, list[Element]]] = []
    for chunk in plan.chunks:
        items = _items(chunk, by_id, bare, taken)
        if items:
            kept.append((chunk, items))
    chunks = [(items, chunk_of(items, chunk.section_id, chunk.origin)) for chunk, items in kept]
    left = [e for e in elements if e.id not in taken and (e.is_content or e.id in bare)]
    runs = _runs(left, elements)
    headings = sizes.headings(elements)
    chunks = _with_bare_headings(chunks, [r for r in runs if not any(e.is_content for e in r)])
    for run in runs:
        if any(e.is_content for e in run) or not chunks:
            for planned in plan_items(run, policy, sizes, headings):
                body = [by_id[i] for i in planned.body_ids if i in by_id]
                chunks.append((body, planned.model_copy(update={"origin": "fallback"})))
    chunks.sort(key=lambda c: _position(c[0]))
    return plan.model_copy(
        update={"chunks": [c for _, c in chunks], "warnings": [*plan.warnings, *_warnings(report)]}
    )


def _items(chunk: PlannedChunk, by_id: dict[str, Element], bare: set[str], taken: set[str]) -> list[Element]:
    """What of the chunk's body is real and not yet taken, in reading order."""
    items = []
    for i in chunk.body_ids:
        e = by_id.get(i)
        if e is not None and i not in taken and (e.is_content or i in bare):
            taken.add(i)
            items.append(e)
    return sorted(items, key=lambda e: e.ordinal)


def _runs(left: list[Element], elements: Sequence[Element]) -> list[list[Element]]:
    """The left-over items, cut where taken content stands between two of them."""
    ids = {e.id for e in left}
    runs: list[list[Element]] = []
    apart = True
    for e in elements:
        if e.id in ids:
            if apart:
                runs.append([])
            runs[-1].append(e)
            apart = False
        elif e.is_content:
            apart = True
    return runs


def _with_bare_headings(
    chunks: list[tuple[list[Element], PlannedChunk]], runs: Iterable[list[Element]]
) -> list[tuple[list[Element], PlannedChunk]]:
    """The chunks with each run of bare headings added to the first that begins after it, or the last."""
    if not chunks:
        return chunks
    out = sorted(chunks, key=lambda c: _position(c[0]))
    at = 0
    for run in runs:
        while at < len(out) - 1 and _position(out[at][0]) < run[0].ordinal:
            at += 1
        items, chunk = out[at]
        items = sorted([*items, *run], key=lambda e: e.ordinal)
        out[at] = (items, chunk_of(items, chunk.section_id, chunk.origin))
    return out


def _warnings(report: CoverageReport) -> list[str]:
    causes = [
        (report.missing, "missing, now in fallback chunks"),
        (report.duplicated, "planned more than once, the first kept"),
        (report.unknown, "unknown or error markers, dropped"),
        (report.out_of_order, "out of reading order, sorted"),
        (report.headings_missing, "headings that no chunk showed, added"),
        (report.headings_wrong, "headings wrong for their chunk, set to the chain of its elements"),
        ([str(n) for n in report.empty], "chunks without content, dropped"),
    ]
    out = []
    for ids, what in causes:
        if ids:
            more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
            out.append(f"{len(ids)} {what}: {', '.join(ids[:_NAMED])}{more}")
    return out
