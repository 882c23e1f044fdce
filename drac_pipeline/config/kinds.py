"""What a setting may be, in words."""

from __future__ import annotations

import json
from typing import Literal, get_args, get_origin

from pydantic import SecretStr
from pydantic.fields import FieldInfo


def kind_of(field: FieldInfo) -> str:
    """`whole number from 1`, `list of texts` …, as the reference has it."""
    annotation = field.annotation
    if get_origin(annotation) is Literal:
        return ", ".join(f"`{json.dumps(v)}`" for v in get_args(annotation))
    if get_origin(annotation) is list:
        inner = get_args(annotation)[0]
        return (
            "list of texts" if inner in (str, SecretStr) else f"list of {getattr(inner, '__name__', inner)}"
        )
    if get_origin(annotation) is dict:
        return "table"
    name = {str: "text", int: "whole number", float: "number", bool: "`true`, `false`"}.get(
        annotation, str(annotation)
    )
    return f"{name}{_bounds(field)}"


def _bounds(field: FieldInfo) -> str:
    told = {"ge": "from", "gt": "above", "le": "to", "lt": "below"}
    found = [
        f"{word} {getattr(m, sign):,}".replace(",", " ")
        for m in field.metadata
        for sign, word in told.items()
        if getattr(m, sign, None) is not None
    ]
    return f" {' '.join(found)}" if found else ""
