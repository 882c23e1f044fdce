"""The page: in a real browser, on a laptop and on a phone."""

from __future__ import annotations

import json

import pytest

from drac_pipeline.evaluate.chunk_set import ChunkSet
from drac_pipeline.evaluate.evaluation import evaluate
from drac_pipeline.evaluate.questions import Fact, Question
from drac_pipeline.evaluate.rankers import Vectors, Words
from drac_pipeline.evaluate.report import write_report
from drac_pipeline.evaluate.report.plots import Spread, difference_plot, interval_plot, scatter_plot
from drac_pipeline.evaluate.summary import question_records, summarize
from drac_pipeline_tests.chrome import chrome_page
from drac_pipeline_tests.evaluate.test_rankers import Letters

HOSTILE = "<script>alert(1)</script> & <img src=x onerror=alert(2)>"


@pytest.fixture
def page(tmp_path):
    """A report of three sets, many organizations, and text that looks like a page."""
    sets = [
        ChunkSet("drac"),
        ChunkSet("a rival with a long name"),
        ChunkSet("wrac", skipped={"b0.pdf": HOSTILE}),
    ]
    questions = []
    for o in range(4):
        organization = f"Organization {o}"
        for n in range(8):
            fact = f"item{n} has red{n} and blue{n} and green{n} parts"
            questions.append(
                Question(
                    f"How often does item{n} turn? {HOSTILE}",
                    (Fact(fact),),
                    f"type {n % 3}",
                    organization,
                    (f"b{n}.pdf",),
                    n + 2,
                )
            )
            sets[0].add(f"b{n}.pdf", organization, f"# Pumps\n\n{fact} {HOSTILE}", "Pumps")
            sets[1].add(f"b{n}.pdf", organization, fact if n % 2 else f"nothing of item{n} {HOSTILE}")
            if n:
                sets[2].add(f"b{n}.pdf", organization, fact)
    sets[1].failed["c.pdf"] = HOSTILE
    found = evaluate(sets, questions, [Words(), Vectors(Letters())])
    summary = summarize(found, source=f"questions {HOSTILE}.csv", resamples=500)
    return write_report(tmp_path / "report", summary, question_records(found))


@pytest.mark.browser
def test_it_is_whole_in_a_browser_without_network_or_complaint(page):
    with chrome_page() as browser:
        browser.open(page.as_uri())
        assert browser.said == []
        assert set(browser.asked) <= {page.as_uri(), "about:blank"}
        assert browser.run("document.querySelectorAll('script, img, link[rel=stylesheet]').length") == 0
        assert browser.run(
            "[...document.querySelectorAll('svg')].every(s => s.getBoundingClientRect().width > 150)"
        )
        assert "<script>alert(1)</script>" in browser.run("document.body.textContent")
        # the plots' points stand where their values are: rivals of lower recall further left
        xs = browser.run(
            "[...document.querySelector('svg').querySelectorAll('circle[r=\"4.5\"]')]"
            ".map(c => +c.getAttribute('cx'))"
        )
        assert xs[0] > xs[1]
        for width, height, phone in ((1280, 800, False), (390, 844, True)):
            browser.resize(width, height, phone)
            browser.run("document.querySelectorAll('details').forEach(d => d.open = true)")
            assert browser.run("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
            small = browser.run(
                "Math.min(...[...document.querySelectorAll('svg text')]"
                ".map(t => t.getBoundingClientRect().height))"
            )
            assert small >= 10, f"text of {small} pixels at a width of {width}"
        assert browser.said == []


def test_the_files_say_the_same(page):
    summary = json.loads((page.parent / "evaluation.json").read_text())
    assert summary["schema"] == "retrieval_evaluation/1"
    lines = (page.parent / "questions.jsonl").read_text().splitlines()
    whole = [json.loads(line) for line in lines if json.loads(line)["comparison"] == 0]
    mine = [r["metrics"]["recall@6"] for r in whole if (r["set"], r["ranker"]) == ("drac", "hybrid")]
    told = summary["comparisons"][0]["sets"][0]["rankers"]["hybrid"]["overall"]["recall@6"]
    assert sum(mine) / len(mine) == told
    text = page.read_text()
    assert "a rival with a long name" in text
    assert "better on" in text
    assert sorted(p.name for p in page.parent.iterdir()) == [
        "evaluation.json",
        "questions.jsonl",
        "report.html",
    ]


def test_plots_of_extreme_values():
    for low, high in ((0.0, 0.0), (1.0, 1.0), (0.0, 1.0), (0.5, 0.5)):
        spread = Spread("x" * 40, (low + high) / 2, low, high, 9)
        assert "nan" not in interval_plot([spread], "t")
        assert "nan" not in scatter_plot([("a", 10.0, low, 0), ("b", 90000.0, high, 1)], "t", "x")
    for low, high in ((-1.0, 1.0), (0.0, 0.0), (-0.001, 0.002)):
        assert "nan" not in difference_plot([Spread("R@6", 0.0, low, high, 0)], "t")
