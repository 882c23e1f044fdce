"""Columns of a table from where its segments stand."""

from __future__ import annotations

import bisect
import itertools
from dataclasses import dataclass, field, replace

from drac_pipeline.convert.local.rows import Row, make_row, numeric
from drac_pipeline.convert.local.text_layer import Rule, Segment, Word

CURRENCY = frozenset(["$", "€", "£", "¥", "₹", "US$", "C$", "A$", "($", "$("])
SUFFIX = frozenset(["%", ")", ")%", "*", "†", "‡", "**", "%)"])
TOUCH = 1.5  # points of overlap that do not count


class _Cluster:
    __slots__ = ("rows", "x0", "x1")

    def __init__(self, x0: float, x1: float, row: int) -> None:
        self.x0, self.x1, self.rows = x0, x1, {row}


def column_ranges(rows: list[Row]) -> list[tuple[float, float]]:
    """The x-ranges of the columns, left to right.

    Narrow segments found columns, wider ones join the one they overlap. Two columns that
    hold separate segments on one row are proven different and never merge: a segment
    over both is spanning.
    """
    segments: list[tuple[Segment, int]] = [(s, i) for i, r in enumerate(rows) for s in r.cells]
    segments.sort(key=lambda t: t[0].x1 - t[0].x0)
    clusters: list[_Cluster] = []
    for s, i in segments:
        hit = [c for c in clusters if min(c.x1, s.x1) - max(c.x0, s.x0) > TOUCH]
        if not hit:
            narrow = [c for c in clusters if c.x0 - 0.5 <= s.x0 and s.x1 <= c.x1 + 0.5]
            if narrow:
                narrow[0].rows.add(i)
            else:
                clusters.append(_Cluster(s.x0, s.x1, i))
            continue
        if len(hit) == 1:
            c = hit[0]
            if i in c.rows and _beside(c, s):
                # another cell of this row is in that column, which an overfull text widened
                if s.x0 > c.x0:
                    c.x1 = min(c.x1, s.x0)
                    clusters.append(_Cluster(s.x0, s.x1, i))
                continue
            c.x0, c.x1 = min(c.x0, s.x0), max(c.x1, s.x1)
            c.rows.add(i)
            continue
        # over several: merge those that no row tells apart
        apart = any(a.rows & b.rows for k, a in enumerate(hit) for b in hit[k + 1 :])
        if apart:
            continue
        keep = hit[0]
        for c in hit[1:]:
            keep.x0, keep.x1 = min(keep.x0, c.x0), max(keep.x1, c.x1)
            keep.rows |= c.rows
            clusters.remove(c)
        keep.x0, keep.x1 = min(keep.x0, s.x0), max(keep.x1, s.x1)
        keep.rows.add(i)
    clusters.sort(key=lambda c: c.x0)
    clusters = _merge_chance(clusters, segments)
    merged: list[_Cluster] = []
    for c in clusters:
        if merged:
            last = merged[-1]
            size = rows[0].size
            alone = len(last.rows) <= 1 or len(c.rows) <= 1
            if not (last.rows & c.rows) and (c.x0 - last.x1 < (3.0 if alone else 0.6) * size):
                # one odd segment, such as a header over two columns, widens no column
                if alone and len(c.rows) > 1:
                    last.x0, last.x1 = c.x0, c.x1
                elif not alone or len(last.rows) <= 1:
                    last.x0, last.x1 = min(last.x0, c.x0), max(last.x1, c.x1)
                last.rows |= c.rows
                continue
        merged.append(c)
    return _without_signs([(c.x0, c.x1) for c in merged], segments)


def _merge_chance(clusters: list[_Cluster], segments: list[tuple[Segment, int]]) -> list[_Cluster]:
    """Neighbours that few rows tell apart and many run across are one column: the words of
    a justified line, not cells."""
    out: list[_Cluster] = []
    for c in clusters:
        if out:
            a = out[-1]
            apart = len(a.rows & c.rows)
            across = sum(
                s.x0 < a.x1 - 2 and s.x1 > c.x0 + 2 and i not in c.rows and len(s.words) > 1
                for s, i in segments
            )
            if across > 2 * apart:
                a.x0, a.x1 = min(a.x0, c.x0), max(a.x1, c.x1)
                a.rows |= c.rows
                continue
        out.append(c)
    return out


def join_signs(rows: list[Row]) -> list[Row]:
    """Rows with currency signs set at the left of their cells joined to the figures right of them,
    unless a header tells of a column of signs."""
    rows = [_part_signs(r) for r in rows]
    signs = [
        (a, b)
        for r in rows
        for a, b in itertools.pairwise(r.segments)
        if a.text in CURRENCY and numeric(b.text)
    ]
    if not signs:
        return rows
    texts = [o for r in rows for o in r.segments if len(o.text) > 2 and not numeric(o.text)]
    lines = sum(any(numeric(s.text) for s in r.segments) for r in rows)
    joined = {
        id(a): b
        for a, b in signs
        # a header of its own has a sign that stands in most rows, not in the first and the last
        if sum(abs(o.x0 - a.x0) < 2 for o, _ in signs) < 0.5 * lines or not _headed(a, b, texts)
    }
    out = []
    for r in rows:
        gone = {id(joined[id(s)]) for s in r.segments if id(s) in joined}
        parts = [
            replace(s, words=s.words + joined[id(s)].words) if id(s) in joined else s
            for s in r.segments
            if id(s) not in gone
        ]
        out.append(make_row(parts) if gone else r)
    return out


