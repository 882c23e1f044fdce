"""Questions to a real index: rankings, filters, highlights, links, and what goes wrong."""

import json
import subprocess
import sys

import pytest

import drac_pipeline
from drac_pipeline.config import DracConfig, EmbedConfig
from drac_pipeline.errors import ConfigError
from drac_pipeline.index.highlight import best_window, spans_of_words
from drac_pipeline.index.search import search
from drac_pipeline.index.sync import sync_index
from drac_pipeline.pipeline.removal import retire
from drac_pipeline.store import Home
from drac_pipeline_tests.conftest import write_pdf
from drac_pipeline_tests.index.conftest import take_in

QUESTION = "Where does the roof leak?"


def keys(hits):
    return [h.document_key for h in hits]


def test_a_hit_says_where_it_comes_from(indexed, corpus):
    best = drac_pipeline.search(indexed.path, QUESTION)[0]
    assert (best.rank, best.document_key, best.breadcrumb) == (1, "notes/site visit.pdf", "Site visit")
    assert (best.page_start, best.page_end) == (1, 1)
    assert best.link == (corpus / "notes" / "site visit.pdf").as_uri() + "#page=1"
    assert best.source == str(corpus / "notes" / "site visit.pdf")
    assert [best.text[a:b] for a, b in best.highlights] == ["roof", "leaks"]
    assert best.ranks == {"vector": 1, "text": 1}


def test_each_mode_ranks_its_own_way(indexed):
    assert keys(search(indexed, QUESTION, mode="text")) == ["notes/site visit.pdf"]
    assert len(search(indexed, QUESTION, mode="vector", k=100)) == 3
    meant = search(indexed, "water comes through the ceiling", mode="vector", k=1)
    assert keys(meant) == ["notes/site visit.pdf"]
    assert 0 < meant[0].score < 1
    assert len(search(indexed, QUESTION, k=2)) == 2
    assert search(indexed, "zebra", mode="text") == []


def test_filters_narrow_the_search_before_it_ranks(indexed):
    assert keys(search(indexed, "pump", source="notes/*")) == ["notes/site visit.pdf"]
    assert set(keys(search(indexed, "pump", source=["notes/*", "two*.pdf"], k=9))) == {
        "notes/site visit.pdf",
        "two pages.pdf",
    }
    assert search(indexed, "pump", source="nothing/*") == []
    assert [(h.page_start, h.page_end) for h in search(indexed, "pump", page=2)] == [(1, 2)]
    assert set(keys(search(indexed, "pump", page=(2, 9)))) == {"two pages.pdf"}
    assert keys(search(indexed, "pump", under="site VISIT")) == ["notes/site visit.pdf"]
    assert search(indexed, "pump", under="it's > nowhere") == []


def test_a_heading_in_the_middle_of_a_chunk_counts(embedded, corpus):
    write_pdf(
        corpus / "prices.pdf",
        "<h1>Price list</h1><h2>Pumps (2.0) C++</h2><p>A pump is 90 EUR.</p>"
        "<h2>Valves</h2><p>A valve is 5 EUR.</p>",
    )
    take_in(embedded, corpus)
    sync_index(embedded)
    (whole,) = search(embedded, "pump", source="prices.pdf")
    assert "## Valves" in whole.text
    assert "Valves" not in whole.breadcrumb
    for under in ("valves", "Price list > Valves", "(2.0) C++", "pumps (2.0)"):
        assert keys(search(embedded, "pump", under=under)) == ["prices.pdf"], under
    assert search(embedded, "pump", under="5 EUR") == []  # text, no heading
    assert search(embedded, "pump", under="[2") == []


@pytest.mark.parametrize("question", ['it\'s "quoted" AND (half', "50% of a_b*", "ünïcode 語", "?"])
def test_no_character_of_a_question_is_syntax(indexed, question):
    assert len(search(indexed, question)) > 0


def test_a_retired_document_is_not_found_even_before_the_index_is_in_step(indexed):
    retire(indexed, {"notes/site visit.pdf": "gone"})
    assert "notes/site visit.pdf" not in keys(search(indexed, QUESTION, k=100))


def test_what_cannot_be_searched_says_why(indexed, tmp_path):
    with pytest.raises(ConfigError, match="nothing is indexed yet"):
        search(tmp_path / "none", QUESTION)
    with pytest.raises(ConfigError, match="question is empty"):
        search(indexed, "  ")
    with pytest.raises(ConfigError, match="no such mode"):
        search(indexed, QUESTION, mode="fuzzy")  # pyright: ignore[reportArgumentType]


def test_an_index_of_another_embedder_is_not_searched_by_meaning(indexed, monkeypatch):
    class Other:
        name = "other/384"

    monkeypatch.setattr("drac_pipeline.index.search.open_embedder", lambda *_: Other())
    monkeypatch.setitem(indexed.__dict__, "config", DracConfig(embed=EmbedConfig(max_tokens=99)))
    with pytest.raises(
        ConfigError, match=r"made with all-MiniLM-L6-v2/int8/no-signs, and \[embed\] names other/384"
    ):
        search(indexed, QUESTION)
    assert keys(search(indexed, QUESTION, mode="text")) == ["notes/site visit.pdf"]


def test_words_are_found_whatever_their_ending():
    text = "Leaking roofs: the Valves (café) of LM-640 were opened 640 times."
    found = [text[a:b] for a, b in spans_of_words(text, "Which valve leaks? the cafe LM 640")]
    assert found == ["Leaking", "Valves", "café", "LM", "640", "640"]
    assert spans_of_words(text, "the of which") == []


def test_the_window_has_the_most_words_of_the_question():
    text = "nothing here " * 50 + "the valve leaks at gate B " + "nothing there " * 50
    start, end = best_window(text, spans_of_words(text, "valve leak gate"), 120)
    assert "valve leaks at gate B" in text[start:end]
    assert text[start - 1].isspace()
    assert best_window("short", [], 100) == (0, 5)


def drac(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from drac_pipeline.cli import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_command_shows_hits_and_writes_json(indexed: Home):
    shown = drac("search", QUESTION, "--home", str(indexed.path), "-k", "1")
    assert shown.returncode == 0, shown.stderr
    assert "Site visit" in shown.stdout
    assert "notes/site visit.pdf · page 1" in shown.stdout
    assert "site%20visit.pdf#page=1" in shown.stdout
    assert "The roof of hall 3 leaks near gate B." in shown.stdout

    asked = ["search", "beta", "--source", "two*", "--page", "2-3", "--mode", "text"]
    told = json.loads(drac(*asked, "--json", "--home", str(indexed.path)).stdout)
    assert [h["document_key"] for h in told["hits"]] == ["two pages.pdf"]
    assert told["hits"][0]["ranks"] == {"text": 1}

    wrong = drac("search", "pump", "--page", "two", "--home", str(indexed.path))
    assert wrong.returncode == 2
    assert "give a page such as 3" in wrong.stderr


@pytest.mark.parametrize("page", [0, (5, 3), 99_999_999_999])
def test_pages_that_cannot_be_are_said(indexed, page):
    with pytest.raises(ConfigError, match="no such pages"):
        search(indexed, "pump", page=page)
