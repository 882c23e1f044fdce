"""Plain text to Markdown: paragraphs, lists and those headings that are sure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise

from drac_pipeline.config import ConvertConfig
from drac_pipeline.model.conversion import Converted
from drac_pipeline.web.blocks import Block
from drac_pipeline.web.html import VERSION
from drac_pipeline.web.text_tables import split_tables
from drac_pipeline.web.tree import decode_page
from drac_pipeline.web.writer import Writer

_UNDERLINE = re.compile(r"\s*(=|-|~|\*|#)\1{2,}\s*")
_RULE = re.compile(r"[\s\-=_*~#+.·]{3,}")
_ITEM = re.compile(r"(\s*)([-*+•·▪◦‣–—]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])\s+(?=\S)")
_NUMBERED = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,4})\.?\s+(?=[^\W\d_])")
_CHAPTER = re.compile(
    r"(?:chapter|section|part|appendix|annex|kapitel|abschnitt|anhang)\s+[\dIVXA-Z]{1,5}\b", re.I
)
_COLUMNS = re.compile(r"\S(?:\s{3,}|\t+)\S")
_ENDS = (".", ",", ";", ":", "!", "?")
_CLOSED = (".", "!", "?", ":", '."', ".)", ".”")
_HEADING_CHARS = 80
_MIN_WRAP = 50  # no text is wrapped at fewer columns


@dataclass
class _Text:
    """What is known of the whole text: the column its lines are wrapped at, 0 if none."""

    wrap: int
    numbered: bool = False
    lettered: int = 0  # lines of the group at hand that begin with a letter and a bracket
    signs: set[tuple[int, str]] = field(default_factory=set)  # column and sign of the group's items
    blocks: list[Block] = field(default_factory=list)


def convert_text(data: bytes, _config: ConvertConfig) -> Converted:
    """A text file. Raises CorruptDocument, EmptyDocument."""
    text, warnings = decode_page(data)
    writer = Writer()
    writer.write(text_blocks(text))
    return writer.converted(f"text/{VERSION}", [], warnings)


def text_blocks(text: str) -> list[Block]:
    """The blocks of a plain text."""
    text = re.sub(r"\r\n?|\x0b|\x0c|\x85|\u2028|\u2029", "\n", text).expandtabs(8)
    text = re.sub(r"[\x00-\x08\x0e-\x1f]", "", text)
    lines = [line.rstrip() for line in text.split("\n")]
    parts = [p if isinstance(p, Block) else _groups(p) for p in split_tables(lines)]
    groups = [g for p in parts if not isinstance(p, Block) for g in p]
    whole = _Text(_wrap_column(groups), numbered=_is_numbered(groups))
    for n, part in enumerate(parts):
        if isinstance(part, Block):
            whole.blocks.append(part)
            continue
        for i, group in enumerate(part):
            _read_group(group, whole, alone=i + 1 < len(part) or n + 1 < len(parts))
    return whole.blocks


def _groups(lines: list[str]) -> list[list[str]]:
    """Runs of lines between blank ones."""
    groups: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            groups[-1].append(line)
        elif groups[-1]:
            groups.append([])
    return [g for g in groups if g]


def _wrap_column(groups: list[list[str]]) -> int:
    """The column at which the text is wrapped by hand: most lines that go on end just before it."""
    inner = sorted(len(line) for g in groups for line in g[:-1])
    if len(inner) < 3:
        return 0
    widest = inner[int(len(inner) * 0.95)]
    if not _MIN_WRAP <= widest <= 130:
        return 0
    near = sum(widest * 0.75 <= n <= widest + 6 for n in inner)
    return widest if near * 2 >= len(inner) else 0


def _is_numbered(groups: list[list[str]]) -> bool:
    """Single lines numbered 1, 2 … (or 1.1 …) with text between them: headings, not a list."""
    firsts = [(i, m) for i, g in enumerate(groups) if len(g) == 1 and (m := _NUMBERED.match(g[0]))]
    apart = sum(b[0] - a[0] > 1 for a, b in pairwise(firsts))
    deep = any("." in m[1] for _, m in firsts)
    return len(firsts) >= 2 and (apart * 2 >= len(firsts) - 1 or deep)


def _read_group(group: list[str], whole: _Text, *, alone: bool) -> None:
    group = _headings(group, whole, alone=alone)
    if not group:
        return
    if _is_columns(group):
        whole.blocks.append(Block("code", _dedent(group)))
        return
    whole.signs.clear()
    whole.lettered = sum(map(_is_lettered, group))
    at = 0
    while at < len(group):
        end = at + 1
        if _is_list(group, at, whole) and (item := _ITEM.match(group[at])):
            whole.signs.add((len(item[1]), _sign(item[2])))
            while end < len(group) and _goes_on(item, group, end, whole):
                end += 1
            _add_item(item, group[at:end], whole)
        else:
            while end < len(group) and not _is_list(group, end, whole):
                end += 1
            _paragraph(group[at:end], whole)
        at = end


def _headings(group: list[str], whole: _Text, *, alone: bool) -> list[str]:
    """Takes headings off the group's front; `alone` says that text follows the group."""
    while group:
        first = group[0].strip()
        under = _UNDERLINE.fullmatch(group[1]) if len(group) > 1 else None
        long_enough = under and len(group[1].strip()) >= len(first) * 0.5
        if _RULE.fullmatch(first):
            # a line above and below is a heading's as well
            if len(group) > 2 and _UNDERLINE.fullmatch(group[0]) and _UNDERLINE.fullmatch(group[2]):
                _heading(group[1], 1, whole)
                group = group[3:]
            else:
                group = group[1:]
            continue
        if under and long_enough and len(first) <= 120 and not _COLUMNS.search(group[0].strip()):
            _heading(first, 1 if under[1] in "=#*" else 2, whole)
            group = group[2:]
            continue
        if len(group) == 1 and (level := _plain_heading(first, whole, alone=alone)):
            _heading(first, level, whole)
            return []
        break
    return group


