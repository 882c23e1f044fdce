"""`drac estimate`, `drac costs`, `drac demo-model` and a run with a model, as a user calls them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pymupdf
import pytest
from typer.testing import CliRunner

from drac_pipeline.cli.app import app
from drac_pipeline.cli.estimate import measure
from drac_pipeline.config import DracConfig, ModelConfig
from drac_pipeline.llm.doubles import Brain, Double, FaultPlan, page_table
from drac_pipeline.pipeline import find_work, process_document
from drac_pipeline.store import Home


def drac(*words: str | Path) -> str:
    done = CliRunner().invoke(app, [str(w) for w in words])
    assert done.exit_code == 0, done.output
    return done.output


def calls(home: Path) -> list[dict]:
    return pq.read_table(home / "model" / "calls.parquet").to_pylist()


def test_an_estimate_is_near_what_is_then_paid(
    tmp_path: Path, corpus: Path, settings: Callable[..., ModelConfig]
):
    home = Home(tmp_path / "home")
    home.path.mkdir()
    said = drac("estimate", corpus, "--home", home.path)
    guess = float(re.findall(r"estimate: \d+ calls, \$([\d.]+), genai-prices", said)[0])
    with Double(Brain(page_table(sorted(corpus.rglob("*.pdf"))))) as server:
        values = {"convert": {"mode": "model"}, "plan": {"planner": "model"}, "model": settings(server)}
        config = DracConfig.model_validate(values)
        for w in find_work(home, corpus, config).work:
            process_document(home.store, w.key, config)
    told = drac("costs", "--home", home.path, "--by", "stage", "--by", "document")
    paid = float(re.findall(r"total \$([\d.]+)", told)[0])
    assert "manual.pdf" in told and "chunk_plan" in told
    assert paid <= guess <= 4 * paid
    rows = pq.read_table(home.path / "model" / "calls.parquet").to_pylist()
    assert sum(r["cost_usd"] for r in rows) == pytest.approx(paid, abs=1e-4)


def test_embedding_by_a_service_is_estimated_too(
    tmp_path: Path, make_pdf: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "double")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "double")
    corpus = tmp_path / "corpus"
    pages = [
        f"<h1>Part {n}</h1>" + f"<p>Pump {n} is oiled each month by the operator.</p>" * 20 for n in range(4)
    ]
    make_pdf(corpus / "manual.pdf", *pages)
    home = Home(tmp_path / "home")
    home.path.mkdir()
    with Double(Brain({})) as server:
        (home.path / "drac.toml").write_text(
            f'[embed]\nprovider = "bedrock"\nregion = "eu-west-1"\nendpoint_url = "{server.url}"\n'
        )
        before = drac("run", corpus, "--home", home.path, "--dry-run")
        said = drac("estimate", corpus, "--home", home.path)
        for w in find_work(home, corpus, home.config).work:
            process_document(home.store, w.key, home.config)
    assert "no model call" not in before
    guessed = [int(n) for n in re.findall(r"for (\d+) model calls", before)]
    paid = calls(home.path)
    assert len(paid) <= guessed[0] <= 4 * len(paid)
    tokens = sum(r["input_tokens"] for r in paid)
    (row,) = [line for line in said.splitlines() if "1 document" in line]
    embedded = int(re.findall(r"[\d.,]+", row)[-2].replace(",", ""))
    assert tokens <= embedded <= 4 * tokens


def test_office_files_and_web_pages_are_measured_by_their_text(tmp_path: Path):
    words = "Text of some length. " * 100
    (tmp_path / "page.html").write_text(
        f"<style>{'p {{}}' * 900}</style><p>{words}</p><script>{'x' * 9000}</script>"
    )
    for name, part in (("a.docx", "word/document.xml"), ("a.pptx", "ppt/slides/slide1.xml")):
        with zipfile.ZipFile(tmp_path / name, "w") as package:
            package.writestr(part, f"<w:p><w:r><w:t>{words}</w:t></w:r></w:p>")
            package.writestr("media/image1.png", os.urandom(200_000))
    (tmp_path / "broken.docx").write_bytes(b"x" * 1000)
    for name in ("page.html", "a.docx", "a.pptx"):
        path = tmp_path / name
        pages, by_model, chars = measure(path, path.stat().st_size, "model")
        assert (pages, by_model) == (0, 0)
        assert len(words) <= chars < 1.1 * len(words)
        assert measure(path, path.stat().st_size, "model", lambda _: True)[:2] == (1, 1)
    assert measure(tmp_path / "broken.docx", 1000, "model") == (0, 0, 250)


def test_costs_of_a_home_without_calls(tmp_path: Path, corpus: Path):
    home = Home(tmp_path / "home")
    find_work(home, corpus, DracConfig())
    assert "no model was ever called" in drac("costs", "--home", home.path)


def test_other_prices_are_another_estimate(tmp_path: Path, corpus: Path):
    said = drac(*("estimate", corpus, "--home", tmp_path, "--model", "gpt-4.1", "--price-provider", "openai"))
    assert "gpt-4.1, mode model" in said
    assert "4 calls" not in said or "$0.0000" not in said


def test_encrypted_documents_are_estimated_with_the_passwords_of_the_settings(tmp_path: Path, corpus: Path):
    with pymupdf.open(corpus / "two pages.pdf") as doc:
        doc.save(corpus / "secret.pdf", encryption=5, user_pw="geheim")
    (tmp_path / "drac.toml").write_text("")
    said = drac("estimate", corpus, "--home", tmp_path)
    assert "3 documents" in said and "add it to normalize.passwords" in said
    (tmp_path / "drac.toml").write_text(
        '[convert]\nmode = "model"\n[normalize]\npasswords = ["other", "geheim"]\n[model]\nregion = "x-1"\n'
    )
    said = drac("estimate", corpus, "--home", tmp_path)
    assert "4 documents" in said and "left out" not in said
    assert re.search(r"secret\.pdf +│ +2 │ +2 │", said)
    dry = drac("run", corpus, "--home", tmp_path, "--dry-run")
    costs = re.findall(r"(?:secret|two pages)\.pdf .*│ +([\d.]+) │", dry)
    assert len(costs) == 2 and costs[0] == costs[1] != "0.0000"


def test_the_stand_in_says_how_to_use_it(corpus: Path):
    said = drac("demo-model", corpus, "--port", "0", "--seconds", "0.1")
    assert "knows 4 pages" in said
    assert 'endpoint_url = "http://127.0.0.1:' in said


def test_a_killed_run_pays_for_no_page_twice(
    tmp_path: Path, make_pdf: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "double")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "double")
    corpus = tmp_path / "corpus"
    for n in range(4):
        make_pdf(corpus / f"{n}.pdf", *(f"<h1>Doc {n}{k}</h1><p>Text {n}{k} of it.</p>" for k in range(3)))
    with Double(Brain(page_table(sorted(corpus.rglob("*.pdf")))), faults=FaultPlan(), latency=0.15) as server:
        config = f'[convert]\nmode="model"\n[model]\nregion="x-1"\nendpoint_url="{server.url}"\n'
        config += "pages_per_call=1\ncalls_in_parallel=2\ndocuments_in_parallel=2\n"
        home = tmp_path / "home"
        home.mkdir()
        (home / "drac.toml").write_text(config)
        code = (
            "import sys; from pathlib import Path\n"
            "from drac_pipeline.store import Home; from drac_pipeline.pipeline import find_work\n"
            "from drac_pipeline.pipeline.pool import map_documents\n"
            "h = Home(Path(sys.argv[1])); w = find_work(h, Path(sys.argv[2]), h.config).work\n"
            "tasks = [(x.key, None) for x in w]\n"
            "print([o.key for o in map_documents(h.store, tasks, h.config, workers=1)])\n"
        )
        command = [sys.executable, "-c", code, str(home), str(corpus)]
        first = subprocess.Popen(command, start_new_session=True, env=os.environ)
        while server.pages < 5 and first.poll() is None:
            time.sleep(0.01)
        os.killpg(first.pid, 9)
        first.wait()
        subprocess.run(command, check=True)
        kept = len(list((home / "model" / "pages").rglob("*.json")))
        rows = drac("costs", "--home", home, "--by", "outcome")
        # what was in flight when it was killed is asked for again, and nothing else
        lost = sum(r["pages"] for r in calls(home) if r["outcome"] == "interrupted")
        assert 12 <= server.pages <= 12 + lost
    assert kept == 12
    assert "ok" in rows
