"""Headings and their levels: outline, then numbering, then type size and weight."""

from __future__ import annotations

import re
from collections import Counter

from drac_pipeline.convert.local.blocks import SENTENCE_END, Block
from drac_pipeline.convert.local.columns import Flow
from drac_pipeline.convert.local.rows import Row

NUMBERED = re.compile(
    r"(?:(?:section|chapter|part|item|article|appendix)\s+)?(\d{1,2}(?:\.\d{1,2}){0,4})\.?\s+\S", re.I
)
_ALNUM = re.compile(r"[^\W_]+")


def key_of(text: str) -> str:
    """Letters and digits only: how outline titles and lines are compared."""
    return "".join(_ALNUM.findall(text.translate({0xFB01: "fi", 0xFB02: "fl"}).lower()))


def outline_rows(flows: list[Flow], entries: list[tuple[int, str]]) -> dict[int, tuple[int, int]]:
    """Rows of a page that the outline names: id(row) -> (level, entry index).

    An entry may run over several rows; all of them get its index. Among equal texts the
    larger type wins: a title also named in running text is no heading there.
    """
    found: dict[int, tuple[int, int]] = {}
    rows = [(f, k, r) for f in flows for k, r in enumerate(f.rows)]
    keys = [key_of(r.text) for _, _, r in rows]
    for index, (level, title) in enumerate(entries):
        key = key_of(title)
        if not key:
            continue
        best: list[Row] = []
        for i, (flow, _, row) in enumerate(rows):
            if id(row) in found or not keys[i]:
                continue
            text = keys[i]
            bare = key_of(re.sub(r"^[\divxIVX.]+[.)]?\s+", "", row.text))
            members = [row]
            k = i
            start = text if key.startswith(text) else bare
            if not start or not key.startswith(start):
                continue
            while start != key and k + 1 < len(rows) and rows[k + 1][0] is flow and len(members) < 5:
                k += 1
                start += keys[k]
                members.append(rows[k][2])
                if not key.startswith(start):
                    break
            if start == key and (not best or _weight(members[0]) > _weight(best[0])):
                best = members
        for r in best:
            found[id(r)] = (level, index)
    return found


def _weight(row: Row) -> float:
    return row.size + (0.5 if all(s.bold for s in row.segments) else 0)


def body_size(blocks: list[Block]) -> float:
    """The commonest type size of running text."""
    sizes: Counter[float] = Counter()
    for b in blocks:
        if b.kind in ("paragraph", "item"):
            for r in b.rows:
                sizes[round(r.size, 1)] += len(r.text)
    if not sizes:
        for b in blocks:
            for r in b.rows:
                sizes[round(r.size, 1)] += len(r.text)
    return sizes.most_common(1)[0][0] if sizes else 10.0


def mark_headings(blocks: list[Block], outlined: bool) -> None:
    """Turn paragraphs that look like headings into such, and give all headings levels.

    Blocks that the outline names have kind `heading` and a level already.
    """
    body = body_size(blocks)
    styles: dict[tuple[int, bool], Counter[int]] = {}
    for b in blocks:
        if b.kind == "heading":
            styles.setdefault(_style(b), Counter())[b.level] += 1
    found = []
    for i, b in enumerate(blocks):
        if b.kind not in ("paragraph", "item") or not _looks(b, body, blocks, i):
            continue
        if outlined and _style(b) not in styles and b.size < 1.15 * body:
            continue
        if outlined and b.size < 1.05 * body and b.kind == "item":
            continue
        found.append(b)
    for b in found:
        b.kind = "heading"
        b.marker = ""
    free = [b for b in found if _style(b) not in styles]
    if free:
        _rank(free, styles)
    for b in found:
        if _style(b) in styles:
            b.level = styles[_style(b)].most_common(1)[0][0]
    if not outlined:
        _by_number(found)
    _no_jumps(blocks)


def _style(b: Block) -> tuple[int, bool]:
    return round(b.size * 2), b.bold


def _looks(b: Block, body: float, blocks: list[Block], i: int) -> bool:
    text = b.text.strip()
    if len(b.rows) > 3 or len(text) > 200 or not any(c.isalpha() for c in text):
        return False
    large = b.size >= 1.12 * body
    if b.kind == "item" and not (NUMBERED.match(text) or re.match(r"[A-ZIVX]{1,4}\.\s", text)):
        return False
    if text.endswith((",", ";")) or (text.endswith(".") and not large and not NUMBERED.match(text)):
        return False
    if large and len(text) > 1:
        return not (text.endswith(".") and len(text) > 90)
    if not b.bold or b.size < 0.97 * body or len(b.rows) > 2 or len(text) > 120:
        return False
    if SENTENCE_END.search(text) and not text.endswith((":", "?")) and not NUMBERED.match(text):
        return False
    following = blocks[i + 1] if i + 1 < len(blocks) else None
    return following is not None and not (
        following.kind == "paragraph"
        and following.bold
        and _style(following) == _style(b)
        and len(following.rows) > 3
    )


def _rank(free: list[Block], styles: dict[tuple[int, bool], Counter[int]]) -> None:
    """Levels by type: larger first, bold before regular."""
    order = sorted({_style(b) for b in free}, reverse=True)
    known = sorted(((s, c.most_common(1)[0][0]) for s, c in styles.items()), reverse=True)
    if known:
        for s in order:
            above = [lv for k, lv in known if k > s]
            styles[s] = Counter({min(6, max(above) + 1 if above else 1): 1})
        return
    # sizes a tenth of a point apart are one level
    level = 0
    last: tuple[int, bool] | None = None
    for s in order:
        if last is None or last[0] - s[0] >= 1 or last[1] != s[1]:
            level += 1
        last = s
        styles[s] = Counter({min(level, 6): 1})


def _by_number(found: list[Block]) -> None:
    """Numbered headings of one type: the number's depth orders them."""
    groups: dict[tuple[int, bool], list[tuple[Block, int]]] = {}
    for b in found:
        m = NUMBERED.match(b.text.strip())
        if m:
            groups.setdefault(_style(b), []).append((b, m[1].count(".") + 1))
    for members in groups.values():
        low = min(d for _, d in members)
        for b, depth in members:
            b.level = min(6, b.level + depth - low)


def _no_jumps(blocks: list[Block]) -> None:
    """A level more than one below its parent is moved up; siblings stay siblings."""
    chain: list[tuple[int, int]] = []  # (level as found, level as given)
    for b in blocks:
        if b.kind != "heading":
            continue
        while chain and chain[-1][0] >= b.level:
            chain.pop()
        given = min(b.level, chain[-1][1] + 1) if chain else b.level
        chain.append((b.level, given))
        b.level = max(1, given)
