"""The index holds what the chunks are, whatever happened in between."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from drac_pipeline.config import DracConfig, EmbedConfig
from drac_pipeline.index import sync as sync_module
from drac_pipeline.index.search import search
from drac_pipeline.index.sync import STAGE, IndexState, index_state, index_uri, sync_index
from drac_pipeline.index.table import ChunkTable, ChunkTables, one_of, row_schema
from drac_pipeline.pipeline import find_work, process_document
from drac_pipeline.pipeline.artifacts import EMBEDDINGS_FILE
from drac_pipeline.pipeline.removal import retire
from drac_pipeline.store import Home
from drac_pipeline_tests.index.conftest import take_in

KEYS = ["manual.pdf", "notes/site visit.pdf", "two pages.pdf"]
MINILM = "all-MiniLM-L6-v2/int8/no-signs"


def texts(home: Home, embedder: str = MINILM) -> dict[str, list[str]]:
    table = ChunkTables(index_uri(home)).open(embedder)
    assert table is not None
    out: dict[str, list[str]] = {}
    zeros = np.ones(table.dimensions, np.float32)
    for row in sorted(table.nearest(zeros, 1000), key=lambda r: r["ordinal"]):
        out.setdefault(row["document_key"], []).append(row["text"])
    return out


def test_an_empty_home_is_in_step_and_leaves_nothing_behind(tmp_path):
    home = Home(tmp_path / "home")
    assert index_state(home) == IndexState()
    assert sync_index(home).state.in_step
    assert not (home.path / "index").exists()


def test_each_document_is_written_once(embedded):
    assert index_state(embedded).behind == KEYS
    heard = []
    done = sync_index(embedded, lambda n, of: heard.append((n, of)))
    assert (done.written, done.removed, heard) == (3, 0, [(3, 3)])
    assert done.state.in_step
    assert (done.state.documents, done.state.embedder) == (3, MINILM)
    again = sync_index(embedded)
    assert (again.written, again.removed, again.state) == (0, 0, done.state)
    assert any("gate B" in t for t in texts(embedded)["notes/site visit.pdf"])


def test_a_changed_document_replaces_its_rows_and_touches_no_others(indexed, corpus, make_pdf):
    before = texts(indexed)
    make_pdf(corpus / "manual.pdf", "<h1>Pump manual</h1><p>Everything is new here.</p>")
    take_in(indexed, corpus)
    assert index_state(indexed).behind == ["manual.pdf"]
    done = sync_index(indexed)
    assert (done.written, done.state.in_step) == (1, True)
    after = texts(indexed)
    assert len(after["manual.pdf"]) == 1
    assert "Everything is new" in after["manual.pdf"][0]
    assert after["two pages.pdf"] == before["two pages.pdf"]


def test_a_retired_document_vanishes(indexed):
    retire(indexed, {"manual.pdf": "gone"})
    assert index_state(indexed).surplus == ["manual.pdf"]
    assert sync_index(indexed).removed == 1
    assert sorted(texts(indexed)) == KEYS[1:]


def test_a_document_without_chunks_has_no_rows(indexed, corpus, make_pdf):
    make_pdf(corpus / "manual.pdf", "")
    take_in(indexed, corpus)
    done = sync_index(indexed)
    assert (done.state.in_step, done.removed, done.state.documents) == (True, 1, 2)


def test_what_a_killed_sync_left_is_done_by_the_next(embedded, monkeypatch):
    monkeypatch.setattr(sync_module, "ROWS_AT_ONCE", 1)  # a commit for each document

    def die(*_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sync_index(embedded, die)
    state = index_state(embedded)
    assert (state.documents, state.behind) == (1, KEYS[1:])
    assert sync_index(embedded).written == 2
    assert index_state(embedded).in_step


def test_a_sync_killed_before_its_words_were_indexed_is_made_good_by_the_next(embedded, monkeypatch):
    def die(_self: ChunkTable) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(ChunkTable, "finish", die)
        with pytest.raises(KeyboardInterrupt):
            sync_index(embedded)
    state = index_state(embedded)
    assert state.behind == [] and not state.finished and not state.in_step
    done = sync_index(embedded)
    assert (done.written, done.state.in_step) == (0, True)
    assert index_state(embedded).in_step
    found = search(embedded, "leaking", mode="text")  # found by its stem, which the index alone knows
    assert [h.document_key for h in found] == ["notes/site visit.pdf"]


def test_chunks_without_any_vectors_are_not_in_step(tmp_path, corpus):
    home = Home(tmp_path / "home")
    stages = ["normalized_pdf", "page_images", "markdown", "elements", "chunk_plan", "chunks"]
    for work in find_work(home, corpus, home.config).work:
        assert process_document(home.store, work.key, home.config, stages).failure is None
    done = sync_index(home)
    assert not done.state.in_step and done.state.waiting == KEYS == index_state(home).waiting


def test_rows_that_somebody_changed_are_found_and_made_right(indexed):
    table = ChunkTables(index_uri(indexed)).open(MINILM)
    assert table is not None
    table._table.delete("document_key = 'manual.pdf' AND ordinal = 0")
    assert index_state(indexed).behind == ["manual.pdf"]
    assert sync_index(indexed).state.in_step


def test_vectors_that_are_older_than_the_chunks_are_not_indexed(indexed, corpus, make_pdf):
    make_pdf(corpus / "manual.pdf", "<h1>Other</h1><p>Changed.</p>")
    find_work(indexed, corpus, indexed.config)
    stages = ["normalized_pdf", "page_images", "markdown", "elements", "chunk_plan", "chunks"]
    assert process_document(indexed.store, "manual.pdf", indexed.config, stages).failure is None
    state = index_state(indexed)
    assert (state.waiting, state.behind, state.surplus) == (["manual.pdf"], [], [])
    kept = texts(indexed)["manual.pdf"]  # new published before old retired
    assert sync_index(indexed).written == 0
    assert texts(indexed)["manual.pdf"] == kept


def test_another_embedder_gets_a_table_of_its_own_and_the_old_one_goes_last(indexed, monkeypatch):
    other = "other/2"
    monkeypatch.setitem(indexed.__dict__, "config", DracConfig(embed=EmbedConfig(max_tokens=99)))
    for i, key in enumerate(KEYS):
        _embed_with(indexed, key, other, 2)
        state = sync_index(indexed).state
        assert state.embedder == other
        assert len(state.waiting) == 2 - i
        tables = set(ChunkTables(index_uri(indexed)).names())
        assert tables == ({other} if i == 2 else {MINILM, other})
    assert sorted(texts(indexed, other)) == KEYS


def _embed_with(home: Home, key: str, embedder: str, dimensions: int) -> None:
    """Rewrite a document's vectors as another embedder would have made them."""
    outcome = process_document(home.store, key, home.config, [STAGE], force=True)
    assert outcome.failure is None
    path = home.store.path(key, STAGE, EMBEDDINGS_FILE)
    table = pq.read_table(path)
    flat = pa.array(np.tile(np.array([1, 0], np.float32), table.num_rows))
    vectors = pa.FixedSizeListArray.from_arrays(flat, dimensions)
    table = table.set_column(table.schema.get_field_index("vector"), "vector", vectors)
    pq.write_table(table.replace_schema_metadata({"drac_embedder": embedder}), path)

    def change(manifest):
        record = manifest.stages[STAGE]
        facts = {**record.facts, "embedder": embedder, "dimensions": dimensions}
        made = {**manifest.stages, STAGE: record.model_copy(update={"facts": facts})}
        return manifest.model_copy(update={"stages": made})

    home.store.update_manifest(key, change)


