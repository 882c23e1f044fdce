"""The embedder that the settings name, opened once a process."""

from __future__ import annotations

import threading

from drac_pipeline.config import EmbedConfig
from drac_pipeline.index.embedder import Embedder

_OPEN: dict[str, Embedder] = {}
_LOCK = threading.Lock()


def open_embedder(config: EmbedConfig | None = None) -> Embedder:
    """The embedder of `config` (default: the embedded model). Raises ConfigError."""
    config = config or EmbedConfig()
    key = config.model_dump_json()
    with _LOCK:
        if key not in _OPEN:
            _OPEN[key] = _make(config)
        return _OPEN[key]


def _make(config: EmbedConfig) -> Embedder:
    from drac_pipeline.index.minilm import MAX_TOKENS, MiniLM

    return MiniLM(
        folder=config.model_folder,
        max_tokens=config.max_tokens or MAX_TOKENS,
        too_long=config.too_long,
        threads=config.threads,
    )
