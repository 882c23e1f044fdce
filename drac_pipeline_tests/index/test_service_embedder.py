"""Embedding models of services over loopback: real SDKs, real HTTP, with what goes wrong on the wire."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from drac_pipeline.config import DracConfig, EmbedConfig, ModelConfig
from drac_pipeline.errors import ConfigError, DocumentTooLarge
from drac_pipeline.index.search import search
from drac_pipeline.index.service_embedder import EmbeddingRefused, ServiceEmbedder, spent_on
from drac_pipeline.index.sync import STAGE, sync_index
from drac_pipeline.llm.doubles import Brain, Double, FaultPlan
from drac_pipeline.llm.doubles.vectors import vector_of
from drac_pipeline.llm.protocol import BudgetExceeded, ModelUnavailable
from drac_pipeline.pipeline import find_work, process_document
from drac_pipeline.store import Home

Make = Callable[..., ServiceEmbedder]
TEXTS = ["the roof leaks", "open the valve", "press the green button", "the roof"]


@pytest.fixture(autouse=True)
def account(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "double")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "double")
    monkeypatch.delenv("AWS_PROFILE", raising=False)


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def made(server: Double, provider: str, retries: ModelConfig | None = None, **more) -> ServiceEmbedder:
        retries = retries or ModelConfig(backoff_seconds=0.01, backoff_cap=0.02)
        return ServiceEmbedder(settings(server, provider, **more), retries, tmp_path / "model", "run")

    return made


def settings(server: Double, provider: str, **more) -> EmbedConfig:
    url = server.url + ("/v1" if provider == "openai" else "")
    values = {"provider": provider, "endpoint_url": url, "region": "eu-west-1", **more}
    return EmbedConfig.model_validate(values)


def double(*script: str, **more) -> Double:
    return Double(Brain({}), faults=FaultPlan(script=list(script)), **more)


@pytest.mark.parametrize(
    ("provider", "name", "dimensions", "calls"),
    [
        ("bedrock", "amazon.titan-embed-text-v2:0/1024", 1024, 4),
        ("openai", "text-embedding-3-small", 1536, 2),
    ],
)
def test_vectors_come_in_the_order_of_the_texts(make, provider, name, dimensions, calls):
    with double() as server:
        embedder = make(server, provider, texts_per_call=3)
        vectors = embedder.embed_documents(TEXTS)
        assert (embedder.name, server.requests, server.texts) == (name, calls, 4)
        assert embedder.dimensions == dimensions
    assert vectors.dtype == np.float32
    assert np.allclose(vectors, [vector_of(t, dimensions) for t in TEXTS], atol=1e-6)


def test_titan_is_asked_as_it_wants_to_be(make):
    with double(secret="double") as server:  # and signed
        make(server, "bedrock", dimensions=256).embed_queries(["roof"])
        assert server.seen == [
            {"model": "amazon.titan-embed-text-v2:0", "dimensions": 256, "normalize": True}
        ]


@pytest.mark.parametrize("provider", ["bedrock", "openai"])
def test_what_passes_is_tried_again_and_all_of_it_is_in_the_ledger(make, provider):
    faults = ["throttle", "unavailable", "dropped connection", "internal", "timeout"]
    with double(*faults) as server:
        embedder = make(server, provider, calls_in_parallel=1)
        with spent_on("manual.pdf"):
            embedder.embed_documents(["the roof leaks"])
        assert server.requests == 6
    rows = embedder.service.ledger.records()
    assert [r["outcome"] for r in rows][-1] == "ok"
    assert len(rows) == 6
    assert {(r["document"], r["stage"]) for r in rows} == {("manual.pdf", STAGE)}
    assert rows[-1]["input_tokens"] == 3
    assert rows[-1]["cost_usd"] == pytest.approx(3 * 0.02e-6)


def test_what_does_not_pass_says_so(make):
    with double("validation") as server, pytest.raises(EmbeddingRefused, match=r"\[embed\]|not valid"):
        make(server, "bedrock").embed_documents(["a"])
    with double("access") as server, pytest.raises(ModelUnavailable, match="access"):
        make(server, "bedrock").embed_documents(["a"])
    with double() as server, pytest.raises(BudgetExceeded, match="per run"):
        make(server, "bedrock", ModelConfig(budget_per_run=1e-9)).embed_documents(["a" * 3000])
    with double() as server, pytest.raises(ConfigError, match="no price of own-model is known"):
        make(server, "openai", ModelConfig(budget_per_run=1), model="own-model").embed_documents(["a"])
    assert ServiceEmbedder(EmbedConfig(provider="bedrock"), ModelConfig(), None).count_tokens("abc" * 9) == 9


def test_texts_over_the_limit_are_split_cut_or_refused(make):
    long = "the roof leaks " * 20
    with double() as server:
        parts = make(server, "bedrock", max_tokens=50)
        vector = parts.embed_documents([long])[0]
        assert server.texts > 1
        assert np.isclose(np.linalg.norm(vector), 1, atol=1e-5)
        before = server.texts
        make(server, "bedrock", max_tokens=50, too_long="cut").embed_documents([long])
        assert server.texts == before + 1
        with pytest.raises(DocumentTooLarge, match="longer than the 50"):
            make(server, "bedrock", max_tokens=50, too_long="refuse").embed_documents([long])


def test_prefixes_are_part_of_what_is_embedded_and_of_the_name(make):
    with double() as server:
        plain = make(server, "openai", dimensions=64)
        marked = make(server, "openai", dimensions=64, query_prefix="query: ", document_prefix="passage: ")
        assert np.allclose(marked.embed_queries(["roof"])[0], vector_of("query: roof", 64), atol=1e-6)
        assert np.allclose(marked.embed_documents(["roof"])[0], vector_of("passage: roof", 64), atol=1e-6)
        assert plain.name != marked.name


def test_a_prefix_counts_and_every_part_has_it(make, monkeypatch):
    long = "Pump the water from the lower tank."  # 12 tokens by estimate, with its prefix 18
    with double() as server:
        embedder = make(server, "openai", dimensions=64, document_prefix="search_document: ", max_tokens=15)
        assert embedder._count(long) <= embedder.max_tokens < embedder.count_tokens(long)
        asked: list[str] = []
        send = embedder._send
        monkeypatch.setattr(embedder, "_send", lambda batch: asked.extend(batch) or send(batch))
        embedder.embed_documents([long])
        assert len(asked) > 1 and all(t.startswith("search_document: ") for t in asked)
        assert " ".join(t.removeprefix("search_document: ").strip() for t in asked) == long
        assert max(map(embedder._count, asked)) <= embedder.max_tokens


def test_chunks_are_embedded_by_a_service_paid_once_and_searched(embedded):
    with double() as server:
        config = DracConfig(embed=settings(server, "bedrock", dimensions=256))
        keys = [m.document_key for m in embedded.store.manifests()]
        for key in keys:
            assert process_document(embedded.store, key, config, [STAGE], run="r").failure is None
        manifest = embedded.store.manifest("manual.pdf")
        assert manifest is not None
        record = manifest.stages[STAGE]
        assert record.facts == {"embedder": "amazon.titan-embed-text-v2:0/256", "dimensions": 256}
        assert record.counts["model_calls"] == record.counts["chunks"]
        assert 0 < record.counts["cost_usd"] < 1e-4
        paid = server.requests
        assert process_document(embedded.store, "manual.pdf", config, [STAGE], force=True).failure is None
        assert server.requests == paid

        home = Home(embedded.path)
        home.__dict__["config"] = config
        assert sync_index(home).state.in_step
        assert search(home, "the roof of hall 3", mode="vector")[0].document_key == "notes/site visit.pdf"
        assert server.requests == paid + 1


def test_a_setting_that_is_missing_is_no_fault_of_the_program(tmp_path, corpus, monkeypatch):
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    home = Home(tmp_path / "home")
    config = DracConfig(embed=EmbedConfig(provider="bedrock"))
    work = find_work(home, corpus, config).work[0]
    failure = process_document(home.store, work.key, config).failure
    assert failure is not None
    assert (failure.stage, failure.kind) == (STAGE, "wrong setting")
    assert "region" in failure.cause and "[embed]" in failure.cause
    assert "drac config check" in failure.remedy
