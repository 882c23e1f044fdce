"""How a double misbehaves: on the wire, and in what it writes."""

from __future__ import annotations

import random
import re
import threading
from collections import Counter
from dataclasses import dataclass, field

WIRE_FAULTS = ("throttle", "timeout", "model error", "unavailable", "internal", "dropped connection")
TEXT_FAULTS = (
    "truncated",
    "silently truncated",
    "loop",
    "refusal",
    "filtered",
    "merged rows",
    "dropped page",
    "invented digit",
    "prompt leak",
)
PLAN_FAULTS = ("garbage", "missing ids", "duplicated ids", "unknown ids", "out of order")
ALL_FAULTS = WIRE_FAULTS + TEXT_FAULTS

_COMMENT = re.compile(r"<!-- page \d+ -->")
_NUMBER = re.compile(r"\d{2,}")


@dataclass
class FaultPlan:
    """A share `rate` of calls goes wrong, each in one of `kinds`, by a seeded die. `script` names
    the faults of the first calls instead ("" for none). `seen` counts what was done."""

    rate: float = 0.0
    kinds: tuple[str, ...] = ALL_FAULTS
    seed: int = 1
    script: list[str] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._lock = threading.Lock()

    def next(self) -> str:
        """The fault of the next call, or ""."""
        with self._lock:
            if self.script:
                fault = self.script.pop(0)
            else:
                hit = self.kinds and self._random.random() < self.rate
                fault = self._random.choice(self.kinds) if hit else ""
            self.seen[fault or "none"] += 1
            return fault

    def apply(self, fault: str, text: str, system: str) -> tuple[str, str]:
        """The text with the fault in it, and the stop reason (Bedrock's word)."""
        with self._lock:
            return spoil(fault, text, system, self._random)


def spoil(fault: str, text: str, system: str, dice: random.Random) -> tuple[str, str]:
    """A reply with the fault in it."""
    stop = "end_turn"
    if fault in ("truncated", "silently truncated"):
        text = text[: int(len(text) * dice.uniform(0.3, 0.8))]
        stop = "max_tokens" if fault == "truncated" else stop
    elif fault == "loop":
        at = text.rfind("\n\n", 0, max(2, len(text) // 2))
        line = next((x for x in text[max(at, 0) :].split("\n") if len(x) > 20), "and so on and so forth and")
        text = text[: max(at, 0)] + ("\n\n" + line) * 60
    elif fault == "refusal":
        text = "I'm sorry, but I can't help with transcribing this document."
    elif fault == "filtered":
        text, stop = "", "content_filtered"
    elif fault == "merged rows":
        text = _merge_rows(text)
    elif fault == "dropped page":
        found = list(_COMMENT.finditer(text))
        if len(found) > 1:
            k = dice.randrange(len(found))
            end = found[k + 1].start() if k + 1 < len(found) else len(text)
            text = text[: found[k].start()] + text[end:]
        else:
            text = ""
    elif fault == "invented digit":
        text = _invent(text, dice)
    elif fault == "prompt leak":
        text += "\n\n" + next((x for x in system.splitlines() if len(x) > 60), system[:200])
    return text, stop


def _invent(text: str, dice: random.Random) -> str:
    numbers = [m for m in _NUMBER.finditer(text) if not text[: m.start()].endswith("<!-- page ")]
    if not numbers:
        return text + "\n\nReference 7" + str(dice.randrange(10**6, 10**7)) + "."
    m = dice.choice(numbers)
    return (
        text[: m.start()]
        + str(dice.randrange(10 ** (len(m[0]) + 4), 10 ** (len(m[0]) + 5)))
        + text[m.end() :]
    )


def _merge_rows(text: str) -> str:
    """The first two neighbouring row sentences as one."""
    blocks = text.split("\n\n")
    for i in range(len(blocks) - 1):
        a, b = blocks[i], blocks[i + 1]
        if all("; " in x and ": " in x and "\n" not in x for x in (a, b)):
            return "\n\n".join([*blocks[:i], f"{a.rstrip('.')}; {b}", *blocks[i + 2 :]])
    return text
