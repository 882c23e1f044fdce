"""The stages in order: what each reads, which settings are its own, and what it writes.

    source -> normalized_pdf -> page_images -> markdown -> elements -> chunk_plan -> chunks
      -> chunk_embeddings

A stage function reads its parents' files, writes its own into a folder, and returns counts,
facts for a person, and the verdicts of its checks. It knows neither Dagster nor the manifest.
Its output depends on nothing but the parents' data and its settings: no times, no paths.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from pydantic import BaseModel

from drac_pipeline.assemble import assemble, verify_verbatim
from drac_pipeline.config import ConvertConfig, DracConfig
from drac_pipeline.config.base import Identity
from drac_pipeline.convert import convert_pdf
from drac_pipeline.convert.fidelity import FidelityReport, compare
from drac_pipeline.convert.route import DIRECT_FORMATS, Convertible, convert_document, reads_own_file
from drac_pipeline.counted import counted
from drac_pipeline.errors import (
    ConfigError,
    ConversionFailed,
    DocumentTooLarge,
    MissingTool,
    SourceChanged,
    StageTimeout,
)
from drac_pipeline.model import (
    ChunkPlan,
    Converted,
    ElementKind,
    chunks_from_table,
    chunks_to_table,
    elements_to_table,
    embeddings_to_table,
)
from drac_pipeline.normalize import normalize, sniff
from drac_pipeline.normalize.unprinted import unprinted
from drac_pipeline.parse import parse_markdown
from drac_pipeline.pipeline.artifacts import (
    CHUNKS_FILE,
    CONVERSION_FILE,
    ELEMENTS_FILE,
    EMBEDDINGS_FILE,
    FIDELITY_FILE,
    MARKDOWN_FILE,
    NORMALIZED_FILE,
    ORIGINAL_FILE,
    PAGES_FILE,
    PDF_FILE,
    PLAN_FILE,
    read_conversion,
    read_convertible,
    read_elements,
)
from drac_pipeline.pipeline.checks import (
    chunk_size_check,
    fidelity_check,
    fidelity_counts,
    table_syntax_check,
)
from drac_pipeline.pipeline.stage import SOURCE, Stage, StageContext, StageOutput
from drac_pipeline.plan import complete, find_boilerplate, plan_local, verify_coverage
from drac_pipeline.plan.policy import policy_of
from drac_pipeline.plan.size import sizes_of
from drac_pipeline.render import render_pages
from drac_pipeline.section import sections
from drac_pipeline.sources.fingerprint import hash_file
from drac_pipeline.store.manifest import CheckRecord

WEB_PAGE = "html"  # as `normalize.sniff` names pages of a web site
_OF_WEB_PAGE = {b"drac_source": b"web page"}


# ------------------------------------------------------------------- stages


def _normalized_pdf(ctx: StageContext) -> StageOutput:
    work = ctx.out / "work"
    work.mkdir()
    try:
        done = normalize(ctx.document, work, ctx.config.normalize)
    except (StageTimeout, MissingTool, DocumentTooLarge, ConversionFailed) as e:
        # the text does not come from the print, so a print that fails costs the pictures only
        found = sniff(ctx.document.path).format
        own = found in DIRECT_FORMATS and ctx.document.size <= ctx.config.normalize.max_bytes
        if not own or not reads_own_file(Convertible(work, found, ctx.document.path), ctx.config.convert):
            raise
        done = unprinted(work / "unprinted.pdf", found, e)
    target = ctx.out / PDF_FILE
    if done.pdf.is_relative_to(work):
        done.pdf.replace(target)
    else:
        shutil.copyfile(done.pdf, target)
    if done.own is not None:
        shutil.copyfile(done.own, ctx.out / ORIGINAL_FILE)
    shutil.rmtree(work)
    if done.own is None and done.format in DIRECT_FORMATS:
        shutil.copyfile(ctx.document.path, ctx.out / ORIGINAL_FILE)
        if hash_file(ctx.out / ORIGINAL_FILE)[0] != ctx.document.fingerprint:
            raise SourceChanged("the file changed while it was read", remedy="Run again when it is complete.")
    about = {
        "format": done.format,
        "route": done.route,
        "tool": done.tool,
        "taken_in": done.taken,
        "left_out": done.left_out,
        "whole": done.whole,
        "read_as": done.own_format or (done.format if done.format in DIRECT_FORMATS else ""),
    }
    (ctx.out / NORMALIZED_FILE).write_text(json.dumps(about, indent=1, ensure_ascii=False), encoding="utf-8")
    return StageOutput(
        counts={"pages": done.pages, "bytes": target.stat().st_size},
        facts=about,
        warnings=list(done.warnings),
        lack=done.lack,
    )


def _page_images(ctx: StageContext) -> StageOutput:
    pages = render_pages(ctx.read("normalized_pdf", PDF_FILE), ctx.out, ctx.config.render)
    listing = [
        {
            "page": p.page,
            "file": p.path.name if p.path else None,
            "width": p.width,
            "height": p.height,
            "error": p.error,
        }
        for p in pages
    ]
    (ctx.out / PAGES_FILE).write_text(json.dumps(listing, indent=1), encoding="utf-8")
    return StageOutput(
        counts={
            "pages": len(pages),
            "bytes": sum(p.path.stat().st_size for p in pages if p.path),
            "failed_pages": sum(p.error is not None for p in pages),
        },
        warnings=[f"page {p.page} could not be rendered: {p.error}" for p in pages if p.error],
    )


def _markdown(ctx: StageContext) -> StageOutput:
    by_pages: Callable[[Path, ConvertConfig], Converted] = convert_pdf
    model = None
    if ctx.config.converts_by_model:
        from drac_pipeline.pipeline.by_model import model_pages

        by_pages = model = model_pages(ctx)
    document = replace(read_convertible(ctx.read), tools=ctx.config.normalize)
    if not document.whole and not reads_own_file(document, ctx.config.convert):
        raise ConversionFailed(
            "its PDF does not show all of it, and the settings have it read from there",
            remedy="Set normalize.print_max_chars = 0, or have it read from its own file (convert.html_route,"
            " convert.sheet_route).",
        )
    converted = convert_document(document, ctx.config.convert, by_pages)
    report = converted.report
    report.web_page = document.format == WEB_PAGE
    failed = [p for p in report.pages if p.error]
    if failed and len(failed) == len(report.pages) and not any(p.n_chars for p in failed):
        raise ConversionFailed(
            f"none of its {counted(len(failed), 'page')} could be read (page {failed[0].page}:"
            f" {failed[0].error})",
            remedy="Look at the page images; a scan needs OCR (`convert.ocr = true`).",
        )
    (ctx.out / MARKDOWN_FILE).write_text(converted.markdown, encoding="utf-8", newline="")
    (ctx.out / CONVERSION_FILE).write_text(
        converted.model_dump_json(exclude={"markdown"}, indent=1), encoding="utf-8"
    )
    fidelity = FidelityReport()
    if not reads_own_file(document, ctx.config.convert):
        fidelity = compare(document.pdf, converted)
    (ctx.out / FIDELITY_FILE).write_text(fidelity.model_dump_json(indent=1), encoding="utf-8")
    return StageOutput(
        counts={
            "pages": len(report.pages),
            "characters": len(converted.markdown),
            "tables": len(converted.tables),
            "table_rows": sum(len(t.rows) for t in converted.tables),
            "blank_pages": sum(p.blank for p in report.pages),
            "failed_pages": len(failed),
            "dropped": len(report.dropped),
            **fidelity_counts(fidelity),
            **(model.counts if model else {}),
        },
        facts={
            "converter": report.converter,
            "readers": _tally(p.reader for p in report.pages),
            "failed_pages": [p.page for p in failed],
            "taken_in": report.taken,
            "left_out": _tally(d.reason for d in report.dropped),
        },
        checks={
            "no_table_syntax": table_syntax_check(converted.markdown),
            "fidelity": fidelity_check(fidelity, ctx.config.convert),
        },
        warnings=report.warnings + [f"page {p.page}: {p.error}" for p in failed],
    )


def _elements(ctx: StageContext) -> StageOutput:
    converted = read_conversion(ctx.read)
    elements = parse_markdown(converted.markdown, converted.spans)
    table = elements_to_table(elements)
    if converted.report.web_page:
        table = table.replace_schema_metadata({**(table.schema.metadata or {}), **_OF_WEB_PAGE})
    pq.write_table(table, ctx.out / ELEMENTS_FILE)
    kinds = _tally(str(e.kind) for e in elements)
    return StageOutput(
        counts={"elements": len(elements), "headings": kinds.get("heading", 0)},
        facts={"kinds": kinds},
        warnings=[
            f"pages {e.page_start}–{e.page_end} were not converted"
            for e in elements
            if e.kind == ElementKind.ERROR
        ],
    )


def _chunk_plan(ctx: StageContext) -> StageOutput:
    elements = read_elements(ctx.read)
    policy, counter = policy_of(ctx.config, ctx.document.key)
    schema = pq.read_schema(ctx.read("elements", ELEMENTS_FILE))
    web_page = _OF_WEB_PAGE.items() <= (schema.metadata or {}).items()
    web_page = web_page and policy.leave_out_boilerplate
    out = find_boilerplate(elements) if web_page else []
    gone = {x.id for x in out}
    staying = [e for e in elements if e.id not in gone]
    cut = sections(staying, ctx.config.section)
    spent: dict[str, float] = {}
    if ctx.config.plans_by_model:
        from drac_pipeline.pipeline.by_model import model_plan

        planned, spent = model_plan(ctx, staying, cut, policy, counter, web_page=web_page)
    else:
        planned = plan_local(ctx.document.key, staying, cut, policy, counter)
    planned = planned.model_copy(update={"left_out": [*out, *planned.left_out]})
    plan = complete(elements, planned, policy, counter, web_page=web_page)
    coverage = verify_coverage(elements, plan, web_page=web_page)
    (ctx.out / PLAN_FILE).write_text(plan.model_dump_json(indent=1), encoding="utf-8")
    return StageOutput(
        counts={
            "sections": len(cut),
            "chunks": len(plan.chunks),
            "fallback_chunks": sum(c.origin == "fallback" for c in plan.chunks),
            **({"left_out": len(plan.left_out)} if web_page else {}),
            **spent,
        },
        facts={
            "planner": plan.planner,
            **({"left_out": [f"{x.reason}: {x.text}" for x in plan.left_out]} if plan.left_out else {}),
        },
        checks={
            "coverage": CheckRecord(
                passed=coverage.ok, blocking=True, detail=coverage.model_dump(mode="json")
            )
        },
        warnings=plan.warnings,
    )


def _plan_settings(config: DracConfig) -> tuple[BaseModel, ...]:
    """What bears on plans."""
    used: tuple[BaseModel, ...] = (config.section, config.plan)
    if config.plans_by_model:
        used += (config.model.for_plans(),)
    return (*used, config.embed) if config.plan.counts_tokens else used


def _size_settings(config: DracConfig) -> tuple[BaseModel, ...]:
    """What bears on the verdict on the chunks' sizes."""
    plan = config.plan
    if plan.counts_tokens:
        return Identity(settings={"max_tokens": plan.max_tokens}), config.embed
    return (Identity(settings={"max_chars": plan.max_chars}),)


