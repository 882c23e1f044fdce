"""Number formats: a stored value as the program displays it.

No library renders them for Python, so this one does: sections, conditions, currencies,
percent, thousands, fractions, scientific, dates and times, elapsed time, text. Separators
are those of the format language itself (1,234.50): a file does not say which its reader
would see. Column width, which may turn a number into ###, is not looked at; colours
and padding (`_x`, `*x`) give nothing but a space.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Literal

from drac_pipeline.sheets.dates import render_date
from drac_pipeline.sheets.digits import WIDE, SimpleDigits, render_digits

_BUILTIN = {
    0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00",
    5: '"$"#,##0_);("$"#,##0)', 6: '"$"#,##0_);[Red]("$"#,##0)',
    7: '"$"#,##0.00_);("$"#,##0.00)', 8: '"$"#,##0.00_);[Red]("$"#,##0.00)',
    9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?", 13: "# ??/??",
    14: "m/d/yyyy", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy",
    18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "m/d/yyyy h:mm",
    37: "#,##0_);(#,##0)", 38: "#,##0_);[Red](#,##0)",
    39: "#,##0.00_);(#,##0.00)", 40: "#,##0.00_);[Red](#,##0.00)",
    41: '_(* #,##0_);_(* (#,##0);_(* "-"_);_(@_)', 42: '_("$"* #,##0_);_("$"* (#,##0);_("$"* "-"_);_(@_)',
    43: '_(* #,##0.00_);_(* (#,##0.00);_(* "-"??_);_(@_)',
    44: '_("$"* #,##0.00_);_("$"* (#,##0.00);_("$"* "-"??_);_(@_)',
    45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@",
}  # fmt: skip

_TOKEN = re.compile(
    r"""(?P<quoted>"[^"]*"?) | \\(?P<escaped>.) | (?P<pad>_.) | (?P<fill>\*.) | \[(?P<bracket>[^\]]*)\]
      | (?P<general>General|Standard) | (?P<ampm>AM/PM|A/P) | (?P<exp>E[+-])
      | (?P<date>[ymdhs]+|\.0+(?=\D|$)|e+)
      | (?P<digit>[0#?]) | (?P<other>.)""",
    re.I | re.X | re.S,
)
_DATES_KEPT = 20_000
_ELAPSED = re.compile(r"h+|m+|s+", re.I)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?[\d.]+)")
_CURRENCY = re.compile(r"\$([^-]*)(?:-([0-9A-Fa-f]+))?")

SectionKind = Literal["general", "number", "date", "text"]


@dataclass(slots=True)
class _Section:
    kind: SectionKind = "number"
    tokens: list[tuple[str, str]] = field(default_factory=list)
    condition: tuple[str, float] | None = None
    language: int = 0
    simple: SimpleDigits | None = None


class NumberFormat:
    """A format code, ready to render values."""

    __slots__ = ("_dates", "code", "date1904", "is_date", "plain", "sections")

    def __init__(self, code: str, date1904: bool = False) -> None:
        self.code = code
        self.date1904 = date1904
        self._dates: dict[float, str] = {}
        self.sections = [_section(s) for s in _split(code)] or [_Section("general")]
        self.is_date = self.sections[0].kind == "date"
        kinds = [k for k, _ in self.sections[0].tokens]
        self.plain = len(self.sections) == 1 and kinds in (["general"], ["at"])

    def render(self, value: float) -> str:
        """A number as displayed."""
        if self.plain or not math.isfinite(value):
            return general(value)
        numeric = self.sections[:3] if len(self.sections) > 3 else self.sections
        if len(numeric) > 1 and numeric[-1].kind == "text" and "@" in self.code:
            numeric = numeric[:-1]
        section, signed = _choose(numeric, value)
        if section is None:
            return general(value)
        shown = value if signed else abs(value)
        match section.kind:
            case "general":
                text = "".join(general(shown) if k == "general" else t for k, t in section.tokens)
            case "date":
                return self._render_date(section, shown)
            case "text":
                text = "".join(general(shown) if k == "at" else t for k, t in section.tokens)
            case _ if section.simple is not None:
                return section.simple.render(shown)
            case _:
                text = render_digits(section.tokens, shown)
        return " ".join(text.split())

    def _render_date(self, section: _Section, value: float) -> str:
        text = self._dates.get(value)
        if text is None:
            text = render_date(section.tokens, value, self.date1904, section.language)
            text = general(value) if text is None else " ".join(text.split())
            if len(self._dates) < _DATES_KEPT:  # the dates of a column come up again and again
                self._dates[value] = text
        return text

    def render_text(self, value: str) -> str:
        """A text as displayed: the fourth section, or one with @, may put words around it."""
        if len(self.sections) > 3:
            section = self.sections[3]
        elif self.sections[-1].kind == "text":
            section = self.sections[-1]
        else:
            return value
        if section.kind == "text" or not section.tokens:
            return "".join(value if k == "at" else t for k, t in section.tokens)
        return value


@lru_cache(maxsize=4096)
def number_format(code: str, date1904: bool = False) -> NumberFormat:
    """The format for `code`, compiled once."""
    return NumberFormat(code or "General", date1904)


def builtin_code(number: int) -> str:
    """The code of a built-in format number."""
    return _BUILTIN.get(number, "General")


