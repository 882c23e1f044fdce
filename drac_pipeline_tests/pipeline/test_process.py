"""The stages of real small documents against a real store."""

import json
import shutil
from pathlib import Path

import pytest

from drac_pipeline.config import ConvertConfig, DracConfig, NormalizeConfig, PlanConfig, RenderConfig
from drac_pipeline.errors import DracError
from drac_pipeline.pipeline import (
    STAGES,
    DocumentOutcome,
    State,
    document_states,
    find_work,
    process_document,
)
from drac_pipeline.pipeline.stage import code_version
from drac_pipeline.pipeline.stages import STAGES_BY_NAME
from drac_pipeline.store import ArtifactMissing, Home, LocalStore

ALL = [s.name for s in STAGES]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def work(home: Home, source: Path, config: DracConfig | None = None) -> dict[str, tuple[str, list[str]]]:
    found = find_work(home, source, config or home.config)
    return {w.key: (w.change, w.stages) for w in found.work}


def process(home: Home, key: str, config: DracConfig | None = None, **more) -> DocumentOutcome:
    return process_document(home.store, key, config or home.config, **more)


def statuses(outcome: DocumentOutcome) -> dict[str, str]:
    return {s.stage: s.status for s in outcome.stages}


def ingest(home: Home, source: Path) -> None:
    for key in work(home, source):
        assert process(home, key).failure is None


def test_a_new_document_goes_through_all_stages_and_is_reused_after(home, corpus):
    assert work(home, corpus) == {
        "manual.pdf": ("new", ALL),
        "notes/site visit.pdf": ("new", ALL),
        "two pages.pdf": ("new", ALL),
    }
    assert statuses(process(home, "manual.pdf")) == dict.fromkeys(ALL, "made")
    assert statuses(process(home, "manual.pdf")) == dict.fromkeys(ALL, "reused")
    manifest = home.store.manifest("manual.pdf")
    assert manifest is not None
    assert manifest.stages["normalized_pdf"].counts["pages"] == 1
    assert manifest.stages["elements"].facts["kinds"] == {"heading": 3, "paragraph": 3, "list_item": 3}
    assert all(c.passed for s in manifest.stages.values() for c in s.checks.values())
    assert set(manifest.stages["chunk_plan"].checks) == {"coverage"}


def test_a_pdf_passes_through_byte_for_byte(home, corpus):
    ingest(home, corpus)
    stored = home.store.path("manual.pdf", "normalized_pdf", "document.pdf")
    assert stored.read_bytes() == (corpus / "manual.pdf").read_bytes()


def test_nothing_is_due_after_an_ingest(home, corpus):
    ingest(home, corpus)
    found = find_work(home, corpus, home.config)
    assert (found.work, found.unchanged) == ([], 3)


@pytest.mark.parametrize(
    "setting",
    [
        {"max_blocks": 2},
        {"table_rows": "single"},
        {"group_by": "entity"},
        {"size_unit": "tokens"},
        {"override": [{"match": "manual*", "max_chars": 900}]},
    ],
    ids=lambda s: next(iter(s)),
)
def test_every_plan_policy_concerns_the_plan_and_what_follows_only(home, corpus, setting):
    ingest(home, corpus)
    changed = DracConfig(plan=PlanConfig.model_validate(setting))
    assert work(home, corpus, changed)["manual.pdf"][1] == ["chunk_plan", "chunks", "chunk_embeddings"]
    assert statuses(process(home, "manual.pdf", changed))["chunk_plan"] == "made"


def test_the_embedder_bears_on_plans_that_count_its_tokens_only():
    def version(**settings):
        return code_version(STAGES_BY_NAME["chunk_plan"], DracConfig.model_validate(settings))

    other = {"embed": {"max_tokens": 100}}
    assert version() == version(**other)
    tokens = {"plan": {"size_unit": "tokens"}}
    assert version(**tokens) != version(**tokens, **other)


def test_a_changed_plan_setting_runs_the_plan_and_what_follows_only(home, corpus):
    ingest(home, corpus)
    changed = DracConfig(plan=PlanConfig(target_chars=400))
    assert work(home, corpus, changed)["manual.pdf"] == (
        "unchanged",
        ["chunk_plan", "chunks", "chunk_embeddings"],
    )
    assert statuses(process(home, "manual.pdf", changed)) == {
        **dict.fromkeys(ALL[:4], "reused"),
        "chunk_plan": "made",
        "chunks": "reused",  # so small a document has the same plan at either size
        "chunk_embeddings": "reused",
    }


