"""Pages to Markdown by a multimodal model, checked page by page, with the local converter behind it.

What becomes of a page, in this order:

1. A result of the same image, model, prompt and settings that passed its checks is used again, and so
   is a reply that came before the run was killed.
2. A batch of up to `pages_per_call` pages is asked for, told the headings and the open table of
   the pages before. Pages that pass are kept at once, so a killed run has them.
3. Pages that fail are asked for in halves, down to single pages, and those once more. A scan has no
   text layer to compare with: OCR reads it while the model is at work, and a page whose numbers differ
   from what OCR is sure of is asked for once more. What then still differs is said in the report.
4. The local converter reads what is left; the report says why.
5. Where that fails too, an error marker stands.

An error of the service or the budget ends the document, after what is in flight has been kept.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from drac_pipeline import cores
from drac_pipeline.config import DracConfig
from drac_pipeline.convert.local.document import convert_pdf
from drac_pipeline.convert.model.carry import Carried, carry
from drac_pipeline.convert.model.checks import check_pages
from drac_pipeline.convert.model.compose import compose, page_texts
from drac_pipeline.convert.model.reply import read_reply
from drac_pipeline.convert.model.witness import Doubt, say_doubt, second_opinion
from drac_pipeline.errors import DocumentError
from drac_pipeline.llm.ledger import Purpose
from drac_pipeline.llm.prompts import CONVERT, prompt
from drac_pipeline.llm.protocol import ImagePart, ModelUnavailable, Request, RequestRefused
from drac_pipeline.llm.results import ResultCache, key_of
from drac_pipeline.llm.service import Answer, ModelService
from drac_pipeline.model import ConversionReport, Converted, PageReport

STAGE = "markdown"
RESULTS = "pages"
SINGLE_TRIES = 2
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Tally:
    """Pages by who read them: `by_model` of which `reused` were paid for before, `fallback` what
    the model was asked for and the local converter read, `spared` what needed no model. `reader` is
    what its pages are marked with, `scans` the readings by OCR of pages without a text layer to believe."""

    by_model: int = 0
    reused: int = 0
    fallback: int = 0
    spared: int = 0
    reader: str = ""
    scans: Mapping[int, Converted] = field(default_factory=dict)


@dataclass(slots=True)
class _Batch:
    """Pages to ask for. `grid` is what the batch they first belonged to was told, and part of their
    results' names; `told` is what they themselves are told."""

    pages: tuple[int, ...]
    grid: Carried
    told: Carried
    tries: int = 0


@dataclass
class _Job:
    """A document on its way: what is there, what is to do, why pages failed."""

    pdf: Path
    images: Mapping[int, Path]
    local: Converted
    config: DracConfig
    service: ModelService
    document: str
    made: dict[int, str] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)
    reused: set[int] = field(default_factory=set)
    seen: dict[int, Converted] = field(default_factory=dict)  # scans by OCR
    first: dict[int, str] = field(default_factory=dict)  # pages in doubt, as they were read first
    doubts: dict[int, Doubt] = field(default_factory=dict)  # of pages in `made`

    def __post_init__(self) -> None:
        self.prompt = prompt(CONVERT)
        self.results = ResultCache(self.service.state / RESULTS)
        self.texts = page_texts(self.local.markdown)
        self.blind = {p.page for p in self.local.report.pages if p.error}
        self.arrived = [
            (tuple(map(int, _DIGITS.findall(unit))), int(salt))
            for unit, salt in self.service.unsettled(self.document, STAGE)
        ]


def convert_by_model(
    pdf: Path,
    images: Mapping[int, Path],
    local: Converted,
    pages: Sequence[int],
    config: DracConfig,
    service: ModelService,
    document: str,
) -> tuple[Converted, Tally]:
    """The document with `pages` read by the model and the others as in `local`.

    `images` are PNGs by page. Raises ModelUnavailable or BudgetExceeded; what was finished is kept.
    """
    job = _Job(pdf, images, local, config, service, document)
    wanted = [n for n in pages if n in images]
    job.failed.update({n: "there is no image of the page" for n in pages if n not in images})
    _work(job, _grid(wanted, config, service))
    return _result(job, pages)


