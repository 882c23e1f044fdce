"""What a stage is: what it gets, what it says of its output, and what identifies it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from drac_pipeline.config import DracConfig, settings_hash
from drac_pipeline.model import SourceDocument
from drac_pipeline.store.manifest import CheckRecord

SOURCE = "source"  # as a parent


@dataclass(frozen=True)
class StageContext:
    """What a stage function gets: the document, where to find a parent's file
    (`read(stage, name)`), the folder to write to, and the document's settings. For model calls: the folder of
    their ledger and results (`state`) and the `run` they count to."""

    document: SourceDocument
    read: Callable[[str, str], Path]
    out: Path
    config: DracConfig
    state: Path = Path()
    run: str = ""


@dataclass
class StageOutput:
    """What a stage says of its output. `counts` are numbers to plot, `facts` are JSON values; `lack` is kind
    and cause of what it had to be made without, and would be better with."""

    counts: dict[str, float] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    checks: dict[str, CheckRecord] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    lack: tuple[str, str] | None = None


@dataclass(frozen=True)
class Stage:
    """A stage of the pipeline. `version` is raised when the same input and settings give
    another output; `settings` picks the settings that are part of its identity; `checks`
    names its partition checks, with True for those that stop the document."""

    name: str
    parents: tuple[str, ...]
    version: int
    settings: Callable[[DracConfig], tuple[BaseModel, ...]]
    run: Callable[[StageContext], StageOutput]
    about: str
    checks: dict[str, bool] = field(default_factory=dict)


def code_version(stage: Stage, config: DracConfig) -> str:
    """The identity of a stage's code and settings, such as `3-5f0c2a9b7d11`; `config` is a document's own
    (`DracConfig.for_document`)."""
    return f"{stage.version}-{config.remembered(stage.name, lambda: settings_hash(*stage.settings(config)))}"
