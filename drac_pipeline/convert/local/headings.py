"""Headings and their levels: outline, then numbering, then type size and weight."""

from __future__ import annotations

import re
from collections import Counter

from drac_pipeline.convert.local.blocks import Block
from drac_pipeline.convert.local.columns import Flow
from drac_pipeline.convert.local.rows import CAPTION, LEADER_RE, Row

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

    Blocks that the outline names have kind `heading` and a level already. An outline often
    ends at some depth: bold lines set apart like headings go one level below it.
    """
    body = body_size(blocks)
    styles: dict[tuple[int, bool], Counter[int]] = {}
    for b in blocks:
        if b.kind == "heading":
            styles.setdefault(_style(b), Counter())[b.level] += 1
    found = [b for i, b in enumerate(blocks) if _looks(b, body, blocks, i, strict=outlined)]
    seen = Counter(_style(b) for b in found)
    found = [b for b in found if seen[_style(b)] > 1 or not _signature(b, blocks)]
    for b in found:
        b.kind = "heading"
        b.marker = ""
    if styles:
        deepest = max(max(c) for c in styles.values())
        for b in found:
            known = styles.get(_style(b))
            larger = [min(c) for st, c in styles.items() if st[0] > _style(b)[0]]
            if b.size > 1.08 * body:
                b.level = known.most_common(1)[0][0] if known else min(6, max(larger, default=0) + 1)
            else:
                b.level = min(6, deepest + 1)
        _title_over_outline(blocks, found)
    else:
        _rank(found)
        _by_number(found)
    _plain_around_title(blocks, found)
    _no_jumps(blocks)


def _title_over_outline(blocks: list[Block], found: list[Block]) -> None:
    """The title that an outline leaves out stands over its chapters."""
    headings = [b for b in blocks if b.kind == "heading"]
    title, rest = headings[0], headings[1:]
    if not any(title is b for b in found) or any(b.size > 0.9 * title.size for b in rest):
        return
    title.level = 1
    for b in rest:
        b.level = min(6, b.level + 1)


def _plain_around_title(blocks: list[Block], found: list[Block]) -> None:
    """Lines in type of their own right over and under the title are no headings: a kind of
    document, a subtitle, an edition."""
    headings = [b for b in blocks if b.kind == "heading"]
    if len(headings) < 2 or not blocks or blocks[0].kind != "heading":
        return
    mine = {id(b) for b in found}
    if headings[1] is blocks[1] and headings[1].size > 1.3 * headings[0].size and id(headings[0]) in mine:
        headings[0].kind = "paragraph"
    at = next(i for i, b in enumerate(blocks) if b.kind == "heading")
    title = blocks[at]
    under: list[Block] = []
    for b in blocks[at + 1 :]:
        if b.kind not in ("heading", "paragraph") or b.bold or b.page != title.page:
            break
        if b.size > 0.9 * title.size or (under and _style(b) != _style(under[0])):
            break
        under.append(b)
    elsewhere = {_style(b) for b in headings if not any(b is u for u in under)}
    if under and title.bold and _style(under[0]) not in elsewhere:
        for b in under:
            if id(b) in mine:
                b.kind = "paragraph"


def _style(b: Block) -> tuple[int, bool]:
    return round(b.size * 2), b.bold


def _looks(b: Block, body: float, blocks: list[Block], i: int, *, strict: bool) -> bool:
    """A short block in larger or bold type that stands over others.

    `strict`: an outline tells most headings, so type as large as the text must also be set
    apart on both sides.
    """
    if b.kind not in ("paragraph", "item"):
        return False
    text = b.text.strip()
    if LEADER_RE.search(text + " ") or CAPTION.match(text):
        return False  # an entry of a table of contents, a caption
    if len(b.rows) > 3 or len(text) > 200 or not any(c.isalpha() for c in text):
        return False
    if b.kind == "item" and not (NUMBERED.match(text) or re.match(r"[A-Za-z]{1,4}[.)]\s", text)):
        return False
    if text.endswith((",", ";")) or (text.endswith(".") and not NUMBERED.match(text)):
        return False
    if b.size >= (1.15 if strict else 1.12) * body and len(text) > 1:
        return True
    if not b.bold or b.size < 0.97 * body or len(b.rows) > 2 or len(text) > 120:
        return False
    if text.endswith("!") or text[0] in "([":
        return False
    if b.x0 > b.column[0] + 1.5 * b.size and b.kind == "item":
        return False
    before, after = blocks[i - 1] if i else None, blocks[i + 1] if i + 1 < len(blocks) else None
    if after is None or after.kind == "heading":
        return False
    if after.bold and after.kind == "paragraph" and len(after.rows) > 3:
        return False
    above, below = _gap(before, b), _gap(b, after)
    if strict:
        apart = (above is None or above > 1.45) and (below is None or below > 1.45)
        return apart and b.x0 < b.column[0] + 2
    if text.endswith(":") and below is not None and below <= 1.45:
        return False  # a label set tight over its text
    return above is None or above > 1.45 or (below is not None and below > 1.45)


def _signature(b: Block, blocks: list[Block]) -> bool:
    """A name in large slanted type, once, after the text: written, not printed."""
    words = b.text.split()
    slanted = all(s.italic and not s.bold for r in b.rows for s in r.segments)
    named = len(words) <= 4 and all(w[0].isupper() or not w[0].isalpha() for w in words)
    return slanted and named and any(x is b for x in blocks[4:])


def _gap(a: Block | None, b: Block) -> float | None:
    """Distance of two blocks' nearest baselines in type sizes; None over a break."""
    if a is None or a.rows[-1].page != b.rows[0].page or b.rows[0].base < a.rows[-1].base:
        return None
    return (b.rows[0].base - a.rows[-1].base) / b.size


def _rank(found: list[Block]) -> None:
    """Levels by type: larger first, bold before regular."""
    levels: dict[tuple[int, bool], int] = {}
    level = 0
    last: tuple[int, bool] | None = None
    for s in sorted({_style(b) for b in found}, reverse=True):
        # sizes a fraction of a point apart are one level
        if last is None or last[0] - s[0] > 1 or last[1] != s[1]:
            level += 1
        last = s
        levels[s] = min(level, 6)
    for b in found:
        b.level = levels[_style(b)]


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
