"""Small SVG plots, drawn for a page whose style sheet colours them: series by `--s0` … `--s7`.

Each is at most 380 units wide, so that text stays readable where a phone shows it at full width.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

WIDTH = 380
_ROW = 22
_LEFT = 128
_RIGHT = 54
_TOP = 8
_BOTTOM = 24
SERIES = 8


class Spread(NamedTuple):
    """A labelled value with its interval; `series` gives the colour."""

    label: str
    value: float
    low: float
    high: float
    series: int


def interval_plot(rows: Sequence[Spread], title: str) -> str:
    """Values with their intervals, a row each, on an axis that begins where the data does."""
    low, high = min(r.low for r in rows), max(r.high for r in rows)
    low, high = max(0.0, _down(low - 0.01)), min(1.0, _up(high + 0.01))
    x = _scale(low, high)
    parts = _axis(low, high, len(rows), x)
    for i, r in enumerate(rows):
        y = _TOP + i * _ROW + _ROW / 2
        parts += [
            _label(r.label, y, r.series),
            _whisker(r, x, y, f"s{r.series % SERIES}"),
            f'<circle class="s{r.series % SERIES}" cx="{x(r.value):.1f}" cy="{y}" r="4.5"/>',
            f'<text class="v" x="{WIDTH - 2}" y="{y + 4}">{r.value:.3f}</text>',
        ]
    return _svg(parts, _height(len(rows)), title)


def difference_plot(rows: Sequence[Spread], title: str) -> str:
    """Differences with their intervals around a line at 0; those that are sure are filled."""
    reach = max(0.02, *(max(abs(r.low), abs(r.high)) for r in rows))
    reach = _up(reach)
    x = _scale(-reach, reach)
    parts = _axis(-reach, reach, len(rows), x, signed=True)
    parts.append(
        f'<line class="zero" x1="{x(0):.1f}" x2="{x(0):.1f}" y1="{_TOP}" y2="{_TOP + len(rows) * _ROW}"/>'
    )
    for i, r in enumerate(rows):
        y = _TOP + i * _ROW + _ROW / 2
        kind = "better" if r.low > 0 else "worse" if r.high < 0 else "even"
        parts += [
            _label(r.label, y, None),
            _whisker(r, x, y, kind),
            f'<circle class="{kind}" cx="{x(r.value):.1f}" cy="{y}" r="4.5"/>',
            f'<text class="v" x="{WIDTH - 2}" y="{y + 4}">{_signed(r.value, 3)}</text>',
        ]
    return _svg(parts, _height(len(rows)), title)


def scatter_plot(points: Sequence[tuple[str, float, float, int]], title: str, x_name: str) -> str:
    """Points (label, x, y, series); y is a metric."""
    height, left, right, bottom = 240, 40, 14, 38
    ys, xs = [p[2] for p in points], [p[1] for p in points]
    low, high = max(0.0, _down(min(ys) - 0.02)), min(1.0, _up(max(ys) + 0.02))
    most = max(xs) * 1.15

    def sx(v: float) -> float:
        return left + v / most * (WIDTH - left - right)

    def sy(v: float) -> float:
        return _TOP + (high - v) / (high - low) * (height - _TOP - bottom)

    parts = []
    for t in _ticks(low, high):
        parts += [
            f'<line class="g" x1="{left}" x2="{WIDTH - right}" y1="{sy(t):.1f}" y2="{sy(t):.1f}"/>',
            f'<text class="t e" x="{left - 5}" y="{sy(t) + 4:.1f}">{t:.2f}</text>',
        ]
    step = next(s for s in (50, 100, 200, 250, 500, 1000, 2000, 5000, 10**9) if most / s <= 6)
    for n in range(0, int(most) + 1, step):
        parts.append(f'<text class="t m" x="{sx(n):.1f}" y="{height - bottom + 16}">{n:,}</text>')
    parts.append(
        f'<text class="t m" x="{(left + WIDTH - right) / 2}" y="{height - 4}">{escape(x_name)}</text>'
    )
    for (label, px, py, series), y in zip(points, _apart([sy(p[2]) for p in points], 14), strict=True):
        anchor = "e" if sx(px) > WIDTH * 0.62 else ""
        shift = -8 if anchor else 8
        parts += [
            f'<circle class="s{series % SERIES}" cx="{sx(px):.1f}" cy="{sy(py):.1f}" r="5"/>',
            f'<text class="t {anchor}" x="{sx(px) + shift:.1f}" y="{y + 4:.1f}">{escape(label)}</text>',
        ]
    return _svg(parts, height, title)


def size_plot(sizes: dict[str, Any], series: int, title: str) -> str:
    """How many chunks are of which size; the last bar is those beyond the axis."""
    height, bottom = 64, 18
    counts, most = sizes["counts"], sizes["most"]
    top = max(counts) or 1
    w = WIDTH / len(counts)
    parts = []
    for i, n in enumerate(counts):
        h = n / top * (height - bottom - 4)
        parts.append(
            f'<rect class="s{series % SERIES}" x="{i * w:.1f}" y="{height - bottom - h:.1f}"'
            f' width="{w - 1:.1f}" height="{h:.1f}"/>'
        )
    parts += [
        f'<line class="g" x1="0" x2="{WIDTH}" y1="{height - bottom + 0.5}" y2="{height - bottom + 0.5}"/>',
        f'<text class="t" x="0" y="{height - 4}">0</text>',
        f'<text class="t e" x="{WIDTH}" y="{height - 4}">{most:,.0f} characters and more</text>',
    ]
    return _svg(parts, height, title)


# ------------------------------------------------------------------- pieces


def _svg(parts: Sequence[str], height: float, title: str) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{escape(title, quote=True)}">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


def _height(rows: int) -> float:
    return _TOP + rows * _ROW + _BOTTOM


def _scale(low: float, high: float):
    return lambda v: _LEFT + (v - low) / (high - low or 1) * (WIDTH - _LEFT - _RIGHT)


def _axis(low: float, high: float, rows: int, x: Any, signed: bool = False) -> list[str]:
    end = _TOP + rows * _ROW
    out = []
    for t in _ticks(low, high):
        told = _signed(t, 2) if signed else f"{t:.2f}"
        out += [
            f'<line class="g" x1="{x(t):.1f}" x2="{x(t):.1f}" y1="{_TOP}" y2="{end}"/>',
            f'<text class="t m" x="{x(t):.1f}" y="{end + 16}">{told}</text>',
        ]
    return out


def _ticks(low: float, high: float) -> list[float]:
    step = next(s for s in (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5) if (high - low) / s <= 5)
    first = -int(-low / step + 1e-9) if low < 0 else int(low / step + 1 - 1e-9)
    out = []
    while first * step <= high + 1e-9:
        out.append(round(first * step, 4))
        first += 1
    return out


def _label(text: str, y: float, series: int | None) -> str:
    short = text if len(text) <= 18 else text[:17] + "…"
    mark = "" if series is None else f'<circle class="s{series % SERIES}" cx="5" cy="{y}" r="4"/>'
    return f'{mark}<text class="l" x="{0 if series is None else 14}" y="{y + 4}">{escape(short)}</text>'


def _whisker(r: Spread, x: Any, y: float, kind: str) -> str:
    return f'<line class="w {kind}" x1="{x(r.low):.1f}" x2="{x(r.high):.1f}" y1="{y}" y2="{y}"/>'


def _apart(ys: Sequence[float], gap: float) -> list[float]:
    """The places moved down where labels would overlap."""
    out = list(ys)
    last = -gap
    for i in sorted(range(len(ys)), key=lambda i: ys[i]):
        out[i] = max(ys[i], last + gap)
        last = out[i]
    return out


def _signed(v: float, digits: int) -> str:
    told = f"{abs(v):.{digits}f}"
    return f"{'−' if v < 0 else '+'}{told}" if float(told) else told


def _down(v: float) -> float:
    return int(v * 20) / 20 if v >= 0 else -_up(-v)


def _up(v: float) -> float:
    return -(-int(v * 1000) // 50) / 20 if v > 0 else 0.0
