"""Questions from CSV, and what is said of a file that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from drac_pipeline.errors import ConfigError
from drac_pipeline.evaluate.questions import Fact, load_questions

RMC = "Enterprise Name,Query Type,Query,Supporting Facts\n"


def test_the_sample_questions():
    found = load_questions(Path(__file__).parents[2] / "data" / "questions.csv")
    assert len(found.questions) == 66
    assert found.notes == []
    procedure = next(q for q in found.questions if q.text.startswith("How do I replace the pump tubing"))
    assert (procedure.type, len(procedure.facts), procedure.organization) == ("procedure", 7, "")
    assert procedure.documents == ("products/LM-640 Beck Operation and Maintenance Manual.pdf",)


def test_the_form_of_rag_multi_corpus(questions_file):
    path = questions_file(
        RMC
        + 'Acme,Boolean,Is it on?,"[{""filename"": ""a.md"", ""text"": ""It runs.""}, '
        + '{""filename"": ""b.md"", ""text"": ""The lamp is green.""}]"\n'
        + 'Acme,Boolean,Is it on?,"[{""filename"": ""a.md"", ""text"": ""It runs.""}]"\n'
        + 'Umbra,Open,Why?,"[{""filename"": ""c.md"", ""text"": ""Because of rust.""}]"\n'
    )
    found = load_questions(path)
    assert [(q.organization, q.type, q.text, q.row) for q in found.questions] == [
        ("Acme", "Boolean", "Is it on?", 2),
        ("Umbra", "Open", "Why?", 4),
    ]
    assert found.questions[0].facts == (Fact("It runs.", "a.md"), Fact("The lamp is green.", "b.md"))
    assert found.questions[0].documents == ("a.md", "b.md")
    assert found.notes == ["1 row left out: asked before"]
    assert [q.text for q in load_questions(path, ["Umbra"]).questions] == ["Why?"]
    assert load_questions(path, rows_per_organization=1).notes == [
        "1 row left out: beyond the first 1 row of their organization"
    ]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_separators_and_byte_order_mark_of_spreadsheets(questions_file, delimiter: str):
    rows = ["Question", "Supporting_Facts"], ["Wie warm?", "20 Grad || 30 Grad"]
    path = questions_file("\r\n".join(delimiter.join(r) for r in rows), "utf-8-sig")
    assert load_questions(path).questions[0].facts == (Fact("20 Grad"), Fact("30 Grad"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "the file is empty"),
        ("question,answer\nWhy?,rust\n", "row 1: no column 'supporting_facts'; it has 'question', 'answer'"),
        (RMC.replace("Query Type", "Kind"), "row 1: no column 'Query Type'"),
        ("question,question,supporting_facts\n", "row 1: column 'question' is there twice"),
        ("question,supporting_facts\nWhy?,\n", "row 2, column 'supporting_facts': empty"),
        ("question,supporting_facts\n,rust\n", "row 2, column 'question': empty"),
        (
            "question,supporting_facts\nWhy?,it was\n",
            "column 'supporting_facts': no fact has a word that counts",
        ),
        ("question,supporting_facts\nWhy?,rust, and dust\n", "row 2: 3 cells under 2 columns"),
        (RMC + "Acme,Open,Why?,rust\n", "row 2, column 'Supporting Facts': not valid JSON"),
        (RMC + 'Acme,Open,Why?,"{""text"": 1}"\n', "row 2, column 'Supporting Facts': not a JSON list"),
        (RMC + 'Acme,Open,Why?,"[{""text"": 1}]"\n', "fact 1 is no object with a `text`"),
        ('question,supporting_facts\n"Why?,rust\n', "row 2 (line 2): not valid CSV"),
        ("question,supporting_facts\n", "no questions"),
    ],
)
def test_what_is_wrong_is_named(questions_file, text: str, told: str):
    path = questions_file(text)
    with pytest.raises(ConfigError) as e:
        load_questions(path)
    assert str(path) in str(e.value)
    assert told in str(e.value)


def test_all_wrong_rows_are_named_at_once(questions_file):
    with pytest.raises(ConfigError) as e:
        load_questions(questions_file("question,supporting_facts\n" + "Why?,\n" * 30))
    assert "row 2," in str(e.value)
    assert "… and 20 more" in str(e.value)


def test_other_encodings_and_missing_files(questions_file, tmp_path):
    with pytest.raises(ConfigError, match="not UTF-8"):
        load_questions(questions_file("question,supporting_facts\nWärme?,Öl\n", "cp1252"))
    with pytest.raises(ConfigError, match="no such file of questions"):
        load_questions(tmp_path / "none.csv")
    with pytest.raises(ConfigError, match="no questions of Acme; its organizations: Umbra"):
        load_questions(questions_file("question,supporting_facts,organization\nWhy?,rust,Umbra\n"), ["Acme"])
