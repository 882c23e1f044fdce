"""The stock run launcher, which also knows when the process of a run is gone.

The stock one leaves that to the code server that started the process: a run of `drac run`, or one
whose server went down with it, would show as running for ever.
"""

from __future__ import annotations

import os
import signal

from dagster import DagsterRun
from dagster._core.launcher import CheckRunHealthResult, DefaultRunLauncher, WorkerStatus
from dagster._core.storage.tags import GRPC_INFO_TAG

from drac_pipeline.defs.run_process import DIED, process_of


class WatchingRunLauncher(DefaultRunLauncher):
    """Launches runs as Dagster does; watches and stops those of `drac run` as well."""

    @property
    def supports_check_run_worker_health(self) -> bool:
        return True

    def check_run_worker_health(self, run: DagsterRun) -> CheckRunHealthResult:
        """Failed where the run's process has ended without a word; unknown ones count as running."""
        process = process_of(run)
        if process and not process.alive:
            return CheckRunHealthResult(WorkerStatus.FAILED, DIED)
        return CheckRunHealthResult(WorkerStatus.RUNNING)

    def terminate(self, run_id: str) -> bool:
        """Interrupt the run's process; documents that are done stay done."""
        run = self._instance.get_run_by_id(run_id)
        if run is None or run.is_finished:
            return False
        if GRPC_INFO_TAG in run.tags:
            return super().terminate(run_id)
        process = process_of(run)
        if process is None or not process.alive:
            return False
        self._instance.report_run_canceling(run)
        os.kill(process.pid, signal.SIGINT)
        return True
