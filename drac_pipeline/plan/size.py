"""How large texts count, and how large chunks should and may be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from drac_pipeline.config import PlanConfig
from drac_pipeline.errors import ConfigError
from drac_pipeline.model.element import Element, ElementKind

_JOIN_GAP, _LIST_GAP, _BLOCK_GAP = 1, 1, 2  # characters between parts of a text, items of a list, blocks


@dataclass(frozen=True)
class TokenCounter:
    """What planning by tokens needs of an embedder: how many tokens a text has (what the model
    adds to each included), and how many it reads."""

    count: Callable[[str], int]
    max_tokens: int


@dataclass(frozen=True)
class Sizes:
    """Sizes of a document's chunks in one unit.

    `target` and `hard` are those of a whole chunk, its headings counted, less what is added to
    every text; `count` measures a text, and what stands between texts counts if `gaps`.
    """

    target: int
    hard: int
    count: Callable[[str], int] = len
    gaps: bool = True

    def of(self, items: Sequence[Element]) -> int:
        """The size of elements in a chunk, with what parts them from what is before."""
        total = 0
        for k, e in enumerate(items):
            total += self.count(_line(e))
            if self.gaps:
                total += _gap(items[k - 1] if k else None, e)
        return total

    def headings(self, elements: Sequence[Element]) -> dict[str, int]:
        """What each heading takes of a chunk's size, by id."""
        return {e.id: self.of([e]) for e in elements if e.kind is ElementKind.HEADING}


def sizes_of(policy: PlanConfig, counter: TokenCounter | None = None, title: str = "") -> Sizes:
    """The sizes that a policy asks for, less what the document's title takes of every chunk.
    Raises ConfigError for tokens without a counter."""
    if policy.size_unit == "characters":
        taken = len(title) + _BLOCK_GAP if title else 0
        return Sizes(max(1, policy.target_chars - taken), max(1, policy.max_chars - taken))
    if counter is None:
        raise ConfigError("plan.size_unit = tokens: there is no embedder to count them")
    added = counter.count("")  # what the model adds to every text
    taken = counter.count(title)
    hard = min(policy.max_tokens, counter.max_tokens) if policy.max_tokens else counter.max_tokens
    return Sizes(
        target=max(1, policy.target_tokens - taken),
        hard=max(1, hard - taken),
        count=lambda text: counter.count(text) - added,
        gaps=False,
    )


def same_list(above: Element, here: Element) -> bool:
    """True for two items of one list, which a single line break keeps together."""
    return above.kind is here.kind is ElementKind.LIST_ITEM and above.group == here.group


def _line(element: Element) -> str:
    return f"{'#' * element.level} {element.text}" if element.kind is ElementKind.HEADING else element.text


def _gap(above: Element | None, here: Element) -> int:
    if above is not None and here.part:
        return _JOIN_GAP
    return _LIST_GAP if above is not None and same_list(above, here) else _BLOCK_GAP
