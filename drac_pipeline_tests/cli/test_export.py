"""What `drac export` and `drac inspect` write, leave alone and take away in folders of people."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from drac_pipeline.cli import main
from drac_pipeline.pipeline import find_work, process_document
from drac_pipeline.pipeline.removal import removals, retire
from drac_pipeline.store import Home


@pytest.fixture
def home(tmp_path: Path, corpus: Path) -> Home:
    """All three documents done, without Dagster."""
    opened = Home(tmp_path / "home")
    refresh(opened, corpus)
    return opened


def refresh(home: Home, corpus: Path) -> None:
    found = find_work(home, corpus, home.config)
    retire(home, removals(found, home.config.refresh, confirmed=True).retire)
    for work in found.work:
        assert process_document(home.store, work.key, home.config).failure is None


def code(*arguments: str | Path) -> int:
    """The exit code; 0 where the command just ends."""
    try:
        main([str(a) for a in arguments])
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


def files(folder: Path) -> set[str]:
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if not p.name.startswith(".")}


def test_markdown_of_documents_that_are_gone_goes_and_nothing_else(home, corpus, tmp_path, capsys) -> None:
    out = tmp_path / "md"
    assert code("export", "markdown", out, "--home", home.path) == 0
    assert "3 documents written" in capsys.readouterr().out
    (out / "mine.pdf.md").write_text("not drac's")
    (corpus / "notes" / "site visit.pdf").unlink()
    (corpus / "manual.pdf").unlink()
    refresh(home, corpus)
    (out / "manual.pdf.md").write_text("with remarks of a reader")

    assert code("export", "markdown", out, "--home", home.path) == 0
    said = capsys.readouterr()
    assert "1 document written" in said.out
    assert "1 file of documents that are gone removed" in said.out
    assert "1 file of a document that is gone kept, changed since the export: manual.pdf.md" in said.err
    assert files(out) == {"mine.pdf.md", "manual.pdf.md", "two pages.pdf.md"}, "the empty folder goes too"

    assert code("export", "markdown", out, "--home", home.path) == 0
    said = capsys.readouterr()
    assert "gone" not in said.out + said.err
    assert files(out) == {"mine.pdf.md", "manual.pdf.md", "two pages.pdf.md"}


def test_two_homes_in_one_folder_leave_each_other_alone(home, tmp_path, make_pdf) -> None:
    other, source, out = Home(tmp_path / "other"), tmp_path / "others", tmp_path / "md"
    make_pdf(source / "other.pdf", "<p>Of another corpus.</p>")
    refresh(other, source)
    for each in (home, other, home, other):
        assert code("export", "markdown", out, "--home", each.path) == 0
    assert len(files(out)) == 5  # four files and a folder


def test_a_record_never_leads_out_of_the_folder(home, tmp_path, capsys) -> None:
    out = tmp_path / "md"
    assert code("export", "markdown", out, "--home", home.path) == 0
    record = out / ".drac-export.json"
    told = json.loads(record.read_text())
    (written,) = told["written"].values()
    outside = tmp_path / "outside.md"
    outside.write_bytes((out / "manual.pdf.md").read_bytes())
    written["../outside.md"] = written["manual.pdf.md"]
    record.write_text(json.dumps(told))
    assert code("export", "markdown", out, "--home", home.path) == 0
    assert outside.exists()
    record.write_text("{")
    assert code("export", "markdown", out, "--home", home.path) == 2
    assert ".drac-export.json is damaged" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("what", "example"),
    [
        ("chunks", "chunks.parquet"),
        ("vectors", "vectors.parquet"),
        ("langchain", "chunks.jsonl"),
        ("llamaindex", "chunks.jsonl"),
    ],
)
def test_a_folder_is_no_file_to_export_to(home, tmp_path, capsys, what, example) -> None:
    out = tmp_path / "out"
    out.mkdir()
    assert code("export", what, out, "--home", home.path) == 2
    said = capsys.readouterr().err.replace("\n", "")
    assert f"{out} is a folder; give a file to write, such as {out / example}" in said
    assert list(out.iterdir()) == []


@pytest.mark.parametrize("what", [["export", "chunks"], ["inspect", "manual", "--out"]])
def test_a_file_is_no_folder_to_write_to(home, tmp_path, capsys, what) -> None:
    (tmp_path / "taken").write_text("a file")
    assert code(*what, tmp_path / "taken" / "deep" / "x.jsonl", "--home", home.path) == 2
    assert f"{tmp_path / 'taken'} is a file; a folder is needed there" in capsys.readouterr().err.replace(
        "\n", ""
    )


def test_inspect_writes_into_a_folder(home, tmp_path, capsys) -> None:
    out = tmp_path / "pages"
    out.mkdir()
    assert code("inspect", "site", "--out", out, "--home", home.path) == 0
    assert files(out) == {"notes_site visit.pdf.html"}
    assert str(out / "notes_site visit.pdf.html") in capsys.readouterr().out
