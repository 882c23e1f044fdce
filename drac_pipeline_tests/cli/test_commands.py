"""The commands as a user types them: whole processes for what matters, this one for usage errors."""

import contextlib
import hashlib
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pymupdf
import pytest

from drac_pipeline.cli import main
from drac_pipeline.pipeline import STAGES, DocumentOutcome
from drac_pipeline.pipeline.progress import listening
from drac_pipeline.store import Home, LocalStore

CONTRACT = [
    "document_key",
    "chunk_id",
    "ordinal",
    "text",
    "breadcrumb",
    "headings",
    "element_ids",
    "page_start",
    "page_end",
    "n_chars",
]


def drac(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from drac_pipeline.cli import main; main()", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def exit_code(*arguments: str | Path) -> int:
    with pytest.raises(SystemExit) as stop:
        main([str(a) for a in arguments])
    code = stop.value.code
    assert isinstance(code, int)
    return code


def made_at(home: Path, key: str) -> dict[str, str]:
    manifest = Home(home).store.manifest(key)
    assert manifest is not None
    return {name: record.version for name, record in manifest.stages.items()}


def test_a_corpus_from_first_run_to_export(tmp_path, corpus):
    home = tmp_path / "home"
    first = drac("run", corpus, "--home", home)
    assert first.returncode == 0, first.stderr
    assert "3 done, 0 unchanged, 0 failed" in first.stdout
    assert "notes/site visit.pdf" in first.stdout
    assert "Traceback" not in first.stderr

    second = drac("run", corpus, "--home", home)
    assert second.returncode == 0
    assert "0 done, 3 unchanged, 0 failed" in second.stdout
    assert "nothing to do" in second.stdout

    before = made_at(home, "manual.pdf")
    shutil.rmtree(LocalStore(home / "store").document_dir("manual.pdf") / "chunk_plan")
    assert drac("run", corpus, "--home", home).returncode == 0
    after = made_at(home, "manual.pdf")
    assert [s for s in after if after[s] != before[s]] == ["chunk_plan"]

    planned = drac("plan", "--home", home, "MANUAL")
    assert planned.returncode == 0
    assert "1 done" in planned.stdout
    again = made_at(home, "manual.pdf")
    assert [s for s in again if again[s] != after[s]] == ["chunk_plan", "chunks", "chunk_embeddings"]

    out = tmp_path / "chunks.parquet"
    assert drac("export", "chunks", out, "--home", home).returncode == 0
    table = pq.read_table(out)
    assert set(CONTRACT) <= set(table.column_names)
    rows = table.to_pylist()
    assert {r["document_key"] for r in rows} == {"manual.pdf", "notes/site visit.pdf", "two pages.pdf"}
    leak = next(r for r in rows if "gate B" in r["text"])
    assert leak["breadcrumb"] == "Site visit"
    assert leak["n_chars"] == len(leak["text"])

    lines = tmp_path / "chunks.jsonl"
    assert drac("export", "chunks", lines, "--home", home).returncode == 0
    assert [json.loads(x)["chunk_id"] for x in lines.read_text().splitlines()] == [
        r["chunk_id"] for r in rows
    ]

    folder = tmp_path / "md"
    assert drac("export", "markdown", folder, "--home", home).returncode == 0
    text = (folder / "notes" / "site visit.pdf.md").read_text()
    assert text.startswith("<!-- page 1 -->\n")
    assert "The roof of hall 3 leaks near gate B." in text


def test_one_bad_document_among_good_ones(tmp_path, corpus, make_pdf):
    home = tmp_path / "home"
    (corpus / "broken.pdf").write_bytes((corpus / "manual.pdf").read_bytes()[:300])
    run = drac("run", corpus, "--home", home)
    assert run.returncode == 1
    assert "3 done, 0 unchanged, 1 failed" in run.stdout
    assert "corrupt" in run.stdout
    manifest = Home(home).store.manifest("broken.pdf")
    assert manifest is not None
    assert manifest.failure is not None
    assert (manifest.failure.stage, manifest.failure.kind) == ("normalized_pdf", "corrupt")
    for key in ("manual.pdf", "notes/site visit.pdf", "two pages.pdf"):
        assert list(made_at(home, key)) == [s.name for s in STAGES]

    status = drac("status", "--home", home)
    assert "broken.pdf" in status.stdout
    assert "3 up to date, 1 failed" in status.stdout

    make_pdf(corpus / "broken.pdf", "<h1>Mended</h1><p>All is well.</p>")
    before = made_at(home, "manual.pdf")
    again = drac("run", corpus, "--home", home)
    assert again.returncode == 0, again.stdout
    assert "1 done, 3 unchanged, 0 failed" in again.stdout
    assert made_at(home, "manual.pdf") == before


def test_a_home_inside_the_source_is_no_document(corpus):
    home = corpus / "made" / "home"
    assert drac("run", corpus, "--home", home).returncode == 0
    again = drac("run", corpus, "--home", home)
    assert "0 done, 3 unchanged, 0 failed" in again.stdout
    assert "a home of drac, not documents" in again.stderr


def test_a_damaged_output_is_made_again_and_nothing_prints_a_traceback(tmp_path, corpus, capsys):
    home = tmp_path / "home"
    assert drac("run", corpus, "--home", home).returncode == 0
    store = Home(home).store
    store.path("manual.pdf", "chunks", "chunks.parquet").write_bytes(b"")
    (LocalStore(home / "store").document_dir("two pages.pdf") / "manifest.json").write_text("garbage")
    again = drac("run", corpus, "--home", home)
    assert again.returncode == 0, again.stdout + again.stderr
    assert "2 done, 1 unchanged, 0 failed" in again.stdout
    (tmp_path / "taken").write_text("a file")
    assert exit_code("export", "markdown", tmp_path / "taken", "--home", home) == 2
    said = capsys.readouterr().err
    assert "taken" in said
    assert "Traceback" not in said


def test_chunks_name_the_version_of_the_file_they_come_from(tmp_path, corpus):
    home = tmp_path / "home"
    assert drac("run", corpus, "--home", home).returncode == 0
    with pymupdf.open(corpus / "manual.pdf") as doc:
        doc.set_metadata({"title": "Other bytes, same text"})
        doc.save(corpus / "other.pdf")
    (corpus / "other.pdf").replace(corpus / "manual.pdf")
    assert drac("run", corpus, "--home", home).returncode == 0
    table = pq.read_table(Home(home).store.path("manual.pdf", "chunks", "chunks.parquet"))
    sha = hashlib.sha256((corpus / "manual.pdf").read_bytes()).hexdigest()
    assert set(table.column("document_version").to_pylist()) == {sha}


def test_a_single_file_is_a_source(tmp_path, corpus):
    run = drac("run", corpus / "notes" / "site visit.pdf", "--home", tmp_path / "home")
    assert run.returncode == 0
    assert [m.document_key for m in Home(tmp_path / "home").store.manifests()] == ["site visit.pdf"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "{tmp}/nowhere", "--home", "{tmp}/h"], "no such file or folder"),
        (["run", "{home}", "--home", "{tmp}/h"], "this is a home of drac"),
        (["run", "{tmp}", "--home", "{tmp}"], "are the same folder"),
        (["run"], "Missing argument"),
        (["run", "{tmp}", "--colour"], "No such option"),
        (["status", "--home", "{tmp}/empty"], "there is no home at {tmp}/empty: is the path right?"),
        (["status", "--home", "{tmp}"], "holds no documents yet"),
        (["export", "chunks", "{tmp}/x.csv", "--home", "{home}"], "exported as .parquet or .jsonl"),
        (
            ["plan", "--home", "{home}", "nothing.pdf"],
            "no document of this home is 'nothing.pdf'; `drac status --all`",
        ),
        (["inspect", "--home", "{home}", "https://x"], "no document of this home is 'https://x'"),
        *[
            (["run", url, "--home", "{tmp}/h"], f"source {url}: {words}")
            for url, words in (
                ("https://example.org/a.pdf", "web pages are not fetched: download them into a folder first"),
                ("HTTP://example.org", "web pages are not fetched"),
                ("file:///tmp", "give the path without file://; a source is a folder, a file, or s3://"),
                ("S3://bucket/x", "a place in a bucket begins with s3:// in small letters"),
                ("s3:/bucket/x", "a place in a bucket begins with s3:// in small letters"),
                ("gs://bucket/x", "a source is a folder, a file, or s3://bucket/prefix"),
            )
        ],
        (["corpus", "add", "c", "https://x", "--home", "{tmp}/h"], "web pages are not fetched"),
        (["run", "s3://", "--home", "{tmp}/h"], "'s3://' names no bucket; write s3://bucket/prefix"),
        (["run", "s3://a%/x", "--home", "{tmp}/h"], "'a%' cannot name a bucket"),
    ],
)
def test_wrong_usage_is_exit_2_and_says_why(tmp_path, capsys, arguments, words):
    home = Home(tmp_path / "filled")
    (home.path / "store" / "documents").mkdir(parents=True)
    code = exit_code(*[a.format(tmp=tmp_path, home=home.path) for a in arguments])
    said = capsys.readouterr()
    assert code == 2
    assert words.format(tmp=tmp_path) in " ".join((said.err + said.out).split())
    assert not (tmp_path / "h").exists() and not (tmp_path / "empty").exists()


