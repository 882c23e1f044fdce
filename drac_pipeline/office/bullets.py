"""Which paragraphs of a slide have a bullet or number: asked of the paragraph, then of its shape,
the layout, the master."""

from __future__ import annotations

from dataclasses import dataclass, field

from drac_pipeline.office.numbering import number_text
from drac_pipeline.office.package import A, Node, P, whole
from drac_pipeline.office.page import Marker

_FORMATS = {"arabic": "decimal", "alphaLc": "lowerLetter", "alphaUc": "upperLetter", "romanLc": "lowerRoman",
            "romanUc": "upperRoman"}  # fmt: skip
_KINDS = {"alphaLc": "a", "alphaUc": "A", "romanLc": "i", "romanUc": "I"}


@dataclass
class Bullets:
    """The list styles that apply to one shape, nearest first, and its counts."""

    styles: list[Node]
    counts: dict[int, tuple[str, int]] = field(default_factory=dict)

    def left(self, paragraph: Node, level: int) -> float:
        """Where the paragraph's text begins, in points."""
        for properties in self._chain(paragraph, level):
            if (value := properties.get("marL")) is not None:
                return whole(value) / 12700
        return level * 27.0

    def marker(self, paragraph: Node, level: int) -> Marker | None:
        """The sign of a paragraph, counting on; None where it has none."""
        for deeper in [n for n in self.counts if n > level]:
            del self.counts[deeper]
        for properties in self._chain(paragraph, level):
            if properties.find(f"{A}buNone") is not None:
                break
            if (auto := properties.find(f"{A}buAutoNum")) is not None:
                return self._number(auto, level)
            if properties.find(f"{A}buChar") is not None or properties.find(f"{A}buBlip") is not None:
                self.counts.pop(level, None)
                return Marker()
        self.counts.pop(level, None)
        return None

    def _number(self, auto: Node, level: int) -> Marker:
        scheme = auto.get("type") or "arabicPeriod"
        start = whole(auto.get("startAt"), 1)
        last = self.counts.get(level)
        key = f"{scheme}{start}"
        value = last[1] + 1 if last is not None and last[0] == key else start
        self.counts[level] = (key, value)
        name = next((n for n in _FORMATS if scheme.startswith(n)), "arabic")
        if name == "arabic":
            return Marker(number=value)
        if scheme.startswith(name):
            return Marker(number=value, kind=_KINDS[name])
        return Marker(text=number_text(value, _FORMATS[name]))

    def _chain(self, paragraph: Node, level: int) -> list[Node]:
        own = paragraph.find(f"{A}pPr")
        found = [own] if own is not None else []
        for style in self.styles:
            properties = style.find(f"{A}lvl{level + 1}pPr")
            if properties is not None:
                found.append(properties)
        return found


def master_style(master: Node | None, kind: str) -> Node | None:
    """The list style that a master has for placeholders of a type."""
    styles = master.find(f"{P}txStyles") if master is not None else None
    if styles is None:
        return None
    name = "titleStyle" if kind in ("title", "ctrTitle") else "otherStyle" if kind == "" else "bodyStyle"
    return styles.find(f"{P}{name}")
