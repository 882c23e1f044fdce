"""The local planner: what stays together, what is parted, and the sizes it keeps."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drac_pipeline.assemble import assemble
from drac_pipeline.config import PlanConfig, SectionConfig
from drac_pipeline.errors import ConfigError
from drac_pipeline.model import BlockSpan, ChunkPlan, Element, PlannedChunk
from drac_pipeline.parse import parse_markdown
from drac_pipeline.plan import TokenCounter, plan_local, verify_coverage
from drac_pipeline.section import sections


def planned(markdown: str, config: PlanConfig | None = None, spans=()) -> tuple[list[Element], ChunkPlan]:
    elements = parse_markdown(markdown, spans)
    plan = plan_local("d", elements, sections(elements), config)
    assert verify_coverage(elements, plan).ok
    return elements, plan


def pairs(plan: ChunkPlan) -> list[tuple[str, str]]:
    return [(" ".join(c.heading_ids), " ".join(c.body_ids)) for c in plan.chunks]


def sizes(elements: list[Element], plan: ChunkPlan) -> list[int]:
    return [c.n_chars for c in assemble("d", "v", elements, plan)]


def prose(n_chars: int, word: str = "word") -> str:
    """A paragraph of about `n_chars` characters that ends in a full stop."""
    return (f"{word} " * (n_chars // (len(word) + 1))).strip() + ".\n\n"


SMALL = PlanConfig(target_chars=300, max_chars=600)


def test_nothing_gives_no_chunk():
    assert planned("")[1].chunks == []


def test_planner_document_and_section_are_named():
    _, plan = planned("# A\n\none")
    assert (plan.planner, plan.document_key, plan.warnings) == ("local", "d", [])
    assert plan.chunks == [PlannedChunk(heading_ids=["h1"], body_ids=["p1"], section_id="s1")]


def test_small_sections_under_one_parent_are_merged_with_their_headings_in_place():
    markdown = (
        "# T\n\n## A\n\n" + prose(80, "alpha") + "## B\n\n" + prose(80, "beta") + "## C\n\n" + prose(80)
    )
    assert pairs(planned(markdown, SMALL)[1]) == [("h1", "h2 p1 h3 p2 h4 p3")]


def test_large_sections_are_apart_and_repeat_the_parent():
    markdown = "# T\n\n## A\n\n" + prose(290, "alpha") + "## B\n\n" + prose(290, "beta")
    assert pairs(planned(markdown, SMALL)[1]) == [("h1 h2", "p1"), ("h1 h3", "p2")]


def test_neighbours_are_joined_by_the_words_they_share():
    about = {"x": "valve pressure gauge ", "y": "invoice payment terms "}
    parts = "".join(f"## S{k}\n\n{(about[c] * 9).strip()}.\n\n" for k, c in enumerate("xxyy"))
    _, plan = planned("# T\n\n" + parts, PlanConfig(target_chars=420, max_chars=700))
    assert pairs(plan) == [("h1", "h2 p1 h3 p2"), ("h1", "h4 p3 h5 p4")]


def test_a_section_over_the_hard_size_is_cut_evenly_and_each_part_has_its_headings():
    elements, plan = planned("# T\n\n## A\n\n" + prose(160) * 6, SMALL)
    assert pairs(plan) == [("h1 h2", "p1 p2 p3"), ("h1 h2", "p4 p5 p6")]
    assert max(sizes(elements, plan)) <= 600


def test_no_heading_ends_a_chunk_and_empty_ones_go_with_what_follows():
    markdown = "# T\n\n" + prose(290, "alpha") + "## Empty\n\n## B\n\n" + prose(290, "beta") + "## Last\n"
    assert pairs(planned(markdown, SMALL)[1]) == [("h1", "p1"), ("h1", "h2 h3 p2 h4")]


def test_a_list_stays_with_the_paragraph_that_leads_in_to_it():
    markdown = "# T\n\n" + prose(290) + "You need:\n\n- " + "\n- ".join(["a tool of some kind"] * 14)
    (first, second) = pairs(planned(markdown, SMALL)[1])
    assert first == ("h1", "p1")
    assert second == ("h1", " ".join(f"p{k}" for k in range(2, 17)))


@pytest.mark.parametrize("lead_in", ["**Steps**", "Do the following:", "__Do this:__"])
def test_a_procedure_is_whole_up_to_the_hard_size(lead_in):
    steps = "\n".join(f"{k}. turn screw number {k} by hand" for k in range(1, 17))
    _, plan = planned(prose(290, "alpha") + f"{lead_in}\n\n{steps}\n\n" + prose(290, "beta"), SMALL)
    assert [c.body_ids for c in plan.chunks] == [["p1"], [f"p{k}" for k in range(2, 19)], ["p19"]]


def test_a_procedure_over_the_hard_size_is_cut_between_its_outer_steps():
    steps = "".join(f"{k}. step {k} of this long procedure\n   - its detail\n" for k in range(1, 31))
    elements, plan = planned(f"Do this:\n\n{steps}", SMALL)
    by_id = {e.id: e for e in elements}
    assert plan.chunks[0].body_ids[:2] == ["p1", "p2"]
    assert all(by_id[c.body_ids[0]].level == 1 for c in plan.chunks[1:])
    assert max(sizes(elements, plan)) <= 600


def table(rows: int, start: int = 0) -> tuple[str, list[BlockSpan]]:
    lines = [f"Part: {k:04}; Price: {k:04}." for k in range(rows)]
    step = len(lines[0]) + 2
    spans = [
        BlockSpan(start=start + k * step, end=start + k * step + step - 2, table_id="t1", row=k)
        for k in range(rows)
    ]
    return "\n\n".join(lines), spans


def test_rows_of_one_table_are_together_with_their_caption():
    before = prose(290)
    text, spans = table(18, start=len(before) + len("Prices\n\n"))
    _, plan = planned(before + "Prices\n\n" + text, SMALL, spans)
    assert [len(c.body_ids) for c in plan.chunks] == [1, 19]


def test_a_long_table_is_cut_between_rows_under_the_hard_size():
    text, spans = table(500)
    elements, plan = planned(text, SMALL, spans)
    lengths = sizes(elements, plan)
    assert max(lengths) <= 600
    assert sum(lengths) / len(lengths) > 250


def test_a_long_paragraph_is_cut_at_the_ends_of_sentences_and_nowhere_else_needlessly():
    long = "".join(f"Sentence number {k} of a very long paragraph ends here. " for k in range(60)).strip()
    elements, plan = planned("# T\n\n" + long, PlanConfig(target_chars=600, max_chars=1200))
    chunks = assemble("d", "v", elements, plan)
    assert [len(c.element_ids) for c in chunks] == [1, 1, 1, 1, 1] or len(chunks) in (3, 4)
    assert all(c.n_chars <= 1200 and c.text.endswith(" ends here.") for c in chunks)
    assert " ".join(c.text.removeprefix("# T\n\n") for c in chunks) == long
    whole = planned("# T\n\n" + long[:1100], PlanConfig(target_chars=600, max_chars=1200))[1]
    assert len(whole.chunks) == 1


def test_blocks_per_chunk_are_limited_small_fragments_and_headings_uncounted():
    _, plan = planned(prose(70) * 10, PlanConfig(target_chars=5000, max_chars=9000))
    assert [len(c.body_ids) for c in plan.chunks] in ([2, 8], [3, 7], [4, 6], [5, 5], [6, 4], [7, 3], [8, 2])
    _, plan = planned("# A\n\nYes.\n\n" * 20, PlanConfig(target_chars=5000, max_chars=9000))
    assert len(plan.chunks) == 1


def test_each_row_is_a_chunk_with_its_headings_and_the_first_has_the_caption():
    before = "# T\n\n" + prose(100) + "## Empty\n\n## Prices\n\nIn euros:\n\n"
    text, spans = table(3, start=len(before))
    markdown = before + text + "\n\n" + prose(100)
    _, plan = planned(markdown, PlanConfig(table_rows="single"), spans)
    rows = [("h1 h3", "p2 p3"), ("h1 h3", "p4"), ("h1 h3", "p5")]
    assert pairs(plan)[1:4] == [("h1", "h2 h3 p2 p3"), *rows[1:]]
    assert pairs(plan)[0] == ("h1", "p1") and pairs(plan)[4] == ("h1 h3", "p6")


def test_neighbours_are_joined_by_the_names_they_share():
    about = {
        "x": "Pump AX-100 must be checked by the crew each day",
        "y": "Valve BZ-7 must be checked by the crew",
    }
    order = "xxyy"
    parts = "".join(f"{about[c]}, as in case {'abcd'[k]}.\n\n" for k, c in enumerate(order))
    policy = PlanConfig(target_chars=120, max_chars=200, group_by="entity")
    assert [c.body_ids for c in planned(parts, policy)[1].chunks] == [["p1", "p2"], ["p3", "p4"]]


def words(text: str) -> int:
    """Tokens of a stand-in embedder: words, and two that the model adds."""
    return len(text.split()) + 2


def test_sizes_count_the_tokens_of_the_embedder():
    markdown = "# T\n\n" + prose(400, "ab") * 8 + prose(400, "abcdefghijklmnopqrs") * 8
    elements = parse_markdown(markdown)
    counter = TokenCounter(words, 300)
    policy = PlanConfig(size_unit="tokens", target_tokens=150, max_blocks=20)
    plan = plan_local("d", elements, sections(elements), policy, counter)
    assert verify_coverage(elements, plan).ok
    tokens = [words(c.text) for c in assemble("d", "v", elements, plan)]
    assert max(tokens) <= 300 and max(tokens[:-1]) > 130
    tight = plan_local(
        "d", elements, sections(elements), policy.model_copy(update={"max_tokens": 160}), counter
    )
    assert max(words(c.text) for c in assemble("d", "v", elements, tight)) <= 160
    with pytest.raises(ConfigError, match="no embedder"):
        plan_local("d", elements, sections(elements), policy)


def test_the_name_of_a_document_without_title_counts_too():
    markdown = "".join(f"# {k}\n\n" + prose(250) for k in range(20))
    key = "A very long name of a document, so that it matters for the sizes of its chunks.pdf"
    elements = parse_markdown(markdown)
    plan = plan_local(key, elements, sections(elements), SMALL)
    chunks = assemble(key, "v", elements, plan)
    assert all(c.text.startswith("A very long name") for c in chunks)
    assert max(c.n_chars for c in chunks) <= 600


def test_error_markers_are_in_no_plan():
    _, plan = planned("one\n\n<!-- drac:error pages=2 -->\n\ntwo")
    assert pairs(plan) == [("", "p1 p2")]


def test_the_same_elements_give_the_same_plan():
    markdown = "# T\n\n" + "".join(f"## S{k}\n\n" + prose(40 * k) for k in range(12))
    assert planned(markdown)[1] == planned(markdown)[1]


LINES = st.sampled_from(
    ["# Title\n", "## Part\n", "#### Deep\n", prose(60), prose(400), "Label:\n\n", "- item\n", "1. step\n",
     "   - sub\n", "```\ncode\n```\n", "> quote\n\n", "<!-- drac:error pages=2 -->\n"]
)  # fmt: skip


@settings(max_examples=200, deadline=None, database=None)
@given(st.lists(LINES, max_size=60).map("".join), st.integers(100, 900), st.integers(200, 900))
def test_any_document_is_covered_within_the_hard_size(markdown, target, hard):
    elements = parse_markdown(markdown)
    chosen = {"target_chars": target} if target <= hard else {}  # else the default, which may be above
    config = PlanConfig(max_chars=hard, **chosen)
    plan = plan_local("d", elements, sections(elements, SectionConfig(budget=20)), config)
    assert verify_coverage(elements, plan).ok
    by_id = {e.id: e for e in elements}
    for chunk, size in zip(plan.chunks, sizes(elements, plan), strict=True):
        alone = sum(by_id[i].is_content for i in chunk.body_ids) <= 1
        assert size <= hard or alone


def test_work_grows_with_the_document_and_not_faster(effort):
    def work(n: int) -> int:
        markdown = "# T\n\n" + "".join(
            f"## Section {k}\n\n{prose(300)}Steps:\n\n1. a\n2. b\n\n" for k in range(n)
        )
        elements = parse_markdown(markdown)
        return effort(lambda: plan_local("d", elements, sections(elements)))

    work(10)
    assert work(400) < 5 * work(100)
