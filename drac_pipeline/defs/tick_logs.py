"""Keeps what sensors and schedules log, and no raw output of steps.

Dagster stores both through the compute log manager. Capturing the output of a step would start two
processes a run, for nothing that events and metadata do not say; its stand-in that captures nothing
loses the logs of ticks as well: which documents were due and why, which wait, what was retired.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from dagster import DagsterInstance
from dagster._config.config_schema import UserConfigSchema
from dagster._core.storage.compute_log_manager import CapturedLogContext, ComputeIOType
from dagster._core.storage.local_compute_log_manager import IO_TYPE_EXTENSION, LocalComputeLogManager
from dagster._serdes import ConfigurableClassData

KEEP_SECONDS = 7 * 86_400  # as long as Dagster keeps ticks that launched nothing


class TickLogManager(LocalComputeLogManager):
    """Local files below `storage` of the home, one for each tick that had something to say; those of
    the same sensor older than a week are deleted when another one is written."""

    def __init__(self, inst_data: ConfigurableClassData | None = None) -> None:
        super().__init__(base_dir="", inst_data=inst_data)

    @classmethod
    def config_type(cls) -> UserConfigSchema:
        return {}

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> TickLogManager:
        return cls(inst_data, **config_value)

    def register_instance(self, instance: DagsterInstance) -> None:
        super().register_instance(instance)
        self._base_dir = instance.storage_directory()

    @contextmanager
    def capture_logs(self, log_key: Sequence[str]) -> Iterator[CapturedLogContext]:
        yield CapturedLogContext(log_key=log_key)

    def is_capture_complete(self, log_key: Sequence[str]) -> bool:  # noqa: ARG002
        return True

    @contextmanager
    def open_log_stream(self, log_key: Sequence[str], io_type: ComputeIOType) -> Iterator[Any]:
        stream = _LateFile(Path(self.get_captured_local_path(log_key, IO_TYPE_EXTENSION[io_type])))
        try:
            yield stream
        finally:
            stream.close()


class _LateFile:
    """A file that is there from the first write on: most ticks say nothing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[str] | None = None

    def write(self, text: str) -> int:
        if self._file is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            _delete_old(self._path.parent)
            self._file = self._path.open("a", encoding="utf-8")
        return self._file.write(text)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def _delete_old(folder: Path) -> None:
    for file in folder.iterdir():
        with contextlib.suppress(OSError):
            if file.is_file() and file.stat().st_mtime < time.time() - KEEP_SECONDS:
                file.unlink()
