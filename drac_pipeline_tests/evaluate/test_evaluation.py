"""Chunk sets against each other: scores, comparisons, summary."""

from __future__ import annotations

import json

import pytest

from drac_pipeline.errors import ConfigError
from drac_pipeline.evaluate.chunk_set import ChunkSet, organization_of, read_chunk_set
from drac_pipeline.evaluate.evaluation import evaluate
from drac_pipeline.evaluate.questions import Fact, Question
from drac_pipeline.evaluate.rankers import Words
from drac_pipeline.evaluate.scoring import averages, score
from drac_pipeline.evaluate.summary import question_records, summarize


def made(name: str, *rows: tuple[str, str, str], **more) -> ChunkSet:
    """Rows are document, organization, text."""
    out = ChunkSet(name, **more)
    for document, organization, text in rows:
        out.add(document, organization, text, f"{document} heading")
    return out


def asked(text: str, *facts: str, organization: str = "", documents: tuple[str, ...] = ()) -> Question:
    return Question(text, tuple(Fact(f) for f in facts), "fact", organization, documents, 2)


PUMP = asked("How hot may the pump get?", "The pump may reach 90 degrees Celsius", documents=("a.pdf",))
TANK = asked("What does the tank hold?", "The tank holds 300 litres", documents=("b.pdf",))
A, B = "The pump may reach 90 degrees Celsius.", "The tank holds 300 litres of water."


def test_each_question_is_ranked_in_its_organization_alone():
    chunks = made("s", ("a.pdf", "Acme", A), ("b.pdf", "Umbra", A + " Here too."), ("c.pdf", "Umbra", B))
    questions = [
        asked("pump degrees", PUMP.facts[0].text, organization="Umbra"),
        asked("pump degrees", PUMP.facts[0].text, organization="Acme"),
    ]
    results = score(chunks, questions, [Words()])["BM25"]
    assert [r.top[0] for r in results] == [1, 0]
    assert len(results[1].top) == 1
    assert averages(results)["recall@6"] == 1.0


def test_what_became_of_a_missed_fact():
    filler = [("x.pdf", "", f"tank holds many stories, story {i}") for i in range(8)]
    chunks = made("s", *filler, ("b.pdf", "", B))
    question = asked("tank holds many stories story", TANK.facts[0].text, "A fact of quite other words")
    [result] = score(chunks, [question], [Words()])["BM25"]
    held, absent = result.facts
    assert (held.place, held.covered, held.in_budget, held.best_chunk) == (9, False, True, 8)
    assert (absent.place, absent.best_share) == (0, 0.0)
    assert result.metrics["ceiling"] == 0.5
    assert (result.metrics["recall@6"], result.metrics["recall@4000c"]) == (0.0, 0.5)


def test_a_set_for_some_documents_is_compared_on_these():
    drac = made("drac", ("a.pdf", "", A), ("b.pdf", "", B))
    rival = made("rival", ("a.pdf", "", "The pump may get hot."), ("b.pdf", "", B))
    partial = made("wrac", ("a.pdf", "", A), skipped={"b.pdf": "no web page"})
    found = evaluate([partial, rival, drac], [PUMP, TANK], [Words()])
    whole, confined = found.comparisons
    assert ([s.name for s in whole.sets], whole.reference, len(whole.questions)) == (
        ["rival", "drac"],
        "drac",
        2,
    )
    assert (confined.documents, confined.confined_by, confined.questions) == (["a.pdf"], ["wrac"], [PUMP])
    assert [s.texts for s in confined.sets] == [[A], ["The pump may get hot."], [A]]
    assert set(confined.results) == {"wrac", "rival", "drac"}


def test_a_failed_document_counts_against_its_set():
    failing = made("fixed", ("b.pdf", "", B), failed={"a.pdf": "no text"})
    found = evaluate([made("drac", ("a.pdf", "", A), ("b.pdf", "", B)), failing], [PUMP, TANK], [Words()])
    [c] = found.comparisons
    assert averages(c.results["fixed"]["BM25"])["recall@6"] == 0.5
    assert averages(c.results["drac"]["BM25"])["recall@6"] == 1.0