def test_a_table_stays_compact_after_many_small_changes(tmp_path):
    tables = ChunkTables(str(tmp_path / "index"))
    table = tables.open_or_create("e/4", 4)
    for i in range(30):
        table.replace([f"it's {i}.pdf"], rows(f"it's {i}.pdf", 3))
        table.finish()
    assert table.count() == 90
    assert table._table.stats()["fragment_stats"]["num_fragments"] <= 3
    assert table.documents()["it's 7.pdf"] == ("v1", 3)
    table.replace(["it's 7.pdf"], rows("it's 7.pdf", 1, "v2"))
    assert table.documents()["it's 7.pdf"] == ("v2", 1)
    table.remove(["it's 7.pdf", "nobody.pdf"])
    assert table.count() == 87
    assert one_of("a", []) == "false"


def rows(key: str, n: int, made_of: str = "v1") -> pa.Table:
    schema = row_schema(4, "e/4")
    vectors = np.random.default_rng(n).standard_normal((n, 4)).astype(np.float32)
    columns: dict[str, Any] = {f.name: [key] * n for f in schema if f.type == pa.string()}
    columns.update(ordinal=list(range(n)), page_start=[1] * n, page_end=[1] * n)
    columns.update(chunk_id=[f"{key}-{i}" for i in range(n)], made_of=[made_of] * n)
    columns["vector"] = vectors.tolist()
    return pa.Table.from_pylist(
        [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)], schema=schema
    )


def test_an_index_may_lie_elsewhere(embedded, tmp_path):
    embedded.path.mkdir(exist_ok=True)
    (embedded.path / "drac.toml").write_text(f'[index]\nuri = "{tmp_path}/elsewhere"\n')
    home = Home(embedded.path)
    assert sync_index(home).state.in_step
    assert Path(index_uri(home)) == tmp_path / "elsewhere"
    assert sorted(texts(home)) == KEYS
