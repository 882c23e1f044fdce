"""Plan and elements to chunks, and the proof that a chunk's text is its elements' text."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from pydantic import BaseModel, Field

from drac_pipeline.counted import counted
from drac_pipeline.model.chunk import Chunk
from drac_pipeline.model.element import Element, ElementKind
from drac_pipeline.model.plan import ChunkPlan, PlannedChunk
from drac_pipeline.title import document_title, name_of, root_heading, says

_KEY_DIGITS = 16


def assemble(
    document_key: str, document_version: str, elements: Sequence[Element], plan: ChunkPlan
) -> list[Chunk]:
    """The chunks of a plan whose coverage is proven.

    A text is the chain of headings as Markdown heading lines, a blank line, and the body's
    elements byte for byte with blank lines between, items of one list with single line
    breaks, parts of one text with a blank (of code with a line break). Error markers never
    become text. Where no heading stands above all others and those of the chunk do not say what
    the document is, its name is the first line.

    `chunk_id` is `<16 hex>-<ordinal, 4 digits>`, the hex digits being of the SHA-256 of document
    key and version.
    """
    by_id = {e.id: e for e in elements if e.kind is not ElementKind.ERROR}
    prefix = hashlib.sha256(f"{document_key}\0{document_version}".encode()).hexdigest()[:_KEY_DIGITS]
    chunks: list[Chunk] = []
    title = document_title(document_key, elements)
    root = root_heading(elements)
    name = root.text if root else name_of(document_key)
    for planned in plan.chunks:
        body = [by_id[i] for i in planned.body_ids if i in by_id]
        if not body:
            continue
        top = [by_id[i] for i in planned.heading_ids if i in by_id]
        said = says([e.text for e in (*top, *body) if e.kind is ElementKind.HEADING], title)
        own = "" if said else title
        chunk = _chunk(document_key, document_version, prefix, len(chunks), planned, top, body, own)
        chunks.append(chunk if chunk.breadcrumb else replace(chunk, breadcrumb=name))
    return chunks


def _chunk(
    document_key: str,
    document_version: str,
    prefix: str,
    ordinal: int,
    planned: PlannedChunk,
    top: list[Element],
    body: list[Element],
    title: str,
) -> Chunk:
    text = _text(title, top, body)
    headings = tuple(h.text for h in top)
    content = [e for e in body if e.is_content] or body
    pages = [e.page_start for e in content if e.page_start] + [e.page_end for e in content if e.page_end]
    return Chunk(
        document_key=document_key,
        document_version=document_version,
        chunk_id=f"{prefix}-{ordinal:04d}",
        ordinal=ordinal,
        text=text,
        title=title,
        breadcrumb=" > ".join((title, *headings) if title else headings),
        headings=headings,
        heading_ids=tuple(h.id for h in top),
        element_ids=tuple(e.id for e in body),
        page_start=min(pages, default=0),
        page_end=max(pages, default=0),
        n_chars=len(text),
        content_hash=hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
        origin=planned.origin,
        boxes=tuple(b for e in body for b in e.boxes),
    )


def _text(title: str, top: list[Element], body: list[Element]) -> str:
    head = [*([title] if title else []), *(_line(h) for h in top)]
    parts = ["\n".join(head)] if head else []
    above: Element | None = None
    for e in body:
        line = _line(e) if e.kind is ElementKind.HEADING else e.text
        if above is not None and e.part and above.ordinal == e.ordinal - 1:
            parts[-1] += _between(above, e) + line
        elif above is not None and _one_list(above, e):
            parts[-1] += "\n" + line
        else:
            parts.append(line)
        above = e
    return "\n\n".join(parts)


def _line(heading: Element) -> str:
    return f"{'#' * heading.level} {heading.text}"


def _between(above: Element, here: Element) -> str:
    """What parts of one text have between them: nothing, the line break of code, or a blank."""
    if here.start == above.end:
        return ""
    return "\n" if here.kind is ElementKind.CODE else " "


def _one_list(above: Element, here: Element) -> bool:
    return above.kind is here.kind is ElementKind.LIST_ITEM and above.group == here.group


# ------------------------------------------------------------------ the proof


class VerbatimProblem(BaseModel):
    """Where a chunk is not what its elements say: `position` counts characters of its text."""

    chunk_id: str
    position: int
    expected: str
    found: str


class VerbatimReport(BaseModel):
    """Result of `verify_verbatim`: mismatches, and content elements not in exactly one chunk."""

    n_chunks: int = 0
    n_elements: int = 0
    problems: list[VerbatimProblem] = Field(default_factory=list)
    missing: list[str] = Field(default_factory=list)
    duplicated: list[str] = Field(default_factory=list)

    @property
    def ok(self) -> bool:
        """True if the chunks are exactly the document's content, each element once."""
        return not (self.problems or self.missing or self.duplicated)


