"""A page's text layer as positioned words, upright.

PDF text lies in the page's own coordinate system, which /Rotate turns for display and
in which a whole page may be set sideways. Everything here is turned into a reading
frame: x along the page's dominant text direction, y downwards. `PageText.to_display`
leads back to the page as displayed.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from drac_pipeline.convert.local.direction import from_the_right, is_rtl
from drac_pipeline.convert.local.ruling import Rule, read_rules, turned, unturned
from drac_pipeline.model.box import Box
from drac_pipeline.mupdf import pymupdf

TEXT_FLAGS = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP
BOLD, ITALIC = 16, 2
VISIBLE = 16 | 32  # char_flags: filled, stroked
UNKNOWN = "\uffff\ufffd"
MARK = "\uffff"  # a glyph without text: it shows that a cell is filled, but says nothing
ACCENTS = "`´¨^~¯˘˙˚˝ˇ¸˛"
READ_FONT = "ocr"  # of text read from an image: its `order` is made up, its type measured
SPLIT_GAP = 0.9  # em between two words from which on they may be two cells
FIGURE_GAP = 0.5  # em between two figures: one figure has narrow spaces in it


class Word:
    """A run of characters without space. `joints` are places (index, x) where a second
    cell may begin without any gap, as in `2025Velvera`."""

    __slots__ = ("joints", "text", "x0", "x1")

    def __init__(self, text: str, x0: float, x1: float, joints: tuple[tuple[int, float], ...] = ()) -> None:
        self.text, self.x0, self.x1, self.joints = text, x0, x1, joints

    def __repr__(self) -> str:
        return f"{self.text}@{self.x0:.0f}-{self.x1:.0f}"


@dataclass(slots=True, eq=False)
class Segment:
    """Words on one baseline with no wide gap in between. `order` is the place in the
    content stream, where producers write cell by cell and column by column."""

    words: list[Word]
    base: float
    size: float
    font: str
    bold: bool
    italic: bool
    order: int
    frame: PageText
    hidden: bool = False
    x0: float = field(init=False)
    x1: float = field(init=False)

    def __post_init__(self) -> None:
        # asked for far more often than segments are made
        self.x0 = min(self.words[0].x0, self.words[-1].x0)
        self.x1 = max(self.words[0].x1, self.words[-1].x1)

    @property
    def page(self) -> int:
        return self.frame.page

    @property
    def y0(self) -> float:
        return self.base - 0.75 * self.size

    @property
    def y1(self) -> float:
        return self.base + 0.25 * self.size

    @property
    def text(self) -> str:
        return " ".join(w.text for w in self.words)

    def __repr__(self) -> str:
        return f"<{self.text!r} {self.x0:.0f}-{self.x1:.0f} y{self.base:.0f} #{self.order}>"


@dataclass(slots=True)
class PageText:
    """What a page shows, in its reading frame."""

    page: int
    width: float
    height: float
    segments: list[Segment]
    side: list[PageText] = field(default_factory=list)  # text in other directions, in its own frame
    h_rules: list[Rule] = field(default_factory=list)
    v_rules: list[Rule] = field(default_factory=list)
    shades: list[Rule] = field(default_factory=list)
    dots: list[Rule] = field(default_factory=list)  # discs, rings and squares of a bullet's size
    turn: tuple[int, int] = (1, 0)
    matrix: tuple[float, ...] = (1, 0, 0, 1, 0, 0)
    display: tuple[float, float] = (0, 0)
    size: tuple[float, float] = (0, 0)  # of the page before any turning
    n_chars: int = 0
    n_unknown: int = 0
    n_hidden: int = 0

    def to_display(self, x0: float, y0: float, x1: float, y1: float) -> Box:
        """The rectangle on the page as displayed, clipped to it."""
        xs, ys = [], []
        a, b, c, d, e, f = self.matrix
        for x, y in ((x0, y0), (x1, y1)):
            px, py = unturned(x, y, self.turn, *self.size)
            xs.append(a * px + c * py + e)
            ys.append(b * px + d * py + f)
        w, h = self.display
        left, right = sorted(min(max(v, 0.0), w) for v in xs)
        top, bottom = sorted(min(max(v, 0.0), h) for v in ys)
        return Box(
            page=self.page, x0=round(left, 2), y0=round(top, 2), x1=round(right, 2), y1=round(bottom, 2)
        )


def _quarter(direction: tuple[float, float]) -> tuple[int, int]:
    """The nearest quarter turn; skew of a few degrees is still upright."""
    dx, dy = direction
    if abs(dx) >= abs(dy):
        return (1, 0) if dx >= 0 else (-1, 0)
    return (0, 1) if dy > 0 else (0, -1)


def read_page(page: pymupdf.Page, number: int) -> PageText:
    """Read the text layer and the ruling lines of one page."""
    raw: dict[str, Any] = page.get_text("rawdict", flags=TEXT_FLAGS)  # type: ignore[assignment]
    lines = [line for block in raw["blocks"] for line in block.get("lines", ())]
    turns: Counter[tuple[int, int]] = Counter()
    for line in lines:
        turns[_quarter(line["dir"])] += sum(len(s["chars"]) for s in line["spans"])
    turn = max(turns, key=lambda t: turns[t]) if turns else (1, 0)
    out = _frame(page, number, turn)
    frames = {turn: out}
    order = 0
    total = sum(turns.values())
    for line in lines:
        direction = _quarter(line["dir"])
        slanted = max(abs(line["dir"][0]), abs(line["dir"][1])) < 0.97
        if slanted or (direction != turn and turns[direction] < 0.12 * total and not _at_edge(line, out)):
            # a slanted or upright header cell: it stands over its column at its lower end
            order = _read_turned(line, order, out)
            continue
        frame = frames.get(direction)
        if frame is None:
            frame = frames[direction] = _frame(page, number, direction)
            out.side.append(frame)
        order = _read_line(line, direction, order, frame)
    _drop_doubles(out)
    _join_drop_caps(out)
    read_rules(page, out)
    _set_bullets(out)
    return out


def _set_bullets(page: PageText) -> None:
    """A drawn dot before a text is its bullet: it becomes the text's first word."""
    if not page.dots:
        return
    by_line: dict[int, list[Segment]] = {}
    for s in page.segments:
        by_line.setdefault(round(s.base / 8), []).append(s)
    for dot in page.dots:
        middle = (dot.y0 + dot.y1) / 2
        row = round(middle / 8)
        near = [s for k in range(row - 1, row + 4) for s in by_line.get(k, ())]
        # at the height of small letters
        line = [s for s in near if 0.05 * s.size < s.base - middle < 0.6 * s.size]
        after = min((s for s in line if s.x0 >= dot.x1), key=lambda s: s.x0, default=None)
        if after is None or dot.x1 - dot.x0 > 0.6 * after.size or after.x0 - dot.x1 > 1.8 * after.size:
            continue
        if any(s.x0 < dot.x0 and s.x1 > dot.x0 - 1.5 * after.size for s in line):
            continue  # a dot between words
        after.words.insert(0, Word("•", dot.x0, dot.x1))
        after.x0 = dot.x0


