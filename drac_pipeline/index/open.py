"""The embedder that the settings name, opened once a process."""

from __future__ import annotations

import threading
from pathlib import Path

from drac_pipeline.config import EmbedConfig, ModelConfig
from drac_pipeline.index.embedder import Embedder

_OPEN: dict[tuple[str, ...], Embedder] = {}
_LOCK = threading.Lock()


def open_embedder(
    config: EmbedConfig | None = None,
    model: ModelConfig | None = None,
    state: Path | None = None,
    run: str = "",
) -> Embedder:
    """The embedder of `config` (default: the embedded model). Raises ConfigError.

    One of a service takes retries and budgets from `model`, keeps its ledger in the folder `state` and
    counts its spending to `run`; without `state` it counts tokens and embeds nothing.
    """
    config = config or EmbedConfig()
    key: tuple[str, ...] = (config.model_dump_json(),)
    if config.by_service:
        model = model or ModelConfig()
        key = (*key, model.model_dump_json(), str(state), run)
    with _LOCK:
        if key not in _OPEN:
            _OPEN[key] = _of_service(config, model, state, run) if config.by_service else _local(config)
        return _OPEN[key]


def _local(config: EmbedConfig) -> Embedder:
    from drac_pipeline.index.minilm import MAX_TOKENS, MiniLM

    return MiniLM(
        folder=config.model_folder,
        max_tokens=config.max_tokens or MAX_TOKENS,
        too_long=config.too_long,
        threads=config.threads,
    )


def _of_service(config: EmbedConfig, model: ModelConfig | None, state: Path | None, run: str) -> Embedder:
    from drac_pipeline.index.service_embedder import ServiceEmbedder

    return ServiceEmbedder(config, model or ModelConfig(), state, run)
