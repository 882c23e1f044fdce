"""Serial day numbers as dates and times, and how a format's date tokens show them."""

from __future__ import annotations

from datetime import datetime, timedelta
from fractions import Fraction
from typing import NamedTuple

_EPOCH_1900 = datetime(1899, 12, 30)
_EPOCH_1904 = datetime(1904, 1, 1)
_MAX_DAYS = 2_958_466  # the day after 9999-12-31


class _Names(NamedTuple):
    """Names that a language gives months and days; where it has no short ones of its own,
    these are the first three letters."""

    months: str
    days: str
    short_months: str = ""
    short_days: str = ""


_EN = _Names(
    "January February March April May June July August September October November December",
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
)
# Languages that a format may ask for ([$-407]), by the low ten bits of its code; any other
# is shown in English.
_NAMES = {
    0x07: _Names(
        "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
        "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag",
        "Jan Feb Mrz Apr Mai Jun Jul Aug Sep Okt Nov Dez",
        "Mo Di Mi Do Fr Sa So",
    ),
    0x0C: _Names(
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "lundi mardi mercredi jeudi vendredi samedi dimanche",
        "janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc.",
        "lun. mar. mer. jeu. ven. sam. dim.",
    ),
    0x0A: _Names(
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "lunes martes miércoles jueves viernes sábado domingo",
    ),
    0x10: _Names(
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
        "lunedì martedì mercoledì giovedì venerdì sabato domenica",
    ),
    0x13: _Names(
        "januari februari maart april mei juni juli augustus september oktober november december",
        "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
        "jan feb mrt apr mei jun jul aug sep okt nov dec",
        "ma di wo do vr za zo",
    ),
    0x16: _Names(
        "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
        "segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo",
    ),
}


def moment(serial: float, date1904: bool = False, places: int = 0) -> datetime | None:
    """The moment of a serial number, rounded to seconds with `places` decimals; None outside the calendar."""
    if not 0 <= serial < _MAX_DAYS:
        return None
    # the 1900 system counts a 29 February 1900 that never was
    base = _EPOCH_1904 if date1904 else _EPOCH_1900 + timedelta(days=1 if serial < 60 else 0)
    unit = 10**places
    ticks = round(Fraction(serial) * 86_400 * unit)
    try:
        return base + timedelta(microseconds=ticks * 1_000_000 // unit)
    except OverflowError:
        return None


def month_name(month: int, length: int, language: int) -> str:
    """3 letters, 4: the name, 5: its first letter."""
    names = _NAMES.get(language & 0x3FF, _EN)
    full = names.months.split()[month - 1]
    if length == 3:
        return names.short_months.split()[month - 1] if names.short_months else full[:3]
    return full[:1] if length == 5 else full


def day_name(weekday: int, length: int, language: int) -> str:
    """Monday is 0. 3 letters, 4: the name."""
    names = _NAMES.get(language & 0x3FF, _EN)
    full = names.days.split()[weekday]
    if length == 3:
        return names.short_days.split()[weekday] if names.short_days else full[:3]
    return full


def render_date(tokens: list[tuple[str, str]], serial: float, date1904: bool, language: int) -> str | None:
    """The tokens of a date format filled in; None where the number is no date."""
    places = max((len(t) - 1 for kind, t in tokens if kind == "date" and t[0] == "."), default=0)
    elapsed = any(kind == "elapsed" for kind, _ in tokens)
    if elapsed:
        return _render_elapsed(tokens, serial, places, date1904, language)
    when = moment(serial, date1904, min(places, 3))
    if when is None:
        return None
    twelve = any(kind == "ampm" for kind, _ in tokens)
    return "".join(t if kind == "text" else _part(kind, t, when, twelve, language) for kind, t in tokens)


def _render_elapsed(
    tokens: list[tuple[str, str]], serial: float, places: int, date1904: bool, language: int
) -> str:
    """Hours, minutes or seconds counted on past their usual ends ([h]:mm)."""
    unit = 10 ** min(places, 3)
    ticks = round(abs(Fraction(serial)) * 86_400 * unit)
    seconds, rest = divmod(ticks, unit)
    when = moment(abs(serial), date1904, min(places, 3)) or _EPOCH_1900
    out = []
    for kind, t in tokens:
        if kind == "elapsed":
            total = {"h": seconds // 3600, "m": seconds // 60, "s": seconds}[t[0]]
            out.append(str(total).zfill(len(t)))
        elif kind == "date" and t[0] == ".":
            out.append("." + str(rest).zfill(min(places, 3)))
        else:
            out.append(t if kind == "text" else _part(kind, t, when, False, language))
    return ("-" if serial < 0 else "") + "".join(out)


def _part(kind: str, t: str, when: datetime, twelve: bool, language: int) -> str:
    n = len(t)
    if kind == "ampm":
        word = "AM" if when.hour < 12 else "PM"
        return word if n > 3 else word[0]
    if kind == "minute":
        return str(when.minute).zfill(min(n, 2))
    match t[0]:
        case "y":
            return f"{when.year:04d}" if n > 2 else f"{when.year % 100:02d}"
        case "m":
            return month_name(when.month, min(n, 5), language) if n > 2 else str(when.month).zfill(n)
        case "d":
            return day_name(when.weekday(), min(n, 4), language) if n > 2 else str(when.day).zfill(n)
        case "h":
            hour = (when.hour % 12 or 12) if twelve else when.hour
            return str(hour).zfill(min(n, 2))
        case "s":
            return str(when.second).zfill(min(n, 2))
        case _:
            return "." + f"{when.microsecond:06d}"[: min(n - 1, 3)].ljust(n - 1, "0")