def _at_edge(line: dict[str, Any], page: PageText) -> bool:
    """The line lies in the page's outer tenth, where stamps are."""
    x0, y0, x1, y1 = line["bbox"]
    ax, ay = turned(x0, y0, page.turn, *page.size)
    bx, by = turned(x1, y1, page.turn, *page.size)
    x, y = (ax + bx) / 2 / page.width, (ay + by) / 2 / page.height
    return not (0.1 < x < 0.9 and 0.06 < y < 0.94)


def _read_turned(line: dict[str, Any], order: int, out: PageText) -> int:
    """A line at an angle as one narrow segment at its lower end."""
    chars = [c for s in line["spans"] for c in s["chars"]]
    text = "".join(c["c"] for c in chars).split()
    if not text:
        return order
    points = [turned(c["origin"][0], c["origin"][1], out.turn, *out.size) for c in chars]
    size = max(s["size"] for s in line["spans"])
    span = line["spans"][0]
    low = max(points, key=lambda p: p[1])
    rising = points[-1][1] < points[0][1]
    x0 = low[0] - (size if rising and abs(points[-1][0] - points[0][0]) < 1 else 0)
    width = size / len(text)
    words = [Word(t, x0 + k * width, x0 + (k + 0.9) * width) for k, t in enumerate(text)]
    out.n_chars += sum(map(len, text))
    out.segments.append(
        Segment(words, low[1], size, span["font"], _bold(span), bool(span["flags"] & ITALIC), order, out)
    )
    return order + 1