def _chunks(ctx: StageContext) -> StageOutput:
    elements = read_elements(ctx.read)
    plan = ChunkPlan.model_validate_json(ctx.read("chunk_plan", PLAN_FILE).read_bytes())
    chunks = assemble(ctx.document.key, ctx.document.fingerprint, elements, plan)
    verbatim = verify_verbatim(elements, chunks, (x.id for x in plan.left_out))
    pq.write_table(chunks_to_table(chunks), ctx.out / CHUNKS_FILE)
    sizes = [c.n_chars for c in chunks]
    policy, counter = policy_of(ctx.config, ctx.document.key)
    return StageOutput(
        counts={
            "chunks": len(chunks),
            "characters": sum(sizes),
            "mean_characters": round(sum(sizes) / len(sizes), 1) if sizes else 0,
            "largest_characters": max(sizes, default=0),
        },
        checks={
            "verbatim": CheckRecord(
                passed=verbatim.ok, blocking=True, detail=verbatim.model_dump(mode="json")
            ),
            "chunk_size": chunk_size_check(elements, chunks, sizes_of(policy, counter)),
        },
    )


def _chunk_embeddings(ctx: StageContext) -> StageOutput:
    from drac_pipeline.index.embed import embed_chunks, length_report
    from drac_pipeline.index.open import open_embedder
    from drac_pipeline.index.service_embedder import STAGE as EMBEDS
    from drac_pipeline.index.service_embedder import ServiceEmbedder, spent_on
    from drac_pipeline.index.vector_cache import CACHE_FILE

    chunks = chunks_from_table(pq.read_table(ctx.read("chunks", CHUNKS_FILE)))
    try:
        embedder = open_embedder(ctx.config.embed, ctx.config.model, ctx.state, ctx.run)
    except ConfigError as e:
        raise MissingTool(str(e)) from e
    with spent_on(ctx.document.key):
        done = embed_chunks(chunks, embedder, ctx.state / CACHE_FILE)
    spent: dict[str, float] = {}
    if isinstance(embedder, ServiceEmbedder):
        spent = embedder.service.ledger.spent(ctx.document.key, EMBEDS)
        embedder.service.export()
    table = embeddings_to_table(chunks, done.vectors, done.tokens, embedder.name)
    pq.write_table(table, ctx.out / EMBEDDINGS_FILE)
    lengths = length_report(chunks, done.tokens, embedder)
    over = lengths["over_the_limit"]
    lost = bool(over) and embedder.too_long == "cut"
    told = (
        f"{over} of {counted(len(chunks), 'chunk')} {'is' if over == 1 else 'are'} longer than the"
        f" {counted(embedder.max_tokens, 'token')} that"
        f" {embedder.name} reads: the rest of {'it' if over == 1 else 'them'} cannot be found by meaning"
    )
    return StageOutput(
        counts={
            "chunks": len(chunks),
            "tokens": sum(done.tokens),
            "largest_tokens": max(done.tokens, default=0),
            "over_the_limit": over,
            "reused": done.reused,
            **spent,
        },
        facts={"embedder": embedder.name, "dimensions": embedder.dimensions},
        checks={"within_embedder": CheckRecord(passed=not lost, detail=lengths)},
        warnings=[told] if lost else [],
    )


