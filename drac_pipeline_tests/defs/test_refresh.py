"""The sensor and the schedule: what a tick asks for, and that its run does exactly that."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from dagster import AssetKey, DagsterEventType, DagsterRunStatus, EventRecordsFilter, build_sensor_context

from drac_pipeline.config import DracConfig, RefreshConfig
from drac_pipeline.defs.jobs import INGEST
from drac_pipeline.defs.names import DOCUMENTS
from drac_pipeline.defs.refresh import Tick, make_refresh_schedule, make_refresh_sensor, refresh_tick
from drac_pipeline.defs.resources import HomeResource
from drac_pipeline.store import Home

OLD = time.time() - 3600
DONE = {"MATERIALIZED"}


@pytest.fixture
def grown(bench):
    """A bench whose three documents came in by the sensor."""
    for file in bench.corpus.rglob("*.pdf"):
        os.utime(file, (OLD, OLD))
    bench.home.remember_source(bench.corpus)
    assert run(bench, tick(bench)) == set(bench.statuses())
    return bench


def tick(bench, cursor: str = "") -> Tick:
    return refresh_tick(bench.instance, Home(bench.home.path), "sensor", cursor or None)


def run(bench, asked: Tick) -> set[str]:
    """Execute what a tick asked for; gives the documents it names."""
    assert asked.run is not None, asked.skip
    config = asked.run.run_config["ops"][DOCUMENTS]["config"]
    bench.launch(**config)
    return set(config["documents"])


def test_one_run_for_exactly_what_changed(grown) -> None:
    assert all(set(s.values()) == DONE for s in grown.statuses().values())
    quiet = tick(grown)
    assert quiet.run is None and "3 documents, none is due" in quiet.skip
    again = tick(grown, quiet.cursor)
    assert again.skip == "nothing has changed in the sources or the settings"
    file = grown.corpus / "manual.pdf"
    file.write_bytes((grown.corpus / "two pages.pdf").read_bytes() + b"\n% changed\n")
    os.utime(file, (OLD + 5, OLD + 5))
    asked = tick(grown, quiet.cursor)
    assert asked.run is not None and asked.run.tags["drac/trigger"] == "sensor"
    assert run(grown, asked) == {"manual.pdf"}
    assert tick(grown).run is None
    os.utime(file, (OLD + 50, OLD + 50))
    assert tick(grown, quiet.cursor).run is None  # touched only


def test_what_a_killed_run_had_done_shows_after_the_next(grown) -> None:
    quiet = tick(grown)
    keys = sorted(grown.statuses())
    job = grown.definitions().resolve_implicit_global_asset_job_def()
    tags = {"dagster/asset_partition_range_start": keys[0], "dagster/asset_partition_range_end": keys[2]}
    dead = grown.instance.create_run_for_job(job, tags=tags)  # it has made all three again, and told of none
    grown.instance.report_run_failed(dead, "killed")
    assert grown.statuses()[keys[0]]["markdown"] == "FAILED"
    asked = tick(grown, quiet.cursor)
    assert any("does not show yet: normalized_pdf" in line for line in asked.log)
    assert run(grown, asked) == set(keys)
    assert all(set(s.values()) == DONE for s in grown.statuses().values())
    assert tick(grown, asked.cursor).run is None


def test_a_to_b_to_a_is_seen_each_time(grown) -> None:
    file = grown.corpus / "manual.pdf"
    first = file.read_bytes()
    for i, data in enumerate((first + b"\n% b\n", first)):
        file.write_bytes(data)
        os.utime(file, (OLD + 10 * (i + 1), OLD + 10 * (i + 1)))
        assert run(grown, tick(grown)) == {"manual.pdf"}


def test_a_changed_planner_setting_runs_the_plan_and_what_follows(grown) -> None:
    quiet = tick(grown)
    (grown.home.path / "drac.toml").write_text("[plan]\nmax_blocks = 3\n")
    asked = tick(grown, quiet.cursor)
    assert asked.run is not None
    before = {m.document_key: m.stages["markdown"].made_at for m in grown.home.store.manifests()}
    result = grown.launch(**asked.run.run_config["ops"][DOCUMENTS]["config"])
    assert {frozenset(v) & {"markdown", "elements"} for v in grown.emitted(result).values()} == {frozenset()}
    assert before == {m.document_key: m.stages["markdown"].made_at for m in grown.home.store.manifests()}
    assert tick(grown).run is None


def test_ticks_wait_for_a_run_that_is_not_finished(grown) -> None:
    grown.corpus.joinpath("new.pdf").write_bytes((grown.corpus / "manual.pdf").read_bytes() + b"\n")
    os.utime(grown.corpus / "new.pdf", (OLD, OLD))
    job = grown.definitions().resolve_job_def(INGEST)
    started = grown.instance.create_run_for_job(job, status=DagsterRunStatus.STARTED)
    held = tick(grown, "{}")
    assert held.run is None and started.run_id in held.skip and held.cursor == "{}"
    grown.instance.report_run_failed(started)
    assert run(grown, tick(grown)) == {"new.pdf"}


def test_a_removed_document_leaves_no_partition_and_returns_as_new(grown) -> None:
    file = grown.corpus / "manual.pdf"
    data = file.read_bytes()
    file.unlink()
    gone = tick(grown)
    assert gone.run is None and "manual.pdf: retired" in gone.log
    assert "manual.pdf" not in grown.statuses()
    told = grown.instance.fetch_observations(AssetKey("source_document"), limit=1).records
    event = told[0].event_log_entry.dagster_event
    assert event is not None and "retired: manual.pdf (removed from the source)" in str(
        event.event_specific_data
    )
    for name in ("source_document", "chunks"):
        left = grown.instance.get_event_records(
            EventRecordsFilter(
                DagsterEventType.ASSET_MATERIALIZATION,
                asset_key=AssetKey(name),
                asset_partitions=["manual.pdf"],
            )
        )
        assert left == []
    file.write_bytes(data)
    os.utime(file, (OLD, OLD))
    back = tick(grown)
    # its outputs are all there: the look adds the partition, and a run reports what is good
    assert "manual.pdf" in grown.statuses()
    if back.run:
        run(grown, back)
    grown.launch()
    assert set(grown.statuses()["manual.pdf"].values()) == DONE


def test_a_source_that_went_away_deletes_nothing_and_says_so(grown, tmp_path: Path) -> None:
    grown.corpus.rename(tmp_path / "elsewhere")
    away = tick(grown)
    assert away.run is None and any("no such file or folder" in line for line in away.log)
    assert "no such file or folder" in away.skip
    assert len(grown.statuses()) == 3 and "seen" not in away.cursor  # the next tick looks again
    grown.corpus.mkdir()
    empty = tick(grown)
    assert "had 3: none was retired" in empty.skip and len(grown.statuses()) == 3
    later = tick(grown, empty.cursor)
    assert later.skip.startswith("nothing has changed") and "had 3: none was retired" in later.skip
    result = grown.launch()  # by hand it fails, so that an alert goes out
    assert not result.success


def test_a_failed_document_waits_as_the_policy_says(grown) -> None:
    bad = grown.corpus / "bad.pdf"
    bad.write_bytes(b"%PDF-1.7 cut off")
    os.utime(bad, (OLD, OLD))
    assert run(grown, tick(grown)) == {"bad.pdf"}
    waits = tick(grown)
    assert waits.run is None and any("until the file or the stage's settings change" in x for x in waits.log)
    bad.write_bytes((grown.corpus / "manual.pdf").read_bytes() + b"\n% mended\n")
    os.utime(bad, (OLD + 9, OLD + 9))
    assert run(grown, tick(grown, waits.cursor)) == {"bad.pdf"}
    assert set(grown.statuses()["bad.pdf"].values()) == DONE


def test_an_automatic_run_leaves_out_what_waits(grown) -> None:
    bad = grown.corpus / "bad.pdf"
    bad.write_bytes(b"%PDF-1.7 cut off")
    os.utime(bad, (OLD, OLD))
    assert not grown.launch().success
    assert grown.launch(automatic=True).success  # a run by hand tries it again, this one does not
    assert not grown.launch().success


def test_a_run_that_gave_nothing_is_not_asked_for_at_every_tick(grown) -> None:
    extra = grown.corpus / "extra.pdf"
    extra.write_bytes((grown.corpus / "manual.pdf").read_bytes() + b"\n")
    os.utime(extra, (OLD, OLD))
    first = tick(grown)
    assert first.run is not None  # its run is killed before it does anything
    second = tick(grown, first.cursor)
    assert second.run is None and "they wait a while" in second.skip


def test_the_trigger_setting_turns_one_of_them_on() -> None:
    def on(trigger) -> tuple[str, str]:
        config = DracConfig(refresh=RefreshConfig(trigger=trigger))
        sensor, schedule = make_refresh_sensor(config), make_refresh_schedule(config)
        return sensor.default_status.value, schedule.default_status.value

    assert on("off") == ("STOPPED", "STOPPED")
    assert on("sensor") == ("RUNNING", "STOPPED")
    assert on("schedule") == ("STOPPED", "RUNNING")


def test_the_sensor_as_the_daemon_evaluates_it(grown) -> None:
    extra = grown.corpus / "extra.pdf"
    extra.write_bytes((grown.corpus / "manual.pdf").read_bytes() + b"\n")
    os.utime(extra, (OLD, OLD))
    sensor = make_refresh_sensor(DracConfig())
    resource = HomeResource(path=str(grown.home.path))
    with build_sensor_context(grown.instance, resources={"home": resource}) as context:
        found = sensor.evaluate_tick(context)
    assert found.run_requests is not None and len(found.run_requests) == 1
    assert found.run_requests[0].run_config["ops"][DOCUMENTS]["config"]["documents"] == ["extra.pdf"]


def test_documents_of_a_run_may_be_named_by_globs(grown) -> None:
    odd = grown.corpus / "a[1].pdf"
    odd.write_bytes((grown.corpus / "manual.pdf").read_bytes() + b"\n% odd\n")
    assert grown.launch().success
    made = grown.launch(documents=["notes/*.pdf"], stages=["chunk_plan"], force=True)
    assert set(grown.emitted(made)) == {"notes/site visit.pdf"}
    made = grown.launch(documents=["a[1].pdf", "t* pages.pdf"], stages=["chunk_plan"], force=True)
    assert set(grown.emitted(made)) == {"a[1].pdf", "two pages.pdf"}  # a key is itself before it is a glob
    assert not grown.launch(documents=["nothing/*.pdf"]).success


def test_a_source_too_large_for_a_tick_is_looked_at_by_the_run(grown, monkeypatch) -> None:
    monkeypatch.setattr("drac_pipeline.defs.refresh.MOST_DOCUMENTS", 2)
    (grown.corpus / "notes" / "site visit.pdf").unlink()
    extra = grown.corpus / "extra.pdf"
    extra.write_bytes((grown.corpus / "manual.pdf").read_bytes() + b"\n")
    os.utime(extra, (OLD, OLD))
    asked = tick(grown)
    assert asked.run is not None
    config = asked.run.run_config["ops"][DOCUMENTS]["config"]
    assert config["documents"] == [] and config["automatic"]
    made = grown.launch(**config)
    assert set(grown.emitted(made)) == {"extra.pdf"}
    assert "notes/site visit.pdf" not in grown.statuses()
    assert "since the last run looked" in tick(grown, asked.cursor).skip
