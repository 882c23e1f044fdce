"""Plain text, CSV and Markdown as HTML pages to print: simple, deterministic, nothing lost."""

from __future__ import annotations

import csv
import html
import io
import re

from drac_pipeline.errors import CorruptDocument
from drac_pipeline.normalize.sanitize import page

_TABLE_STYLE = (
    "<style>table{border-collapse:collapse;width:100%}"
    "th,td{border:.5pt solid #888;padding:2pt 4pt;text-align:left;vertical-align:top;font-size:9pt}"
    "body{font-family:'Liberation Sans','DejaVu Sans',sans-serif;font-size:10.5pt}"
    "pre,code{font-family:'Liberation Mono','DejaVu Sans Mono',monospace;font-size:9pt}"
    "blockquote{border-left:2pt solid #888;margin-left:0;padding-left:8pt}</style>"
)


def text_page(text: str, title: str) -> str:
    """Blank lines part paragraphs; line breaks and runs of blanks stay as they are."""
    blocks = re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n\n"))
    body = "".join(
        f'<p style="white-space:pre-wrap">{html.escape(b.strip(chr(10)))}</p>' for b in blocks if b.strip()
    )
    return page(html.escape(title), _TABLE_STYLE + body)


def csv_page(text: str, title: str) -> str:
    """One table; the first row is the header unless all of it is numbers."""
    return page(html.escape(title), _TABLE_STYLE + table_html(csv_rows(text)))


def csv_rows(text: str) -> list[list[str]]:
    """The rows that hold anything. Raises CorruptDocument where quotes swallow too much."""
    try:
        rows = list(csv.reader(io.StringIO(text), dialect=_dialect(text)))
    except csv.Error as e:
        raise CorruptDocument(f"csv: {e}", remedy="Check the quotes, or save it again.") from e
    return [row for row in rows if any(c.strip() for c in row)]


def table_html(rows: list[list[str]]) -> str:
    """`rows` as an HTML table, ragged rows filled up."""
    if not rows:
        return ""
    width = max(map(len, rows))
    filled = [[*r, *[""] * (width - len(r))] for r in rows]
    head = "" if all(_number(c) for c in rows[0]) else _row(filled.pop(0), "th")
    return f"<table><thead>{head}</thead><tbody>{''.join(_row(r, 'td') for r in filled)}</tbody></table>"