def pages_for_model(local: Converted, config: DracConfig) -> list[int]:
    """Which pages go to the model: all with ink, or with `auto` those that need pixels."""
    inked = [p for p in local.report.pages if not p.blank]
    if config.convert.mode == "model":
        return [p.page for p in inked]
    least = config.model.auto_confidence
    return [p.page for p in inked if p.error or "ocr" in p.reader.lower() or p.confidence < least]


def _grid(wanted: Sequence[int], config: DracConfig, service: ModelService) -> list[tuple[int, ...]]:
    """Batches of neighbouring pages, as long as a call may be."""
    most = min(config.model.pages_per_call, service.capabilities.images_per_call) if wanted else 1
    out: list[tuple[int, ...]] = []
    for n in wanted:
        if out and len(out[-1]) < most and out[-1][-1] == n - 1:
            out[-1] += (n,)
        else:
            out.append((n,))
    return out


def _work(job: _Job, grid: list[tuple[int, ...]]) -> None:
    """Get all pages of the grid. Batches go out together where the pages before them can be read
    locally; after a page that cannot, a batch waits for the one before it."""
    todo = deque(grid)
    waiting: deque[_Batch] = deque()
    flying: dict[Future[Answer], _Batch] = {}
    stopped: Exception | None = None
    pool = ThreadPoolExecutor(job.config.model.calls_in_parallel)
    try:
        while todo or waiting or flying:
            while stopped is None and len(flying) < job.config.model.calls_in_parallel:
                busy = bool(flying or waiting)
                if waiting:
                    batch = waiting.popleft()
                elif todo and not (busy and job.blind.intersection(range(1, todo[0][0]))):
                    batch = _unpaid(job, todo.popleft())
                    if batch is None:
                        continue
                else:
                    break
                flying[pool.submit(_ask, job, batch)] = batch
            if not flying:
                break
            # OCR and the checks read the PDF, which only one thread may: this one
            unseen = next((n for b in flying.values() for n in b.pages if _wants_witness(job, n)), None)
            done, _ = wait(flying, timeout=None if unseen is None else 0, return_when=FIRST_COMPLETED)
            if not done and unseen is not None:
                _read_locally(job, unseen)
                continue
            for future in done:
                batch = flying.pop(future)
                try:
                    waiting.extend(_take(job, batch, future))
                except DocumentError as e:
                    stopped = stopped or e
            if stopped is not None and not flying:
                raise stopped
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _unpaid(job: _Job, pages: tuple[int, ...]) -> _Batch | None:
    """The batch of those pages that no kept result answers; None if all are there."""
    carried = _carried(job, pages[0])
    missing = []
    for n in pages:
        kept = job.results.get(_key(job, n, carried))
        if kept is None:
            missing.append(n)
        else:
            job.made[n] = kept["markdown"]
            job.reused.add(n)
            if doubt := kept.get("doubt"):
                job.doubts[n] = Doubt(**doubt)
    found = [n for n in pages if n not in missing]
    if found:
        job.service.ledger.reused(_purpose(job, found), job.service.client.provider, job.service.model)
    for batch in _arrived(job, pages, carried) if missing else ():
        _judge(job, batch, _ask(job, batch))
    missing = [n for n in missing if n not in job.made]
    return _Batch(tuple(missing), carried, _carried(job, missing[0])) if missing else None


def _arrived(job: _Job, pages: Sequence[int], grid: Carried) -> Iterator[_Batch]:
    """Batches of those pages whose reply came and was not dealt with before the run was killed."""
    for asked, tries in job.arrived:
        if set(asked) <= set(pages):
            batch = _Batch(asked, grid, _carried(job, asked[0]), tries)
            if job.service.holds(_request(job, batch), str(tries)):
                yield batch


def _carried(job: _Job, page: int) -> Carried:
    """From the pages before `page`: as read locally, else as the model has read them by now."""
    parts = []
    for state in job.local.report.pages:
        if state.page >= page:
            break
        if state.error and state.page in job.made:
            parts.append(job.made[state.page])
        elif state.page in job.texts:
            parts.append(job.local.markdown[slice(*job.texts[state.page])])
    return carry("\n\n".join(parts))