def test_a_changed_render_setting_is_stale_from_the_images_on(home, corpus):
    ingest(home, corpus)
    changed = DracConfig(render=RenderConfig(dpi=72))
    assert work(home, corpus, changed)["manual.pdf"][1] == ALL[1:]
    outcome = statuses(process(home, "manual.pdf", changed))
    # the text is the same, so what is made of it is not made again
    assert outcome == {
        "normalized_pdf": "reused",
        "page_images": "made",
        "markdown": "made",
        "elements": "reused",
        "chunk_plan": "reused",
        "chunks": "reused",
        "chunk_embeddings": "reused",
    }


def test_a_deleted_output_is_made_again_alone(home, corpus):
    ingest(home, corpus)
    shutil.rmtree(LocalStore(home.path / "store").document_dir("manual.pdf") / "chunk_plan")
    due = work(home, corpus)
    assert list(due) == ["manual.pdf"]
    assert statuses(process(home, "manual.pdf")) == {
        **dict.fromkeys(ALL, "reused"),
        "chunk_plan": "made",
    }


def test_a_touched_file_is_looked_at_and_nothing_is_due(home, corpus):
    ingest(home, corpus)
    (corpus / "manual.pdf").touch()
    assert work(home, corpus) == {}


def test_a_changed_file_goes_through_all_stages(home, corpus, make_pdf):
    ingest(home, corpus)
    make_pdf(corpus / "manual.pdf", "<h1>Pump manual</h1><p>Rewritten.</p>")
    assert work(home, corpus) == {"manual.pdf": ("changed", ALL)}
    assert process(home, "manual.pdf").failure is None
    markdown = home.store.path("manual.pdf", "markdown", "document.md").read_text()
    assert "Rewritten." in markdown
    assert "green button" not in markdown


def test_a_corrupt_document_fails_with_its_reason_and_recovers(home, corpus, make_pdf):
    (corpus / "bad.pdf").write_bytes(b"%PDF-1.7\nthis is no PDF at all\n")
    work(home, corpus)
    outcome = process(home, "bad.pdf")
    assert outcome.failure is not None
    assert (outcome.failure.stage, outcome.failure.kind) == ("normalized_pdf", "corrupt")
    assert outcome.failure.remedy
    again = process(home, "bad.pdf")
    assert again.failure is not None
    assert again.failure.attempts == 2
    manifest = home.store.manifest("bad.pdf")
    assert manifest is not None
    states = document_states(home.store, manifest, home.config)
    assert states["normalized_pdf"].state == State.FAILED
    assert states["chunks"].state == State.MISSING
    make_pdf(corpus / "bad.pdf", "<p>Repaired.</p>")
    assert work(home, corpus)["bad.pdf"] == ("changed", ALL)
    assert process(home, "bad.pdf").failure is None
    manifest = home.store.manifest("bad.pdf")
    assert manifest is not None
    assert manifest.failure is None


def test_a_failing_new_version_keeps_the_chunks_of_the_old_one(home, corpus):
    ingest(home, corpus)
    before = home.store.path("manual.pdf", "chunks", "chunks.parquet").read_bytes()
    (corpus / "manual.pdf").write_bytes(b"%PDF-1.7 broken")
    work(home, corpus)
    assert process(home, "manual.pdf").failure is not None
    assert home.store.path("manual.pdf", "chunks", "chunks.parquet").read_bytes() == before


def test_chunks_never_name_a_version_that_could_not_be_taken_in(home, corpus):
    ingest(home, corpus)
    before = home.store.path("manual.pdf", "chunks", "chunks.parquet").read_bytes()
    (corpus / "manual.pdf").write_bytes(b"%PDF-1.7 broken")
    work(home, corpus)
    assert process(home, "manual.pdf").failure is not None
    again = process(home, "manual.pdf", stages=["chunk_plan", "chunks", "chunk_embeddings"], force=True)
    assert again.failure is None
    assert home.store.path("manual.pdf", "chunks", "chunks.parquet").read_bytes() == before


def test_a_file_that_changed_after_registration_is_not_taken_in_silently(home, corpus, make_pdf):
    work(home, corpus)
    make_pdf(corpus / "manual.pdf", "<p>Other.</p>")
    failure = process(home, "manual.pdf").failure
    assert failure is not None
    assert failure.kind == "source changed"
    assert "drac run" in failure.remedy


def test_a_web_page_that_cannot_be_printed_is_read_all_the_same(home, tmp_path):
    root = tmp_path / "web"
    root.mkdir()
    (root / "page.html").write_text("<h1>Opening hours</h1><p>The gate opens at seven.</p>")
    config = DracConfig(normalize=NormalizeConfig(browser_command="no-such-browser", office_command="none"))
    work(home, root, config)
    assert process(home, "page.html", config).failure is None
    manifest = home.store.manifest("page.html")
    assert manifest is not None
    assert (
        "not printed, only its text is taken in: missing tool"
        in manifest.stages["normalized_pdf"].warnings[0]
    )
    assert "The gate opens at seven." in home.store.path("page.html", "markdown", "document.md").read_text()


