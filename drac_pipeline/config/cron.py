"""Is a cron line one that Dagster takes: a wrong one would break the whole code location."""

from __future__ import annotations

import re

_NAMED = {"@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually"}
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_FIELDS: tuple[tuple[str, int, int, list[str]], ...] = (
    ("minute", 0, 59, []),
    ("hour", 0, 23, []),
    ("day of the month", 1, 31, []),
    ("month", 1, 12, _MONTHS),
    ("day of the week", 0, 7, _DAYS),
)
_PART = re.compile(r"(\*|[a-z]{3}|\d+)(?:-([a-z]{3}|\d+))?(?:/(\d+))?")


def check_cron(line: str) -> str:
    """The line as it is. Raises ValueError that names the field."""
    if line.strip().lower() in _NAMED:
        return line
    fields = line.split()
    if len(fields) != len(_FIELDS):
        raise ValueError(
            f"{line!r} is no cron line: five fields (minute, hour, day, month, weekday), as in '0 3 * * *'"
        )
    for text, (name, low, high, names) in zip(fields, _FIELDS, strict=True):
        for part in text.lower().split(","):
            found = _PART.fullmatch(part)
            if part == "l" and name == "day of the month":
                continue
            if not found or not all(_is_in(v, low, high, names) for v in found.groups()[:2] if v):
                raise ValueError(f"{line!r} is no cron line: {part!r} is no {name} ({low} to {high})")
            if found[3] == "0":
                raise ValueError(f"{line!r} is no cron line: a step of 0 in {part!r}")
    return line


def _is_in(value: str, low: int, high: int, names: list[str]) -> bool:
    return value == "*" or value in names or (value.isdigit() and low <= int(value) <= high)
