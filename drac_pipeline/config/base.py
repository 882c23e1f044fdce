"""What all sections of settings have in common, and their hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable
from typing import ClassVar, Self

from pydantic import BaseModel, ConfigDict, JsonValue, model_validator

from drac_pipeline.errors import ConfigError
from drac_pipeline.globs import glob_pattern

SECRET: dict[str, JsonValue] = {"secret": True}  # of a field: what its value is is not shown


class Settings(BaseModel):
    """`operational` names settings that say how, how long or with what a stage may work, and
    not what it makes: a change of theirs makes nothing stale."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    operational: ClassVar[frozenset[str]] = frozenset()
    ordered: ClassVar[tuple[tuple[str, str], ...]] = ()  # the first not above the second, unless that is 0

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if told := self.disagreement():
            raise ValueError(told)
        return self

    def disagreement(self, beside: Collection[str] = ()) -> str:
        """What contradicts what, and how to mend it; "" where nothing does. `beside` are settings that are
        set elsewhere than in drac.toml's section."""
        for low, high in self.ordered:
            least, most = getattr(self, low), getattr(self, high)
            written = {*self.model_fields_set, *beside}
            if most and least > most and low in written:  # a default gives way to a lower bound
                mark = "" if high in written else " (the default)"
                return (
                    f"{low} = {least} is above {high} = {most}{mark}:"
                    f" set {low} to at most {most}, or {high} to at least {least}"
                )
        return ""


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
