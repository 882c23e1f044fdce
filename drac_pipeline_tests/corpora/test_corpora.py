"""Corpora are added, told apart, kept apart and taken away; search finds what is its own corpus's alone."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path

import pytest

import drac_pipeline
from drac_pipeline.cli import main
from drac_pipeline.cli.on_home import home_of
from drac_pipeline.corpora import add_corpus, open_corpus, remove_corpus
from drac_pipeline.errors import ConfigError
from drac_pipeline.index.search import search
from drac_pipeline.index.sync import index_state, sync_index
from drac_pipeline.llm.ledger import Purpose
from drac_pipeline.llm.open import open_service
from drac_pipeline.llm.protocol import BudgetExceeded
from drac_pipeline.pipeline import find_work, process_document
from drac_pipeline.store import Home
from drac_pipeline.store.corpora import Deployment
from drac_pipeline_tests.corpora.conftest import KEYS, WORDS


def drac(*arguments: object) -> int:
    with pytest.raises(SystemExit) as stop:
        main([str(a) for a in arguments])
    return int(stop.value.code or 0)


def settings(deployment: Deployment, name: str, toml: str) -> None:
    (deployment.home_path(name) / "drac.toml").write_text(toml)


def test_a_corpus_has_a_home_of_its_own_and_shares_the_instance(deployment: Deployment) -> None:
    assert deployment.names() == list(WORDS)
    home = open_corpus(deployment, "payroll")
    assert (home.corpus, home.instance_path) == ("payroll", deployment.path)
    assert home.path == deployment.path / "corpora" / "payroll"
    assert home.config.refresh.trigger == "sensor"
    assert [Path(str(s)).name for s in home.sources()] == ["payroll"]
    urls = {open_corpus(deployment, n).config.inspect.url for n in deployment.names()}
    assert urls == {"http://127.0.0.1:3070", "http://127.0.0.1:3071"}
    alone = Home(deployment.path.parent / "alone")
    assert (alone.corpus, alone.instance_path) == ("", alone.path)


@pytest.mark.parametrize("name", ["", "Contracts", "a-b", "a__b", "_a", "a_", "1a", "a/b", "../a", "x" * 41])
def test_a_name_that_cannot_be_changes_nothing(deployment: Deployment, tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="cannot name a corpus"):
        add_corpus(deployment, name, tmp_path / "sources" / "payroll")
    assert deployment.names() == list(WORDS)


def test_what_cannot_be_added_leaves_nothing_behind(deployment: Deployment, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text("[plan]\nmax_block = 3\n")
    source = tmp_path / "sources" / "payroll"
    with pytest.raises(ConfigError, match="has a corpus 'payroll' already"):
        add_corpus(deployment, "payroll", source)
    with pytest.raises(ConfigError, match=r"did you mean plan\.max_blocks"):
        add_corpus(deployment, "legal", source, wrong)
    with pytest.raises(ConfigError, match="no such file or folder"):
        add_corpus(deployment, "legal", tmp_path / "nowhere")
    assert deployment.names() == list(WORDS) and not (deployment.path / "corpora" / "legal").exists()
    new = Deployment(tmp_path / "new")
    with pytest.raises(ConfigError, match="no such file or folder"):
        add_corpus(new, "legal", tmp_path / "nowhere")
    assert not new.file.exists()


def test_a_corpus_taken_away_can_be_taken_up_again(deployment: Deployment, tmp_path: Path) -> None:
    home = open_corpus(deployment, "payroll")
    (home.path / "kept").touch()
    remove_corpus(deployment, "payroll")
    assert deployment.names() == ["contracts"]
    with pytest.raises(ConfigError, match="has no corpus 'payroll'; there are contracts"):
        open_corpus(deployment, "payroll")
    add_corpus(deployment, "payroll", tmp_path / "sources" / "payroll")
    assert (open_corpus(deployment, "payroll").path / "kept").exists()
    remove_corpus(deployment, "payroll", delete=True)
    assert not home.path.exists() and (tmp_path / "sources" / "payroll" / KEYS[0]).exists()


@pytest.mark.parametrize(
    ("toml", "what"),
    [
        ('[index]\nuri = "{other}/index"\n', "the index of corpus 'payroll'"),
        ('[index]\nuri = "{other}"\n', "the index of corpus 'payroll'"),
        ('[index]\nuri = "{parent}"\n', "or holds it"),
        ('[index]\nuri = "{link}/index"\n', "the index of corpus 'payroll'"),
    ],
)
def test_two_corpora_in_one_place_are_refused(deployment: Deployment, toml: str, what: str) -> None:
    other = deployment.home_path("contracts")
    link = deployment.path / "link"
    link.symlink_to(other)
    settings(deployment, "payroll", toml.format(other=other, parent=deployment.path, link=link))
    home = Home(deployment.home_path("payroll"))
    for refused in (
        lambda: open_corpus(deployment, "payroll"),
        lambda: home.store,
        lambda: index_state(home),
        lambda: drac_pipeline.search(home.path, "notice"),
    ):
        with pytest.raises(ConfigError, match=what):
            refused()


def test_one_bucket_for_two_corpora_needs_two_prefixes(deployment: Deployment) -> None:
    for name in WORDS:
        settings(deployment, name, '[index]\nuri = "s3://bucket/index"\n')
    with pytest.raises(ConfigError, match="give each a place of its own"):
        open_corpus(deployment, "payroll")
    for name in WORDS:
        settings(deployment, name, f'[index]\nuri = "s3://bucket/index-{name}"\n')
    assert open_corpus(deployment, "payroll").corpus == "payroll"


def test_a_deletion_that_is_not_confirmed_says_that_nothing_was_deleted(
    deployment: Deployment, monkeypatch, capsys
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    with pytest.raises(SystemExit) as end:
        main(["corpus", "remove", "contracts", "--home", str(deployment.path), "--delete"])
    assert end.value.code == 1
    assert "nothing was deleted: contracts is in the deployment as before" in capsys.readouterr().err
    assert deployment.home_path("contracts").exists() and "contracts" in deployment.names()


def test_wrong_settings_of_one_corpus_leave_the_others_alone(deployment: Deployment, capsys) -> None:
    settings(deployment, "contracts", "[plan]\nmax_blocks = 0\n")
    assert open_corpus(deployment, "payroll").corpus == "payroll"
    assert drac("corpus", "list", "--home", deployment.path) == 2
    shown = capsys.readouterr().out
    assert "plan.max_blocks" in shown and "payroll" in shown


def test_a_command_is_told_which_corpus_it_works_on(deployment: Deployment, monkeypatch, capsys) -> None:
    homes = {n: deployment.home_path(n) for n in WORDS}
    assert home_of(deployment.path, "payroll") == homes["payroll"]
    assert home_of(homes["payroll"], "") == home_of(homes["payroll"], "payroll") == homes["payroll"]
    assert drac("config", "show", "--home", deployment.path, "--corpus", "payroll") == 0
    assert "http://127.0.0.1:3071" in capsys.readouterr().out
    monkeypatch.setenv("DRAC_HOME", str(deployment.path))
    monkeypatch.setenv("DRAC_CORPUS", "contracts")
    assert drac("config", "show") == 0
    assert "http://127.0.0.1:3070" in capsys.readouterr().out
    monkeypatch.delenv("DRAC_CORPUS")
    for arguments, told in (
        ([], "is a deployment of 2 corpora; name one with --corpus: contracts, payroll"),
        (["--corpus", "legal"], "has no corpus 'legal'"),
        (["--home", homes["payroll"], "--corpus", "contracts"], "is the home of corpus payroll"),
        (["--home", deployment.path.parent, "--corpus", "contracts"], "is no deployment"),
    ):
        assert drac("config", "show", *arguments) == 2
        assert told in " ".join(capsys.readouterr().err.split())


def test_what_one_corpus_spends_is_not_of_another_s_budget(deployment: Deployment) -> None:
    calls = Purpose("terms.pdf", "markdown", "pages 1-2", "convert-v1")
    ledgers = {}
    for name in WORDS:
        settings(deployment, name, '[model]\nregion = "eu-west-1"\nbudget_per_day = 1.0\n')
        home = open_corpus(deployment, name)
        ledgers[name] = open_service(home.config.model, home.store.state, "the same run").ledger
        ledgers[name].begin(calls, "bedrock", "m", "c1", 1, 0.6)
    for ledger in ledgers.values():
        with pytest.raises(BudgetExceeded, match=r"\$0\.6000 of the \$1\.0000 per day"):
            ledger.begin(calls, "bedrock", "m", "c2", 1, 0.6)


@pytest.fixture
def indexed(deployment: Deployment) -> Deployment:
    for name in WORDS:
        home = open_corpus(deployment, name)
        for source in home.sources():
            for work in find_work(home, source, home.config).work:
                assert process_document(home.store, work.key, home.config).failure is None
        assert sync_index(home).state.in_step
    return deployment


def test_no_search_finds_what_is_another_corpus_s(indexed: Deployment, capsys) -> None:
    """The same keys in both, and filters that would be more than filters."""
    other = indexed.home_path("payroll")
    tampered = [
        "**",
        "../payroll/**",
        f"{other}/**",
        "') OR 1=1 --",
        "x' OR document_key LIKE '%' OR 'a'='a",
        "/**/../**",
    ]
    home = open_corpus(indexed, "contracts")
    for question in ("notice period", WORDS["payroll"], "') OR 1=1 --"):
        for mode in ("hybrid", "vector", "text"):
            hits = search(home, question, k=100, mode=mode)
            for glob in tampered:
                hits += search(home, question, k=100, mode=mode, source=glob)
            hits += search(home, question, k=100, mode=mode, under="' OR 1=1 --")
            assert not [h for h in hits if WORDS["payroll"] in h.text or "payroll" in h.link]
    assert {h.document_key for h in search(home, "notice period", k=100)} == set(KEYS)
    capsys.readouterr()
    arguments = ["--home", indexed.path, "--corpus", "payroll", "--json"]
    assert drac("search", WORDS["contracts"], *arguments) == 0
    found = json.loads(capsys.readouterr().out)["hits"]
    assert found and all(WORDS["payroll"] in h["text"] for h in found)
    # rows of the other corpus, copied into the index by hand: the next look puts its own in their place
    shutil.rmtree(home.path / "index")
    shutil.copytree(other / "index", home.path / "index")
    state = index_state(home)
    assert set(state.behind) == set(KEYS)
    sync_index(home)
    hits = search(home, "notice period", k=100)
    assert hits and all(WORDS["contracts"] in h.text for h in hits)
