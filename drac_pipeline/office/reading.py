"""What an office file was read into."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from drac_pipeline.model.conversion import Dropped, DropReason
from drac_pipeline.office.package import Node
from drac_pipeline.office.page import Piece
from drac_pipeline.office.styles import Style

_MAX_REPORTED = 5_000


@dataclass
class Reading:
    """`root` is an HTML tree; `paragraphs` those without a heading's style, in order; `taken` counts
    what a policy let in; `slides` holds the box of each printed slide;
    `running` says that headers or footers were left out."""

    root: Node = None
    dropped: list[Dropped] = field(default_factory=list)
    taken: Counter[str] = field(default_factory=Counter)
    warnings: list[str] = field(default_factory=list)
    paragraphs: list[tuple[Node, Style, list[Piece]]] = field(default_factory=list)
    slides: list[Node] = field(default_factory=list)
    running: bool = False

    def leave(self, text: str, reason: DropReason, page: int = 0) -> None:
        """Report a text that is left out."""
        if text and len(self.dropped) < _MAX_REPORTED:
            self.dropped.append(Dropped(page=page, text=text, reason=reason))

    def take(self, what: str) -> None:
        """Count something that a policy lets in."""
        self.taken[what] += 1
