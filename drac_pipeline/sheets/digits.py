"""The digit placeholders of a number format (0 # ? , . % E+ /) filled in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction

Token = tuple[str, str]
# room for every digit of the largest number with the decimals a format may ask for
WIDE = Context(prec=700, rounding=ROUND_HALF_UP)
_SIMPLE = re.compile(
    r"[^0#?.,/%E]*(?P<digits>(?P<whole>#,##0|#,###|[0#]+)(?:\.(?P<decimals>0+))?)(?P<after>[^0#?.,/E%]*%?[^0#?.,/E%]*)"
)


@dataclass(frozen=True, slots=True)
class SimpleDigits:
    """Most formats by far: words, one run of digits with or without decimals, words."""

    before: str
    after: str
    unit: Decimal
    spec: str
    optional: bool  # no digit before the point where the whole part is 0
    percent: bool

    @classmethod
    def of(cls, tokens: list[Token]) -> SimpleDigits | None:
        """The simple form of a section, or None if it is not that simple."""
        text = "".join("\0" if k == "text" else t for k, t in tokens)
        m = _SIMPLE.fullmatch(text)
        if m is None:
            return None
        first, last = m.start("digits"), m.end("digits")
        before = "".join(t for _, t in tokens[:first]) if len(text) == len(tokens) else ""
        after = "".join(t for _, t in tokens[last:]) if len(text) == len(tokens) else ""
        if len(text) != len(tokens):
            return None
        places = len(m["decimals"] or "")
        zeros = m["whole"].count("0")
        if zeros > 1:
            return None
        spec = ",f" if "," in m["whole"] else "f"
        return cls(
            " ".join(before.split()) + (" " if before[-1:].isspace() and before.strip() else ""),
            (" " if after[:1].isspace() and after.strip() else "") + " ".join(after.split()),
            Decimal(1).scaleb(-places),
            spec,
            zeros == 0,
            "%" in m["after"],
        )

    def render(self, value: float) -> str:
        """`value` in this format."""
        number = Decimal(repr(float(value)))
        if self.percent:
            number = number.scaleb(2)
        shown = number.quantize(self.unit, context=WIDE)
        text = format(abs(shown), self.spec)
        if self.optional and text[:1] == "0":
            text = text[1:]
        sign = "-" if shown < 0 else ""  # what rounds to zero has no sign
        return f"{sign}{self.before}{text}{self.after}"


def render_digits(tokens: list[Token], value: float) -> str:
    """`value` in a section of digit placeholders and literals."""
    if not any(k == "digit" for k, _ in tokens):
        return "".join(t for k, t in tokens)
    number = Decimal(repr(float(value))) if value == value and abs(value) != float("inf") else Decimal(0)
    # fifteen digits are all that programs show; the rest is noise of the binary form
    if number and number.adjusted() < 300:
        number = number.quantize(Decimal(1).scaleb(max(number.adjusted() - 14, -300)), context=WIDE)
    if ("other", "/") in tokens:
        return _fraction(tokens, number)
    percent = sum(t.count("%") for k, t in tokens if k == "other")
    number = number.scaleb(2 * percent)
    if any(k == "exp" for k, _ in tokens):
        return _scientific(tokens, number)
    return _fixed(tokens, number)


def _fixed(tokens: list[Token], number: Decimal) -> str:
    point = next((i for i, x in enumerate(tokens) if x == ("other", ".")), len(tokens))
    digits = [i for i, (k, _) in enumerate(tokens) if k == "digit"]
    whole = [i for i in digits if i < point]
    decimals = [i for i in digits if i > point]
    last = whole[-1] if whole else -1
    commas = [i for i, x in enumerate(tokens) if x == ("other", ",")]
    thousands = any(whole and whole[0] < i < last for i in commas)
    scale = 0
    i = (digits[-1] if digits else -1) + 1
    trailing = set()
    while i < len(tokens) and tokens[i] == ("other", ","):
        scale, i = scale + 1, i + 1
        trailing.add(i - 1)
    if not decimals or last + 1 < point:
        j = last + 1
        while whole and j < point and tokens[j] == ("other", ",") and j not in trailing:
            scale, j = scale + 1, j + 1
    shown = abs(number).scaleb(-3 * scale).quantize(Decimal(1).scaleb(-len(decimals)), context=WIDE)
    left, _, right = format(shown, "f").partition(".")
    filled = _whole(tokens, whole, left.lstrip("0"), thousands) | _decimals(tokens, decimals, right)
    skip = set(commas)
    out = []
    # a point with nothing behind it is not shown
    bare = not any(filled[i].strip() for i in decimals)
    for i, (kind, text) in enumerate(tokens):
        if i in filled:
            out.append(filled[i])
        elif i == point:
            out.append("" if bare else ".")
        elif i not in skip or (whole and i > digits[-1] and i not in trailing):
            out.append("" if kind == "digit" else text)
    sign = "-" if number < 0 and shown else ""
    if not whole and point < len(tokens):
        # ".00" shows whole digits all the same
        out.insert(point, left.lstrip("0"))
    return sign + "".join(out)


def _whole(tokens: list[Token], places: list[int], digits: str, thousands: bool) -> dict[int, str]:
    """Digits from the right into the placeholders; what is left over stands before the first."""
    out: dict[int, str] = {}
    rest = digits
    for n, i in enumerate(reversed(places)):
        first = n == len(places) - 1
        take, rest = (rest, "") if first else (rest[-1:], rest[:-1])
        if not take:
            take = {"0": "0", "?": " "}.get(tokens[i][1], "")
        out[i] = take
    if thousands:
        position = 0
        for i in reversed(places):
            text = ""
            for char in reversed(out[i]):
                if char.isdigit():
                    if position and position % 3 == 0:
                        text = "," + text
                    position += 1
                text = char + text
            out[i] = text
    return out


def _decimals(tokens: list[Token], places: list[int], digits: str) -> dict[int, str]:
    out: dict[int, str] = {}
    optional = True
    for i, digit in zip(reversed(places), reversed(digits), strict=False):
        if optional and digit == "0" and tokens[i][1] != "0":
            out[i] = " " if tokens[i][1] == "?" else ""
        else:
            optional = False
            out[i] = digit
    return out


def _scientific(tokens: list[Token], number: Decimal) -> str:
    e = next(i for i, (k, _) in enumerate(tokens) if k == "exp")
    mantissa, tail = tokens[:e], tokens[e + 1 :]
    point = next((i for i, x in enumerate(mantissa) if x == ("other", ".")), len(mantissa))
    whole = max(1, sum(k == "digit" for k, _ in mantissa[:point]))
    places = sum(k == "digit" for k, _ in mantissa[point:])
    exponent = 0
    if number:
        exponent = (number.adjusted() // whole) * whole if whole > 1 else number.adjusted()
        shown = number.scaleb(-exponent).quantize(Decimal(1).scaleb(-places), context=WIDE)
        if abs(shown) >= Decimal(10) ** whole:
            exponent += whole
            number = number.scaleb(-exponent)
        else:
            number = shown
    sign = "-" if exponent < 0 else ("+" if tokens[e][1][1] == "+" else "")
    width = sum(k == "digit" for k, _ in tail)
    rest = "".join(t for k, t in tail if k != "digit")
    return f"{_fixed(mantissa, number)}E{sign}{str(abs(exponent)).zfill(width)}{rest}"


def _fraction(tokens: list[Token], number: Decimal) -> str:
    slash = tokens.index(("other", "/"))
    after = tokens[slash + 1 :]
    below = "".join(t for k, t in after if k in ("digit", "other")).strip()
    above = [i for i, (k, _) in enumerate(tokens[:slash]) if k == "digit"]
    # a blank between placeholders parts the whole number from the fraction
    mixed = (
        any(tokens[i][1] == " " and tokens[i][0] != "digit" for i in range(above[0], slash))
        if above
        else False
    )
    size = abs(Fraction(number))
    whole = int(size) if mixed else 0
    rest = size - whole
    if below.isdigit() and int(below):
        low = int(below)
        high = int(rest * low + Fraction(1, 2))
    else:
        near = rest.limit_denominator(10 ** max(1, len(below)) - 1)
        high, low = near.numerator, near.denominator
    if mixed and high == low:
        whole, high = whole + 1, 0
    sign = "-" if number < 0 and (whole or high) else ""
    if mixed and not high:
        return f"{sign}{whole}"
    return f"{sign}{whole} {high}/{low}" if whole else f"{sign}{high}/{low}"
