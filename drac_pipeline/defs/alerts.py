"""A failed run tells a webhook which documents failed, where and why."""

from __future__ import annotations

from dagster import (
    DagsterEventType,
    DefaultSensorStatus,
    EventLogEntry,
    RunFailureSensorContext,
    SensorDefinition,
    run_failure_sensor,
)

from drac_pipeline.alerts import send_alert
from drac_pipeline.config import AlertsConfig, DracConfig
from drac_pipeline.counted import counted
from drac_pipeline.defs.names import corpus_of_run, named
from drac_pipeline.defs.resources import HomeResource

FAILED_DOCUMENTS = "failed documents"


def make_failure_alert(config: DracConfig, corpus: str = "") -> SensorDefinition:
    """The sensor; running by itself where a webhook is named."""
    on = config.alerts.address() != ""

    @run_failure_sensor(
        name=named("failure_alert", corpus),
        monitor_all_code_locations=False,
        default_status=DefaultSensorStatus.RUNNING if on else DefaultSensorStatus.STOPPED,
        minimum_interval_seconds=30,
        description="Sends the failed documents of a failed run to the webhook of [alerts].",
    )
    def failure_alert(context: RunFailureSensorContext, home: HomeResource) -> None:
        alerts: AlertsConfig = home.open().config.alerts
        run = context.dagster_run
        if corpus_of_run(run) != corpus:
            return  # one code location may have several corpora
        lines = _failed_documents(context)
        said = context.failure_event.message or "failed"
        number = counted(len(lines), "document")
        title = f"{run.job_name} failed: " + (number if lines else said)
        sent = send_alert(alerts, title, lines or [said], {"run_id": run.run_id, "job": run.job_name})
        context.log.info("alert sent" if sent else "no alert sent: no webhook, or it did not take it")

    return failure_alert


def _failed_documents(context: RunFailureSensorContext) -> list[str]:
    """The lines of a run's failure, one a document."""
    out: list[str] = []
    records = context.instance.get_records_for_run(
        context.dagster_run.run_id, of_type=DagsterEventType.STEP_FAILURE
    )
    for record in records.records:
        out.extend(_lines(record.event_log_entry))
    return out


def _lines(entry: EventLogEntry) -> list[str]:
    event = entry.dagster_event
    if event is None or not event.is_step_failure:
        return []
    said = event.step_failure_data.user_failure_data
    metadata = said.metadata if said else {}
    text = "\n".join(str(metadata[n].value) for n in (FAILED_DOCUMENTS, "sources") if n in metadata)
    return [line.removeprefix("- ") for line in text.splitlines() if line.strip()]