def _part_signs(row: Row) -> Row:
    """A row that has a sign before its first figure has each sign before the figure right of it."""
    words = [w.text for s in row.segments for w in s.words]
    first = next((k for k, t in enumerate(words) if numeric(t)), 0)
    if not first or words[first - 1] not in CURRENCY or sum(t in CURRENCY for t in words) < 2:
        return row
    parts: list[Segment] = []
    for s in row.segments:
        groups: list[list[Word]] = [[]]
        for w in s.words:
            if w.text in CURRENCY and groups[-1] and not groups[-1][-1].text.isalpha():
                groups.append([])
            groups[-1].append(w)
        parts += [s] if len(groups) == 1 else [replace(s, words=g) for g in groups]
    return make_row(parts) if len(parts) != len(row.segments) else row


def _headed(sign: Segment, figure: Segment, texts: list[Segment]) -> bool:
    """A text stands over the sign and none over both sign and figure."""
    over = [o for o in texts if o.x0 - 3 < sign.x0 and sign.x1 < o.x1 + 3]
    return bool(over) and all(o.x1 < figure.x0 for o in over)


def _without_signs(
    columns: list[tuple[float, float]], cells: list[tuple[Segment, int]]
) -> list[tuple[float, float]]:
    """A column of currency signs belongs to the figures right of it, one of % or ) to those left."""
    if not any(s.text in CURRENCY or s.text in SUFFIX for s, _ in cells):
        return columns
    out: list[tuple[float, float]] = []
    ahead: float | None = None
    for k, (x0, x1) in enumerate(columns):
        texts = [s.text for s, _ in cells if min(s.x1, x1) - max(s.x0, x0) > 0.5 * (s.x1 - s.x0)]
        if texts and k + 1 < len(columns) and all(t in CURRENCY for t in texts):
            ahead = x0 if ahead is None else ahead
            continue
        if texts and out and all(t in SUFFIX for t in texts):
            out[-1] = (out[-1][0], x1)
            continue
        out.append((x0 if ahead is None else ahead, x1))
        ahead = None
    return out


def _beside(c: _Cluster, s: Segment) -> bool:
    """The segment only brushes the cluster: its larger part lies outside."""
    return min(c.x1, s.x1) - max(c.x0, s.x0) < 0.3 * (s.x1 - s.x0)


def column_of(s: Segment, columns: list[tuple[float, float]]) -> int:
    """The column a segment belongs to: most overlap, else nearest."""
    best, score = 0, -1e9
    for k, (x0, x1) in enumerate(columns):
        overlap = min(x1, s.x1) - max(x0, s.x0)
        if overlap > 0:
            # a cell that runs over into the next column still begins in its own
            starts = x0 - 2 <= s.x0 <= x1 + 2
            value = overlap + (0.6 * (s.x1 - s.x0) if starts else 0)
        else:
            value = overlap
        if value > score:
            best, score = k, value
    return best


SAMPLE = 200  # borders at one place looked at: a table of a thousand rows proves no more
WIDE_SPACE = 0.45  # em: no space in text that is not justified
NEAR = 1.6  # points by which cells of one left-aligned column may differ


def refine(rows: list[Row]) -> list[Row]:
    """Cut segments where, without a clear gap, a cell begins.

    The proof is in the other rows: one has two separate segments, the first over the left
    part and the second beginning where the cut would be; and the place is no chance, for
    a second row begins a word there as well.
    """
    borders = sorted(
        ((b.x0, a.x0, a.x1) for r in rows for a, b in itertools.pairwise(r.segments)), key=lambda t: t[0]
    )
    if not borders:
        return rows
    starts = sorted(w.x0 for r in rows for s in r.segments for w in s.words[1:])
    starts = sorted(starts + [x for x, _, _ in borders])
    joints = sorted(x for r in rows for s in r.segments for w in s.words for _, x in w.joints)
    proof = _Proof([b[0] for b in borders], borders, starts, joints, [s for r in rows for s in r.segments])
    out = []
    for r in rows:
        parts = [p for s in r.segments for p in _cut(s, proof, r)]
        out.append(make_row(parts) if len(parts) != len(r.segments) else r)
    return out


