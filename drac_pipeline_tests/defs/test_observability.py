"""What an operator is told: the overview after a run, the alert after a failed one."""

from __future__ import annotations

import logging
import os
import threading

import pytest
from dagster import AssetCheckKey, AssetKey, DagsterEventType, build_run_status_sensor_context, materialize
from dagster._core.definitions.instigation_logger import InstigationLogger, get_instigation_log_records
from dagster._core.log_manager import LOG_RECORD_METADATA_ATTR

from drac_pipeline.config import AlertsConfig, DracConfig
from drac_pipeline.defs.alerts import make_failure_alert
from drac_pipeline.defs.metadata import stage_metadata
from drac_pipeline.defs.overview import make_overview_asset, make_overview_schedule
from drac_pipeline.defs.refresh import refresh_tick
from drac_pipeline.defs.resources import HomeResource
from drac_pipeline.pipeline import DocumentOutcome, StageOutcome
from drac_pipeline.pipeline.progress import listening
from drac_pipeline.store import Home, StageRecord
from drac_pipeline_tests.test_alerts import Webhook


@pytest.fixture
def webhook(bench):
    with Webhook() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        (bench.home.path / "drac.toml").write_text(f'[alerts]\nwebhook = "{server.url}"\n')
        yield server
        server.shutdown()


def overview(bench) -> dict[str, object]:
    event = bench.instance.get_latest_materialization_event(AssetKey("corpus_overview"))
    assert event is not None and event.asset_materialization is not None
    return {n: v.value for n, v in event.asset_materialization.metadata.items()}


def test_each_run_ends_with_an_overview(bench) -> None:
    bench.home.remember_source(bench.corpus)
    assert bench.launch().success
    first = overview(bench)
    assert (first["documents"], first["failed"], first["up_to_date"]) == (3, 0, 3)
    assert "3" in (bench.home.path / "overview.html").read_text()
    (bench.corpus / "bad.pdf").write_bytes(b"%PDF-1.7 cut")
    assert not bench.launch().success
    second = overview(bench)
    assert (second["documents"], second["failed"]) == (4, 1)
    assert "bad.pdf: failed, normalized_pdf" in str(second["needs attention"])


def test_the_graph_says_how_many_documents_are_stale_and_why(bench) -> None:
    def verdict() -> tuple[bool, str, str]:
        key = AssetCheckKey(AssetKey("corpus_overview"), "all_up_to_date")
        (record,) = bench.instance.event_log_storage.get_asset_check_execution_history(key, limit=1)
        found = record.event.dagster_event.asset_check_evaluation_data
        return found.passed, found.severity.value, found.metadata["why"].value

    bench.home.remember_source(bench.corpus)
    bench.launch()
    assert verdict() == (True, "WARN", "all are")
    (bench.home.path / "drac.toml").write_text("[plan]\nmax_blocks = 7\n")
    config = Home(bench.home.path).config
    materialize([make_overview_asset(config)], instance=bench.instance, resources={"home": HomeResource()})
    assert verdict() == (False, "WARN", "- 3 stale, chunk_plan: settings changed")
    (bench.corpus / "manual.pdf").write_bytes(b"%PDF-1.7 cut")
    bench.launch()
    assert verdict() == (False, "ERROR", "- 1 failed at normalized_pdf")


def test_a_count_and_the_list_it_counts_are_both_shown(bench) -> None:
    record = StageRecord(
        version="1",
        data_version="1",
        code_version="1",
        inputs={},
        files=[],
        made_at="",
        seconds=1.0,
        counts={"failed_pages": 2},
        facts={"failed_pages": [3, 7]},
    )
    found = stage_metadata(bench.home, "a.pdf", StageOutcome("elements", "made", record))
    assert (found["failed_pages"].value, found["which failed_pages"].value) == (2, "3, 7")


