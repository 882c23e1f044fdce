"""The stages with a model, in a store: what runs again, what is paid again, what a budget leaves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from drac_pipeline.config import ConvertConfig, DracConfig, ModelConfig, PlanConfig
from drac_pipeline.llm.books import DATABASE_FILE
from drac_pipeline.llm.doubles import Brain, Double, page_table
from drac_pipeline.pipeline import find_work, process_document
from drac_pipeline.pipeline.stage import code_version
from drac_pipeline.pipeline.stages import STAGES_BY_NAME
from drac_pipeline.store import Home

Settings = Callable[..., ModelConfig]


def config_of(model: ModelConfig) -> DracConfig:
    return DracConfig(convert=ConvertConfig(mode="model"), plan=PlanConfig(planner="model"), model=model)


def ingest(home: Home, corpus: Path, config: DracConfig, run: str = "r"):
    work = find_work(home, corpus, config).work
    return {w.key: process_document(home.store, w.key, config, run=run) for w in work}


def test_documents_go_through_with_their_cost(tmp_path: Path, corpus: Path, settings: Settings):
    home = Home(tmp_path / "home")
    with Double(Brain(page_table(sorted(corpus.rglob("*.pdf"))))) as server:
        config = config_of(settings(server))
        done = ingest(home, corpus, config)
        assert [o.failure for o in done.values()] == [None] * 3
        requests = server.requests
        assert ingest(home, corpus, config) == {}
        assert server.requests == requests
    manifest = home.store.manifest("manual.pdf")
    assert manifest
    counts = manifest.stages["markdown"].counts
    assert counts["model_pages"] == counts["model_calls"] == 1
    assert 0 < counts["cost_usd"] < 0.01
    assert manifest.stages["chunk_plan"].counts["sections_by_model"] == 1
    assert manifest.stages["markdown"].facts["readers"] == {"google.gemma-3-27b-it": 1}
    assert (home.path / "model" / "calls.parquet").is_file()


def test_over_budget_is_a_clean_failure_that_the_next_run_takes_up(
    tmp_path: Path, corpus: Path, settings: Settings
):
    home = Home(tmp_path / "home")
    home.path.mkdir()
    (home.path / "prices.toml").write_text('["m"]\ninput = 1.0\noutput = 100.0\n')
    with Double(Brain(page_table(sorted(corpus.rglob("*.pdf"))))) as server:
        small = config_of(settings(server, model="m", budget_per_run=0.83))
        done = ingest(home, corpus, small)
        failures = [o.failure for o in done.values() if o.failure]
        assert failures and failures[0].kind == "over budget"
        assert "budget_per_run" in failures[0].remedy
        pages = server.pages
        large = config_of(settings(server, model="m", budget_per_run=100.0))
        assert not any(o.failure for o in ingest(home, corpus, large, "r2").values())
        assert server.pages <= 4  # pages of before are not read again
        assert pages < 4


@pytest.mark.parametrize(
    ("setting", "stages"),
    [
        ({"model": "another"}, {"markdown", "chunk_plan"}),
        ({"plan_model": "another"}, {"chunk_plan"}),
        ({"budget_per_day": 3.0}, set()),
        ({"calls_in_parallel": 9}, set()),
    ],
)
def test_what_bears_on_results_is_part_of_a_stage(setting: dict[str, object], stages: set[str]):
    before = config_of(ModelConfig())
    after = config_of(ModelConfig.model_validate(setting))
    changed = {n for n, s in STAGES_BY_NAME.items() if code_version(s, before) != code_version(s, after)}
    assert changed == stages


def test_without_a_model_its_settings_mean_nothing():
    for stage in STAGES_BY_NAME.values():
        assert code_version(stage, DracConfig()) == code_version(
            stage, DracConfig(model=ModelConfig(model="other"))
        )


def test_auto_needs_no_model_for_good_text_and_says_what_that_saves(tmp_path: Path, corpus: Path):
    home = Home(tmp_path / "home")
    config = DracConfig(
        convert=ConvertConfig(mode="auto"), model=ModelConfig(endpoint_url="http://127.0.0.1:9")
    )
    assert not any(o.failure for o in ingest(home, corpus, config).values())
    manifest = home.store.manifest("two pages.pdf")
    assert manifest
    counts = manifest.stages["markdown"].counts
    assert (counts["model_pages"], counts["pages_spared"]) == (0, 2)
    assert 0 < counts["saved_usd"] < 0.01
    assert not (home.path / "model" / DATABASE_FILE).exists()


@pytest.mark.parametrize("planner", ["local", "model"])
def test_what_is_left_out_of_a_web_page_is_reported(planner: str, tmp_path: Path, settings: Settings):
    source = tmp_path / "source"
    source.mkdir()
    body = "".join(f"<p>Sentence {n} of the page.</p>" for n in range(9))
    text = f"<title>Page</title><h1>Page</h1>{body}<p>Back to top</p><p>Share it all over the town!</p>"
    (source / "page.html").write_text(f"<!doctype html><html><body>{text}</body></html>")
    (source / "page.md").write_text("# Page\n\nA sentence.\n\nBack to top\n\nAnother, a long one.")
    home = Home(tmp_path / "home")
    with Double(Brain()) as server:
        config = DracConfig(plan=PlanConfig(planner=planner), model=settings(server))  # type: ignore[arg-type]
        done = ingest(home, source, config)
        assert [o.failure for o in done.values()] == [None, None]
    manifest = home.store.manifest("page.html")
    assert manifest
    record = manifest.stages["chunk_plan"]
    wanted = ["navigation: Back to top"] + ["share links: Share it all over the town!"] * (planner == "model")
    assert record.facts["left_out"] == wanted
    assert record.counts["left_out"] == len(wanted)
    assert record.checks["coverage"].detail["left_out"] == ["p10", "p11"][: len(wanted)]
    other = home.store.manifest("page.md")
    assert other
    assert "left_out" not in other.stages["chunk_plan"].counts
    assert other.stages["chunk_plan"].checks["coverage"].detail["missing"] == []


def test_a_context_that_is_too_small_is_said_and_not_read_locally_page_by_page(
    tmp_path: Path, corpus: Path, settings: Settings
):
    with Double(Brain(), context=8192) as server:
        config = config_of(settings(server, "openai"))
        done = ingest(Home(tmp_path / "home"), corpus, config)
        failures = [o.failure for o in done.values()]
        assert all(f and f.kind == "model unavailable" and "output_cap" in f.remedy for f in failures)
        smaller = config_of(settings(server, "openai", output_cap=4096))
        assert not any(o.failure for o in ingest(Home(tmp_path / "other"), corpus, smaller).values())