@dataclass(slots=True)
class _Proof:
    at: list[float]
    borders: list[tuple[float, float, float]]
    starts: list[float]
    joints: list[float]
    everything: list[Segment]
    known: dict[int, bool] = field(default_factory=dict)

    def allows(self, s: Segment, x: float) -> bool:
        lo, hi = bisect.bisect_left(self.at, x - NEAR), bisect.bisect_right(self.at, x + NEAR)
        rows = 0
        for right, x0, x1 in self.borders[lo : min(hi, lo + SAMPLE)]:
            # cells that overlap prove a border only where the second begins exactly there
            apart = x1 <= x + 1.5 or (x1 <= x + 8 and abs(right - x) < 0.6)
            rows += apart and x1 > s.x0 + 1 and x0 < x
            if rows == 2:
                return True
        joints = _count(self.joints, x)
        if rows and _count(self.starts, x) + joints >= 3:
            return True
        # every segment over this place has a border there, some without even a space
        return joints >= 2 and self.consensus(x)

    def consensus(self, x: float) -> bool:
        key = round(x * 2)
        if key not in self.known:
            self.known[key] = self._consensus(x)
        return self.known[key]

    def _consensus(self, x: float) -> bool:
        over = 0
        lefts: set[str] = set()
        for s in self.everything:
            if s.x0 < x - 3 and s.x1 > x + 1:
                over += 1
                left = _left_text(s, x)
                if left is None:
                    return False
                lefts.add(left)
        return over >= 3 and len(lefts) >= 2


def _left_text(s: Segment, x: float) -> str | None:
    """The text left of x if a word or a joint is there, else None."""
    done = ""
    for w in s.words:
        if abs(w.x0 - x) <= NEAR:
            return done
        for at, j in w.joints:
            if abs(j - x) <= NEAR:
                return done + w.text[:at]
        done += w.text
    return None


def cut_at_rules(rows: list[Row], rules: list[Rule]) -> list[Row]:
    """Cut segments at the vertical rules that cross them."""
    if not rules:
        return rows
    out = []
    for r in rows:
        y = r.base - 0.3 * r.size
        at = [v.x0 for v in rules if v.y0 - 1 <= y <= v.y1 + 1]
        parts: list[Segment] = []
        for s in r.segments:
            inner = [x for x in at if s.x0 + 1 < x < s.x1 - 1]
            groups: list[list[Word]] = [[]]
            for w in s.words:
                middle = (w.x0 + w.x1) / 2
                if groups[-1] and any(
                    (groups[-1][-1].x0 + groups[-1][-1].x1) / 2 < x < middle for x in inner
                ):
                    groups.append([])
                groups[-1].append(w)
            parts += [s] if len(groups) == 1 else [replace(s, words=g) for g in groups]
        out.append(make_row(parts) if len(parts) != len(r.segments) else r)
    return out


def cut_at_gutters(row: Row, columns: list[tuple[float, float]]) -> Row:
    """Cut segments where a gap wider than a space, or any between two figures, lies between columns."""
    gutters = [(a[1], b[0]) for a, b in itertools.pairwise(columns)]
    parts: list[Segment] = []
    for s in row.segments:
        groups: list[list[Word]] = [s.words[:1]]
        for a, b in itertools.pairwise(s.words):
            if a.text in CURRENCY:
                groups[-1].append(b)
                continue
            apart = b.x0 - a.x1 > WIDE_SPACE * s.size or (numeric(a.text) and numeric(b.text))
            if apart and any(min(b.x0, hi) - max(a.x1, lo) > -1 and hi > lo for lo, hi in gutters):
                groups.append([])
            groups[-1].append(b)
        parts += [s] if len(groups) == 1 else [replace(s, words=g) for g in groups]
    return make_row(parts) if len(parts) != len(row.segments) else row


def cut_header(head: list[Row], body: list[Row]) -> list[Row]:
    """Header texts with a wide gap cut where the body's columns have theirs."""
    if not any(
        b.x0 - a.x1 > WIDE_SPACE * s.size
        for r in head
        for s in r.segments
        for a, b in itertools.pairwise(s.words)
    ):
        return head
    columns = column_ranges(body) if body else []
    return [cut_at_gutters(r, columns) for r in head]


def _count(values: list[float], x: float) -> int:
    return bisect.bisect_right(values, x + NEAR) - bisect.bisect_left(values, x - NEAR)


def _cut(s: Segment, proof: _Proof, row: Row) -> list[Segment]:
    if len(s.words) == 1 and not s.words[0].joints:
        return [s]
    others = [o.x0 for o in row.segments if o is not s]

    def allows(x: float) -> bool:
        # where another cell of the row begins none can begin here
        return proof.allows(s, x) and not any(abs(o - x) <= NEAR for o in others)

    words: list[list[Word]] = [[]]
    for k, w in enumerate(s.words):
        if k and s.words[k - 1].text not in CURRENCY and allows(w.x0):
            words.append([])
        offset = 0
        for at, x in w.joints:
            if allows(x):
                words[-1].append(Word(w.text[: at - offset], w.x0, min(x, w.x1)))
                words.append([])
                w = Word(w.text[at - offset :], x, w.x1)
                offset = at
        words[-1].append(w)
    if len(words) == 1:
        return [s]
    return [replace(s, words=part) for part in words if part]
