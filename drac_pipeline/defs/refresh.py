"""The one way in for automatic work: a sensor and a schedule that launch one run for what is due.

Both look at the sources in the same way; `[refresh] trigger` says which one is on. A tick while a
run of these documents is unfinished is skipped: changes gather, and the next tick takes them all.
"""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass, field
from typing import Any

from dagster import (
    DagsterInstance,
    DagsterRunStatus,
    DefaultScheduleStatus,
    DefaultSensorStatus,
    RunConfig,
    RunRequest,
    RunsFilter,
    ScheduleDefinition,
    ScheduleEvaluationContext,
    SensorDefinition,
    SensorEvaluationContext,
    SensorResult,
    SkipReason,
    schedule,
    sensor,
)

from drac_pipeline.alerts import send_alert
from drac_pipeline.config import DracConfig
from drac_pipeline.counted import counted
from drac_pipeline.defs.jobs import INGEST, REPLAN
from drac_pipeline.defs.names import DOCUMENTS, corpus_tags, named
from drac_pipeline.defs.register import drop_strays, register, show_own_settings, unreported
from drac_pipeline.defs.resources import HomeResource
from drac_pipeline.defs.retire import retire_documents
from drac_pipeline.defs.stages import DocumentsConfig
from drac_pipeline.pipeline.look import Due, Looked, due_documents, glance, look_at_sources
from drac_pipeline.store import Home

MOST_KEYS = 500  # named in a run's config; more, and the run looks for itself
MOST_DOCUMENTS = 5_000  # looked at in a tick, which Dagster stops after a minute
FULL_LOOK_SECONDS = 3_600  # for what no listing shows, such as outputs deleted from the store
_UNFINISHED = [
    DagsterRunStatus.QUEUED,
    DagsterRunStatus.NOT_STARTED,
    DagsterRunStatus.STARTING,
    DagsterRunStatus.STARTED,
    DagsterRunStatus.CANCELING,
]
_NO_SOURCE = (
    "this home has no source yet: `drac run SOURCE`, or `ingest` with `sources` in its config, gives it one"
)


@dataclass
class Tick:
    """What a look comes to: a run to launch (`run`), or why there is none (`skip`); lines for the
    tick's log; and the cursor for the next one."""

    run: RunRequest | None = None
    skip: str = ""
    log: list[str] = field(default_factory=list)
    cursor: str = ""


def refresh_tick(instance: DagsterInstance, home: Home, trigger: str, cursor: str | None = None) -> Tick:
    """Look at the home's sources, retire what left them, and ask for one run of what is due."""
    state: dict[str, Any] = json.loads(cursor) if cursor else {}
    if unfinished := _unfinished_run(instance, home.corpus):
        return Tick(skip=f"run {unfinished} is not finished; changes wait for its end", cursor=cursor or "")
    if not home.sources():
        return Tick(skip=_NO_SOURCE, cursor=cursor or "")
    shown = glance(home)
    # a run that was killed changes nothing in the sources
    seen = f"{shown.digest} {_last_runs(instance, home.corpus)}"
    if state.get("seen") == seen and time.time() < state.get("until", 0):
        still = [f"still: {line}" for line in state.get("problems", ())]
        skip = "; ".join(["nothing has changed in the sources or the settings", *still])
        return Tick(skip=skip, cursor=cursor or "")
    tags = {"drac/trigger": trigger, **corpus_tags(home.corpus)}
    if shown.documents > MOST_DOCUMENTS:
        run = RunRequest(run_config=_run_config(home, automatic=True), tags=tags)
        if state.get("asked") == shown.digest and time.time() < state.get("until", 0):
            return Tick(skip="nothing has changed since the last run looked", cursor=cursor or "")
        until = time.time() + max(60.0, home.config.refresh.retry_minutes * 60)
        asked = {"asked": shown.digest, "until": until}
        return Tick(run=run, log=["the run looks at the sources itself"], cursor=json.dumps(asked))
    looked = look_at_sources(home, settle_seconds=home.config.refresh.settle_seconds)
    register(instance, home, list(home.store.manifests()))
    show_own_settings(instance, home, home.store.manifests())
    retired = retire_documents(instance, home, looked.retire)
    drop_strays(instance, home)
    due = due_documents(home, looked)
    _add_unreported(instance, home, looked, due)
    log = _log(looked, due, retired)
    problems = [*looked.refused, *(f"source {s}: {why}" for s, why in looked.unreachable.items())]
    told = _alert(home, problems, state.get("told", ""))
    if not due.documents:
        quiet = not looked.settling and not looked.unreachable
        after = {"seen": seen, "until": _until(due), "problems": problems} if quiet else {}
        cursor = json.dumps({**after, "told": told})
        skip = f"{counted(sum(f.n_documents for f in looked.found), 'document')}, none is due"
        if looked.settling:
            skip += f", {len(looked.settling)} may still be written"
        return Tick(skip="; ".join([skip, *problems]), log=log, cursor=cursor)
    asked = hashlib.sha256(json.dumps([shown.digest, sorted(due.documents)]).encode()).hexdigest()
    times = state.get("times", 0) + 1 if state.get("ask") == asked else 1
    if times > 1 and time.time() < state.get("again", 0):
        still = counted(
            len(due.documents), "document as before is due: its", "documents as before are due: their"
        )
        same = f"the same {still} last run gave nothing"
        return Tick(skip=f"{same}; they wait a while", log=log, cursor=cursor or "")
    wait = home.config.refresh.retry_minutes * 60 * 2 ** min(times - 1, 8)
    state = {"ask": asked, "times": times, "again": time.time() + wait, "told": told}
    keys = sorted(due.documents)
    config = _run_config(home, keys) if len(keys) <= MOST_KEYS else _run_config(home, automatic=True)
    tags["drac/documents"] = str(len(keys))
    return Tick(run=RunRequest(run_config=config, tags=tags), log=log, cursor=json.dumps(state))


