"""Plans by a model: real client, double, every way a plan goes wrong, coverage proven."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from drac_pipeline.config import DracConfig, PlanConfig, SectionConfig
from drac_pipeline.llm.doubles import Brain, Double, FaultPlan
from drac_pipeline.llm.doubles.faults import PLAN_FAULTS
from drac_pipeline.llm.service import ModelService
from drac_pipeline.parse import parse_markdown
from drac_pipeline.plan import complete, plan_local, verify_coverage
from drac_pipeline.plan.llm import plan_by_model, section_lines
from drac_pipeline.plan.reply import Unusable, read_plan
from drac_pipeline.section import sections

Make = Callable[..., ModelService]
TEXT = "# Manual\n\n" + "\n\n".join(
    f"## Chapter {n}\n\nIntro to {n}.\n\n"
    + "\n".join(f"{i}. Do step {i} of chapter {n}." for i in range(1, 7))
    + f"\n\n### Notes on {n}\n\nA note on chapter {n}.\n\nAnother note."
    for n in range(1, 9)
)
ELEMENTS = parse_markdown(TEXT)
CUT = sections(ELEMENTS, SectionConfig(budget=24))


def planned(service: ModelService, elements=ELEMENTS, cut=CUT, **more):
    config = DracConfig(plan=PlanConfig(planner="model", **more), model=service.config)
    plan, tally = plan_by_model("a.md", elements, cut, config, service)
    whole = complete(elements, plan, config.plan)
    assert verify_coverage(elements, whole).ok
    return plan, whole, tally


def double(*script: str, **more) -> Double:
    return Double(Brain(), faults=FaultPlan(script=list(script)), **more)


@pytest.mark.parametrize("style", ["boundaries", "ranges", "lists"])
@pytest.mark.parametrize("provider", ["bedrock", "openai"])
def test_a_sound_plan_needs_no_mending(style: str, provider: str, service: Make):
    with double() as server:
        plan, whole, tally = planned(service(server, provider, plan_format=style))
        assert server.requests == len(CUT) == tally.by_model
    assert whole is plan
    assert plan.warnings == []
    assert {c.origin for c in plan.chunks} == {"planned"}
    # the shared parent stands over each of its children's chunks
    assert all(c.heading_ids[0] == "h1" for c in plan.chunks)


def test_ranges_take_a_fraction_of_the_tokens(service: Make):
    out = {}
    for style in ("boundaries", "ranges", "lists"):
        with double() as server:
            model = service(server, plan_format=style)
            planned(model)
        out[style] = sum(r["output_tokens"] for r in model.ledger.records() if style in r["prompt"])
    assert out["ranges"] * 4 < out["lists"]
    assert out["boundaries"] * 4 < out["ranges"] * 3


@pytest.mark.parametrize("fault", PLAN_FAULTS)
def test_one_bad_answer_costs_at_most_another_call(fault: str, service: Make):
    with double(fault) as server:
        _, _, tally = planned(service(server, calls_in_parallel=1))
        assert server.requests == len(CUT) + (fault in ("garbage", "missing ids"))
    assert tally.by_model == len(CUT)


@pytest.mark.parametrize("fault", PLAN_FAULTS)
@pytest.mark.parametrize("style", ["boundaries", "ranges", "lists"])
def test_a_model_that_only_errs_leaves_nothing_out(fault: str, style: str, service: Make):
    with Double(Brain(), faults=FaultPlan(rate=1.0, kinds=(fault,))) as server:
        plan, _, tally = planned(service(server, plan_format=style))
    if fault in ("garbage", "missing ids"):
        assert tally.fallback == len(CUT)
        config = PlanConfig(planner="model")
        assert plan.chunks == plan_local("a.md", ELEMENTS, CUT, config).chunks
        assert all("was planned locally" in w for w in plan.warnings)


def test_sections_are_paid_once_and_a_change_costs_its_section(service: Make):
    with double() as server:
        first, _, _ = planned(service(server))
        again, _, tally = planned(service(server))
        assert (server.requests, tally.reused) == (len(CUT), len(CUT))
        assert again == first
        changed = parse_markdown(TEXT.replace("Intro to 1.", "A new intro to 1.\n\nWith one more."))
        _, _, tally = planned(service(server), changed, sections(changed, SectionConfig(budget=26)))
        assert tally.by_model == 1


def test_a_model_sees_beginnings_only():
    text = "# Head\n\n" + "\n\n".join("word " * 150 + f"end{i}" for i in range(40))
    elements = parse_markdown(text)
    cut = sections(elements, SectionConfig(budget=60))
    lines, n = section_lines(cut[0], {e.id: e for e in elements})
    assert n == 40
    assert max(map(len, lines)) < 230
    assert lines[0] == "h1 heading 1 Head"


def test_no_chunk_is_longer_than_an_embedder_reads(service: Make):
    text = "# Head\n\n" + "\n\n".join("Word after word of it. " * 20 + f"End {i}." for i in range(12))
    elements = parse_markdown(text)
    with double() as server:
        _, whole, _ = planned(service(server), elements, sections(elements), max_chars=1000)
    by_id = {e.id: e for e in elements}
    assert all(sum(len(by_id[i].text) for i in c.body_ids) <= 1000 for c in whole.chunks)


def test_one_element_needs_no_model(service: Make):
    elements = parse_markdown("# A\n\nOnly this.")
    with double() as server:
        _, whole, tally = planned(service(server), elements, sections(elements))
        assert server.requests == 0
    assert (len(whole.chunks), tally.trivial) == (1, 1)


WEB = "# Page\n\n" + "\n\n".join(f"Sentence {n} of the page." for n in range(9)) + "\n\n- Share it!"


@pytest.mark.parametrize("style", ["boundaries", "ranges", "lists"])
def test_boilerplate_of_a_web_page_is_left_out_and_named(style: str, service: Make):
    elements = parse_markdown(WEB)
    with double() as server:
        model = service(server, plan_format=style, structured_output="yes")
        config = DracConfig(plan=PlanConfig(planner="model"), model=model.config)
        for _ in range(2):  # the second time from what is kept
            plan, _ = plan_by_model("a.html", elements, sections(elements), config, model, web_page=True)
            assert [(x.id, x.reason, x.text) for x in plan.left_out] == [
                ("p10", "share links", "- Share it!")
            ]
            report = verify_coverage(elements, plan, web_page=True)
            assert (report.ok, report.left_out) == (True, ["p10"])
        assert server.requests == 1
        whole, _ = plan_by_model("a.md", elements, sections(elements), config, model)
        assert whole.left_out == []
        assert verify_coverage(elements, whole).ok


@pytest.mark.parametrize(
    ("reply", "left_out", "groups"),
    [
        ("1 4 /6 | 3: share links; 6: consent", {3: "share links", 6: "consent"}, [[1, 2], [4, 5]]),
        ("1-2 4-5 | p3, p6: site", {3: "site", 6: "site"}, [[1, 2], [4, 5]]),
        ("`1 4 /6`", {}, [[1, 2, 3], [4, 5, 6]]),
        ("1 4 /6 |", {}, [[1, 2, 3], [4, 5, 6]]),
        # p2 may not go, and most of a section may not either
        ("1 3-6 | 2: no use", {}, [[1, 2], [3, 4, 5, 6]]),
        ("1-3 | 4: a; 5: a; 6: a", {}, [[1, 2, 3, 4, 5, 6]]),
        ('{"chunks": [["p1", "p2", "p3"], ["p4", "p5"]], "left_out": ["p6"]}', {6: "boilerplate"}, None),
    ],
)
def test_what_is_left_out_is_read(reply: str, left_out: dict[int, str], groups: list[list[int]] | None):
    plan = read_plan(reply, 6, {3, 4, 5, 6})
    assert plan.left_out == left_out
    assert groups is None or plan.groups == groups


def test_what_is_left_out_of_no_web_page_is_missing():
    with pytest.raises(Unusable, match="p3"):
        read_plan("1-2 4-6 | 3: share links", 6)
    assert read_plan("1 4 /6 | 3: share links", 6).groups == [[1, 2, 3], [4, 5, 6]]
