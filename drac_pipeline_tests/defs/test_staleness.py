"""What shows as stale in the UI after a change, and that a run clears it."""

from __future__ import annotations

import shutil

import pytest

from drac_pipeline.config import ConvertConfig, DracConfig, PlanConfig, RenderConfig
from drac_pipeline.pipeline import STAGES

STAGE_NAMES = [s.name for s in STAGES]
KEYS = ["manual.pdf", "notes/site visit.pdf", "two pages.pdf"]


@pytest.fixture
def done(bench):
    """All documents are up to date."""
    bench.register()
    assert bench.launch().success
    return bench


def all_from(stage: str) -> dict[str, list[str]]:
    """Each document with the stage and all after it."""
    return {key: STAGE_NAMES[STAGE_NAMES.index(stage) :] for key in KEYS}


def use(bench, toml: str) -> None:
    """Write the settings of the home and forget what was read."""
    (bench.home.path / "drac.toml").write_text(toml)
    bench.home.__dict__.pop("config", None)


def test_nothing_is_stale_after_a_run(done) -> None:
    assert done.stale() == {}


@pytest.mark.parametrize(
    ("config", "first"),
    [
        (DracConfig(plan=PlanConfig(target_chars=400)), "chunk_plan"),
        (DracConfig(convert=ConvertConfig(ocr=False)), "markdown"),
        (DracConfig(render=RenderConfig(dpi=72)), "page_images"),
    ],
)
def test_a_changed_setting_makes_its_stage_and_what_follows_stale(done, config, first: str) -> None:
    assert done.stale(config) == all_from(first)
    assert done.stale() == {}


def test_a_run_under_changed_settings_clears_them_and_runs_no_more(done) -> None:
    changed = DracConfig(plan=PlanConfig(target_chars=400))
    use(done, "[plan]\ntarget_chars = 400\n")
    emitted = done.emitted(done.launch())
    assert emitted == {key: ["chunk_plan", "chunks", "chunk_embeddings"] for key in KEYS}
    assert done.stale(changed) == {}
    assert done.emitted(done.launch()) == {}
    assert set(done.stale()) == set(KEYS)  # and the old settings would make them stale


def test_an_output_that_comes_out_the_same_is_not_stale_for_its_stale_past(done) -> None:
    """Other images, the same text: elements and what follows are reused, and shown as good."""
    changed = DracConfig(render=RenderConfig(dpi=72))
    use(done, "[render]\ndpi = 72\n")
    before = done.home.store.manifest(KEYS[0]).stages["elements"].version
    done.launch()
    assert done.home.store.manifest(KEYS[0]).stages["elements"].version == before
    assert done.stale(changed) == {}


def test_a_replan_on_stale_elements_does_not_hide_that_they_are(done) -> None:
    changed = DracConfig(convert=ConvertConfig(ocr=False))
    use(done, "[convert]\nocr = false\n")
    assert done.launch("replan", stages=["chunk_plan", "chunks", "chunk_embeddings"], force=True).success
    assert done.stale(changed) == all_from("markdown")


def test_a_changed_source_shows_where_it_is_read_and_nowhere_else(done) -> None:
    shutil.copyfile(done.corpus / KEYS[0], done.corpus / KEYS[2])
    done.register()
    assert done.stale() == {KEYS[2]: ["normalized_pdf", "chunks"]}  # chunks name their file's version
    emitted = done.emitted(done.launch())
    assert emitted == {KEYS[2]: STAGE_NAMES}
    assert done.stale() == {}


def test_a_source_that_comes_back_as_it_was_is_not_stale(done) -> None:
    original = (done.corpus / KEYS[2]).read_bytes()
    shutil.copyfile(done.corpus / KEYS[0], done.corpus / KEYS[2])
    done.register()
    (done.corpus / KEYS[2]).write_bytes(original)
    done.register()
    assert done.stale() == {}


def test_a_touched_file_is_not_stale(done) -> None:
    (done.corpus / KEYS[1]).touch()
    done.register()
    assert done.stale() == {}


def test_a_partial_run_leaves_the_rest_to_the_next_refresh(done) -> None:
    changed = DracConfig(plan=PlanConfig(target_chars=400))
    use(done, "[plan]\ntarget_chars = 400\n")
    assert done.backfill(KEYS[:1], ["chunk_plan"]).success
    assert done.stale(changed)[KEYS[0]] == ["chunks", "chunk_embeddings"]
    done.launch()
    assert done.stale(changed) == {}


OVERRIDE = "[[plan.override]]\nmatch = 'notes/'\ntarget_chars = 400\n"


def test_settings_of_some_documents_make_only_these_stale_in_the_ui(done) -> None:
    """An override that comes, changes and goes, each time seen before a run and cleared by it."""
    due = {KEYS[1]: ["chunk_plan", "chunks", "chunk_embeddings"]}
    for toml in (OVERRIDE, OVERRIDE.replace("400", "300"), ""):
        use(done, toml)
        assert done.stale(done.home.config) == {}  # the definitions alone cannot tell
        assert done.launch("register_documents", op="look_at_sources").success
        assert done.stale(done.home.config) == due
        assert done.launch("register_documents", op="look_at_sources").success
        assert done.stale(done.home.config) == due
        assert done.emitted(done.launch()) == due
        assert done.stale(done.home.config) == {}
        assert done.emitted(done.launch()) == {}


def test_a_setting_of_all_leaves_documents_alone_that_have_their_own(done) -> None:
    use(done, OVERRIDE)
    done.launch()
    use(done, "[plan]\ntarget_chars = 500\n" + OVERRIDE)
    shown = done.stale(done.home.config)
    assert set(shown) == set(KEYS)  # until somebody looks: Dagster has one version an asset
    emitted = done.emitted(done.launch())
    assert emitted == {key: ["chunk_plan", "chunks", "chunk_embeddings"] for key in KEYS}
    versions = {k: done.home.store.manifest(k).stages["chunk_plan"].made_at for k in KEYS}
    assert done.stale(done.home.config) == {} and done.emitted(done.launch()) == {}
    assert versions == {k: done.home.store.manifest(k).stages["chunk_plan"].made_at for k in KEYS}
