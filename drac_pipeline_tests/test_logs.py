"""Log lines: of which run, document and stage, as text and as JSON, from every process."""

from __future__ import annotations

import io
import json
import logging
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from dagster import DagsterInstance

from drac_pipeline.cli.console import start_logs
from drac_pipeline.config import LogsConfig, load_config
from drac_pipeline.errors import ConfigError
from drac_pipeline.logs import (
    FIELDS,
    Outlet,
    doing,
    gathered,
    log_to_stderr,
    now_doing,
    outlet_here,
    send_to,
)

log = logging.getLogger("drac_pipeline.some.module")


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers, root.level = handlers, level
    logging.captureWarnings(False)


def written(config: LogsConfig) -> io.StringIO:
    stream = io.StringIO()
    log_to_stderr(config, stream)
    return stream


def test_a_line_says_of_what_it_is() -> None:
    stream = written(LogsConfig(format="json"))
    with doing(run="r1", document="a.pdf"):
        now_doing(stage="markdown")
        log.info("page %d read", 3)
        try:
            raise ValueError("broken")
        except ValueError:
            log.exception("odd")
    log.warning("free")
    log.debug("not at this level")
    first, second, third = map(json.loads, stream.getvalue().splitlines())
    assert [first[n] for n in FIELDS] == ["r1", "a.pdf", "markdown"]
    assert (first["level"], first["message"], first["process"]) == ("info", "page 3 read", os.getpid())
    assert first["time"].endswith("+00:00")
    assert "ValueError: broken" in second["error"]
    assert [third[n] for n in FIELDS] == ["", "", ""]


def test_other_libraries_have_lines_only_for_what_is_wrong() -> None:
    other = logging.getLogger("alembic.runtime.migration")
    stream = written(LogsConfig(format="json"))
    other.info("Context impl SQLiteImpl.")
    other.warning("odd")
    log.info("ours")
    assert [json.loads(line)["message"] for line in stream.getvalue().splitlines()] == ["odd", "ours"]
    stream = written(LogsConfig(level="debug"))
    other.debug("asked for")
    assert "asked for" in stream.getvalue()


def test_verbose_is_of_this_library(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setattr("drac_pipeline.cli.console._State.verbose", True)
    for level, told in (("", ["ours"]), ("debug", ["ours", "theirs"])):
        monkeypatch.setenv("DRAC_LOG_LEVEL", level)
        start_logs(format="json")
        log.debug("ours")
        logging.getLogger("asyncio").debug("theirs")
        assert [json.loads(x)["message"] for x in capsys.readouterr().err.splitlines()] == told


def test_text_says_document_and_stage_too() -> None:
    stream = written(LogsConfig(level="warning"))
    with doing(document="a.pdf", stage="chunks"):
        log.warning("odd")
    log.warning("free")
    assert stream.getvalue().splitlines() == [
        "WARNING drac_pipeline.some.module [a.pdf, chunks]: odd",
        "WARNING drac_pipeline.some.module: free",
    ]


def test_what_a_command_tells_anyway_is_no_line_of_text_unless_asked_for() -> None:
    stream = written(LogsConfig())
    log.error("in the table", extra={"reported": True})
    log.error("nowhere else")
    assert stream.getvalue() == "ERROR drac_pipeline.some.module: nowhere else\n"
    stream = written(LogsConfig(level="error"))
    log.error("in the table", extra={"reported": True})
    assert "in the table" in stream.getvalue()


def work(outlet: Outlet) -> None:
    send_to(outlet)
    with doing(document="b.pdf", stage="markdown"):
        log.info("x" * 100_000)
        helper = multiprocessing.get_context("spawn").Process(target=help_out, args=(outlet_here(),))
        helper.start()
        helper.join()
        os.kill(os.getpid(), 9)


def help_out(outlet: Outlet) -> None:
    send_to(outlet)
    log.warning("from a helper")


def test_lines_of_a_process_that_is_killed_and_of_its_helper_come_through(tmp_path: Path) -> None:
    stream = written(LogsConfig(format="json"))
    with doing(run="r7"), gathered(tmp_path) as outlet:
        process = multiprocessing.get_context("spawn").Process(target=work, args=(outlet,))
        process.start()
        process.join()
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(x["run"], x["document"], x["stage"]) for x in lines] == [("r7", "b.pdf", "markdown")] * 2
    assert lines[0]["message"].startswith("xxx") and lines[1]["message"] == "from a helper"
    assert len({lines[0]["process"], lines[1]["process"], os.getpid()}) == 3


def test_the_environment_comes_before_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "drac.toml").write_text('[logs]\nformat = "json"\nlevel = "error"\n')
    config = load_config(tmp_path).logs
    assert config.in_environment() == config and config.level_number() == logging.ERROR
    monkeypatch.setenv("DRAC_LOG_LEVEL", "DEBUG")
    assert config.in_environment().level_number() == logging.DEBUG
    assert config.in_environment("text").format == "text"
    monkeypatch.setenv("DRAC_LOG_FORMAT", "xml")
    with pytest.raises(ConfigError, match='log format: give one of "text", "json", not "xml"'):
        config.in_environment()


def test_every_line_of_a_run_is_json_and_says_of_what_it_is(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (corpus / "bad.pdf").write_bytes(b"%PDF-1.7 cut off")
    home = tmp_path / "home"
    code = "from drac_pipeline.cli import main; main()"
    command = [sys.executable, "-c", code, "run", str(corpus), "--home", str(home), "--log-format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    run = done.stdout.split("run ")[-1].split()[0]
    of_stages = [x for x in lines if x["stage"]]
    assert {x["run"] for x in of_stages} == {run}
    assert len([x for x in of_stages if x["document"] == "two pages.pdf"]) == 7
    main = {x["process"] for x in lines if not x["stage"]}
    assert main and not main & {x["process"] for x in of_stages}  # theirs are workers
    (failure,) = [x for x in lines if x["level"] == "error"]
    assert (failure["document"], failure["stage"]) == ("bad.pdf", "normalized_pdf")
    assert failure["message"].startswith("corrupt:")
    monkeypatch.setenv("DAGSTER_HOME", str(home))
    with DagsterInstance.get() as instance:
        said = [e.user_message for e in instance.all_logs(run) if e.level == logging.ERROR]
    assert any("bad.pdf, normalized_pdf: corrupt:" in line for line in said)