def test_the_overview_is_an_asset_of_its_own(bench) -> None:
    bench.home.remember_source(bench.corpus)
    bench.launch()
    config = DracConfig()
    made = materialize(
        [make_overview_asset(config)], instance=bench.instance, resources={"home": HomeResource()}
    )
    assert made.success and overview(bench)["chunks"] == sum(
        m.stages["chunks"].counts["chunks"] for m in bench.home.store.manifests()
    )
    assert make_overview_schedule(config).default_status.value == "STOPPED"


def test_a_failed_run_tells_the_webhook_which_documents_and_why(bench, webhook: Webhook) -> None:
    bench.home.remember_source(bench.corpus)
    (bench.corpus / "bad.pdf").write_bytes(b"%PDF-1.7 cut")
    result = bench.launch()
    run = bench.instance.get_run_by_id(result.run_id)
    (record,) = bench.instance.get_records_for_run(run.run_id, of_type=DagsterEventType.RUN_FAILURE).records
    context = build_run_status_sensor_context(
        sensor_name="failure_alert",
        dagster_event=record.event_log_entry.dagster_event,
        dagster_instance=bench.instance,
        dagster_run=run,
        resources={"home": HomeResource(path=str(bench.home.path))},
    ).for_run_failure()
    make_failure_alert(DracConfig())(context)
    (message,) = webhook.got
    assert message["title"] == "ingest failed: 1 document" and message["run_id"] == run.run_id
    assert message["lines"][0].startswith("bad.pdf, normalized_pdf: corrupt")


def test_an_emptied_source_is_told_of_once(bench, webhook: Webhook) -> None:
    bench.home.remember_source(bench.corpus)
    bench.launch()
    for file in bench.corpus.rglob("*.pdf"):
        file.unlink()
    first = refresh_tick(bench.instance, Home(bench.home.path), "sensor")
    assert "none was retired" in webhook.got[0]["text"]
    refresh_tick(bench.instance, Home(bench.home.path), "sensor", first.cursor)
    assert len(webhook.got) == 1


def test_the_log_of_a_tick_is_kept_and_no_file_of_one_that_says_nothing(bench) -> None:
    def tick(name: str, *lines: str) -> list[str]:
        key = ["repository", "refresh_sensor", name]
        with InstigationLogger(key, bench.instance, "repository", "refresh_sensor") as logger:
            for line in lines:
                logger.info(line)
        return [
            r[LOG_RECORD_METADATA_ATTR]["orig_message"]
            for r in get_instigation_log_records(bench.instance, key)
        ]

    assert tick("1", "a.pdf: new in the source", "b.pdf: retired") == [
        "a.pdf: new in the source",
        "b.pdf: retired",
    ]
    assert tick("2") == []
    folder = bench.home.path / "storage" / "repository" / "refresh_sensor"
    (first,) = folder.iterdir()
    os.utime(first, (0, 0))
    tick("3", "c.pdf: retired")
    assert [f.name for f in folder.iterdir()] == ["3.err"]


def test_the_alert_is_on_where_a_webhook_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DRAC_ALERT_WEBHOOK", raising=False)
    assert make_failure_alert(DracConfig()).default_status.value == "STOPPED"
    named = DracConfig(alerts=AlertsConfig(webhook="http://127.0.0.1:9/x"))
    assert make_failure_alert(named).default_status.value == "RUNNING"


def test_what_the_library_warns_of_is_in_the_log_of_the_run_with_its_document(bench) -> None:
    bench.register()

    def warn(outcome: DocumentOutcome) -> None:
        where = {"document": outcome.key, "stage": "chunks"}
        logging.getLogger("drac_pipeline.index").warning("odd", extra=where)
        logging.getLogger("drac_pipeline.index").warning("said elsewhere", extra={"reported": True})

    with listening(warn):
        result = bench.launch()
    said = [e.user_message for e in bench.instance.all_logs(result.run_id) if e.level == logging.WARNING]
    keys = sorted(m.document_key for m in bench.home.store.manifests())
    assert sorted(said) == [f"odd [{key}, chunks]" for key in keys]
