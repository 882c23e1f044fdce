"""The queue of a deployment of many corpora: every run is tagged with its corpus, and corpora take turns.

Dagster limits runs by tag, but a run launched from the UI or by a backfill has no tag of ours. And it takes
queued runs in the order they came: a corpus with a hundred of them would be served before any other. So each
run gets a lower priority, the more runs of its corpus are unfinished when it is submitted.
"""

from __future__ import annotations

from dagster import DagsterRun, RunsFilter
from dagster._core.run_coordinator import QueuedRunCoordinator, SubmitRunContext
from dagster._core.storage.tags import PRIORITY_TAG

from drac_pipeline.defs.names import CORPUS_TAG, UNFINISHED, corpus_of_run


class CorpusRunCoordinator(QueuedRunCoordinator):
    """Dagster's queue, with `drac/corpus` and a fair priority on each run; a priority that is there stays."""

    def submit_run(self, context: SubmitRunContext) -> DagsterRun:
        run = context.dagster_run
        if corpus := corpus_of_run(run):
            tags = {CORPUS_TAG: corpus}
            if PRIORITY_TAG not in run.tags:
                filters = RunsFilter(tags={CORPUS_TAG: corpus}, statuses=UNFINISHED)
                before = self._instance.get_runs_count(filters) - (CORPUS_TAG in run.tags)
                tags[PRIORITY_TAG] = str(-max(0, before))
            self._instance.add_run_tags(run.run_id, tags)
        return super().submit_run(context)
