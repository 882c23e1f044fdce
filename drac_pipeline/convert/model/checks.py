"""A model's page held against the PDF: its words, numbers and rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from drac_pipeline.config import ModelConfig
from drac_pipeline.convert.fidelity import PageFidelity, compare
from drac_pipeline.convert.local.document import open_pdf
from drac_pipeline.convert.markers import format_page_comment
from drac_pipeline.model import ConversionReport, Converted, PageReport, TableData

_WORD = re.compile(r"[^\W_]+")
_DIGITS = re.compile(r"\d[\d.,:/]*\d|\d")
_BELIEVED = 0.5
_NAMED = 5


def check_pages(
    pdf: Path,
    pages: Mapping[int, str],
    local: Converted,
    header: Sequence[str],
    config: ModelConfig,
    known: Mapping[int, str] | None = None,
) -> dict[int, str]:
    """What is wrong with which of the pages (page to Markdown).

    `local` is the local converter's reading: what it dropped as running header or footer need
    not be there, and the rows it found may not be merged. `header` are carried column names,
    `known` pages that were read before: a paragraph over a page break stands where it begins.
    A page whose text layer is no witness passes.
    """
    pages = {n: text for n, text in pages.items() if n in believed(local)}
    if not pages:
        return {}
    there = {p.page for p in local.report.pages}
    shown = there & {k for n in pages for k in (n - 1, n, n + 1)}
    texts = {**(known or {}), **pages}
    made = Converted(
        markdown="\n\n".join(f"{format_page_comment(n)}\n\n{texts.get(n, '')}" for n in sorted(shown)),
        tables=[TableData(table_id="carried", header=[[h] for h in header])] if header else [],
        report=ConversionReport(
            converter="model",
            pages=[PageReport(page=n, reader="model") for n in sorted(shown)],
            dropped=[d for d in local.report.dropped if d.page in shown],
        ),
    )
    wrong: dict[int, str] = {}
    printed = _Printed(pdf)
    for page in compare(pdf, made).pages:
        if page.page not in pages:
            continue
        page.foreign_values = [v for v in page.foreign_values if not printed.has(page.page, v)]
        page.missing_values = [v for v in page.missing_values if not _said(pages[page.page], v)]
        why = _unfaithful(page, config) or _merged(pages[page.page], page.page, local)
        if why:
            wrong[page.page] = why
    return wrong


class _Printed:
    """The text layers of a PDF, opened where a value is in doubt."""

    def __init__(self, pdf: Path) -> None:
        self._pdf = pdf
        self._texts: dict[int, str] = {}

    def has(self, page: int, value: str) -> bool:
        """Whether the value is printed on the page or beside it, be it cut by a line's end or set so
        close to a word that they are one in the text layer."""
        if not self._texts:
            document = open_pdf(self._pdf)
            try:
                for n in range(document.page_count):
                    self._texts[n + 1] = str(document.load_page(n).get_text())
            finally:
                document.close()
        text = "\n".join(self._texts.get(n, "") for n in (page - 1, page, page + 1))
        return _holds(text, value) or _holds(re.sub(r"\s*\n\s*", "", text), value)


def _said(text: str, value: str) -> bool:
    """Whether the numbers of a value stand in the Markdown; in the text layer, a word may touch them."""
    return all(_holds(text, number) for number in _DIGITS.findall(value))


def _holds(text: str, value: str) -> bool:
    """Whether the value stands in the text without another digit beside it."""
    return bool(re.search(rf"(?<!\d){re.escape(value)}(?!\d)", text))


def believed(local: Converted) -> set[int]:
    """The pages whose text layer the local converter took for true."""
    return {
        p.page
        for p in local.report.pages
        if not p.error and "ocr" not in p.reader.lower() and p.confidence >= _BELIEVED
    }


def _unfaithful(page: PageFidelity, config: ModelConfig) -> str:
    if not page.comparable:
        return ""
    if len(page.foreign_values) > config.foreign_values:
        return "values that the page does not have: " + ", ".join(page.foreign_values[:_NAMED])
    if page.missing_values:
        return "values of the page are missing: " + ", ".join(page.missing_values[:_NAMED])
    if page.recall is not None and page.recall < config.min_recall:
        return f"only {page.recall:.0%} of the page's words are there"
    if page.precision is not None and page.precision < config.min_precision:
        return f"only {page.precision:.0%} of the words are the page's"
    return ""


def _merged(text: str, number: int, local: Converted) -> str:
    """Two neighbouring rows of a table in one sentence."""
    sentences = [(s, Counter(_words(s))) for s in text.split("\n") if "; " in s]
    for table in local.tables:
        rows = [r for r in table.rows if r.page == number and sum(bool(c.strip()) for c in r.cells) > 1]
        for above, below in pairwise(rows):
            both = Counter(_words(" ".join(above.cells))) + Counter(_words(" ".join(below.cells)))
            for _, words in sentences:
                if not both - words:
                    return f"two rows in one sentence: {' | '.join(below.cells)[:80]}"
    return ""


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