READING = [
    ["status"],
    ["search", "x"],
    ["inspect", "x"],
    ["plan"],
    ["eval"],
    ["estimate", "{tmp}"],
    ["costs"],
    ["clean"],
    ["backup", "{tmp}/backup"],
    *[
        ["export", what, "{tmp}/x.jsonl"]
        for what in ("markdown", "chunks", "vectors", "langchain", "llamaindex")
    ],
    ["config", "check"],
    ["config", "show"],
]
MAKING = [
    ["run", "{tmp}"],
    ["benchmark", "{tmp}"],
    ["restore", "{tmp}"],
    ["corpus", "add", "c", "{tmp}"],
]


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_reading_from_a_home_that_is_not_there(tmp_path, capsys, command):
    assert exit_code(*[a.format(tmp=tmp_path) for a in command], "--home", tmp_path / "typo") == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"there is no home at {tmp_path}/typo: is the path right? `drac run SOURCE" in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", READING + MAKING, ids=" ".join)
def test_a_file_is_no_home(tmp_path, capsys, command):
    (tmp_path / "file").write_text("")
    assert exit_code(*[a.format(tmp=tmp_path) for a in command], "--home", tmp_path / "file") == 2
    assert f"--home {tmp_path}/file is a file: there is no home there" in " ".join(
        capsys.readouterr().err.split()
    )


