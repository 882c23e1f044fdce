"""What all sections of settings have in common, and their hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, JsonValue

from drac_pipeline.errors import ConfigError
from drac_pipeline.globs import glob_pattern

SECRET: dict[str, JsonValue] = {"secret": True}  # of a field: what its value is is not shown


class Settings(BaseModel):
    """`operational` names settings that say how, how long or with what a stage may work, and
    not what it makes: a change of theirs makes nothing stale."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    operational: ClassVar[frozenset[str]] = frozenset()


class Identity(Settings):
    """Some settings of a section as one value: what bears on a stage's output, and no more."""

    settings: dict[str, str | float | bool | int]


def check_globs(globs: Iterable[str]) -> None:
    """Raises ValueError, as validators do, where one is no glob."""
    for glob in globs:
        try:
            glob_pattern(glob)
        except ConfigError as e:
            raise ValueError(str(e)) from e


def settings_hash(*settings: BaseModel) -> str:
    """Twelve hex digits of the SHA-256 of the settings as canonical JSON, operational ones left out, and
    overrides, which are applied before."""
    values = [
        s.model_dump(mode="json", exclude={"override", *getattr(s, "operational", ())}) for s in settings
    ]
    text = json.dumps(values, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:12]
