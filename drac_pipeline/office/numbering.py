"""List numbering of a DOCX: which sign an item has."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from drac_pipeline.office.package import Node, W, whole
from drac_pipeline.office.page import Marker

_ONE = re.compile(r"\(?%(\d)[.)]?")
_PART = re.compile(r"%(\d)")
_KINDS = {"lowerLetter": "a", "upperLetter": "A", "lowerRoman": "i", "upperRoman": "I"}
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"),
          (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip


@dataclass(slots=True)
class Level:
    """One level of a list: number format, the pattern of its sign, where its text begins (points)."""

    format: str = "decimal"
    text: str = ""
    start: int = 1
    style: str = ""
    left: float = 0.0
    legal: bool = False


@dataclass(slots=True)
class _Instance:
    abstract: str
    starts: dict[int, int] = field(default_factory=dict)
    levels: dict[int, Level] = field(default_factory=dict)


class Numbering:
    """The lists of a document, counting as its items come."""

    def __init__(self, root: Node | None) -> None:
        self._abstract: dict[str, dict[int, Level]] = {}
        self._links: dict[str, str] = {}
        self._styles: dict[str, str] = {}
        self._instances: dict[str, _Instance] = {}
        self._counts: dict[str, dict[int, int]] = {}
        self._used: set[str] = set()
        for node in root if root is not None else ():
            if node.tag == f"{W}abstractNum":
                self._read_abstract(node)
            elif node.tag == f"{W}num":
                self._read_instance(node)

    def level_of_style(self, number: str, style: str) -> int:
        """The level of a list that a paragraph style is tied to."""
        for n, level in self._levels(number).items():
            if level.style == style:
                return n
        return 0

    def level(self, number: str, level: int) -> Level | None:
        """The settings of a level, None where the list does not exist."""
        instance = self._instances.get(number)
        if instance is None:
            return None
        return instance.levels.get(level) or self._levels(number).get(level)

    def count(self, number: str, level: int) -> Marker | None:
        """The sign of the next item at a level; None where it has none."""
        settings = self.level(number, level)
        if settings is None:
            return None
        self._step(number, level)
        if settings.format == "bullet":
            return Marker() if settings.text.strip("\u200b \u00a0") else None
        if settings.format == "none" and not settings.text.strip():
            return None
        value = self._value(number, level)
        single = _ONE.fullmatch(settings.text.strip())
        if single and int(single[1]) == level + 1:
            if settings.format in ("decimal", "decimalZero"):
                return Marker(number=value)
            if settings.format in _KINDS:
                return Marker(number=value, kind=_KINDS[settings.format])
        text = _PART.sub(lambda m: self._shown(number, int(m[1]) - 1, settings), settings.text)
        return Marker(text=text.strip()) if text.strip() else None

    def sign(self, number: str, level: int) -> str:
        """The sign of the next item as it is printed; "" for a bullet."""
        settings = self.level(number, level)
        if settings is None or settings.format == "bullet":
            return ""
        self._step(number, level)
        return _PART.sub(lambda m: self._shown(number, int(m[1]) - 1, settings), settings.text).strip()

    # --------------------------------------------------------------- reading

    def _read_abstract(self, node: Node) -> None:
        name = node.get(f"{W}abstractNumId") or ""
        self._abstract[name] = dict(filter(None, map(_read_level, node.findall(f"{W}lvl"))))
        if (link := node.find(f"{W}numStyleLink")) is not None:
            self._links[name] = link.get(f"{W}val") or ""
        if (link := node.find(f"{W}styleLink")) is not None:
            self._styles[link.get(f"{W}val") or ""] = name

    def _read_instance(self, node: Node) -> None:
        abstract = node.find(f"{W}abstractNumId")
        instance = _Instance(abstract.get(f"{W}val") or "" if abstract is not None else "")
        for override in node.findall(f"{W}lvlOverride"):
            level = whole(override.get(f"{W}ilvl"))
            if (start := override.find(f"{W}startOverride")) is not None:
                instance.starts[level] = whole(start.get(f"{W}val"), 1)
            if (own := override.find(f"{W}lvl")) is not None and (read := _read_level(own)):
                instance.levels[level] = read[1]
        self._instances[node.get(f"{W}numId") or ""] = instance

    def _levels(self, number: str) -> dict[int, Level]:
        instance = self._instances.get(number)
        if instance is None:
            return {}
        name = instance.abstract
        if name in self._links:
            name = self._styles.get(self._links[name], name)
        return self._abstract.get(name, {})

    # -------------------------------------------------------------- counting

    def _step(self, number: str, level: int) -> None:
        """Lists made from one definition go on counting, unless one says where it starts."""
        instance = self._instances[number]
        counts = self._counts.setdefault(instance.abstract, {})
        if number not in self._used:
            self._used.add(number)
            for n, start in instance.starts.items():
                counts[n] = start - 1
        settings = self.level(number, level)
        start = settings.start if settings else 1
        counts[level] = counts.get(level, start - 1) + 1
        for deeper in [n for n in counts if n > level]:
            del counts[deeper]

    def _value(self, number: str, level: int) -> int:
        counts = self._counts[self._instances[number].abstract]
        if level not in counts:
            settings = self.level(number, level)
            return settings.start if settings else 1
        return counts[level]

    def _shown(self, number: str, level: int, at: Level) -> str:
        settings = self.level(number, level)
        kind = "decimal" if at.legal or settings is None else settings.format
        return number_text(self._value(number, level), kind)


def _read_level(node: Node) -> tuple[int, Level]:
    def value(name: str) -> str:
        child = node.find(f"{W}{name}")
        return (child.get(f"{W}val") or "") if child is not None else ""

    indent = node.find(f"{W}pPr/{W}ind")
    left = (indent.get(f"{W}left") or indent.get(f"{W}start")) if indent is not None else None
    return whole(node.get(f"{W}ilvl")), Level(
        format=value("numFmt") or "decimal",
        text=value("lvlText"),
        start=whole(value("start"), 1),
        style=value("pStyle"),
        left=whole(left) / 20,
        legal=node.find(f"{W}isLgl") is not None,
    )


def number_text(number: int, kind: str) -> str:
    """A number in one of Word's number formats; those we do not know count in digits."""
    if kind in ("lowerLetter", "upperLetter") and number > 0:
        # after z comes aa, then bb
        out = chr(97 + (number - 1) % 26) * min(1 + (number - 1) // 26, 9)
    elif kind in ("lowerRoman", "upperRoman") and 0 < number < 4000:
        out = ""
        for value, sign in _ROMAN:
            count, number = divmod(number, value)
            out += sign * count
    elif kind == "decimalZero":
        return f"{number:02d}"
    elif kind == "none":
        return ""
    else:
        return str(number)
    return out.upper() if kind.startswith("upper") else out
