"""What a batch of pages is told of the pages before it: the headings, and the table that may go on."""

from __future__ import annotations

import re
from dataclasses import dataclass

from drac_pipeline.convert.markers import ERROR_MARKER, PAGE_COMMENT

_HEADING = re.compile(r"^(#{1,6}) +(\S.*)$", re.M)
_ITEM = re.compile(r"^(?P<label>[^:;]{1,80}): +(?P<value>\S.*)$", re.S)
MOST_HEADINGS = 40


@dataclass(frozen=True, slots=True)
class Carried:
    """`outline` are headings as Markdown lines, `header` the columns of the open table."""

    outline: tuple[str, ...] = ()
    header: tuple[str, ...] = ()

    def told(self) -> str:
        """As the model reads it."""
        out = []
        if self.outline:
            out += ["Headings of the pages before:", *self.outline]
        if self.header:
            out += ["", "A table may go on from the page before. Its columns:", "; ".join(self.header)]
        return "\n".join(out)


def carry(markdown: str) -> Carried:
    """What to carry on from the Markdown of all pages before.

    The outline keeps every heading that is still open, and the last others.
    """
    headings = [m[0].strip() for m in _HEADING.finditer(markdown)]
    open_ones: list[str] = []
    level = 7
    for h in reversed(headings):
        depth = len(h) - len(h.lstrip("#"))
        if depth < level:
            open_ones.append(h)
            level = depth
    if len(headings) > MOST_HEADINGS:
        late = headings[-MOST_HEADINGS:]
        headings = [h for h in reversed(open_ones) if h not in late] + late
    text = ERROR_MARKER.sub("", PAGE_COMMENT.sub("", markdown)).rstrip()
    last = text[text.rfind("\n\n") + 1 :].strip() if text else ""
    return Carried(tuple(headings), tuple(label for label, _ in row_items(last) if label))


def row_items(block: str) -> list[tuple[str, str]]:
    """(column, value) of a row sentence; [] for what is none. A value without column has ""."""
    if "\n" in block or "; " not in block or block.startswith(("#", "-", "<!--")):
        return []
    body = block.split(" — ", 1)[1] if " — " in block.split(":", 1)[0] else block
    items: list[tuple[str, str]] = []
    for part in body.rstrip(".").split("; "):
        match = _ITEM.match(part)
        items.append((match["label"].strip(), match["value"].strip()) if match else ("", part.strip()))
    return items if sum(bool(label) for label, _ in items) >= 2 else []