def _key(job: _Job, page: int, carried: Carried) -> str:
    """A page's result depends on its image and, for the names of columns, on the table that may go
    on. The outline is left out: a heading changed on page 1 must not cost page 400 again."""
    grounding = _grounding(job, page)
    own = job.config.model.for_pages().model_dump_json()
    return key_of(
        job.images[page].read_bytes(), job.prompt.version, own, "\n".join(carried.header), grounding
    )


def _grounding(job: _Job, page: int) -> str:
    if not job.config.model.grounding or page not in job.texts:
        return ""
    return job.local.markdown[slice(*job.texts[page])]


def _purpose(job: _Job, pages: Sequence[int]) -> Purpose:
    unit = f"page {pages[0]}" if len(pages) == 1 else "pages " + ",".join(map(str, pages))
    return Purpose(job.document, STAGE, unit, job.prompt.version, len(pages))


def _ask(job: _Job, batch: _Batch) -> Answer:
    request, purpose = _request(job, batch), _purpose(job, batch.pages)
    return job.service.call(request, purpose, salt=str(batch.tries))


def _request(job: _Job, batch: _Batch) -> Request:
    parts: list[str | ImagePart] = []
    if told := batch.told.told():
        parts.append(told)
    for n in batch.pages:
        if text := _grounding(job, n):
            parts.append(f"The text layer of page {n}, for its spelling only:\n{text}")
        parts += [f"Page {n}", ImagePart(job.images[n].read_bytes())]
    return Request(
        tuple(parts),
        system=job.prompt.text,
        max_tokens=job.config.model.conversion_tokens,
        temperature=job.config.model.temperature,
        metadata={"document": job.document, "stage": STAGE},
    )


def _take(job: _Job, batch: _Batch, future: Future[Answer]) -> list[_Batch]:
    """What to ask for next in place of a batch that came back."""
    try:
        answer = future.result()
    except RequestRefused as e:
        if e.remedy and len(batch.pages) == 1 and not job.made:
            # not this page is wrong but a setting, and no page of any document would pass
            raise ModelUnavailable(str(e), remedy=e.remedy) from e
        return _again(job, batch, dict.fromkeys(batch.pages, str(e)))
    return _again(job, batch, _judge(job, batch, answer))


def _judge(job: _Job, batch: _Batch, answer: Answer) -> dict[int, str]:
    """Keep the pages that are good; gives the others, and why."""
    pages = read_reply(answer.reply, batch.pages, job.prompt.lines())
    wrong = check_pages(job.pdf, pages.good, job.local, batch.told.header, job.config.model, job.made)
    bad = {**pages.bad, **wrong}
    for n, text in pages.good.items():
        if n in wrong:
            continue
        doubt = _doubt(job, n, text)
        if doubt is not None and doubt.strong:
            last = len(batch.pages) == 1 and batch.tries + 1 >= SINGLE_TRIES
            if n not in job.first and not last:
                job.first[n] = text
                bad[n] = doubt.said()
                continue
            text, doubt = _better(job, n, text, doubt)
        _keep(job, n, text, batch.grid, doubt)
    verdict = "; ".join(f"page {n}: {why}" for n, why in sorted(bad.items()))
    job.service.settle(answer, verdict or "accepted")
    return bad


def _again(job: _Job, batch: _Batch, bad: dict[int, str]) -> list[_Batch]:
    left = [n for n in batch.pages if n in bad]
    if len(batch.pages) > 1:
        half = (len(left) + 1) // 2
        halves = [tuple(part) for part in (left[:half], left[half:]) if part]
        return [_Batch(part, batch.grid, _carried(job, part[0])) for part in halves]
    if left and batch.tries + 1 < SINGLE_TRIES:
        return [_Batch(batch.pages, batch.grid, batch.told, batch.tries + 1)]
    for n in left:
        if n in job.first:  # read once, if in doubt; the second time worse
            _keep(job, n, job.first[n], batch.grid, _doubt(job, n, job.first[n]))
        else:
            job.failed[n] = bad[n]
    return []