def general(value: float) -> str:
    """As without a format. Whole numbers keep all their digits: they may be identifiers."""
    if not math.isfinite(value):
        return str(value)
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    size = abs(value)
    if 1e-5 <= size < 1e15:
        exact = Decimal(repr(value))
        places = max(0, min(10, 15 - max(exact.adjusted() + 1, 1)))
        text = format(exact.quantize(Decimal(1).scaleb(-places), context=WIDE), "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    mantissa, exponent = f"{value:.14E}".split("E")
    return f"{mantissa.rstrip('0').rstrip('.')}E{exponent[0]}{exponent[1:].zfill(2)}"


def _choose(sections: list[_Section], value: float) -> tuple[_Section | None, bool]:
    """The section for `value`, and whether a minus sign is still to be shown."""
    if any(s.condition for s in sections):
        for i, s in enumerate(sections):
            if s.condition is None:
                if i == 0 or i == len(sections) - 1 or value < 0:
                    return s, not (i == 1 and len(sections) > 2)
            elif _holds(s.condition, value):
                only_negative = s.condition[0] in ("<", "<=") and s.condition[1] <= 0
                return s, not only_negative or (i == 0 and len(sections) == 1)
        return None, True
    if len(sections) == 1 or value > 0:
        return sections[0], True
    if value < 0:
        return sections[1], False
    return (sections[2] if len(sections) > 2 else sections[0]), True


def _holds(condition: tuple[str, float], value: float) -> bool:
    op, than = condition
    match op:
        case "<":
            return value < than
        case "<=":
            return value <= than
        case ">":
            return value > than
        case ">=":
            return value >= than
        case "=":
            return value == than
        case _:
            return value != than


def _split(code: str) -> list[str]:
    """The sections; a semicolon in quotes, brackets or after a backslash parts nothing."""
    out, start, quoted, bracket, i = [], 0, False, False, 0
    while i < len(code):
        char = code[i]
        if quoted:
            quoted = char != '"'
        elif char == "\\":
            i += 1
        elif char == '"':
            quoted = True
        elif char == "[":
            bracket = True
        elif char == "]":
            bracket = False
        elif char == ";" and not bracket:
            out.append(code[start:i])
            start = i + 1
        i += 1
    return [*out, code[start:]]


def _section(code: str) -> _Section:
    section = _Section()
    raw: list[tuple[str, str]] = []
    for m in _TOKEN.finditer(code):
        kind = m.lastgroup or "other"
        text = m[kind]
        match kind:
            case "quoted":
                raw.append(("text", text.strip('"')))
            case "escaped":
                raw.append(("text", text))
            case "pad":
                raw.append(("text", " "))
            case "fill":
                # it parts a word from its number on paper; a sign or symbol stands close
                raw.append(("text", " " if raw and raw[-1][1][-1:].isalpha() else ""))
            case "bracket":
                _bracket(text, section, raw)
            case "other":
                raw.append(("at", text) if text == "@" else ("other", text))
            case "date":
                raw.append(("date", text.lower()) if text[0] not in "eE" else ("date", "yyyy"))
            case _:
                raw.append((kind, text))
    return _classify(section, raw)


def _bracket(text: str, section: _Section, raw: list[tuple[str, str]]) -> None:
    if _ELAPSED.fullmatch(text):
        raw.append(("elapsed", text.lower()))
    elif m := _CONDITION.fullmatch(text):
        section.condition = (m[1], float(m[2]))
    elif m := _CURRENCY.fullmatch(text):
        if m[1]:
            raw.append(("text", m[1]))
        if m[2]:
            section.language = int(m[2], 16) & 0xFFFF


def _classify(section: _Section, raw: list[tuple[str, str]]) -> _Section:
    """Settle what a token means, which depends on its neighbours."""
    kinds = {"digit" if k == "date" and t[0] == "." else k for k, t in raw}
    if "general" in kinds:
        section.kind = "general"
        section.tokens = [(k if k == "general" else "text", t) for k, t in raw]
    elif any(k == "elapsed" or (k == "date" and t[0] != ".") for k, t in raw):
        section.kind = "date"
        section.tokens = _minutes(
            [(k if k in ("date", "elapsed", "ampm", "text") else "text", t) for k, t in raw]
        )
    elif "at" in kinds or not kinds & {"digit"}:
        section.kind = "text"
        section.tokens = [(k if k == "at" else "text", t) for k, t in raw]
        if "at" not in kinds:  # words only, such as "-" for zero
            section.kind = "number"
    else:
        tokens: list[tuple[str, str]] = []
        for kind, text in raw:
            if kind == "date":  # ".000" of a number
                tokens += [("other", "."), *[("digit", "0")] * (len(text) - 1)]
            else:
                tokens.append((kind, text))
        section.tokens = tokens
        section.simple = SimpleDigits.of(tokens)
    return section


def _minutes(tokens: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """m is minutes after hours or before seconds, months elsewhere."""
    out = list(tokens)
    parts = [i for i, (k, _) in enumerate(tokens) if k in ("date", "elapsed")]
    for n, i in enumerate(parts):
        kind, text = tokens[i]
        if kind != "date" or text[0] != "m" or len(text) > 2:
            continue
        before = tokens[parts[n - 1]][1][0] if n else ""
        after = tokens[parts[n + 1]][1][0] if n + 1 < len(parts) else ""
        if before == "h" or after == "s":
            out[i] = ("minute", text)
    return out
