"""Paragraph and table styles of a DOCX, resolved along what they are based on."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from drac_pipeline.office.package import Node, W, is_on, whole

_HEADING = re.compile(r"heading\s*(\d)")
BODY_LEVEL = 9  # Word's outline level of text


@dataclass(frozen=True, slots=True)
class Style:
    """What a style gives to text. `outline` is 0-based, None where nothing says it; `left` and
    `size` are in points; `numbering` is (list, level)."""

    id: str = ""
    name: str = ""
    outline: int | None = None
    bold: bool | None = None
    hidden: bool | None = None
    raised: bool = False
    size: float = 0.0
    left: float | None = None
    numbering: tuple[str, int | None] | None = None
    first_row: bool = False  # a table style that sets its first row apart
    first_bold: bool = False
    first_column_bold: bool = False


class Styles:
    """The styles of a document by their id."""

    def __init__(self, root: Node | None) -> None:
        self._nodes: dict[str, Node] = {}
        self._done: dict[str, Style] = {}
        defaults = root.find(f"{W}docDefaults/{W}rPrDefault/{W}rPr") if root is not None else None
        self._base = self.default = with_run(Style(), defaults)
        for node in root.findall(f"{W}style") if root is not None else ():
            name = node.get(f"{W}styleId") or ""
            self._nodes.setdefault(name, node)
            if node.get(f"{W}type") == "paragraph" and is_on_attribute(node.get(f"{W}default")):
                self.default = self.of(name)

    def of(self, name: str | None) -> Style:
        """The style with an id; the default paragraph style for None and unknown ones."""
        if not name or name not in self._nodes:
            return self.default
        if name in self._done:
            return self._done[name]
        chain: list[Node] = []
        at: str | None = name
        while at and at in self._nodes and self._nodes[at] not in chain and len(chain) < 50:
            chain.append(self._nodes[at])
            based = chain[-1].find(f"{W}basedOn")
            at = based.get(f"{W}val") if based is not None else None
        style = self._base
        for node in reversed(chain):
            style = _with(style, node)
        self._done[name] = style
        return style


def is_on_attribute(value: str | None) -> bool:
    return (value or "").lower() in ("1", "true", "on")


def _with(base: Style, node: Node) -> Style:
    """`base` changed by what a style's own element says."""
    name_node = node.find(f"{W}name")
    name = (name_node.get(f"{W}val") or "").lower() if name_node is not None else ""
    paragraph, run = node.find(f"{W}pPr"), node.find(f"{W}rPr")
    out = with_paragraph(replace(base, id=node.get(f"{W}styleId") or "", name=name), paragraph)
    if m := _HEADING.fullmatch(name):
        out = replace(out, outline=out.outline if out.outline is not None else int(m[1]) - 1)
    out = with_run(out, run)
    for part in node.findall(f"{W}tblStylePr"):
        bold = bool(is_on(part.find(f"{W}rPr/{W}b")))
        if part.get(f"{W}type") == "firstRow":
            out = replace(out, first_row=True, first_bold=bold)
        elif part.get(f"{W}type") == "firstCol":
            out = replace(out, first_column_bold=bold)
    return out


def with_paragraph(style: Style, properties: Node | None) -> Style:
    """`style` changed by paragraph properties."""
    if properties is None:
        return style
    if (node := properties.find(f"{W}outlineLvl")) is not None:
        style = replace(style, outline=whole(node.get(f"{W}val"), BODY_LEVEL))
    if (node := properties.find(f"{W}ind")) is not None:
        left = node.get(f"{W}left") or node.get(f"{W}start")
        if left is not None:
            style = replace(style, left=whole(left) / 20)
    if (node := properties.find(f"{W}numPr")) is not None:
        number, level = node.find(f"{W}numId"), node.find(f"{W}ilvl")
        known = style.numbering or ("", None)
        style = replace(
            style,
            numbering=(
                (number.get(f"{W}val") or "") if number is not None else known[0],
                whole(level.get(f"{W}val")) if level is not None else known[1],
            ),
        )
    return style


def with_run(style: Style, properties: Node | None) -> Style:
    """`style` changed by run properties."""
    if properties is None:
        return style
    bold, hidden = is_on(properties.find(f"{W}b")), is_on(properties.find(f"{W}vanish"))
    size = properties.find(f"{W}sz")
    aligned = properties.find(f"{W}vertAlign")
    return replace(
        style,
        raised=aligned.get(f"{W}val") == "superscript" if aligned is not None else style.raised,
        bold=style.bold if bold is None else bold,
        hidden=style.hidden if hidden is None else hidden,
        size=whole(size.get(f"{W}val")) / 2 if size is not None else style.size,
    )
