"""Vectors and documents for other tools, read back by their readers."""

import json
import subprocess
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest
from langchain_core.documents import Document

from drac_pipeline.errors import ConfigError
from drac_pipeline.export import export_chunks
from drac_pipeline.index.export import export_langchain, export_llamaindex, export_vectors
from drac_pipeline.index.sync import STAGE
from drac_pipeline.model import CHUNK_SCHEMA, as_chunk_table
from drac_pipeline.pipeline.artifacts import CHUNKS_FILE
from drac_pipeline.store import Home


def lines(path):
    return [json.loads(x) for x in path.read_text(encoding="utf-8").splitlines()]


def test_vectors_stand_beside_their_chunks(embedded, tmp_path):
    done = export_vectors(embedded, tmp_path / "out" / "v.parquet")
    table = pq.read_table(tmp_path / "out" / "v.parquet")
    assert done.chunks == table.num_rows > 2
    assert done.without_vectors == []
    assert table.column_names == [*CHUNK_SCHEMA.names, "embedder", "vector"]
    assert set(table.column("embedder").to_pylist()) == {"all-MiniLM-L6-v2/int8/no-signs"}
    vectors = np.array(table.column("vector").to_pylist())
    assert vectors.shape == (table.num_rows, 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert export_vectors(embedded, tmp_path / "v.jsonl").chunks == table.num_rows
    assert [r["chunk_id"] for r in lines(tmp_path / "v.jsonl")] == table.column("chunk_id").to_pylist()
    with pytest.raises(ConfigError, match=r"\.parquet or \.jsonl"):
        export_vectors(embedded, tmp_path / "v.csv")
    with pytest.raises(ConfigError, match=r"no chunk .* has a vector yet"):
        export_vectors(Home(tmp_path / "none"), tmp_path / "v.parquet")


def test_langchain_documents(embedded, corpus, tmp_path):
    done = export_langchain(embedded, tmp_path / "lc.jsonl")
    rows = lines(tmp_path / "lc.jsonl")
    assert len(rows) == done.chunks
    leak = next(r for r in rows if "gate B" in r["page_content"])
    assert leak.keys() == {"id", "page_content", "metadata", "type"}
    assert leak["id"] == leak["metadata"]["chunk_id"]
    assert leak["metadata"]["breadcrumb"] == "Site visit"
    assert leak["metadata"]["source"] == (corpus / "notes" / "site visit.pdf").as_uri()


def test_llamaindex_nodes(embedded, tmp_path):
    export_llamaindex(embedded, tmp_path / "li.jsonl")
    rows = lines(tmp_path / "li.jsonl")
    by_document: dict[str, list[dict]] = {}
    for row in rows:
        by_document.setdefault(row["relationships"]["1"]["node_id"], []).append(row)
        assert len(row["embedding"]) == 384
        assert row["class_name"] == "TextNode"
        assert set(row["excluded_embed_metadata_keys"]) == set(row["metadata"])
    for nodes in by_document.values():
        ids = [n["id_"] for n in nodes]
        for i, node in enumerate(nodes):
            assert node["relationships"].get("2", {}).get("node_id") == (ids[i - 1] if i else None)
            assert node["relationships"].get("3", {}).get("node_id") == ([*ids, None][i + 1])


def test_langchain_reads_them(embedded, tmp_path):
    export_langchain(embedded, tmp_path / "lc.jsonl")
    texts = (tmp_path / "lc.jsonl").read_text().splitlines()
    documents = [Document.model_validate_json(x) for x in texts]
    assert any("gate B" in d.page_content and d.metadata["page_start"] == 1 for d in documents)


def test_documents_without_vectors_are_told(embedded, tmp_path):
    def forget(manifest):
        made = {n: r for n, r in manifest.stages.items() if n != STAGE}
        return manifest.model_copy(update={"stages": made})

    embedded.store.update_manifest("manual.pdf", forget)
    assert export_vectors(embedded, tmp_path / "v.parquet").without_vectors == ["manual.pdf"]
    assert export_llamaindex(embedded, tmp_path / "li.jsonl").without_vectors == ["manual.pdf"]
    assert any(r["embedding"] is None for r in lines(tmp_path / "li.jsonl"))
    assert export_langchain(embedded, tmp_path / "lc.jsonl").without_vectors == []


def test_chunks_of_an_earlier_release_are_exported_too(embedded, tmp_path):
    path = embedded.store.path("manual.pdf", "chunks", CHUNKS_FILE)
    pq.write_table(pq.read_table(path).drop_columns(["title"]), path)
    assert as_chunk_table(pq.read_table(path)).schema == CHUNK_SCHEMA
    assert export_chunks(embedded.store, tmp_path / "c.parquet") > 2
    assert export_vectors(embedded, tmp_path / "v.parquet").chunks > 2


def test_the_commands(embedded, tmp_path):
    for name, file in (("vectors", "v.parquet"), ("langchain", "l.jsonl"), ("llamaindex", "n.jsonl")):
        code = "from drac_pipeline.cli import main; main()"
        command = [sys.executable, "-c", code, "export", name, str(tmp_path / file)]
        done = subprocess.run(
            [*command, "--home", str(embedded.path)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert f"chunks written to {tmp_path / file}".split()[0] in done.stdout
        assert (tmp_path / file).stat().st_size > 0