def _plain_heading(line: str, whole: _Text, *, alone: bool) -> int:
    """The level of a line on its own that is surely a heading, or 0."""
    if not alone or len(line) > _HEADING_CHARS or line.endswith(_ENDS):
        return 0
    numbered = _NUMBERED.match(line)
    if numbered and whole.numbered:
        return min(6, 2 + numbered[1].count("."))
    letters = [c for c in line if c.isalpha()]
    if _CHAPTER.match(line):
        return 2
    upper = sum(c.isupper() for c in letters)
    if len(letters) >= 4 and upper == len(letters) and " " not in line[:1] and upper >= len(line) * 0.5:
        return 1 if not whole.blocks else 2
    return 0


def _heading(line: str, level: int, whole: _Text) -> None:
    whole.blocks.append(Block("heading", " ".join(line.split()), level=level))


def _is_columns(group: list[str]) -> bool:
    """Lines set in columns by blanks: the places say which value is whose."""
    gaps = sum(bool(_COLUMNS.search(line)) for line in group)
    return len(group) >= 2 and gaps * 3 >= len(group) * 2


def _is_list(group: list[str], at: int, whole: _Text) -> bool:
    """An item begins here: a sign, or a number that a neighbour goes on from."""
    item = _ITEM.match(group[at])
    if not item:
        return False
    marker = item[2]
    if marker.strip("().").isalpha() and whole.lettered < 2:
        return False  # initials
    if (len(item[1]), _sign(marker)) in whole.signs:
        return True
    if marker[-1] not in ".)":
        # a dash in running text at a line's begin
        return at == 0 or marker in "*+•·▪◦‣" or not _flows(group[at - 1], whole)
    return at == 0 or not _flows(group[at - 1], whole) or _ITEM.match(group[at - 1]) is not None


def _sign(marker: str) -> str:
    """What the markers of one list have in common."""
    return "1" + marker[-1] if marker.strip("().").isdigit() else marker[-1]


def _is_lettered(line: str) -> bool:
    item = _ITEM.match(line)
    return item is not None and item[2].strip("().").isalpha()


def _goes_on(item: re.Match[str], group: list[str], at: int, whole: _Text) -> bool:
    """The line belongs to the item above: it is indented, or the line before is full."""
    if _is_list(group, at, whole):
        return False
    indent = len(group[at]) - len(group[at].lstrip())
    return indent > len(item[1]) or _flows(group[at - 1], whole)


def _flows(line: str, whole: _Text) -> bool:
    """The line is full and its sentence open: the next one goes on with it."""
    return bool(whole.wrap) and len(line) >= whole.wrap * 0.75 and not line.endswith(_CLOSED)


def _add_item(item: re.Match[str], lines: list[str], whole: _Text) -> None:
    marker, indent = item[2], len(item[1])
    body = [lines[0][item.end() :], *lines[1:]]
    depth = 1
    last = whole.blocks[-1] if whole.blocks else None
    if last is not None and last.kind == "list_item":
        # the column of the item above is kept in its level, which an item has no other use for
        depth = last.depth + (indent >= last.level + 2) if indent > last.level else _depth(whole, indent)
    number = marker.strip("().")
    sign = f"{number}." if number.isdigit() else "-" if len(marker) == 1 else f"- {marker}"
    whole.blocks.append(Block("list_item", _joined(body, whole), level=indent, depth=depth, marker=sign))


def _depth(whole: _Text, indent: int) -> int:
    """The depth of the nearest item above that stands no further in."""
    for block in reversed(whole.blocks):
        if block.kind != "list_item":
            break
        if block.level <= indent:
            return block.depth
    return 1


def _paragraph(lines: list[str], whole: _Text) -> None:
    quoted = all(line.lstrip().startswith(">") for line in lines)
    if quoted:
        lines = [line.lstrip().lstrip("> ") for line in lines]
    text = _joined(lines, whole)
    if text:
        whole.blocks.append(Block("quote" if quoted else "paragraph", text))


def _joined(lines: list[str], whole: _Text) -> str:
    """Lines wrapped by hand as running text; short lines (addresses, verses) stay lines."""
    out = lines[0].strip()
    for before, line in pairwise(lines):
        word = line.strip().split(" ", 1)[0]
        room = whole.wrap and len(before) + 1 + len(word) > whole.wrap - 1
        full = whole.wrap and len(before) >= whole.wrap * 0.75
        goes_on = line.strip()[:1].islower() and not before.endswith(_CLOSED)
        out += (" " if room or full or (goes_on and len(before) > 30) else "\n") + line.strip()
    return out


def _dedent(lines: list[str]) -> str:
    cut = min(len(line) - len(line.lstrip()) for line in lines)
    return "\n".join(line[cut:] for line in lines)