def _frame(page: pymupdf.Page, number: int, turn: tuple[int, int]) -> PageText:
    rect, box = page.rect, page.cropbox
    width, height = (box.width, box.height) if turn[0] else (box.height, box.width)
    return PageText(
        page=number,
        width=width,
        height=height,
        segments=[],
        turn=turn,
        matrix=tuple(getattr(page.rotation_matrix, k) for k in "abcdef"),
        display=(rect.width, rect.height),
        size=(box.width, box.height),
    )


def _join_drop_caps(page: PageText) -> None:
    """A large first letter over several lines belongs to the first word beside it."""
    if len(page.segments) < 8:
        return
    sizes = sorted(s.size for s in page.segments)
    body = sizes[len(sizes) // 2]
    for cap in [s for s in page.segments if s.size > 1.8 * body and len(s.text) == 1 and s.text.isupper()]:
        beside = [
            s
            for s in page.segments
            if s is not cap
            and -0.3 * cap.size < s.x0 - cap.x1 < 0.6 * cap.size
            and cap.base - 1.1 * cap.size < s.base < cap.base + 0.3 * s.size
            and s.size < 0.6 * cap.size
        ]
        if len(beside) < 2:
            continue
        first = min(beside, key=lambda s: s.base)
        word = first.words[0]
        if word.text[0].islower() or word.text[0].isupper():
            first.words[0] = Word(cap.text + word.text, word.x0, word.x1)
            page.segments.remove(cap)


def _drop_doubles(page: PageText) -> None:
    """Text printed twice at one place (fake bold, layers) counts once."""
    seen: set[tuple[str, int, int]] = set()
    kept = []
    for s in page.segments:
        key = (s.text, round(s.x0 / 2), round(s.base / 2))
        if key in seen and len(key[0]) > 1:
            continue
        seen.add(key)
        kept.append(s)
    page.segments = kept


def _read_line(line: dict[str, Any], turn: tuple[int, int], order: int, out: PageText) -> int:
    """Split a text line into segments; returns the next order number."""
    dx, dy = turn
    w, h = out.size
    rtl = is_rtl(line)
    run: list[tuple[Word, dict[str, Any]]] = []
    cuts: set[int] = set()  # places in run where a new segment begins
    letters: list[str] = []
    joints: list[tuple[int, float]] = []
    x0 = x1 = last = 0.0
    current: dict[str, Any] | None = None

    def close() -> None:
        if letters and current is not None:
            text = "".join(letters)
            run.append((Word(text, min(x0, x1), max(x0, x1), tuple(joints)), current))
        letters.clear()
        joints.clear()

    pieces: list[list[tuple[Word, dict[str, Any]]]] = []
    flat = False
    for span in line["spans"]:
        size = span["size"] or 1.0
        visible = span.get("char_flags", VISIBLE) & VISIBLE and span.get("alpha", 255) > 0
        for char in span["chars"]:
            c = char["c"]
            bx0, by0, bx1, by1 = char["bbox"]
            if dx == 1:
                left, right = bx0, bx1
            elif dx == -1:
                left, right = w - bx1, w - bx0
            elif dy == 1:
                left, right = by0, by1
            else:
                left, right = h - by1, h - by0
            if flat and char.get("synthetic"):
                continue  # a glyph whose width the font lacks, no space
            if c.isspace() or c == "\u200b":
                close()
                continue
            out.n_chars += 1
            if c in UNKNOWN:
                out.n_unknown += 1
            if not visible:
                out.n_hidden += 1
            if letters and not rtl:
                if left - x1 > (0.45 if flat and c.isdigit() else 0.25) * size and left - x1 > 1.5:
                    close()
                elif left - x1 < -0.2 * size and c.isalnum() and letters[-1] not in ACCENTS:
                    # the pen went back: a cell that runs over into the next one
                    close()
                    cuts.add(len(run))
            if not letters:
                x0, x1, current = left, right, span
            else:
                if _may_begin_cell(letters[-1], c):
                    joints.append((len(letters), left))
                elif c.islower() and len(letters) > 1 and letters[-1].isupper() and letters[-2].isupper():
                    joints.append((len(letters) - 1, last))  # RAMStorage
                x0, x1 = min(x0, left), max(x1, right)
            letters.append(c)
            last = left
            flat = right - left < 0.01 and c in ".," and len(letters) > 1 and letters[-2].isdigit()
    close()
    if not run:
        return order
    if not rtl and len(run) > 5 and sum(len(w.text) == 1 for w, _ in run) > 4:
        run = _without_letterspacing(run)
        cuts.clear()
    if rtl:
        run = from_the_right(run)
        pieces = [run]
    else:
        pieces = _split(run, cuts)
    for piece in pieces:
        spans: Counter[int] = Counter()
        byid: dict[int, dict[str, Any]] = {}
        for word, span in piece:
            spans[id(span)] += len(word.text)
            byid[id(span)] = span
        styles: Counter[tuple[float, str]] = Counter()
        for key, n in spans.items():
            styles[round(byid[key]["size"], 1), byid[key]["font"]] += n
        (size, font), _ = styles.most_common(1)[0]
        main = next(s for s in byid.values() if round(s["size"], 1) == size and s["font"] == font)
        bold = sum(n for k, n in spans.items() if _bold(byid[k])) * 2 > sum(spans.values())
        ox, oy = main["chars"][0]["origin"]
        _, base = turned(ox, oy, turn, w, h)
        words = [w for w, _ in piece]
        out.segments.append(
            Segment(
                words=words,
                base=base,
                size=size,
                font=font,
                bold=bold,
                italic=bool(main["flags"] & ITALIC),
                order=order,
                frame=out,
                hidden=not (main.get("char_flags", VISIBLE) & VISIBLE),
            )
        )
        order += 1
    return order


def _without_letterspacing(run: list[tuple[Word, dict[str, Any]]]) -> list[tuple[Word, dict[str, Any]]]:
    """Letters set apart for emphasis are words again: `B a c k g r o u n d`."""
    out = [run[0]]
    gaps: list[float] = []
    for (a, _), (b, span) in itertools.pairwise(run):
        gap = b.x0 - a.x1
        alone = b.text[0].isalpha() and not b.text[1:2].isalnum() and len(b.text) < 3
        alone = alone and len(a.text) == 1 and a.text.isalpha()
        near = gap < 0.5 * span["size"] and (not gaps or gap < 1.45 * min(gaps) + 0.2)
        if alone and near:
            word = out[-1][0]
            out[-1] = (Word(word.text + b.text, word.x0, b.x1), out[-1][1])
            gaps.append(max(gap, 0.1))
        else:
            out.append((b, span))
            gaps = []
    return out if len(out) < len(run) - 3 else run


def _may_begin_cell(before: str, c: str) -> bool:
    """A word seldom goes on like this, so a second cell may begin: `5V`, `n$`, `h5`, `)1`."""
    if c.isupper():
        return not before.isupper() and before not in "-/'’(&."
    if c in "$€£₹¥(" or c == MARK:
        return before.isalnum() or before == ")"
    if c.isdigit():
        return before.isalpha() or before == ")"
    return before == ")" and c.isalpha()


def _bold(span: dict[str, Any]) -> bool:
    name = span["font"].lower()
    return bool(span["flags"] & BOLD) or "bold" in name or "black" in name or "heavy" in name


def _split(run: list[tuple[Word, dict[str, Any]]], cuts: set[int]) -> list[list[tuple[Word, dict[str, Any]]]]:
    """Cut a line at gaps that may be borders between cells."""
    pieces = [[run[0]]]
    for i, (before, here) in enumerate(itertools.pairwise(run), 1):
        gap = here[0].x0 - before[0].x1
        size = max(before[1]["size"], here[1]["size"])
        figures = gap > FIGURE_GAP * size and before[0].text[-1].isdigit() and here[0].text[0].isdigit()
        if gap > SPLIT_GAP * size or figures or gap < -0.5 * size or i in cuts:
            pieces.append([here])
        else:
            pieces[-1].append(here)
    return pieces
