"""The services of this process: one for each set of settings, kept open."""

from __future__ import annotations

import threading
from pathlib import Path

from drac_pipeline.config import ModelConfig
from drac_pipeline.llm.service import ModelService

STATE_FOLDER = "model"  # in the home, beside the store


_OPEN: dict[tuple[str, str, str, str], ModelService] = {}
_LOCK = threading.Lock()


def open_service(config: ModelConfig, state: Path, run: str, model: str = "") -> ModelService:
    """The service for `model` (default: the one that converts) with its ledger in `state`."""
    key = (config.model_dump_json(), str(state), run, model)
    with _LOCK:
        if key not in _OPEN:
            _OPEN[key] = ModelService(config, state, run, model=model)
        return _OPEN[key]
