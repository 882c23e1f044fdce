"""Prompts as files. A change of one is a new file with the next number: its name and the hash of
its text are part of what results are cached by and of the ledger."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from string import Template

CONVERT = "convert-v2"
AGENTIC = "agentic-v1"
PLANS = {style: f"plan-{style}-v2" for style in ("boundaries", "ranges", "lists")}
WEB = {style: f"web-{style}-v1" for style in PLANS}  # added to PLANS where the source is a web page


@dataclass(frozen=True, slots=True)
class Prompt:
    """`version` is name and hash, such as `convert-v2-3fa9c0d1`."""

    version: str
    text: str

    def fill(self, **values: str) -> str:
        """The text with `$name` replaced. Raises KeyError for a name without value."""
        return Template(self.text).substitute(values)

    def lines(self) -> list[str]:
        """Its long lines, to recognise a reply that repeats its instructions."""
        return [line.strip("-* ") for line in self.text.splitlines() if len(line) > 50 and "$" not in line]


@lru_cache
def prompt(name: str) -> Prompt:
    """The prompt in `<name>.md`."""
    text = (files(__name__) / f"{name}.md").read_text(encoding="utf-8")
    return Prompt(f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:8]}", text)
