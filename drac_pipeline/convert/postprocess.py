"""The clean-up that every converter's Markdown goes through.

By rule and in this order: code fences around the answer are taken off, images are
removed, pipe and HTML tables become row sentences, ligatures and soft hyphens become
plain letters. Page comments and error markers stay as they are, and so does a real code
block. The result is a fixed point: cleaning it again changes nothing.
"""

from __future__ import annotations

import re

from drac_pipeline.convert.html_tables import grid_of, read_html_tables
from drac_pipeline.convert.local.paragraphs import clean_text
from drac_pipeline.convert.row_sentences import row_sentence

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[ \t]*([\w+#.-]*)[ \t]*$")
_WRAPPERS = {"markdown", "md"}
_COMMENT = re.compile(r"\s*<!--.*-->\s*")
_IMAGE = re.compile(r"(?<!\\)!\[[^\]\n]*\](?:\([^)\n]*\)|\[[^\]\n]*\])")
_IMAGE_TAG = re.compile(r"</?img\b[^>]*>|<(picture|figure)\b[^>]*>|</(picture|figure)>", re.I)
_IMAGE_TARGET = re.compile(r"^ {0,3}\[[^\]\n]+\]:\s*\S+\.(?:png|jpe?g|gif|svg|webp|tiff?|bmp)\b.*$", re.I)
_TABLE_OPEN = re.compile(r"(?<!\\)<table\b", re.I)
_DELIMITER = re.compile(r"^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")
_PIPE_ROW = re.compile(r"^\s*\|.*\|\s*$")


def postprocess(markdown: str) -> str:
    """The cleaned Markdown."""
    text = markdown.replace("\r\n", "\n").replace("\r", "\n")
    for _ in range(4):  # a wrapper may lie in a wrapper
        unwrapped = _unwrap(text)
        if unwrapped == text:
            break
        text = unwrapped
    parts = []
    for piece, code in _pieces(text):
        parts.append(piece if code else _clean(piece))
    return "".join(parts)


def _unwrap(text: str) -> str:
    """Take off fences that mark Markdown as Markdown or wrap the whole answer."""
    lines = text.split("\n")
    content = [i for i, line in enumerate(lines) if line.strip() and not _COMMENT.fullmatch(line)]
    drop: set[int] = set()
    i = 0
    while i < len(lines):
        m = _FENCE.match(lines[i])
        if not m:
            i += 1
            continue
        inner = m[2].lower() in _WRAPPERS
        end = _closing(lines, i, m[1], nested=inner)
        whole = bool(content) and content[0] == i and (end is None or content[-1] == end) and not m[2]
        if inner or whole:
            drop.add(i)
            if end is not None:
                drop.add(end)
        i = (i if inner or whole else end if end is not None else len(lines)) + 1
    return "\n".join(line for i, line in enumerate(lines) if i not in drop)


def _closing(lines: list[str], start: int, fence: str, *, nested: bool) -> int | None:
    """The line that closes a fence; within Markdown, inner blocks are skipped."""
    i = start + 1
    while i < len(lines):
        m = _FENCE.match(lines[i])
        if m and m[1][0] == fence[0] and len(m[1]) >= len(fence):
            if not m[2]:
                return i
            if nested:
                inner = _closing(lines, i, m[1], nested=False)
                if inner is None:
                    return None
                i = inner
        i += 1
    return None


def _pieces(text: str) -> list[tuple[str, bool]]:
    """The text cut into code blocks (True) and the rest."""
    lines = text.splitlines(keepends=True)
    out: list[tuple[str, bool]] = []
    plain: list[str] = []
    i = 0
    bare = [line.rstrip("\n") for line in lines]
    while i < len(lines):
        m = _FENCE.match(bare[i])
        end = _closing(bare, i, m[1], nested=False) if m else None
        if m and end is not None:
            out += [("".join(plain), False), ("".join(lines[i : end + 1]), True)]
            plain = []
            i = end + 1
            continue
        plain.append(lines[i])
        i += 1
    out.append(("".join(plain), False))
    return out


def _clean(text: str) -> str:
    text = _html_tables(text)
    text = _pipe_tables(text)
    lines = []
    for line in text.split("\n"):
        if _COMMENT.fullmatch(line):
            lines.append(line)
            continue
        bare = _IMAGE_TAG.sub("", _IMAGE.sub("", line))
        if bare != line:
            if _IMAGE_TARGET.match(bare) or not bare.strip("[]() \t"):
                continue
            bare = re.sub(r"(?<=\S) {2,}", " ", bare).rstrip()
        elif _IMAGE_TARGET.match(line):
            continue
        lines.append(clean_text(bare))
    text = "\n".join(lines)
    return re.sub(r"\n{3,}", "\n\n", text)


def _html_tables(text: str) -> str:
    out = []
    at = 0
    while m := _TABLE_OPEN.search(text, at):
        depth, end = 0, None
        for tag in re.finditer(r"(?<!\\)<table\b|</table\s*>", text[m.start() :], re.I):
            depth += 1 if tag[0][1] != "/" else -1
            if depth == 0:
                end = m.start() + tag.end()
                break
        if end is None:  # cut off: all that follows is the table's
            end = len(text)
        html = text[m.start() : end]
        comments = re.findall(r"<!--.*?-->", html, re.S)
        rendered = []
        for table in read_html_tables(html):
            header, body = grid_of(table)
            caption = " ".join(table.caption.split())
            if caption:
                rendered.append(caption)
            rendered += _sentences(header, body)
        out.append(text[at : m.start()].rstrip(" \t"))
        out.append("\n\n" + "\n\n".join([*rendered, *comments]) + "\n\n")
        at = end
    out.append(text[at:])
    return "".join(out)


def _sentences(header: list[list[str]], body: list[list[str]]) -> list[str]:
    found = [row_sentence(header, cells) for cells in body]
    found = [s for s in found if s]
    if not found:
        text = "; ".join(", ".join(p) for p in header if p)
        return [text] if text else []
    return found


def _pipe_tables(text: str) -> str:
    """Pipe tables to row sentences; a table that goes on after a page comment keeps its header."""
    lines = text.split("\n")
    out: list[str] = []
    header: list[list[str]] | None = None
    i = 0
    while i < len(lines):
        line = lines[i]
        delimited = (
            "|" in line
            and i + 1 < len(lines)
            and "|" in lines[i + 1]
            and bool(_DELIMITER.match(lines[i + 1]))
        )
        rows_only = bool(_PIPE_ROW.match(line)) and (
            header is not None or (i + 1 < len(lines) and bool(_PIPE_ROW.match(lines[i + 1])))
        )
        if not delimited and not rows_only:
            if line.strip() and not _COMMENT.fullmatch(line):
                header = None
            out.append(line)
            i += 1
            continue
        j = i
        rows = []
        while j < len(lines) and "|" in lines[j] and not _COMMENT.fullmatch(lines[j]):
            if not _DELIMITER.match(lines[j]):
                rows.append(_cells(lines[j]))
            j += 1
        if delimited:
            header = [[c] if c else [] for c in rows[0]]
            body = rows[1:]
        else:
            body = rows
            if header is not None and any(len(r) != len(header) for r in rows):
                header = None
        sentences = _sentences(header or [], body)
        if out and out[-1].strip():
            out.append("")
        out.append("\n\n".join(sentences))
        if j < len(lines) and lines[j].strip():
            out.append("")
        i = j
    return "\n".join(out)


def _cells(line: str) -> list[str]:
    line = line.strip()
    line = line[1:] if line.startswith("|") else line
    line = line[:-1] if line.endswith("|") and not line.endswith("\\|") else line
    cells = re.split(r"(?<!\\)\|", line)
    return [re.sub(r"<br\s*/?>", " ", c.replace("\\|", "|")).strip().replace("**", "") for c in cells]
