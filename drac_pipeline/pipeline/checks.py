"""What is checked of conversions and chunks, as verdicts with the figures a person needs."""

from __future__ import annotations

from collections.abc import Sequence

from drac_pipeline.config import ConvertConfig
from drac_pipeline.convert.fidelity import FidelityReport
from drac_pipeline.convert.leftovers import find_table_syntax
from drac_pipeline.model import Chunk, Element
from drac_pipeline.plan.size import Sizes
from drac_pipeline.store.manifest import CheckRecord


def table_syntax_check(markdown: str) -> CheckRecord:
    """Fails where a line of pipe, grid or HTML table syntax is left."""
    leftovers = find_table_syntax(markdown)
    return CheckRecord(passed=not leftovers, detail={"lines": leftovers[:20], "n_lines": len(leftovers)})


def chunk_size_check(elements: Sequence[Element], chunks: Sequence[Chunk], sizes: Sizes) -> CheckRecord:
    """Fails where a chunk of several elements is over the hard size of `sizes` (made without a title: a
    chunk's text holds its own), or one has no text but its headings. One element over it cannot be parted."""
    by_id = {e.id: e for e in elements}
    over, alone, empty = [], [], []
    largest = 0
    for chunk in chunks:
        size = sizes.count(chunk.text)
        largest = max(largest, size)
        content = [e for i in chunk.element_ids if (e := by_id[i]).is_content]
        told = {"chunk": chunk.ordinal, "page": chunk.page_start, "breadcrumb": chunk.breadcrumb[:200]}
        if not any(by_id[i].text.strip() for i in chunk.element_ids):
            empty.append(told)
        elif size > sizes.hard:
            (over if len(content) > 1 else alone).append({**told, "size": size, "elements": len(content)})
    return CheckRecord(
        passed=not (over or empty),
        detail={
            "hard_size": sizes.hard,
            "unit": "characters" if sizes.gaps else "tokens",
            "largest": largest,
            "over_the_hard_size": over[:20],
            "n_over_the_hard_size": len(over),
            "without_text": empty[:20],
            "single_elements_over_it": alone[:20],
        },
    )


def fidelity_check(report: FidelityReport, config: ConvertConfig) -> CheckRecord:
    """Fails where a page lost words of its own or has words it did not have, beyond the settings."""
    low = [
        p
        for p in report.pages
        if p.comparable
        and p.recall is not None
        and p.precision is not None
        and (p.recall < config.page_recall or p.precision < config.page_precision)
    ]
    names = {"page", "recall", "precision", "missing_words", "missing_values", "foreign_values"}
    apart = [f"page {p.page}: {p.reason}" for p in report.pages if not p.comparable]
    return CheckRecord(
        passed=not low,
        detail={
            "pages_compared": report.compared,
            "recall": report.recall if report.recall is not None else "nothing to compare with",
            "precision": report.precision if report.precision is not None else "nothing to compare with",
            "missing_values": report.missing_values,
            "foreign_values": report.foreign_values,
            "pages_under_the_bar": [p.model_dump(include=names) for p in low[:10]],
            "pages_not_compared": apart[:20],
        },
    )


def fidelity_counts(report: FidelityReport) -> dict[str, float]:
    found = {"fidelity_recall": report.recall, "fidelity_precision": report.precision}
    return {name: round(value, 5) for name, value in found.items() if value is not None}
