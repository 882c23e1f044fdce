"""Verdicts of conversions that are right, and of ones that are not."""

from pathlib import Path

from drac_pipeline.config import ConvertConfig
from drac_pipeline.convert import convert_pdf
from drac_pipeline.convert.fidelity import compare
from drac_pipeline.model import Converted
from drac_pipeline.pipeline.checks import fidelity_check, fidelity_counts, table_syntax_check

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