def _row(cells: list[str], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{html.escape(c.strip())}</{tag}>" for c in cells) + "</tr>"


def _number(text: str) -> bool:
    return bool(re.fullmatch(r"\s*[-+]?[\d.,\s]*\d[\d.,\s%]*", text))


def _dialect(text: str) -> type[csv.Dialect]:
    """Delimiter by which the first lines have the most equal fields; quotes doubled, as usual."""
    sample = text[:20_000].splitlines()[:50]

    def steadiness(delimiter: str) -> tuple[float, int]:
        counts = [len(row) for row in csv.reader(sample, delimiter=delimiter)] or [1]
        common = max(set(counts), key=counts.count)
        return (counts.count(common) / len(counts) if common > 1 else 0.0, common)

    class Found(csv.excel):
        delimiter = max(",;\t|", key=steadiness)

    csv.field_size_limit(10_000_000)
    return Found


# --- Markdown ----------------------------------------------------------------------------------

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})\s*(.*)$")
_ATX = re.compile(r"^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_ITEM = re.compile(r"^(\s*)([-*+]|\d{1,9}[.)])[ \t]+(.*)$")
_RULE = re.compile(r"^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_DELIMITER_ROW = re.compile(r"^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")


def markdown_page(text: str, title: str) -> str:
    """Headings, paragraphs, nested lists, quotes, fenced code, pipe tables and emphasis.

    Raw HTML is shown as text: nothing of the document is trusted as markup.
    """
    body = _blocks(text.replace("\r\n", "\n").replace("\r", "\n").expandtabs(4).split("\n"))
    return page(html.escape(title), _TABLE_STYLE + body)


def _blocks(lines: list[str]) -> str:
    out: list[str] = []
    paragraph: list[str] = []
    at = 0

    def flush() -> None:
        if paragraph:
            out.append(f"<p>{_inline(' '.join(x.strip() for x in paragraph))}</p>")
            paragraph.clear()

    while at < len(lines):
        line = lines[at]
        heading, fence = _ATX.match(line), _FENCE.match(line)
        if not line.strip():
            flush()
        elif fence:
            flush()
            at, code = _fenced(lines, at, fence.group(1))
            out.append(f"<pre>{html.escape(code)}</pre>")
        elif heading:
            flush()
            level = len(heading.group(1))
            out.append(f"<h{level}>{_inline(heading.group(2) or '')}</h{level}>")
        elif paragraph and re.match(r"^ {0,3}(=+|-+)\s*$", line):
            level = 1 if "=" in line else 2
            content = " ".join(x.strip() for x in paragraph)
            paragraph.clear()
            out.append(f"<h{level}>{_inline(content)}</h{level}>")
        elif _RULE.match(line):
            flush()
            out.append("<hr>")
        elif line.lstrip().startswith(">"):
            flush()
            at, inner = _take(lines, at, lambda x: bool(x.strip()))
            quoted = _blocks([re.sub(r"^\s*> ?", "", x) for x in inner])
            out.append(f"<blockquote>{quoted}</blockquote>")
        elif "|" in line and at + 1 < len(lines) and _DELIMITER_ROW.match(lines[at + 1]):
            flush()
            at, rows = _take(lines, at, lambda x: "|" in x)
            out.append(_pipe_table(rows))
        elif _ITEM.match(line) and (not paragraph or not line.startswith("    ")):
            flush()
            at, block = _list(lines, at)
            out.append(block)
        else:
            paragraph.append(line)
        at += 1
    flush()
    return "\n".join(out)


def _take(lines: list[str], at: int, wanted) -> tuple[int, list[str]]:
    """The lines from `at` on while `wanted`; returns the index of the last of them."""
    end = at
    while end < len(lines) and wanted(lines[end]):
        end += 1
    return end - 1, lines[at:end]


def _fenced(lines: list[str], at: int, fence: str) -> tuple[int, str]:
    end = at + 1
    while end < len(lines) and not re.match(
        rf"^ {{0,3}}{re.escape(fence[0])}{{{len(fence)},}}\s*$", lines[end]
    ):
        end += 1
    return end, "\n".join(lines[at + 1 : end])


def _list(lines: list[str], at: int) -> tuple[int, str]:
    """A list with what is indented below its items, recursively."""
    first = _ITEM.match(lines[at])
    assert first
    indent = len(first.group(1))
    ordered = first.group(2)[0].isdigit()
    items: list[list[str]] = []
    while at < len(lines):
        line = lines[at]
        m = _ITEM.match(line)
        if (
            m
            and len(m.group(1)) <= indent + 1
            and m.group(2)[0].isdigit() == ordered
            and len(m.group(1)) >= indent
        ):
            items.append([m.group(3)])
        elif not line.strip():
            following = next((x for x in lines[at + 1 :] if x.strip()), "")
            if len(following) - len(following.lstrip()) <= indent and not _ITEM.match(following):
                break
            items[-1].append("")
        elif len(line) - len(line.lstrip()) > indent:
            items[-1].append(line)
        elif m or _ATX.match(line) or _FENCE.match(line) or items[-1][-1] == "":
            break
        else:
            items[-1].append(line)
        at += 1
    tag = "ol" if ordered else "ul"
    start = f' start="{int(first.group(2)[:-1])}"' if ordered else ""
    return at - 1, f"<{tag}{start}>" + "".join(f"<li>{_item(i)}</li>" for i in items) + f"</{tag}>"


def _item(lines: list[str]) -> str:
    rest = [x for x in lines[1:] if x.strip()]
    margin = min((len(x) - len(x.lstrip()) for x in rest), default=0)
    inner = _blocks([lines[0], *[x[margin:] for x in lines[1:]]])
    return re.sub(r"^<p>(.*?)</p>", r"\1", inner, count=1, flags=re.S)


def _pipe_table(lines: list[str]) -> str:
    rows = [re.split(r"(?<!\\)\|", x.strip().removeprefix("|").removesuffix("|")) for x in lines]
    del rows[1]
    cells = [[_inline(c.replace("\\|", "|").strip()) for c in r] for r in rows]
    width = max(map(len, cells))
    filled = [[*r, *[""] * (width - len(r))] for r in cells]
    line = ["<tr>" + "".join(f"<{tag}>{c}</{tag}>" for c in r) + "</tr>" for tag, r in _tagged(filled)]
    return f"<table><thead>{line[0]}</thead><tbody>{''.join(line[1:])}</tbody></table>"


def _tagged(rows: list[list[str]]):
    return [("th" if n == 0 else "td", row) for n, row in enumerate(rows)]


def _inline(text: str) -> str:
    """Emphasis, code, links (text, then the address where it differs) and escapes."""
    kept: list[str] = []

    def keep(markup: str) -> str:
        kept.append(markup)
        return f"\x00{len(kept) - 1}\x00"

    text = text.replace("\x00", "")
    text = re.sub(r"(`+)(.+?)\1", lambda m: keep(f"<code>{html.escape(m.group(2).strip())}</code>"), text)
    text = re.sub(r"\\([!-/:-@\[-`{-~])", lambda m: keep(html.escape(m.group(1))), text)
    text = re.sub(r"<br\s*/?>", lambda _: keep("<br>"), text, flags=re.I)
    text = html.escape(text, quote=False)
    text = re.sub(r"!\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"\[([^\]]+)\]\((?:[^)\s]*)(?:\s+[^)]*)?\)", r"\1", text)
    text = re.sub(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1", r"<b>\2</b>", text)
    text = re.sub(r"(?<![\w*])\*(?=\S)([^*]+?)(?<=\S)\*(?![\w*])", r"<i>\1</i>", text)
    text = re.sub(r"(?<![\w_])_(?=\S)([^_]+?)(?<=\S)_(?![\w_])", r"<i>\1</i>", text)
    text = re.sub(r"~~(?=\S)(.+?)~~", r"<s>\1</s>", text)
    for _ in range(3):
        text = re.sub(r"\x00(\d+)\x00", lambda m: kept[int(m.group(1))], text)
    return text