def _keep(job: _Job, page: int, text: str, grid: Carried, doubt: Doubt | None) -> None:
    job.made[page] = text
    value: dict[str, Any] = {"markdown": text, "model": job.service.model, "prompt": job.prompt.version}
    if doubt is not None:
        job.doubts[page] = doubt
        value["doubt"] = asdict(doubt)
    job.results.put(_key(job, page, grid), value)


def _better(job: _Job, page: int, text: str, doubt: Doubt) -> tuple[str, Doubt]:
    """Of two readings of the model the one that OCR agrees with more, the later where it is all one."""
    before = job.first.get(page)
    earlier = _doubt(job, page, before) if before is not None else None
    if before is not None and earlier is not None and len(earlier.model_only) < len(doubt.model_only):
        return before, earlier
    return text, doubt


def _doubt(job: _Job, page: int, text: str) -> Doubt | None:
    """What OCR says of a model's page; None where the page has a text layer, or OCR read nothing."""
    if not job.config.model.ocr_witness:
        return None
    if _wants_witness(job, page):
        _read_locally(job, page)
    reading = job.seen.get(page) or job.local
    state = next((p for p in reading.report.pages if p.page == page), None)
    place = page_texts(reading.markdown).get(page)
    if state is None or state.error or "ocr" not in state.reader.lower() or place is None:
        return None
    return second_opinion(text, reading.markdown[slice(*place)], state.confidence)


def _wants_witness(job: _Job, page: int) -> bool:
    """Whether OCR is to read a page that could not be read locally without it."""
    return (
        job.config.model.ocr_witness and job.config.convert.ocr and page in job.blind and page not in job.seen
    )


def _result(job: _Job, asked: Sequence[int]) -> tuple[Converted, Tally]:
    states = {p.page: p for p in job.local.report.pages}
    sources = dict.fromkeys(states, job.local)
    # fidelity takes a reader with "ocr" in its name for one without a text layer to compare with
    model = job.service.model if "ocr" not in job.service.model.lower() else "model"
    report = ConversionReport(
        converter=f"model {job.service.model} ({job.prompt.version}), {job.local.report.converter}",
        dropped=[d for d in job.local.report.dropped if d.page not in job.made],
        warnings=list(job.local.report.warnings),
    )
    for n, state in states.items():
        if n in job.made:
            reason = "converted before" if n in job.reused else "converted by the model"
            made = PageReport(page=n, reader=model, reason=reason)
            say_doubt(made, job.doubts.get(n), scan=bool(state.error) or "ocr" in state.reader.lower())
            report.pages.append(made)
        elif n in job.failed:
            if state.error:
                sources[n] = job.seen.get(n) or _read_locally(job, n)
                state = next((p for p in sources[n].report.pages if p.page == n), state)
            why = f"the model's page was refused ({job.failed[n]}); read locally: {state.reason}"
            report.pages.append(state.model_copy(update={"reason": why}))
            report.warnings.append(f"page {n}: {why}")
        else:
            report.pages.append(state)
    tally = Tally(
        by_model=len(job.made),
        reader=model,
        reused=len(job.reused),
        fallback=len(job.failed),
        spared=sum(not p.blank for p in states.values()) - len(asked),
        scans={
            **{n: job.local for n, p in states.items() if "ocr" in p.reader.lower() and not p.error},
            **job.seen,
        },
    )
    return compose(job.made, sources, report), tally


def _read_locally(job: _Job, page: int) -> Converted:
    """The page by the local converter with all it has."""
    with cores.a_place(cores.folder(), cores.usable()):
        found = convert_pdf(job.pdf, job.config.convert, pages=range(page - 1, page))
    job.seen[page] = found
    return found


def local_reading(
    pdf: Path, config: DracConfig, convert: Callable[..., Converted] = convert_pdf
) -> Converted:
    """The local converter's reading, which the model's is built on. OCR is for the model to spare where
    every page goes to it, and runs only for pages that come back."""
    if config.convert.mode == "model":
        return convert(pdf, config.convert.model_copy(update={"ocr": False}))
    return convert(pdf, config.convert)