def test_sets_without_chunks_are_named_and_the_others_go_on():
    empty = ChunkSet("wrac", skipped={"a.pdf": "no web page", "b.pdf": "no web page"})
    other = made("other", ("a.pdf", "Umbra", A))
    acme = [asked("pump", PUMP.facts[0].text, organization="Acme")]
    found = evaluate([empty, other, made("drac", ("a.pdf", "Acme", A))], acme, [Words()])
    assert [s.name for s in found.comparisons[0].sets] == ["drac"]
    assert found.empty["wrac"] == "no chunks: 2 documents skipped, the first a.pdf: no web page"
    assert "no chunks of 'Acme'; organizations with chunks: Umbra" in found.empty["other"]
    with pytest.raises(ConfigError, match="no chunks to evaluate"):
        evaluate([empty], acme, [Words()])
    with pytest.raises(ConfigError, match="several chunk sets are called drac"):
        evaluate([made("drac", ("a", "", A))] * 2, acme, [Words()])


def test_the_summary_is_json_and_names_the_worst():
    few = made("few", ("a.pdf", "", A), ("b.pdf", "", "Nothing about it."))
    found = evaluate([made("drac", ("a.pdf", "", A), ("b.pdf", "", B)), few], [PUMP, TANK], [Words()])
    summary = json.loads(json.dumps(summarize(found, source="q.csv", resamples=200)))
    [c] = summary["comparisons"]
    assert c["worst"]["drac"] == []
    [worst] = c["worst"]["few"]
    assert worst["question"] == TANK.text
    assert worst["others"] == {"drac": 1.0}
    assert worst["retrieved"][0]["expected"] is False
    assert worst["facts"][0]["place"] == 0
    assert c["sets"][0]["rankers"]["BM25"]["type"]["fact"]["questions"] == 2
    [difference] = c["differences"]
    assert difference["metrics"]["recall@6"]["mean"] == 0.5
    assert not difference["metrics"]["recall@6"]["sure"]  # two questions prove nothing
    records = list(question_records(found))
    assert [(r["set"], r["metrics"]["recall@6"]) for r in records] == [
        ("drac", 1.0),
        ("drac", 1.0),
        ("few", 1.0),
        ("few", 0.0),
    ]


def test_organizations_are_folders():
    names = ["Acme Ltd", "Umbra"]
    assert organization_of("Acme Ltd/pdf/a.pdf", names) == "Acme Ltd"
    assert organization_of("x/acme  ltd/a.pdf", names) == "Acme Ltd"
    assert organization_of("x/Umbra.pdf", names) == ""


def test_chunk_sets_from_files(tmp_path):
    path = tmp_path / "mine.jsonl"
    rows = [{"document_key": "Umbra/a.pdf", "text": A}, {"document_key": "Umbra/a.pdf", "text": " "}]
    path.write_text("\n".join(map(json.dumps, rows)))
    found = read_chunk_set(path, organizations=["Umbra"])
    assert (found.name, found.organizations, found.notes) == ("mine", ["Umbra"], ["1 blank chunks left out"])
    for text, told in (
        ('{"document": "a", "body": "x"}', "no column 'text'; it has 'document', 'body'"),
        ('{"document": "a", "text": 3}', "chunk 1, column 'text': no text"),
        ("{oops", "line 1: not valid JSON"),
        ("[1]", "line 1: not a JSON object"),
        ("", "no chunks"),
        ('{"document": "a", "text": " "}', "all its chunks are blank"),
    ):
        path.write_text(text)
        with pytest.raises(ConfigError) as e:
            read_chunk_set(path)
        assert told in str(e.value)
    (tmp_path / "bad.parquet").write_bytes(b"PAR1")
    for name, told in (("bad.parquet", "not readable as Parquet"), ("none.parquet", "no such file")):
        with pytest.raises(ConfigError, match=told):
            read_chunk_set(tmp_path / name)


def test_lines_end_at_line_feeds_alone(tmp_path):
    """Other characters that end a line for Python may stand in a text, and exports write them as they are."""
    path = tmp_path / "mine.jsonl"
    odd = f"{A}\u2028and\u0085more"
    lines = [json.dumps({"document_key": k, "text": odd}, ensure_ascii=False) for k in ("a", "b")]
    path.write_bytes(b"\xef\xbb\xbf" + "\n".join(lines).encode())
    assert read_chunk_set(path).texts == [odd, odd]
    path.write_bytes('{"document_key": "a", "text": "café"}'.encode("latin-1"))
    with pytest.raises(ConfigError, match="not UTF-8"):
        read_chunk_set(path)
