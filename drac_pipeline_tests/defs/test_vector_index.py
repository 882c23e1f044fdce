"""The index as an asset: in step after every run, whatever became of its documents."""

from __future__ import annotations

from dagster import AssetCheckKey, AssetKey, materialize

from drac_pipeline.defs.resources import HomeResource
from drac_pipeline.defs.retire import retire_documents
from drac_pipeline.defs.vector_index import IN_STEP, INDEX, INDEXED, index_without_run, make_vector_index
from drac_pipeline.index.sync import index_state


def shown(bench) -> dict[str, object]:
    """The metadata of the newest materialization."""
    event = bench.instance.get_latest_materialization_event(AssetKey(INDEX))
    found = event.asset_materialization
    return {name: value.value for name, value in found.metadata.items()}


def verdict(bench) -> bool:
    records = bench.instance.event_log_storage.get_asset_check_execution_history(
        AssetCheckKey(AssetKey(INDEX), IN_STEP), limit=1
    )
    return records[0].event.dagster_event.asset_check_evaluation_data.passed


def test_a_run_brings_the_index_in_step_even_where_a_document_failed(bench) -> None:
    (bench.corpus / "bad.pdf").write_bytes(b"%PDF-1.7 cut off")
    bench.register()
    assert not bench.launch().success
    assert index_state(bench.home).in_step
    assert (shown(bench)["documents"], shown(bench)["documents written"], verdict(bench)) == (3, 3, True)
    good = ["manual.pdf", "notes/site visit.pdf", "two pages.pdf"]
    assert bench.verdicts("chunk_embeddings", INDEXED) == dict.fromkeys(good, True)


def test_retiring_and_making_by_hand(bench) -> None:
    bench.register()
    assert bench.launch().success
    retire_documents(bench.instance, bench.home, {"manual.pdf": "gone"})
    assert (shown(bench)["documents"], shown(bench)["documents removed"]) == (2, 1)
    assert index_without_run(bench.instance, bench.home) is None

    done = materialize([make_vector_index()], instance=bench.instance, resources={"home": HomeResource()})
    assert done.success
    assert done.asset_materializations_for_node("vector_index")[0].asset_key == AssetKey("vector_index")
    assert (shown(bench)["documents written"], verdict(bench)) == (0, True)


def test_an_index_that_cannot_be_reached_takes_no_document_with_it(bench) -> None:
    (bench.home.path / "index").write_text("a file where a folder should be")
    keys = bench.register()
    assert bench.launch().success
    assert not verdict(bench)
    assert bench.verdicts("chunk_embeddings", INDEXED) == dict.fromkeys(keys, False)
    assert index_without_run(bench.instance, bench.home) is None
    (bench.home.path / "index").unlink()
    healed = index_without_run(bench.instance, bench.home)
    assert healed is not None and healed.written == 3
    assert bench.verdicts("chunk_embeddings", INDEXED) == dict.fromkeys(keys, True)
