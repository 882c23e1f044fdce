"""What a converter wrote, held against the PDF's own text, page by page.

The comparison knows nothing of layout: it counts tokens, and names the numbers and
identifiers that are on one side only, for these are what a reader of chunks relies on.
It works for any converter whose Markdown has page comments, and says so where a page
gives nothing to compare with (no text layer, or one that cannot be trusted).
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from pathlib import Path

from pydantic import BaseModel, Field

from drac_pipeline.convert.local.document import open_pdf
from drac_pipeline.convert.local.paragraphs import clean_text
from drac_pipeline.convert.markers import split_pages
from drac_pipeline.model.conversion import Converted
from drac_pipeline.mupdf import pymupdf

MAX_LISTED = 50  # values named per page and kind
UNREADABLE = 0.1  # share of characters without meaning from which a text layer is no witness
_TOKEN = re.compile(r"[^\W_]+")
_VALUE = re.compile(r"(?:[^\W\d_]{1,8}[-/])?[^\W_]*\d(?:\w|[.,:/\-–](?=\w))*")
_COMMENT = re.compile(r"<!--.*?-->", re.S)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)\s]*\)")
_TAG = re.compile(r"(?<!\\)</?[a-zA-Z][^>\n]*>")
_HYPHEN = re.compile(r"([^\W\d_]+)[-\u2010\u00ad]\s*\n\s*([^\W\d_]+)")


class PageFidelity(BaseModel):
    """One page. `recall` is the share of the PDF's tokens that the Markdown has,
    `precision` the share of the Markdown's tokens that the PDF has; None where
    `comparable` is false, for the `reason` given. Values are numbers and identifiers."""

    page: int
    comparable: bool = True
    reason: str = ""
    source_tokens: int = 0
    output_tokens: int = 0
    recall: float | None = None
    precision: float | None = None
    missing_values: list[str] = Field(default_factory=list)
    foreign_values: list[str] = Field(default_factory=list)
    missing_words: list[str] = Field(default_factory=list)
    dropped: list[str] = Field(default_factory=list)
    reader: str = ""
    confidence: float | None = None


class FidelityReport(BaseModel):
    """All pages, and the figures over those that can be compared."""

    pages: list[PageFidelity] = Field(default_factory=list)
    compared: int = 0
    recall: float | None = None
    precision: float | None = None
    missing_values: int = 0
    foreign_values: int = 0

    def worst(self, n: int = 5) -> list[PageFidelity]:
        """The pages with the lowest recall or precision first."""
        found = [p for p in self.pages if p.recall is not None and p.precision is not None]
        return sorted(found, key=lambda p: min(p.recall or 0.0, p.precision or 0.0))[:n]


class _Side:
    """Tokens and values of a text; `run` is its letters and digits without a gap."""

    __slots__ = ("display", "run", "tokens", "values")

    def holds(self, key: str) -> bool:
        """A value is there, if need be over a line end or across a joint of cells."""
        return key in self.values or (len(key) > 3 and key in self.run)

    def __init__(self, text: str) -> None:
        text = unicodedata.normalize("NFKC", text)
        tokens = [t.lower() for t in _TOKEN.findall(text)]
        self.tokens = Counter(tokens)
        self.run = "".join(tokens)
        self.values: Counter[str] = Counter()
        self.display: dict[str, str] = {}
        for value in _VALUE.findall(text):
            key = "".join(_TOKEN.findall(value)).lower()
            self.values[key] += 1
            self.display.setdefault(key, value)


def values_apart(one: str, other: str) -> tuple[list[str], list[str], int]:
    """Numbers and identifiers of two or more digits that only `one` has, that only `other` has (both are
    Markdown), and how many `one` has in all."""
    a, b = _Side(_plain(one)), _Side(_plain(other))

    def only(here: _Side, there: _Side) -> list[str]:
        return [here.display[v] for v in here.values if _digits(v) > 1 and not there.holds(v)]

    return only(a, b), only(b, a), sum(_digits(v) > 1 for v in a.values)


def _digits(text: str) -> int:
    return sum(c.isdigit() for c in text)


def compare(pdf: Path | bytes, converted: Converted) -> FidelityReport:
    """Hold a document's Markdown against the PDF it was made from. Raises DocumentError."""
    document = open_pdf(pdf)
    try:
        return _compare(document, converted)
    finally:
        document.close()