@pytest.mark.parametrize(
    "settings", [{"print_max_chars": 300}, {"browser_command": "none", "office_command": "none"}]
)
def test_a_print_that_does_not_show_all_is_never_read(home, tmp_path, settings):
    root = tmp_path / "web"
    root.mkdir()
    (root / "page.html").write_text(
        "<h1>Hours</h1>" + "<p>The gate opens at seven.</p>" * 50 + "<p>The end.</p>"
    )
    config = DracConfig(normalize=NormalizeConfig(**settings))
    work(home, root, config)
    assert process(home, "page.html", config).failure is None
    made = home.store.manifest("page.html")
    assert "print" in made.stages["normalized_pdf"].warnings[0]
    assert "The end." in home.store.path("page.html", "markdown", "document.md").read_text()
    by_print = config.model_copy(update={"convert": ConvertConfig(html_route="pdf")})
    failure = process(home, "page.html", by_print).failure
    assert failure is not None and failure.stage == "markdown"
    assert "does not show all" in failure.cause and "print_max_chars" in failure.remedy


def test_a_stage_without_its_input_says_what_is_missing(home, corpus):
    work(home, corpus)
    failure = process(home, "manual.pdf", stages=["chunks"]).failure
    assert failure is not None
    assert failure.kind == "not ready"
    assert "needs elements" in failure.cause


def test_a_later_stage_that_cannot_begin_does_not_hide_why(home, corpus):
    (corpus / "manual.pdf").write_bytes(b"%PDF-1.7 cut off")
    work(home, corpus)
    first = process(home, "manual.pdf").failure
    assert first is not None and first.kind == "corrupt"
    second = process(home, "manual.pdf", stages=["chunk_plan"]).failure
    assert second is not None and second.kind == "not ready"
    kept = home.store.manifest("manual.pdf").failure
    assert (kept.stage, kept.cause, kept.remedy) == (first.stage, first.cause, first.remedy)


def test_an_unregistered_key_is_refused(home):
    with pytest.raises(ArtifactMissing, match="not registered"):
        process(home, "nothing.pdf")


def test_force_makes_again(home, corpus):
    ingest(home, corpus)
    outcome = process(home, "manual.pdf", stages=["chunk_plan", "chunks", "chunk_embeddings"], force=True)
    assert statuses(outcome) == dict.fromkeys(["chunk_plan", "chunks", "chunk_embeddings"], "made")


def test_the_same_input_gives_the_same_bytes(home, corpus, tmp_path):
    other = Home(tmp_path / "other")
    for h in (home, other):
        ingest(h, corpus)
    one, two = (h.store.manifest("manual.pdf") for h in (home, other))
    assert one is not None
    assert two is not None
    assert {n: r.data_version for n, r in one.stages.items()} == {
        n: r.data_version for n, r in two.stages.items()
    }


def test_a_key_of_another_source_is_not_taken_over(home, corpus, tmp_path, make_pdf):
    ingest(home, corpus)
    make_pdf(tmp_path / "second" / "manual.pdf", "<p>Not the pump.</p>")
    with pytest.raises(DracError, match=r"already mean documents of .*corpus"):
        find_work(home, tmp_path / "second", home.config)
    assert home.sources() == [corpus]


def test_a_source_that_moved_keeps_its_work(home, corpus, tmp_path):
    ingest(home, corpus)
    corpus.rename(tmp_path / "moved")
    assert work(home, tmp_path / "moved") == {}
    manifest = home.store.manifest("manual.pdf")
    assert manifest is not None
    assert manifest.source.local_path == tmp_path / "moved" / "manual.pdf"


def test_a_vanished_file_is_named_and_kept(home, corpus):
    ingest(home, corpus)
    (corpus / "manual.pdf").unlink()
    found = find_work(home, corpus, home.config)
    assert found.gone == ["manual.pdf"]
    assert home.store.path("manual.pdf", "chunks", "chunks.parquet").is_file()


def test_page_listing_names_every_image(home, corpus):
    ingest(home, corpus)
    listing = json.loads(home.store.path("two pages.pdf", "page_images", "pages.json").read_text())
    assert [(p["page"], p["file"], p["error"]) for p in listing] == [
        (1, "page-0001.png", None),
        (2, "page-0002.png", None),
    ]
    assert max(p["height"] for p in listing) == 1568