def make_refresh_sensor(config: DracConfig, corpus: str = "") -> SensorDefinition:
    """The sensor; running by itself where the settings say so."""
    on = config.refresh.trigger == "sensor"

    @sensor(
        name=named("refresh_sensor", corpus),
        job_name=named(INGEST, corpus),
        minimum_interval_seconds=config.refresh.every_seconds,
        default_status=DefaultSensorStatus.RUNNING if on else DefaultSensorStatus.STOPPED,
        description="Looks at the sources; launches one `ingest` run for the documents that are new, changed,"
        " out of date or due for another try, and retires those that are gone.",
    )
    def refresh_sensor(context: SensorEvaluationContext, home: HomeResource) -> SensorResult:
        tick = refresh_tick(context.instance, home.open(), "sensor", context.cursor)
        for line in tick.log:
            context.log.info(line)
        requests = [tick.run] if tick.run else []
        return SensorResult(requests, skip_reason=tick.skip or None, cursor=tick.cursor)

    return refresh_sensor


def make_refresh_schedule(config: DracConfig, corpus: str = "") -> ScheduleDefinition:
    """The schedule; running by itself where the settings say so."""
    on = config.refresh.trigger == "schedule"

    @schedule(
        name=named("refresh_schedule", corpus),
        job_name=named(INGEST, corpus),
        cron_schedule=config.refresh.cron,
        execution_timezone=config.refresh.timezone,
        default_status=DefaultScheduleStatus.RUNNING if on else DefaultScheduleStatus.STOPPED,
        description="What `refresh_sensor` does, at the times of `[refresh] cron`.",
    )
    def refresh_schedule(context: ScheduleEvaluationContext, home: HomeResource) -> RunRequest | SkipReason:
        tick = refresh_tick(context.instance, home.open(), "schedule")
        for line in tick.log:
            context.log.info(line)
        return tick.run or SkipReason(tick.skip)

    return refresh_schedule


def _add_unreported(instance: DagsterInstance, home: Home, looked: Looked, due: Due) -> None:
    """Documents that are done but do not show as done, since the run that made them was killed, join the
    run of those that it left: it reports them."""
    leave = {*due.documents, *due.waiting, *looked.settling, *looked.unreadable}
    done = [m for m in home.store.manifests() if m.failure is None and m.document_key not in leave]
    for key, stages in unreported(instance, home, done).items():
        due.documents[key] = f"done, which does not show yet: {', '.join(stages)}"


def _jobs(corpus: str) -> tuple[str, ...]:
    """The jobs that make documents of the corpus."""
    return named(INGEST, corpus), named(REPLAN, corpus), "__ASSET_JOB"


def _unfinished_run(instance: DagsterInstance, corpus: str) -> str:
    tags = corpus_tags(corpus)
    for name in _jobs(corpus):
        found = instance.get_runs(RunsFilter(job_name=name, statuses=_UNFINISHED, tags=tags), limit=1)
        if found:
            return found[0].run_id
    return ""


def _last_runs(instance: DagsterInstance, corpus: str) -> str:
    """The newest run of each job that makes documents."""
    tags = corpus_tags(corpus)
    found = [instance.get_runs(RunsFilter(job_name=name, tags=tags), limit=1) for name in _jobs(corpus)]
    return " ".join(runs[0].run_id[:8] for runs in found if runs)


def _run_config(home: Home, keys: list[str] | None = None, *, automatic: bool = False) -> RunConfig:
    op_name = named(DOCUMENTS, home.corpus)
    return RunConfig(ops={op_name: DocumentsConfig(documents=keys or [], automatic=automatic)})


def _alert(home: Home, lines: list[str], told: str) -> str:
    """Tell of sources that look emptied or cannot be reached, once each time that is news; gives the
    digest of what was told."""
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16] if lines else ""
    if lines and digest != told:
        send_alert(home.config.alerts, f"{home.path.name}: the sources need a look", lines)
    return digest


def _until(due: Due) -> float:
    """When a look is due although nothing has changed."""
    latest = time.time() + FULL_LOOK_SECONDS
    return min(latest, due.next_at.timestamp()) if due.next_at else latest


def _log(looked: Looked, due: Due, retired: list[str]) -> list[str]:
    lines = [f"{key}: {reason}" for key, reason in sorted(due.documents.items())[:50]]
    if len(due.documents) > 50:
        lines.append(f"… and {counted(len(due.documents) - 50, 'more document')}")
    lines += [f"{key}: waits, {r.reason}" for key, r in sorted(due.waiting.items())[:50]]
    lines += [f"{key}: may still be written, looked at again" for key in looked.settling[:50]]
    lines += [f"{key}: retired" for key in retired[:50]]
    lines += [f"source {s}: {why}" for s, why in looked.unreachable.items()]
    lines += [f"{k}: {e.cause}" for k, e in sorted(looked.unreadable.items())[:50]]
    return lines + looked.refused
