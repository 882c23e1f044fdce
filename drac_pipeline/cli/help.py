"""Help texts as paragraphs that flow to the width of the terminal, whatever the width of the source."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import typer


class Commands(typer.Typer):
    """A typer whose commands have their docstrings as help, without the line breaks of the source."""

    def command(self, name: str | None = None, **named: Any) -> Callable[[Callable[..., Any]], Any]:
        def add(function: Callable[..., Any]) -> Any:
            told = {"help": flowing(inspect.getdoc(function) or ""), **named}
            return typer.Typer.command(self, name, **told)(function)

        return add


def flowing(text: str) -> str:
    """The text with each paragraph in one line; lines that are indented, as examples are, stay."""
    return "\n\n".join(
        part if part.startswith(" ") else " ".join(part.split()) for part in text.split("\n\n")
    )