def _tally(words: Any) -> dict[str, int]:
    out: dict[str, int] = {}
    for word in words:
        out[word] = out.get(word, 0) + 1
    return out


STAGES: tuple[Stage, ...] = (
    Stage(
        "normalized_pdf",
        (SOURCE,),
        8,
        lambda c: (c.normalize,),
        _normalized_pdf,
        "The document as PDF: a PDF byte for byte, an office file by LibreOffice, an image or page wrapped.",
    ),
    Stage(
        "page_images",
        ("normalized_pdf",),
        1,
        lambda c: (c.render,),
        _page_images,
        "One PNG a page at 200 DPI, no side over 1,568 px.",
    ),
    Stage(
        "markdown",
        ("normalized_pdf", "page_images"),
        19,
        lambda c: (c.convert, c.model.for_conversion()) if c.converts_by_model else (c.convert,),
        _markdown,
        "Retrieval-oriented Markdown: text verbatim, a sentence for each table row, headings explicit.",
        {"no_table_syntax": False, "fidelity": False},
    ),
    Stage(
        "elements",
        ("markdown",),
        4,
        lambda _: (),
        _elements,
        "ID-addressed elements (h1…, p1…) with level, page, boxes and ancestor headings.",
    ),
    Stage(
        "chunk_plan",
        ("elements",),
        4,
        _plan_settings,
        _chunk_plan,
        "Chunks as lists of element ids; every content element in exactly one.",
        {"coverage": True},
    ),
    Stage(
        "chunks",
        (SOURCE, "elements", "chunk_plan"),
        4,
        _size_settings,
        _chunks,
        "Chunks rebuilt from the verbatim elements, with ancestor headings and breadcrumb.",
        {"verbatim": True, "chunk_size": False},
    ),
    Stage(
        "chunk_embeddings",
        ("chunks",),
        1,
        lambda c: (c.embed,),
        _chunk_embeddings,
        "A vector of length 1 for each chunk; a text that was embedded before is not embedded again.",
        {"within_embedder": False},
    ),
)

STAGES_BY_NAME = {s.name: s for s in STAGES}