_SHOWN = 80  # characters of a mismatch that a problem quotes


def verify_verbatim(
    elements: Sequence[Element], chunks: Sequence[Chunk], left_out: Iterable[str] = ()
) -> VerbatimReport:
    """Reads every chunk's text back with the elements in hand.

    The text has to be the title, if there is one, the named headings, then the named elements,
    each in full and in order, with nothing but line breaks between (a blank between parts of one
    text) and nothing after; size and hash must agree, and all chunks together must hold every
    content element once, but those `left_out` by the plan. Shares no code with `assemble`.
    """
    by_id = {e.id: e for e in elements}
    report = VerbatimReport(n_chunks=len(chunks))
    times = Counter(i for c in chunks for i in c.element_ids)
    out = set(left_out)
    report.missing = [e.id for e in elements if e.is_content and not times[e.id] and e.id not in out]
    report.duplicated = [e.id for e in elements if e.is_content and times[e.id] > 1]
    for chunk in chunks:
        report.n_elements += len(chunk.element_ids)
        problem = _first_problem(chunk, by_id)
        if problem is not None:
            report.problems.append(problem)
    return report


def _first_problem(chunk: Chunk, by_id: dict[str, Element]) -> VerbatimProblem | None:
    if not chunk.text.startswith(chunk.title):
        return _problem(chunk, 0, chunk.title)
    if chunk.title not in " ".join(chunk.document_key.replace("_", " ").split()):
        return _problem(chunk, 0, "(a title made of the document key)")
    position = len(chunk.title)
    # what the element before was: "#" on top, the list's group, "." for any other
    last = "#" if chunk.title else ""
    end, number = -1, -1  # where the element before ends in the Markdown, and its place in the document
    for k, i in enumerate((*chunk.heading_ids, *chunk.element_ids)):
        element = by_id.get(i)
        if element is None or element.kind is ElementKind.ERROR:
            return _problem(chunk, position, f"(no element {i} that may be indexed)")
        expected = element.text
        if element.kind is ElementKind.HEADING:
            expected = "#" * element.level + " " + expected
        here = "#" if k < len(chunk.heading_ids) else "."
        if element.kind is ElementKind.LIST_ITEM:
            here = element.group
        if element.part and number == element.ordinal - 1:
            code = element.kind is ElementKind.CODE
            expected = ("" if element.start == end else "\n" if code else " ") + expected
        elif k or chunk.title:
            expected = ("\n" if here == last != "." else "\n\n") + expected
        if not chunk.text.startswith(expected, position):
            return _problem(chunk, position, expected)
        position += len(expected)
        last, end, number = here, element.end, element.ordinal
    if position != len(chunk.text) or position != chunk.n_chars:
        return _problem(chunk, position, f"(end of {counted(chunk.n_chars, 'character')})")
    digest = hashlib.sha256(chunk.text.encode("utf-8", "surrogatepass")).hexdigest()
    return (
        None if digest == chunk.content_hash else _problem(chunk, 0, f"(text of hash {chunk.content_hash})")
    )


def _problem(chunk: Chunk, position: int, expected: str) -> VerbatimProblem:
    return VerbatimProblem(
        chunk_id=chunk.chunk_id,
        position=position,
        expected=expected[:_SHOWN],
        found=chunk.text[position : position + _SHOWN],
    )
