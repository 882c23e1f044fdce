"""Verdicts of conversions that are right, and of ones that are not."""

from dataclasses import replace
from pathlib import Path

from drac_pipeline.assemble import assemble
from drac_pipeline.config import ConvertConfig, PlanConfig
from drac_pipeline.convert import convert_pdf
from drac_pipeline.convert.fidelity import compare
from drac_pipeline.model import Chunk, Converted, Element
from drac_pipeline.parse import parse_markdown
from drac_pipeline.pipeline.checks import (
    chunk_size_check,
    fidelity_check,
    fidelity_counts,
    table_syntax_check,
)
from drac_pipeline.plan import plan_local
from drac_pipeline.plan.size import Sizes, sizes_of
from drac_pipeline.section import sections

TEXT = "<h1>Order</h1><p>The order LP-6432 of 14 March covers 250 tubes at 3.75 EUR each.</p>"


def converted(make_pdf, tmp_path: Path) -> tuple[Path, Converted]:
    pdf = make_pdf(tmp_path / "order.pdf", TEXT)
    return pdf, convert_pdf(pdf, ConvertConfig())


def test_a_faithful_conversion_passes(make_pdf, tmp_path):
    pdf, done = converted(make_pdf, tmp_path)
    report = compare(pdf, done)
    assert fidelity_counts(report) == {"fidelity_recall": 1.0, "fidelity_precision": 1.0}
    check = fidelity_check(report, ConvertConfig())
    assert check.passed
    assert check.detail["pages_compared"] == 1


def test_an_invented_digit_and_a_lost_clause_are_named(make_pdf, tmp_path):
    pdf, done = converted(make_pdf, tmp_path)
    wrong = done.markdown.replace("250 tubes", "260 tubes").replace(" at 3.75 EUR each", "")
    assert wrong != done.markdown
    check = fidelity_check(compare(pdf, done.model_copy(update={"markdown": wrong})), ConvertConfig())
    assert not check.passed
    page = check.detail["pages_under_the_bar"][0]
    assert page["page"] == 1
    assert page["foreign_values"] == ["260"]
    assert sorted(page["missing_values"]) == ["250", "3.75"]


def test_the_bar_is_a_setting(make_pdf, tmp_path):
    pdf, done = converted(make_pdf, tmp_path)
    wrong = done.model_copy(update={"markdown": done.markdown.replace(" at 3.75 EUR each", "")})
    report = compare(pdf, wrong)
    assert not fidelity_check(report, ConvertConfig()).passed
    assert fidelity_check(report, ConvertConfig(page_recall=0.5)).passed


def test_left_over_table_syntax_is_quoted():
    check = table_syntax_check("# T\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")
    assert not check.passed
    assert check.detail["lines"] == ["| a | b |", "|---|---|", "| 1 | 2 |"]
    assert table_syntax_check("A pipe | in a sentence.\n").passed


LONG = "The pump moves water from the lower tank to the upper one through three valves. "


def chunks_of(markdown: str, **plan: object) -> tuple[list[Element], list[Chunk], Sizes]:
    elements = parse_markdown(markdown)
    policy = PlanConfig.model_validate(plan)
    planned = plan_local("d.pdf", elements, sections(elements), policy)
    return elements, assemble("d.pdf", "v", elements, planned), sizes_of(policy)


def test_chunks_in_range_pass_and_one_element_may_be_longer():
    text = "# Pump\n\n" + "\n\n".join([LONG * 3] * 6) + "\n\n```\n" + "x" * 700 + "\n```\n"
    elements, chunks, sizes = chunks_of(text, max_chars=600, target_chars=300)
    check = chunk_size_check(elements, chunks, sizes)
    assert check.passed and (check.detail["hard_size"], check.detail["unit"]) == (600, "characters")
    assert [(c["elements"], c["size"] > 600) for c in check.detail["single_elements_over_it"]] == [(1, True)]
    assert check.detail["largest"] == max(len(c.text) for c in chunks) > 700


def test_a_chunk_of_several_elements_over_the_hard_size_is_named():
    elements, chunks, _ = chunks_of("# Pump\n\n" + LONG * 2 + "\n\n" + LONG + "\n")
    assert len(chunks) == 1
    check = chunk_size_check(elements, chunks, sizes_of(PlanConfig(max_chars=200, target_chars=100)))
    assert not check.passed and not check.blocking
    size = len(chunks[0].text)
    named = {"chunk": 0, "page": 0, "breadcrumb": chunks[0].breadcrumb, "size": size, "elements": 2}
    assert check.detail["over_the_hard_size"] == [named]
    assert chunk_size_check(elements, chunks, sizes_of(PlanConfig(max_chars=size))).passed
    assert not chunk_size_check(elements, chunks, sizes_of(PlanConfig(max_chars=size - 1))).passed


def test_a_chunk_without_text_is_named():
    elements, chunks, sizes = chunks_of("# Pump\n\nWater.\n")
    hollow = [replace(e, text=" ") if e.is_content else e for e in elements]
    check = chunk_size_check(hollow, chunks, sizes)
    assert not check.passed and [c["chunk"] for c in check.detail["without_text"]] == [0]