def test_only_commands_that_make_a_home_say_so(capsys):
    for commands, made in ((READING, False), (MAKING, True)):
        for command in commands:
            words = command[: 2 if command[0] in ("export", "config", "corpus") else 1]
            assert exit_code(*words, "--help") == 0
            said = " ".join(capsys.readouterr().out.replace("│", " ").split())
            assert ("Made if it is not there." in said) is made, words


def test_settings_of_a_folder_that_is_no_home(tmp_path, capsys):
    assert exit_code("config", "check", "--home", tmp_path) == 0
    assert "nothing was ever run there" in capsys.readouterr().err


def test_a_wrong_setting_names_its_key(tmp_path, corpus, capsys):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "drac.toml").write_text("[render]\ndpi = 9000\n[plan]\nbudget = 3\n")
    assert exit_code("run", corpus, "--home", tmp_path / "home") == 2
    said = capsys.readouterr().err
    assert "render.dpi" in said
    assert "plan.budget" in said


def test_help_teaches(capsys):
    assert exit_code("--help") == 0
    said = capsys.readouterr().out
    for word in ("run", "plan", "status", "export", "Exit codes"):
        assert word in said


@pytest.fixture
def environment(monkeypatch):
    """For commands that run in this process: they say in the environment which home they work on."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    for name in ("DAGSTER_HOME", "DRAC_HOME", "DAGSTER_EVENT_BATCH_SIZE"):
        monkeypatch.setenv(name, "")  # restored when the test ends
        monkeypatch.delenv(name)


@pytest.mark.usefixtures("environment")
def test_an_interrupt_is_told_truthfully(tmp_path, corpus, capsys):
    (corpus / "broken.pdf").write_bytes((corpus / "manual.pdf").read_bytes()[:300])
    home = tmp_path / "home"
    ended: list[DocumentOutcome] = []

    with contextlib.ExitStack() as listeners:

        def interrupt(_: DocumentOutcome) -> None:
            os.kill(os.getpid(), signal.SIGINT)

        def first(outcome: DocumentOutcome) -> None:
            ended.append(outcome)
            if len(ended) == 1:  # at the second one, once the command has heard of it
                listeners.enter_context(listening(interrupt))

        listeners.enter_context(listening(first))
        assert exit_code("run", corpus, "--home", home) == 130
    said = capsys.readouterr().out
    failed = sum(o.failure is not None for o in ended)
    assert f"{2 - failed} done, 0 unchanged, {failed} failed, 2 not reached" in said
    assert "interrupted" in said and "nothing to do" not in said
    assert exit_code("run", corpus, "--home", home) == 1
    left = 1 + failed  # of the good ones
    assert f"{left} done, {3 - left} unchanged, 1 failed in" in capsys.readouterr().out

    with listening(lambda _: os.kill(os.getpid(), signal.SIGINT)):
        assert exit_code("plan", "--home", home) == 130
    assert "0 done, 0 unchanged, 0 failed, 3 not reached" in capsys.readouterr().out


def test_a_renamed_document_is_told_in_the_same_words(tmp_path, corpus, capsys):
    home = tmp_path / "home"
    assert drac("run", corpus, "--home", home).returncode == 0
    (corpus / "manual.pdf").rename(corpus / "pump.pdf")
    assert exit_code("status", "--home", home) == 0
    status = capsys.readouterr().out
    assert exit_code("run", corpus, "--home", home, "--dry-run") == 0
    dry = capsys.readouterr().out
    real = drac("run", corpus, "--home", home)
    for told in (status, dry, real.stderr):
        (line,) = (line for line in told.splitlines() if "manual.pdf" in line)
        assert "pump.pdf" in line and "renamed from manual.pdf; its work is kept" in line
    assert "3 documents: 2 up to date, 1 renamed" in status
    assert "1 document to run (1 renamed), 3 stages, 2 unchanged, no model call" in dry


def test_a_dry_run_tells_apart_what_is_to_do(tmp_path, corpus, capsys, make_pdf):
    (corpus / "broken.pdf").write_bytes((corpus / "manual.pdf").read_bytes()[:300])
    home = tmp_path / "home"
    assert drac("run", corpus, "--home", home).returncode == 1
    make_pdf(corpus / "new.pdf", "<h1>New</h1>")
    (home / "drac.toml").write_text('[[plan.override]]\nmatch = "manual.pdf"\nmax_blocks = 4\n')
    assert exit_code("run", corpus, "--home", home, "--dry-run") == 0
    said = capsys.readouterr().out
    rows = {c[1].strip(): c[2].strip() for line in said.splitlines() if len(c := line.split("│")) > 3}
    assert rows == {"broken.pdf": "failed", "manual.pdf": "stale", "new.pdf": "new"}
    assert "settings changed" in said and "normalized_pdf: corrupt" in said
    assert "3 documents to run (1 failed, 1 stale, 1 new), 17 stages, 2 unchanged" in said


def test_retired_documents_are_counted_apart_everywhere(tmp_path, corpus, capsys):
    home = tmp_path / "home"
    assert drac("run", corpus, "--home", home).returncode == 0
    (corpus / "manual.pdf").unlink()
    (home / "drac.toml").write_text('[[plan.override]]\nmatch = "other/"\nmax_blocks = 4\n')
    assert drac("run", corpus, "--home", home).returncode == 0
    counted = "2 documents (and 1 retired)"
    assert exit_code("status", "--home", home) == 0
    assert f"{counted}: 2 up to date" in capsys.readouterr().out
    assert exit_code("config", "check", "--home", home) == 0
    assert f"matches none of the {counted}" in capsys.readouterr().err
    assert exit_code("backup", tmp_path / "kept", "--home", home) == 0
    assert exit_code("backup", tmp_path / "kept", "--home", home, "--list") == 0
    assert capsys.readouterr().out.count(f"{counted}, ") == 2
    assert exit_code("restore", tmp_path / "kept", "--home", tmp_path / "again") == 0
    assert f"{counted} as of" in capsys.readouterr().out
    assert counted in (home / "overview.html").read_text()


@pytest.mark.parametrize(
    "command", ["run", "backup", "restore", "clean", "inspect", "config check", "config show"]
)
def test_paragraphs_of_help_fill_the_lines(command, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "90")
    assert exit_code(*command.split(), "--help") == 0
    text = capsys.readouterr().out.partition("╭")[0].partition("Examples:")[0]
    for paragraph in re.split(r"\n\s*\n", text):
        lines = [line.strip() for line in paragraph.splitlines() if line.strip()]
        for line, following in itertools.pairwise(lines):
            assert len(line) + 1 + len(following.split()[0]) > 88, paragraph
