"""A model's plan read from its text, mended where it is clear what was meant.

Three formats are known, and each is read whichever was asked for: boundaries (`1 5 6 /11`, the
first of each chunk and the last of all), ranges (`1-4 5 6-11`) and lists of ids
(`{"chunks": [["h1", "p1"], …]}` or the bare list).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

_RANGE = re.compile(r"[pP]?(\d+)(?:\s*[-–—]\s*[pP]?(\d+))?")
_RANGES = re.compile(r"(?:chunks?:)?[\s,;|\[\]]*(?:[pP]?\d+(?:\s*[-–—]\s*[pP]?\d+)?[\s,;|\[\]]*)+", re.I)
_BOUNDARIES = re.compile(r"(?:chunks?:)?\s*((?:[pP]?\d+[\s,]+)+)/\s*[pP]?(\d+)", re.I)
_ID = re.compile(r"[pP](\d+)")


@dataclass(frozen=True, slots=True)
class Plan:
    """`groups` are numbers of content elements (1 is the section's first p), each once, ascending,
    without gaps; `mended` says what was put right."""

    groups: list[list[int]]
    mended: list[str] = field(default_factory=list)


class Unusable(ValueError):
    """Not a plan, or one that leaves content out; the message can be shown to the model."""


def read_plan(text: str, n: int) -> Plan:
    """The plan of a section with content p1…pn. Raises Unusable."""
    raw = _json(text)
    groups = _ids(raw) if raw is not None else _ranges(text, n)
    mended: list[str] = []
    if unknown := {i for g in groups for i in g if not 1 <= i <= n}:
        mended.append(f"unknown ids dropped: {_named(unknown)}")
    seen: set[int] = set()
    twice: set[int] = set()
    clean: list[list[int]] = []
    for group in groups:
        kept = []
        for i in group:
            if not 1 <= i <= n:
                continue
            if i in seen:
                twice.add(i)
            else:
                kept.append(i)
            seen.add(i)
        if kept:
            clean.append(kept)
    if twice:
        mended.append(f"ids planned twice, the first kept: {_named(twice)}")
    if missing := set(range(1, n + 1)) - seen:
        raise Unusable(f"these ids are in no chunk: {_named(missing)}")
    if [i for g in clean for i in g] != sorted(seen):
        mended.append("ids out of reading order, sorted")
    return Plan(_in_order(clean), mended)


def _in_order(groups: list[list[int]]) -> list[list[int]]:
    """Ascending groups without gaps: a group around another one is cut where that one stands."""
    owner = {i: k for k, g in enumerate(groups) for i in g}
    out: list[list[int]] = []
    for i in sorted(owner):
        if out and owner[out[-1][-1]] == owner[i]:
            out[-1].append(i)
        else:
            out.append([i])
    return out


def _json(text: str) -> object | None:
    """The JSON in a reply, past a fence or words around it; None where there is none."""
    decoder = json.JSONDecoder()
    for m in re.finditer(r"[{\[]", text):
        try:
            found, _ = decoder.raw_decode(text, m.start())
        except ValueError:
            continue
        if isinstance(found, dict):
            found = found.get("chunks")
        if isinstance(found, list) and all(isinstance(g, list) for g in found) and found:
            return found
    return None


def _ids(raw: object) -> list[list[int]]:
    assert isinstance(raw, list)
    out = []
    for group in raw:
        numbers = []
        for i in group:
            if isinstance(i, int) and not isinstance(i, bool):
                numbers.append(i)
            elif isinstance(i, str) and (m := _ID.fullmatch(i.strip())):
                numbers.append(int(m[1]))
        out.append(numbers)
    return [g for g in out if g]


def _ranges(text: str, n: int) -> list[list[int]]:
    lines = [x.strip().strip("`") for x in text.splitlines()]
    found = [m for x in lines if x and _RANGES.fullmatch(x) for m in _RANGE.finditer(x)]
    if bounds := [m for x in lines if (m := _BOUNDARIES.fullmatch(x))]:
        return _between(bounds, n)
    if not found:
        raise Unusable("the answer holds no chunks in the format asked for")
    out = []
    for m in found:
        first, last = int(m[1]), int(m[2] or m[1])
        if last < first:
            raise Unusable(f"{m[0]} is no range")
        # a slip of the pen must not fill the memory
        out.append(list(range(first, min(last, n + 1) + 1)))
    return out


def _between(bounds: list[re.Match[str]], n: int) -> list[list[int]]:
    """The groups that begin at the given numbers. The last number shows that all was looked at."""
    if len(bounds) > 1:
        raise Unusable("there is more than one line of chunks")
    starts = [int(i) for i in re.findall(r"\d+", bounds[0][1])]
    if int(bounds[0][2]) != n:
        raise Unusable(f"the number after the slash is not that of the last id, p{n}")
    known = sorted({i for i in starts if 1 <= i <= n})
    if not known or known[0] != 1:
        raise Unusable("the first chunk does not begin with p1")
    groups = [list(range(a, b)) for a, b in pairwise([*known, n + 1])]
    # what has to be mended is said by giving it on: unknown numbers alone, the order as it came
    groups += [[i] for i in starts if not 1 <= i <= n and i <= n + 100]
    return groups if starts == sorted(starts) else [*groups[1:], groups[0]]


def _named(ids: Iterable[int]) -> str:
    some = sorted(ids)
    more = f" and {len(some) - 10} more" if len(some) > 10 else ""
    return ", ".join(f"p{i}" for i in some[:10]) + more
