"""What is wrong with settings, in plain words: the key, what it may be, and what was given."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, SecretStr, ValidationError
from pydantic.fields import FieldInfo

from drac_pipeline.config.kinds import kind_of
from drac_pipeline.config.overrides import OVERRIDE

_MOST_SHOWN = 80


def what_is_wrong(
    error: ValidationError,
    model: type[BaseModel],
    unknown: Callable[[Sequence[int | str]], str] = lambda _: "there is no such setting",
) -> list[str]:
    """A line for each wrong setting of `model`; `unknown` says what to say of a key that there is none."""
    lines = []
    for found in error.errors():
        told = unknown(found["loc"]) if found["type"] == "extra_forbidden" else _told(found, model)
        where = ".".join(map(str, found["loc"]))
        lines.append(f"{where}: {told}" if where else told)
    return lines


def _told(found: Any, model: type[BaseModel]) -> str:
    loc = found["loc"]
    if found["type"] == "value_error":
        return str(found["ctx"]["error"])
    if found["type"] == "missing":
        return "it is missing"
    if loc[-1:] == (OVERRIDE,) or loc[-2:-1] == (OVERRIDE,):
        return f"write [[{loc[0]}.{OVERRIDE}]], and below it match and the settings"
    field = _field(loc, model)
    if field is None:
        return str(found["msg"])
    if _model_of(field):
        return f"this is a section: write [{loc[-1]}], and its settings below it"
    return f"give {_expected(field)}, not {_given(found['input'], field)}"


def _field(loc: Sequence[int | str], model: type[BaseModel]) -> FieldInfo | None:
    """The setting that is meant, in an override as in its section."""
    at: type[BaseModel] | None = model
    field = None
    for part in loc:
        if isinstance(part, int) or part == OVERRIDE or at is None:
            continue
        field = at.model_fields.get(part)
        at = (_model_of(field) or (None if loc[-1] == part else at)) if field else at
    return field


def _model_of(field: FieldInfo) -> type[BaseModel] | None:
    kind = field.annotation
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def _expected(field: FieldInfo) -> str:
    if get_origin(field.annotation) is Literal:
        return "one of " + ", ".join(json.dumps(v) for v in get_args(field.annotation))
    return "true or false" if field.annotation is bool else f"a {kind_of(field)}"


def _given(value: object, field: FieldInfo) -> str:
    extra = field.json_schema_extra
    secret = isinstance(extra, dict) and extra.get("secret")
    if secret or field.annotation is SecretStr or SecretStr in get_args(field.annotation):
        return "what is there"  # nor would it be shown if it were right
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "…"
