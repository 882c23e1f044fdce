"""`drac eval` and `drac benchmark` as a user types them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from drac_pipeline.cli import main
from drac_pipeline.cli.evaluate import _named
from drac_pipeline.store import Home

DATA = Path(__file__).parents[2] / "data"
SIX = "recall@6"


def drac(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from drac_pipeline.cli import main; main()", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.office
@pytest.mark.browser
def test_the_sample_corpus_and_its_questions(tmp_path):
    home = tmp_path / "home"
    assert drac("run", DATA / "corpus", "--home", home).returncode == 0
    ways = [f"--chunker={w}" for w in ("drac", "fixed", "wrac")]
    done = drac("eval", DATA / "questions.csv", "--home", home, *ways)
    assert done.returncode == 0, done.stderr
    assert "66 questions" in done.stdout
    assert "fixed 1000/200 failed on quality/Scan_2025-03-17_Harbourgate complaint.pdf" in done.stdout
    assert "1 document that wrac can chunk · 2 questions" in done.stdout
    assert "Embedding" in done.stderr
    assert "DEBUG" not in done.stderr
    page = (home / "evaluation" / "report.html").read_text()
    assert "longer than the 256 tokens that all-MiniLM-L6-v2/int8/no-signs reads: embedded in parts" in page
    summary = json.loads((home / "evaluation" / "evaluation.json").read_text())
    whole = summary["comparisons"][0]
    sets = {s["name"]: s["rankers"] for s in whole["sets"]}
    assert list(sets) == ["drac", "fixed 1000/200"]
    for ranker in whole["rankers"]:
        ours = sets["drac"][ranker]["overall"]
        assert ours[SIX] > 0.85
        assert ours[SIX] >= sets["fixed 1000/200"][ranker]["overall"][SIX]
        assert ours["ceiling"] > 0.98  # nearly every fact is in one chunk
    assert sum(t["questions"] for t in sets["drac"]["hybrid"]["type"].values()) == 66
    # again: nothing is embedded twice, and the figures are the same
    again = drac("eval", DATA / "questions.csv", "--home", home, *ways, "--json")
    assert "Embedding" not in again.stderr
    [first, second] = (
        [s["rankers"] for s in x["comparisons"][0]["sets"]] for x in (summary, json.loads(again.stdout))
    )
    assert first == second


def test_questions_and_rivals_of_the_settings(small_home, tmp_path, capsys):
    small_home.path.joinpath("questions.csv").write_text(
        "question,supporting_facts\nWhere does it leak?,The roof of hall 3 leaks near gate B\n"
    )
    small_home.path.joinpath("drac.toml").write_text(
        '[evaluate]\nquestions = "questions.csv"\nchunkers = ["drac", "fixed:size=60,overlap=0"]\n'
        'embedders = ["none"]\n'
    )
    main_ends("eval", "--home", str(small_home.path), "--compare", "--out", str(tmp_path / "out"))
    told = capsys.readouterr()
    assert "fixed 60/0" in told.out
    assert (tmp_path / "out" / "report.html").is_file()
    mine = tmp_path / "mine.jsonl"
    mine.write_text(json.dumps({"document": "notes/site visit.pdf", "text": "hall 3 roof leaks, gate B"}))
    main_ends("eval", "--home", str(small_home.path), "--chunks", f"theirs={mine}")
    assert "drac against theirs: no difference" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "which questions? Name a CSV file"),
        (["none.csv"], "none.csv: no such file of questions"),
        (["QUESTIONS", "--chunker", "sliced"], "no such way of chunking: 'sliced'"),
        (["QUESTIONS", "--embedder", "word2vec"], "no such embedder: 'word2vec'"),
        (["QUESTIONS", "--embedder", "too_long=never"], "embedder 'too_long=never': too_long"),
        (["QUESTIONS", "--organization", "Acme"], "no questions of Acme"),
        (["QUESTIONS", "--chunks", "none.parquet"], "none.parquet: no such file of chunks"),
    ],
)
def test_wrong_use_is_one_line(small_home, tmp_path, capsys, arguments: list[str], told: str):
    path = tmp_path / "q.csv"
    path.write_text("question,supporting_facts\nWhy?,rust\n")
    given = [str(path) if a == "QUESTIONS" else a for a in arguments]
    assert main_ends("eval", *given, "--home", str(small_home.path), code=2) == 2
    said = capsys.readouterr().err
    assert told in " ".join(said.split())
    assert "Traceback" not in said
    assert not (small_home.path / "evaluation" / "report.html").exists()


def test_questions_of_an_organization_that_is_no_folder(small_home, tmp_path, capsys):
    path = tmp_path / "q.csv"
    path.write_text("question,supporting_facts,organization\nWhy?,rust,Acme\n")
    main_ends("eval", str(path), "--home", str(small_home.path), code=2)
    said = " ".join(capsys.readouterr().err.split())
    assert "is in a folder named 'Acme'" in said
    assert "its folders: 'notes'" in said


def test_the_benchmark_from_a_checkout(tmp_path, make_pdf, capsys):
    root = tmp_path / "RAG-Multi-Corpus"
    for organization, what in (("Acme Motors", "pump"), ("Umbra Bank", "vault")):
        folder = root / "datasets" / organization
        make_pdf(
            folder / "pdf" / "About us.pdf", f"<h1>About</h1><p>The {what} opens at nine each morning.</p>"
        )
        (folder / "html").mkdir()
        (folder / "html" / "About us.html").write_text(f"<h1>About</h1><p>The {what} opens at nine.</p>")
    references = root / "bench" / "parsed-chunks"
    references.mkdir(parents=True)
    for organization, what in (("acme", "pump"), ("umbra", "vault")):
        record = {"file_name": "About us.md", "chunks": [f"The {what} opens at nine each morning"]}
        (references / f"{organization}_prompt_chunks.json").write_text(json.dumps(record) + "\n")
    rows = ["Enterprise Name,Query Type,Query,Supporting Facts"]
    for organization, what in (("Acme Motors", "pump"), ("Umbra Bank", "vault"), ("Absent", "door")):
        fact = json.dumps([{"filename": "About us.md", "text": f"{what} opens at nine"}]).replace('"', '""')
        rows.append(f'{organization},Open,When does the {what} open?,"{fact}"')
    (root / "bench" / "Dataset - queries.csv").write_text("\n".join(rows) + "\n")
    home = tmp_path / "home"
    main_ends("benchmark", str(root), "--home", str(home), "--embedder", "none")
    told = capsys.readouterr()
    assert "left out, no folder datasets/…/pdf: Absent" in told.err
    summary = json.loads((home / "evaluation" / "evaluation.json").read_text())
    [c] = summary["comparisons"]
    assert [s["name"] for s in c["sets"]] == [
        "drac",
        "fixed 1000/200",
        "recursive 1000/200",
        "headings",
        "wrac",
        "agentic",
    ]
    for s in c["sets"]:
        row = s["rankers"]["BM25"]
        assert (row["overall"][SIX], row["overall"]["mrr"]) == (1.0, 1.0)
        assert set(row["organization"]) == {"Acme Motors", "Umbra Bank"}
    assert {m.document_key for m in Home(home).store.manifests()} == {
        "Acme Motors/pdf/About us.pdf",
        "Umbra Bank/pdf/About us.pdf",
    }
    main_ends("benchmark", str(tmp_path), "--home", str(home), code=2)
    assert "no folder `datasets` in it" in " ".join(capsys.readouterr().err.split())


def main_ends(*arguments: str, code: int = 0) -> int:
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    assert (stop.value.code or 0) == code
    return code


def test_a_chunk_set_is_named_by_what_stands_before_the_first_sign(tmp_path):
    file = tmp_path / "k=5" / "chunks.parquet"
    file.parent.mkdir()
    file.write_bytes(b"")
    assert _named([f"mine={file}"]) == {"mine": file}
    assert _named([str(file)]) == {"chunks": file}


def test_a_benchmark_home_with_other_settings_is_refused(tmp_path, make_pdf, capsys):
    pdf = tmp_path / "datasets" / "Acme" / "pdf" / "About.pdf"
    make_pdf(pdf, "<h1>About</h1><p>Acme makes pumps in Kiel.</p>")
    fact = json.dumps([{"filename": "About.md", "text": "Acme makes pumps in Kiel."}]).replace('"', '""')
    rows = ["Enterprise Name,Query Type,Query,Supporting Facts", f'Acme,Where,Where are pumps made?,"{fact}"']
    (tmp_path / "queries.csv").write_text("\n".join(rows) + "\n")
    home = tmp_path / "home"
    home.mkdir()
    (home / "drac.toml").write_text('[source]\ninclude = ["*/md/*.md"]\n')
    main_ends("benchmark", str(tmp_path), "--home", str(home), code=2)
    assert "use another --home" in " ".join(capsys.readouterr().err.split())
