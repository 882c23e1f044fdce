"""An event log as a run over all documents of a home leaves it, without the run's work.

The events are made and stored by the code that a run uses, in batches of documents: what the run means to
materialize, then materializations and verdicts of each stage, with the tags and pointers of lineage. Only
the previews of texts and tables are left out.
"""

import time
from collections.abc import Iterable, Iterator
from itertools import islice
from types import SimpleNamespace
from typing import Any

from dagster import DagsterEvent, DagsterEventType
from dagster._core.definitions.job_base import InMemoryJob
from dagster._core.execution.api import create_execution_plan

from drac_pipeline.defs import metadata
from drac_pipeline.defs.definitions import defs
from drac_pipeline.defs.events import asset_key, write_outcomes
from drac_pipeline.defs.instance_events import record_planned
from drac_pipeline.defs.jobs import INGEST
from drac_pipeline.defs.launch import open_instance
from drac_pipeline.defs.names import DOCUMENTS
from drac_pipeline.defs.register import register
from drac_pipeline.pipeline import STAGES, DocumentOutcome, StageOutcome
from drac_pipeline.store import Home, Manifest

AT_ONCE = 250  # documents


def fill(home: Home) -> tuple[int, float]:
    """Fill the log of the home's instance; gives documents and CPU seconds. A log that has them is left."""
    began = time.process_time()
    with open_instance(home) as instance:
        if instance.get_dynamic_partitions(DOCUMENTS):
            return 0, 0.0
        register(instance, home, list(home.store.manifests()))
        job = defs.resolve_job_def(INGEST)
        plan = create_execution_plan(InMemoryJob(job))
        run = instance.create_run_for_job(job_def=job, execution_plan=plan)
        step = plan.get_step_by_key(DOCUMENTS)
        context: Any = SimpleNamespace(
            instance=instance,
            get_step_execution_context=lambda: SimpleNamespace(
                run_id=run.run_id, job_name=run.job_name, step=step, event_tags={}
            ),
        )
        _tell(instance, run, DagsterEventType.PIPELINE_START)
        known = [m.document_key for m in home.store.manifests()]
        for keys in _batched(known, 10 * AT_ONCE):
            pairs = [(asset_key(s.name), k) for k in keys for s in STAGES]
            record_planned(instance, run, step.key, pairs)
        previews, metadata._PREVIEWS = metadata._PREVIEWS, {}
        try:
            for n, part in enumerate(_batched(home.store.manifests(), AT_ONCE)):
                write_outcomes(context, home, [_outcome(m) for m in part])
                if n % 40 == 39:
                    print(f"  events of {(n + 1) * AT_ONCE:,} documents written", flush=True)
        finally:
            metadata._PREVIEWS = previews
        _tell(instance, run, DagsterEventType.PIPELINE_SUCCESS)
    return len(known), time.process_time() - began


def _batched(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    left = iter(items)
    while part := list(islice(left, size)):
        yield part


def _outcome(manifest: Manifest) -> DocumentOutcome:
    made = [StageOutcome(name, "made", record, reason="new") for name, record in manifest.stages.items()]
    return DocumentOutcome(manifest.document_key, made)


def _tell(instance: Any, run: Any, kind: DagsterEventType) -> None:
    instance.report_dagster_event(DagsterEvent(kind.value, run.job_name), run_id=run.run_id)
