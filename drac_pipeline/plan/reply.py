"""A model's plan read from its text, mended where it is clear what was meant.

Three formats are known, and each is read whichever was asked for: boundaries (`1 5 6 /11`, the
first of each chunk and the last of all), ranges (`1-4 5 6-11`) and lists of ids
(`{"chunks": [["h1", "p1"], …]}` or the bare list). What is left out of a web page stands after a
bar (`1 5 6 /11 | 4: share links`) or beside the lists (`"left_out": [{"id": "p4", "reason": …}]`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from itertools import pairwise

_RANGE = re.compile(r"[pP]?(\d+)(?:\s*[-–—]\s*[pP]?(\d+))?")
_RANGES = re.compile(r"(?:chunks?:)?[\s,;|\[\]]*(?:[pP]?\d+(?:\s*[-–—]\s*[pP]?\d+)?[\s,;|\[\]]*)+", re.I)
_BOUNDARIES = re.compile(r"(?:chunks?:)?\s*((?:[pP]?\d+[\s,]+)+)/\s*[pP]?(\d+)", re.I)
_LEFT_OUT = re.compile(r"\s*((?:[pP]?\d+[\s,]*)+)[:\-–—\s]*(.*?)\s*", re.S)
_MOST_SHARE = 1 / 3  # of a section that may be left out
_REASON_CHARS = 80
_ID = re.compile(r"[pP](\d+)")


@dataclass(frozen=True, slots=True)
class Plan:
    """`groups` are numbers of content elements (1 is the section's first p), each once, ascending,
    without gaps but for `left_out` (number to reason); `mended` says what was put right."""

    groups: list[list[int]]
    mended: list[str] = field(default_factory=list)
    left_out: dict[int, str] = field(default_factory=dict)


class Unusable(ValueError):
    """Not a plan, or one that leaves content out; the message can be shown to the model."""


def read_plan(text: str, n: int, may_go: Collection[int] | None = None) -> Plan:
    """The plan of a section with content p1…pn. Raises Unusable.

    `may_go` are numbers that may be left out, given for a web page. What else is left out by name
    goes into the chunk before it.
    """
    raw = _json(text)
    if raw is not None:
        groups, out = _ids(raw[0]), _named_out(raw[1])
    else:
        out = {}
        lines = []
        for line in text.splitlines():
            chunks, bar, rest = line.partition("|")
            # numbers alone are chunks, whatever stands between them: what is left out has its reason
            if bar and not _RANGES.fullmatch(line.strip()) and (found := _barred_out(rest)) is not None:
                line, out = chunks, {**out, **found}
            lines.append(line)
        groups = _ranges("\n".join(lines), n)
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
    going = {i: why for i, why in out.items() if 1 <= i <= n}
    if may_go is not None:
        staying = {i for i in going if i not in may_go}
        if len(going) - len(staying) > _MOST_SHARE * n:
            staying = set(going)
        if staying:
            mended.append(f"left out without a right to it, put back: {_named(staying)}")
            clean = _put_back(clean, sorted(staying - seen))
            seen |= staying
        going = {i: why for i, why in going.items() if i not in staying}
        clean = [kept for g in clean if (kept := [i for i in g if i not in going])]
        seen |= set(going)
    else:
        going = {}
    if missing := set(range(1, n + 1)) - seen:
        raise Unusable(f"these ids are in no chunk: {_named(missing)}")
    if [i for g in clean for i in g] != sorted(seen - set(going)):
        mended.append("ids out of reading order, sorted")
    return Plan(_in_order(clean), mended, going)


def _put_back(groups: list[list[int]], numbers: list[int]) -> list[list[int]]:
    """The groups with each number in the group of the one before it."""
    for i in numbers:
        at = next((g for g in groups if i - 1 in g), next((g for g in groups if i + 1 in g), None))
        if at is None:
            groups.append([i])
        else:
            at.append(i)
            at.sort()
    return groups


def _barred_out(text: str) -> dict[int, str] | None:
    """What stands after the bar: `4: share links; 9, 10: consent notice`. None where it is no such list."""
    out: dict[int, str] = {}
    for part in text.strip().strip("`").rstrip(".").split(";"):
        if not part.strip():
            continue
        match = _LEFT_OUT.fullmatch(part)
        if match is None:
            return None
        out.update(dict.fromkeys(map(int, re.findall(r"\d+", match[1])), _reason(match[2])))
    return out


def _named_out(raw: object) -> dict[int, str]:
    """The list beside the chunks; bare ids count too."""
    out: dict[int, str] = {}
    for entry in raw if isinstance(raw, list) else []:
        name, why = (entry.get("id"), entry.get("reason")) if isinstance(entry, dict) else (entry, "")
        if isinstance(name, str) and (m := _ID.fullmatch(name.strip())):
            out[int(m[1])] = _reason(str(why or ""))
    return out


def _reason(text: str) -> str:
    return " ".join(text.split())[:_REASON_CHARS] or "boilerplate"


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


def _json(text: str) -> tuple[object, object] | None:
    """Chunks, and what is left out, of the JSON in a reply, past a fence or words around it; None where
    there is none."""
    decoder = json.JSONDecoder()
    for m in re.finditer(r"[{\[]", text):
        try:
            found, _ = decoder.raw_decode(text, m.start())
        except ValueError:
            continue
        out = None
        if isinstance(found, dict):
            found, out = found.get("chunks"), found.get("left_out")
        if isinstance(found, list) and all(isinstance(g, list) for g in found) and found:
            return found, out
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