def _compare(document: pymupdf.Document, converted: Converted) -> FidelityReport:
    output = {n: _Side(_plain(text)) for n, text in split_pages(converted.markdown).items()}
    states = {p.page: p for p in converted.report.pages}
    dropped: dict[int, list[str]] = {}
    for d in converted.report.dropped:
        dropped.setdefault(d.page, []).append(d.text)
    headers = _Side(" ".join(h for t in converted.tables for path in t.header for h in path))
    numbers = sorted(states) or list(range(1, document.page_count + 1))
    source: dict[int, _Side] = {}
    nothing = _Side("")
    why_not: dict[int, str] = {}
    for n in numbers:
        state = states.get(n)
        here = (output.get(n, nothing).tokens, output.get(n - 1, nothing).tokens)
        text, reason = _source(document, n, here)
        if state is not None and state.blank:
            reason = "blank page"
        elif state is not None and state.error:
            reason = f"not converted: {state.error}"
        elif state is not None and "ocr" in state.reader.lower():
            reason = "read by OCR: the page has no text layer to compare with"
        elif reason and state is not None and "OCR" in state.reason:
            reason = f"{reason}; {state.reason}"
        side = _Side(text)
        side.tokens -= _Side(" ".join(dropped.get(n, ()))).tokens
        side.values -= _Side(" ".join(dropped.get(n, ()))).values
        source[n] = side
        if reason:
            why_not[n] = reason
    report = FidelityReport()
    spare: Counter[str] = Counter()  # written on earlier pages, beyond what those have
    sums: Counter[str] = Counter()
    for n in numbers:
        state = states.get(n)
        page = PageFidelity(
            page=n,
            reader=state.reader if state else "",
            confidence=state.confidence if state else None,
            dropped=dropped.get(n, []),
        )
        report.pages.append(page)
        if n in why_not:
            page.comparable, page.reason = False, why_not[n]
            continue
        mine = output.get(n, nothing)
        # a paragraph over a page break stands where it begins
        before = output.get(n - 1, nothing)
        around = [source.get(k, nothing) for k in (n - 1, n, n + 1)]
        _tokens(page, source[n], mine, spare, around, headers)
        _values(page, source[n], mine, before, around, headers)
        spare = (mine.tokens + spare) - source[n].tokens
        sums["source"] += page.source_tokens
        sums["output"] += page.output_tokens
        sums["found"] += round((page.recall or 0.0) * page.source_tokens)
        sums["backed"] += round((page.precision or 0.0) * page.output_tokens)
        report.compared += 1
    if report.compared:
        report.recall = sums["found"] / sums["source"] if sums["source"] else 1.0
        report.precision = sums["backed"] / sums["output"] if sums["output"] else 1.0
    report.missing_values = sum(len(p.missing_values) for p in report.pages)
    report.foreign_values = sum(len(p.foreign_values) for p in report.pages)
    return report


def _tokens(
    page: PageFidelity, source: _Side, mine: _Side, spare: Counter[str], around: list[_Side], headers: _Side
) -> None:
    page.source_tokens = sum(source.tokens.values())
    page.output_tokens = sum(mine.tokens.values())
    missing = source.tokens - mine.tokens
    missing -= spare
    # cells that touch are one word in the PDF and two in the Markdown
    missing = Counter({t: n for t, n in missing.items() if not _in_parts(t, mine.tokens)})
    lost = sum(missing.values())
    page.recall = 1 - lost / page.source_tokens if page.source_tokens else 1.0
    # a header is said again in each row, so being there is what counts, not how often
    foreign = sum(
        n
        for t, n in mine.tokens.items()
        if not any(t in s.tokens for s in around) and t not in headers.tokens
    )
    page.precision = 1 - foreign / page.output_tokens if page.output_tokens else 1.0
    page.missing_words = [t for t in missing if not any(c.isdigit() for c in t)][:MAX_LISTED]


def _in_parts(token: str, tokens: Counter[str], depth: int = 3) -> bool:
    """The token is two to four tokens of the other side written without a space."""
    if depth == 0 or len(token) < 5:
        return False
    for k in range(2, len(token) - 1):
        if tokens[token[:k]] and (tokens[token[k:]] or _in_parts(token[k:], tokens, depth - 1)):
            return True
    return False


def _values(
    page: PageFidelity, source: _Side, mine: _Side, before: _Side, around: list[_Side], headers: _Side
) -> None:
    page.missing_values = [
        source.display[v]
        for v, n in source.values.items()
        if n > 0 and not mine.holds(v) and not before.holds(v) and not _in_parts(v, mine.tokens)
    ][:MAX_LISTED]
    page.foreign_values = [
        mine.display[v] for v in mine.values if not any(s.holds(v) for s in around) and not headers.holds(v)
    ][:MAX_LISTED]


def _plain(markdown: str) -> str:
    """The words of Markdown: no comments, link targets, tags; list numbers stay."""
    text = _LINK.sub(r"\1", _COMMENT.sub(" ", markdown))
    return html.unescape(_TAG.sub(" ", text)).replace("\\", "")


def _source(document: pymupdf.Document, number: int, written: tuple[Counter[str], ...]) -> tuple[str, str]:
    """The page's own text, and why it is no witness if so.

    Words cut at a line's end are closed where the Markdown has them so: whether a hyphen
    is real is the converter's judgement, no loss.
    """
    try:
        text = document.load_page(number - 1).get_text("text", flags=pymupdf.TEXT_MEDIABOX_CLIP)
    except Exception as e:
        return "", f"the page cannot be read: {e}"
    assert isinstance(text, str)
    dense = "".join(text.split())
    if not dense:
        return "", "the page has no text layer"
    if sum(c in "\ufffd\uffff" for c in dense) > UNREADABLE * len(dense):
        return "", "the text layer cannot be trusted: characters without meaning"
    text = clean_text(text)

    def close(m: re.Match[str]) -> str:
        whole = m[1] + m[2]
        return whole if any(whole.lower() in tokens for tokens in written) else f"{m[1]}-{m[2]}"

    return _HYPHEN.sub(close, text), ""
