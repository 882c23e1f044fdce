"""Visual lines: what stands on one baseline, whatever its columns."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from drac_pipeline.convert.local.text_layer import MARK, Segment, Word

BULLETS = "•●○◦▪▫■□‣⁃∙·–—-*➢➤✓✔❖◆◇►▶o\uf0b7\uf0a7\uf0d8\uf0fc\uf076"
NUMBER_RE = re.compile(
    r"\(?(?:\d{1,3}(?:\.\d{1,3}){0,4}|[a-zA-Z]|[ivxIVX]{1,6})[.)]|\((?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})\)"
)
CAPTION = re.compile(
    r"(?:table|figure|fig\.|chart|exhibit|tabelle|abbildung|tableau|tabla)\s+[A-Z]?[-–.]?\d+(?:[.:–—\s]|$)",
    re.I,
)
LEADER_RE = re.compile(r"(?:[.·…_]\s?){4,}")


@dataclass(slots=True, eq=False)
class Row:
    """Segments on one baseline, left to right."""

    segments: list[Segment]
    base: float
    size: float
    page: int = 0
    cells: list[Segment] = field(default_factory=list)
    edge: float = 0.0  # how far right the lines around it run

    @property
    def x0(self) -> float:
        return min(s.x0 for s in self.segments)

    @property
    def x1(self) -> float:
        return max(s.x1 for s in self.segments)

    @property
    def y0(self) -> float:
        return min(s.y0 for s in self.segments)

    @property
    def y1(self) -> float:
        return max(s.y1 for s in self.segments)

    @property
    def text(self) -> str:
        return " ".join(s.text for s in self.segments)

    def __repr__(self) -> str:
        return f"Row({self.base:.0f}: {[s.text for s in self.segments]})"


def make_row(segments: list[Segment]) -> Row:
    """A row of segments that share a baseline."""
    segments = sorted(segments, key=lambda s: (s.x0, s.order))
    if len(segments) > 1 and _right_to_left(segments):
        segments = [_logical(segments)]
    weights: Counter[float] = Counter()
    bases: Counter[float] = Counter()
    for s in segments:
        n = sum(len(w.text) for w in s.words)
        weights[s.size] += n
        bases[round(s.base, 1)] += n
    row = Row(segments, bases.most_common(1)[0][0], weights.most_common(1)[0][0], segments[0].page)
    row.cells = _cells(segments)
    return row


def join_marks(rows: list[Row]) -> list[Row]:
    """Rows with raised marks in smaller type, each right behind a text, joined to that text."""
    out = []
    for r in rows:
        parts: list[Segment] = []
        for s in r.segments:
            last = parts[-1] if parts else None
            raised = last and s.size < 0.8 * last.size and s.base < last.base - 0.15 * last.size
            if last and raised and len(s.text) < 4 and -1 < s.x0 - last.x1 < 0.25 * last.size:
                parts[-1] = replace(last, words=last.words + s.words)
            else:
                parts.append(s)
        out.append(make_row(parts) if len(parts) != len(r.segments) else r)
    return out


def _is_rtl_word(text: str) -> bool:
    return any("\u0590" <= c <= "\u08ff" or "\ufb1d" <= c <= "\ufefc" for c in text)


def _right_to_left(segments: list[Segment]) -> bool:
    """Right-to-left letters outnumber the others and no wide gap makes cells of the row."""
    letters = sum(len(w.text) * (1 if _is_rtl_word(w.text) else -1) for s in segments for w in s.words)
    if letters <= 0:
        return False
    return all(b.x0 - a.x1 < 1.8 * b.size for a, b in itertools.pairwise(segments))


def _logical(segments: list[Segment]) -> Segment:
    """One segment with its words in reading order: from the right, but left-to-right words
    that follow each other keep their own order."""
    words = sorted((w for s in segments for w in s.words), key=lambda w: -w.x1)
    out: list[Word] = []
    latin: list[Word] = []
    for w in words:
        if _is_rtl_word(w.text):
            out += reversed(latin)
            latin = []
            out.append(w)
        else:
            latin.append(w)
    out += reversed(latin)
    first = max(segments, key=lambda s: sum(len(w.text) for w in s.words))
    return replace(first, words=out)


def _cells(segments: list[Segment]) -> list[Segment]:
    """The segments without list markers and leader dots, which make no column."""
    out: list[Segment] = []
    for i, s in enumerate(segments):
        text = s.text
        if LEADER_RE.fullmatch(text + " ") or re.fullmatch(r"[.…]+", text):
            continue
        last = i + 1 == len(segments)
        if (
            not last
            and not out
            and len(s.words) == 1
            and ((len(text) == 1 and text in BULLETS) or NUMBER_RE.fullmatch(text))
            and segments[i + 1].x0 - s.x1 < 3.2 * s.size
        ):
            continue
        out.append(s)
    return out


def visual_rows(segments: Iterable[Segment]) -> list[Row]:
    """Group segments by baseline, top to bottom.

    Raised and lowered marks (other baseline, smaller type) join the row they overlap.
    """
    ordered = sorted(segments, key=lambda s: (s.base, s.x0))
    rows: list[list[Segment]] = []
    bases: list[float] = []
    for s in ordered:
        if rows:
            ref = bases[-1]
            size = min(s.size, max(x.size for x in rows[-1]))
            if s.base - ref <= max(1.2, 0.28 * size):
                rows[-1].append(s)
                continue
            # a raised mark comes before its row in this order: adopt the row's baseline
            small = max(x.size for x in rows[-1]) < 0.8 * s.size and s.base - ref < 0.6 * s.size
            lowered = s.size < 0.8 * max(x.size for x in rows[-1]) and s.base - ref < 0.35 * max(
                x.size for x in rows[-1]
            )
            if (small or lowered) and not _overlap(rows[-1], s):
                rows[-1].append(s)
                if small:
                    bases[-1] = s.base
                continue
        rows.append([s])
        bases.append(s.base)
    return [make_row(r) for r in rows]


def _overlap(row: list[Segment], s: Segment) -> bool:
    return any(min(x.x1, s.x1) - max(x.x0, s.x0) > 1 for x in row)


def readable(text: str) -> str:
    """The text without glyphs that have no meaning in the text layer."""
    if MARK in text or "\ufffd" in text:
        text = " ".join(text.replace(MARK, " ").replace("\ufffd", " ").split())
    return text


NUMERIC_RE = re.compile(
    r"[\s$€£¥₹%()\[\]+\-–—−±<>≤≥~≈*†‡,.:/'’\d]*\d[\s$€£¥₹%()\[\]+\-–—−±<>≤≥~≈*†‡,.:/'’\d]*[a-zA-Z%*†‡]{0,2}"
)
YEAR_RE = re.compile(r"(?:19|20)\d\d")


def numeric(text: str) -> bool:
    """A figure: digits with at most a short unit; a year is a label rather than a figure."""
    return bool(NUMERIC_RE.fullmatch(text)) and not YEAR_RE.fullmatch(text.strip())
