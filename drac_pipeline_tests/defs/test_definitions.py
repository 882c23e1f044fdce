"""The definitions load, with and without a home, and say what they are."""

from __future__ import annotations

import importlib
from itertools import pairwise

import pytest
from dagster import AssetKey, Definitions

from drac_pipeline.config import DracConfig
from drac_pipeline.defs import definitions
from drac_pipeline.defs.versions import defined_versions
from drac_pipeline.pipeline import STAGES

CHAIN = ["source_document", *(s.name for s in STAGES)]
WHOLE = ["corpus_overview", "retrieval_evaluation", "vector_index"]  # one for all documents


@pytest.fixture
def reloaded(monkeypatch: pytest.MonkeyPatch):
    def load(home: str | None) -> Definitions:
        for name in ("DRAC_HOME", "DAGSTER_HOME"):
            monkeypatch.delenv(name, raising=False)
        if home:
            monkeypatch.setenv("DAGSTER_HOME", home)
        return importlib.reload(definitions).defs

    yield load
    monkeypatch.undo()
    importlib.reload(definitions)


def test_they_validate_without_a_home(reloaded) -> None:
    defs = reloaded(None)
    Definitions.validate_loadable(defs)
    assert {j.name for j in defs.resolve_all_job_defs()} >= {"ingest", "replan", "register_documents"}


def test_the_graph_is_one_node_a_stage_in_a_chain(reloaded) -> None:
    graph = reloaded(None).resolve_asset_graph()
    assert {k.to_user_string() for k in graph.get_all_asset_keys()} == {*CHAIN, *WHOLE}
    for above, below in pairwise(CHAIN):
        assert AssetKey(above) in graph.get(AssetKey(below)).parent_keys
    for name in CHAIN:
        node = graph.get(AssetKey(name))
        assert node.is_partitioned
        assert node.description
        assert node.code_version
    for key in graph.asset_check_keys:
        assert graph.get(key).description, key


def test_the_settings_of_the_home_are_in_the_code_versions(reloaded, tmp_path) -> None:
    (tmp_path / "drac.toml").write_text("[plan]\nmax_blocks = 5\n")
    plain, other = reloaded(None), reloaded(str(tmp_path))
    changed = [
        name
        for name in CHAIN
        if plain.resolve_asset_graph().get(AssetKey(name)).code_version
        != other.resolve_asset_graph().get(AssetKey(name)).code_version
    ]
    assert changed == ["chunk_plan", "chunks", "chunk_embeddings"]


def test_a_stage_of_no_ancestor_has_its_own_version_alone() -> None:
    versions = defined_versions(DracConfig())
    assert list(versions) == CHAIN[1:]
    assert "." not in versions["normalized_pdf"]
    assert all("." in versions[n] for n in CHAIN[2:])
