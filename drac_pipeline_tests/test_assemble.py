"""Plan and elements to chunks: exact texts, and a proof that notices every change."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drac_pipeline.assemble import assemble, verify_verbatim
from drac_pipeline.model import BlockSpan, Box, ChunkPlan, PlannedChunk
from drac_pipeline.parse import parse_markdown
from drac_pipeline.plan import plan_local
from drac_pipeline.section import sections

MARKDOWN = """<!-- page 1 -->
# Manual #

Intro  with  two blanks.

### Start-up

Do this:

1. Open.
   - left
2. Close.

<!-- drac:error pages=2 cause="no text" -->
<!-- page 3 -->
- Other list

## Care

```
code
```
"""
ELEMENTS = parse_markdown(MARKDOWN)
PLAN = ChunkPlan(
    document_key="d.pdf",
    planner="test",
    chunks=[
        PlannedChunk(heading_ids=["h1"], body_ids=["p1", "h2", "p2", "p3", "p4", "p5", "e1", "p6"]),
        PlannedChunk(heading_ids=["h1", "h3"], body_ids=["p7"], origin="fallback"),
    ],
)
FIRST = """# Manual

Intro  with  two blanks.

### Start-up

Do this:

1. Open.
   - left
2. Close.

- Other list"""


def test_text_headings_and_pages():
    first, second = assemble("d.pdf", "v1", ELEMENTS, PLAN)
    assert first.text == FIRST
    assert (first.headings, first.heading_ids, first.breadcrumb) == (("Manual",), ("h1",), "Manual")
    assert first.element_ids == ("p1", "h2", "p2", "p3", "p4", "p5", "p6")
    assert (first.page_start, first.page_end, first.ordinal, first.origin) == (1, 3, 0, "planned")
    assert (first.n_chars, first.content_hash) == (len(FIRST), hashlib.sha256(FIRST.encode()).hexdigest())
    assert second.text == "# Manual\n## Care\n\n```\ncode\n```"
    assert (second.breadcrumb, second.page_start, second.origin) == ("Manual > Care", 3, "fallback")


def test_ids_tell_documents_versions_and_places_apart():
    chunks = assemble("d.pdf", "v1", ELEMENTS, PLAN)
    prefix = hashlib.sha256(b"d.pdf\0v1").hexdigest()[:16]
    assert [c.chunk_id for c in chunks] == [f"{prefix}-0000", f"{prefix}-0001"]
    others = assemble("e.pdf", "v1", ELEMENTS, PLAN) + assemble("d.pdf", "v2", ELEMENTS, PLAN)
    assert len({c.chunk_id for c in chunks + others}) == 6


def test_a_chunk_without_headings_has_the_title_as_breadcrumb_and_error_text_never():
    plan = ChunkPlan(
        document_key="d",
        planner="test",
        chunks=[PlannedChunk(body_ids=["e1"]), PlannedChunk(body_ids=["p1", "nonsense"])],
    )
    (chunk,) = assemble("d", "v", ELEMENTS, plan)
    assert (chunk.text, chunk.breadcrumb, chunk.ordinal) == ("Intro  with  two blanks.", "Manual", 0)


def test_boxes_of_the_body_come_along():
    box = Box(page=4, x0=0, y0=0, x1=1, y1=1)
    elements = parse_markdown("# A\n\none", [BlockSpan(start=5, end=8, boxes=[box])])
    plan = ChunkPlan(
        document_key="d", planner="t", chunks=[PlannedChunk(heading_ids=["h1"], body_ids=["p1"])]
    )
    (chunk,) = assemble("d", "v", elements, plan)
    assert (chunk.boxes, chunk.page_start, chunk.page_end) == ((box,), 4, 4)


def test_a_sound_document_is_proven():
    report = verify_verbatim(ELEMENTS, assemble("d.pdf", "v1", ELEMENTS, PLAN))
    assert report.ok
    assert (report.n_chunks, report.n_elements) == (2, 8)


def test_what_is_not_in_exactly_one_chunk_is_named():
    first, second = assemble("d.pdf", "v1", ELEMENTS, PLAN)
    assert verify_verbatim(ELEMENTS, [first]).missing == ["p7"]
    assert verify_verbatim(ELEMENTS, [first, second, second]).duplicated == ["p7"]


@pytest.mark.parametrize(
    ("change", "position"),
    [
        (lambda t: t + " ", len(FIRST)),
        (lambda t: t.replace("two", "2"), 8),
        (lambda t: t.replace("# Manual", "## Manual"), 0),
        (lambda t: t.replace("1. Open.\n   -", "1. Open.\n\n   -"), FIRST.index("\n   - left")),
        (lambda t: t.replace("\n\n- Other", "\n- Other"), FIRST.index("\n\n- Other")),
        (lambda t: t[: -len("\n\n- Other list")], len(FIRST) - len("\n\n- Other list")),
        (lambda t: t.replace("### Start-up\n\n", ""), FIRST.index("\n\n### Start-up")),
    ],
)
def test_any_change_of_the_text_is_noticed_where_it_is(change, position):
    chunks = assemble("d.pdf", "v1", ELEMENTS, PLAN)
    text = change(chunks[0].text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    forged = replace(chunks[0], text=text, n_chars=len(text), content_hash=digest)
    (problem,) = verify_verbatim(ELEMENTS, [forged, chunks[1]]).problems
    assert (problem.chunk_id, problem.position) == (forged.chunk_id, position)


def test_wrong_size_hash_or_ids_are_noticed():
    first, second = assemble("d.pdf", "v1", ELEMENTS, PLAN)
    for forged in (
        replace(second, n_chars=1),
        replace(second, content_hash="0"),
        replace(second, heading_ids=("h1",)),
        replace(second, element_ids=("p7", "e1")),
        replace(second, element_ids=("p7", "p99")),
    ):
        assert len(verify_verbatim(ELEMENTS, [first, forged]).problems) == 1


LINES = st.sampled_from(
    ["# A\n", "## B #\n", "#### D\n", "text  \nmore\n\n", "\n", "- a\n", "1. b\n", "   - c\n\n", "> q\n\n",
     "```\n", "<!-- page 2 -->\n", "<!-- drac:error pages=2 -->\n", "\u00fcn\u00efc\u00f6de \u2028\n\n",
     "|a|b|\r\n"]
)  # fmt: skip


@settings(max_examples=300, deadline=None, database=None)
@given(st.lists(LINES, max_size=40).map("".join))
def test_whatever_the_document_its_chunks_are_its_elements(markdown):
    elements = parse_markdown(markdown)
    chunks = assemble("d", "v", elements, plan_local("d", elements, sections(elements)))
    report = verify_verbatim(elements, chunks)
    assert report.ok, report
    assert not any("drac:error" in c.text for c in chunks)
    assert [c.ordinal for c in chunks] == list(range(len(chunks)))


LONG = " ".join(f"This is sentence {k} of a long text." for k in range(50))


@pytest.mark.parametrize(
    "text",
    [
        LONG,
        "- " + LONG,
        "```\n" + "\n".join(f"call({k})" for k in range(200)) + "\n```",
        "長い文です。" * 100,
    ],
    ids=["paragraph", "item", "code", "without blanks"],
)
def test_parts_of_a_text_are_joined_as_they_were(text):
    elements = parse_markdown(f"# T\n\n{text}\n\nnext")
    ids = [e.id for e in elements if e.kind.value != "heading"]
    assert len(ids) > 2
    together = ChunkPlan(
        document_key="d", planner="test", chunks=[PlannedChunk(heading_ids=["h1"], body_ids=ids)]
    )
    (chunk,) = assemble("d", "v", elements, together)
    assert chunk.text == f"# T\n\n{text}\n\nnext"
    assert verify_verbatim(elements, [chunk]).ok
    wrong = replace(chunk, text=chunk.text.replace(elements[2].text, "\n" + elements[2].text))
    assert not verify_verbatim(elements, [wrong]).ok
    apart = together.model_copy(
        update={"chunks": [PlannedChunk(heading_ids=["h1"], body_ids=[i]) for i in ids]}
    )
    chunks = assemble("d", "v", elements, apart)
    assert [c.text for c in chunks] == [f"# T\n\n{e.text}" for e in elements[1:]]
    assert verify_verbatim(elements, chunks).ok


def test_without_a_heading_over_all_others_a_chunk_says_what_its_document_is():
    elements = parse_markdown("# 1 Safety\n\ngoggles\n\n# 2 Pump Guide\n\nuse\n\n# 3 Care\n\nclean")
    plan = ChunkPlan(
        document_key="x/Pump Guide.pdf",
        planner="test",
        chunks=[
            PlannedChunk(heading_ids=["h1"], body_ids=["p1"]),
            PlannedChunk(heading_ids=["h2"], body_ids=["p2"]),
            PlannedChunk(body_ids=["h3", "p3"]),
        ],
    )
    chunks = assemble("x/Pump Guide.pdf", "v", elements, plan)
    assert [c.text for c in chunks] == [
        "Pump Guide\n# 1 Safety\n\ngoggles",
        "# 2 Pump Guide\n\nuse",
        "Pump Guide\n\n# 3 Care\n\nclean",
    ]
    assert [c.breadcrumb for c in chunks] == ["Pump Guide > 1 Safety", "2 Pump Guide", "Pump Guide"]
    assert verify_verbatim(elements, chunks).ok
    other = replace(chunks[0], title="Pump Tool", text=chunks[0].text.replace("Guide", "Tool"))
    assert not verify_verbatim(elements, [other, *chunks[1:]]).ok
    assert not verify_verbatim(elements, [replace(chunks[0], title=""), *chunks[1:]]).ok


def test_what_stands_before_the_title_has_it_as_breadcrumb():
    elements = parse_markdown("Letterhead\n\n# Complaint\n\ntext")
    plan = ChunkPlan(document_key="s.pdf", planner="t", chunks=[PlannedChunk(body_ids=["p1", "h1", "p2"])])
    (chunk,) = assemble("s.pdf", "v", elements, plan)
    assert (chunk.breadcrumb, chunk.title) == ("Complaint", "")
    assert chunk.text.startswith("Letterhead")
