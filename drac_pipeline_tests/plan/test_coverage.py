"""Coverage of plans: what is found, and that any plan whatever comes out sound."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from drac_pipeline.model import ChunkPlan, PlannedChunk
from drac_pipeline.parse import parse_markdown
from drac_pipeline.plan import complete, plan_local, verify_coverage
from drac_pipeline.section import sections

MARKDOWN = "\n\n".join(
    [
        "# A",
        "one",
        "## B",
        "two",
        "## Bare",
        "## C",
        "- x\n- y",
        '<!-- drac:error pages=3 cause="x" -->',
        "five",
    ]
)
ELEMENTS = parse_markdown(MARKDOWN)  # h1 p1 h2 p2 h3 h4 p3 p4 e1 p5; h3 has no content


def plan(*chunks: tuple[str, str]) -> ChunkPlan:
    """A plan from pairs of heading ids and body ids, each as words."""
    planned = [PlannedChunk(heading_ids=h.split(), body_ids=b.split()) for h, b in chunks]
    return ChunkPlan(document_key="d", planner="test", chunks=planned)


SOUND = plan(("h1", "p1 h2 p2"), ("h1", "h3 h4 p3 p4 p5"))


def faults(p: ChunkPlan) -> dict[str, object]:
    report = verify_coverage(ELEMENTS, p)
    data = report.model_dump(exclude={"n_content", "n_chunks"})
    return {k: v for k, v in data.items() if v}


def pairs(p: ChunkPlan) -> list[tuple[str, str]]:
    return [(" ".join(c.heading_ids), " ".join(c.body_ids)) for c in p.chunks]


def test_a_sound_plan_is_ok_and_stays_as_it_is():
    report = verify_coverage(ELEMENTS, SOUND)
    assert (report.ok, report.n_content, report.n_chunks) == (True, 5, 2)
    assert complete(ELEMENTS, SOUND) is SOUND


def test_each_fault_is_found():
    assert faults(plan(("h1", "p1 h2 p2"), ("h1", "h3 h4 p3 p4"))) == {"missing": ["p5"]}
    assert faults(plan(("h1", "p1 h2 p2"), ("h1", "h2 p2 h3 h4 p3 p4 p5"))) == {"duplicated": ["p2"]}
    assert faults(plan(("h1", "p1 h2 p2"), ("h1", "h3 h4 p3 p4 e1 p5 p9"))) == {"unknown": ["e1", "p9"]}
    assert faults(plan(("h1", "p1 h2 p2"), ("h1", "h3 h4 p4 p3 p5"))) == {"out_of_order": ["p3"]}
    assert faults(plan(("h1", "h3 h4 p3 p4 p5"), ("h1", "p1 h2 p2"))) == {"out_of_order": ["p1"]}
    assert faults(plan(("h1", "p1 h2 p2"), ("h1 h4", "p3 p4 p5"))) == {"headings_missing": ["h3"]}
    assert faults(plan(("h1 h2", "p1 p2"), ("h1", "h3 h4 p3 p4 p5"))) == {"headings_wrong": ["h2"]}
    assert faults(plan(("h1", "p1 h2 p2 h3 h4"), ("h1 h4", "p3 p4 p5"))) == {"headings_wrong": ["h4"]}
    assert faults(plan(("h1", "p1 h2 p2"), ("", "h3 h4 p3 p4 p5"))) == {"headings_wrong": ["h1"]}
    assert faults(plan(("h1", "p1 h2 p2"), ("h1", ""), ("h1", "h3 h4 p3 p4 p5"))) == {"empty": [1]}


def test_missing_content_goes_to_fallback_chunks_where_it_belongs():
    mended = complete(ELEMENTS, plan(("h1 h2", "p2"), ("h1 h4", "p5")))
    assert pairs(mended) == [("h1", "p1"), ("h1 h2", "p2"), ("h1", "h3 h4 p3 p4"), ("h1 h4", "p5")]
    assert [c.origin for c in mended.chunks] == ["fallback", "planned", "fallback", "planned"]
    assert mended.warnings == [
        "3 missing, now in fallback chunks: p1, p3, p4",
        "1 headings that no chunk showed, added: h3",
    ]


def test_a_bare_heading_goes_to_the_chunk_after_it():
    mended = complete(ELEMENTS, plan(("h1", "p1 h2 p2"), ("h1 h4", "p3 p4 p5")))
    assert pairs(mended) == [("h1", "p1 h2 p2"), ("h1", "h3 h4 p3 p4 p5")]


def test_of_duplicates_the_first_is_kept_and_order_restored():
    mended = complete(ELEMENTS, plan(("h1 h4", "p4 p3 p4"), ("h1", "p2 p1 p3"), ("h4", "p5 zz")))
    assert pairs(mended) == [("h1", "p1 h2 p2"), ("h1", "h3 h4 p3 p4"), ("h1 h4", "p5")]
    assert {c.origin for c in mended.chunks} == {"planned"}


def test_an_empty_plan_becomes_one_of_fallback_chunks():
    mended = complete(ELEMENTS, plan())
    assert pairs(mended) == [("h1", "p1 h2 p2 h3 h4 p3 p4 p5")]
    assert mended.chunks[0].origin == "fallback"


def test_a_document_of_headings_alone_keeps_them():
    elements = parse_markdown("# A\n## B\n# C\n")
    mended = complete(elements, plan())
    assert pairs(mended) == [("", "h1 h2 h3")]
    assert verify_coverage(elements, mended).ok


def test_long_misses_make_chunks_of_the_usual_size():
    elements = parse_markdown("\n\n".join(f"Paragraph {k} " + "x" * 300 for k in range(40)))
    mended = complete(elements, plan(("", "p20")))
    assert verify_coverage(elements, mended).ok
    assert max(len(c.body_ids) for c in mended.chunks) <= 8


LINES = st.sampled_from(
    [
        "# A\n",
        "## B\n",
        "#### D\n",
        "text\n\n",
        "Label:\n\n",
        "- a\n",
        "1. b\n",
        "   - c\n",
        "<!-- drac:error -->\n",
    ]
)
DOCUMENTS = st.lists(LINES, max_size=30).map("".join)
IDS = st.sampled_from([f"{c}{n}" for c in "hpe" for n in range(12)] + ["", "x", "p1 "])
CHUNKS = st.builds(PlannedChunk, heading_ids=st.lists(IDS, max_size=5), body_ids=st.lists(IDS, max_size=9))
PLANS = st.lists(CHUNKS, max_size=9).map(lambda c: ChunkPlan(document_key="d", planner="any", chunks=c))


@settings(max_examples=500, deadline=None, database=None)
@given(DOCUMENTS, PLANS)
def test_whatever_the_plan_coverage_holds_after_repair(markdown, garbage):
    elements = parse_markdown(markdown)
    mended = complete(elements, garbage)
    report = verify_coverage(elements, mended)
    assert report.ok, report
    assert complete(elements, mended) is mended
    assert bool(mended.warnings) == (mended is not garbage)


@settings(max_examples=200, deadline=None, database=None)
@given(DOCUMENTS, st.data())
def test_a_sound_plan_with_something_taken_out_loses_nothing(markdown, data):
    elements = parse_markdown(markdown)
    whole = plan_local("d", elements, sections(elements))
    assert verify_coverage(elements, whole).ok
    if whole.chunks:
        k = data.draw(st.integers(0, len(whole.chunks) - 1))
        holed = whole.model_copy(update={"chunks": [c for n, c in enumerate(whole.chunks) if n != k]})
        assert verify_coverage(elements, complete(elements, holed)).ok


def test_chunks_of_bare_headings_alone_stay_in_order():
    elements = parse_markdown("# A\n# B\ntext\n\n## C\n# D\n")  # h1, h3 and h4 are bare
    mended = complete(elements, plan(("", "h3 h4")))
    assert pairs(mended) == [("", "h1 h2 p1"), ("", "h2 h3 h4")]
    assert verify_coverage(elements, mended).ok
