"""OCR as the second opinion on a scan that a model read: there is no text layer to compare with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from drac_pipeline.convert.fidelity import values_apart
from drac_pipeline.counted import counted
from drac_pipeline.model import PageReport

_SURE = 0.8  # confidence of OCR from which its word counts against the model's
_LOST, _LOST_SHARE = 3, 0.25
_UNWITNESSED = 0.5  # confidence in a model's page of a scan that nothing was compared with


@dataclass(frozen=True, slots=True)
class Doubt:
    """What a model's page of a scan and OCR do not agree in. OCR errs too: `sure` is its own confidence.

    model_only, ocr_only   numbers and identifiers that only one of them read
    values                 how many the model read
    """

    model_only: Sequence[str]
    ocr_only: Sequence[str]
    values: int
    sure: float

    @property
    def strong(self) -> bool:
        """Enough to ask the model again: OCR is sure, and misses numbers that the model has, or has many
        that the model has not (a few may be of a running header, which the model is to leave out)."""
        lost = len(self.ocr_only)
        many = lost >= _LOST and lost > _LOST_SHARE * (self.values + lost)
        return self.sure >= _SURE and (bool(self.model_only) or many)

    def said(self) -> str:
        """For a person."""
        out = []
        if self.model_only:
            out.append(f"numbers that OCR did not read: {', '.join(self.model_only[:10])}")
        if self.ocr_only:
            out.append(f"numbers that only OCR read: {', '.join(self.ocr_only[:10])}")
        return "; ".join(out)


def second_opinion(text: str, ocr: str, sure: float) -> Doubt:
    """A model's page (Markdown) of a scan beside what OCR read, with OCR's confidence."""
    mine, theirs, values = values_apart(text, ocr)
    return Doubt(tuple(mine), tuple(theirs), values, sure)


def say_doubt(page: PageReport, doubt: Doubt | None, *, scan: bool) -> None:
    """Puts what OCR said of a model's page into its report. Of a `scan` without a word from OCR too."""
    if doubt is None:
        if scan:
            page.confidence = _UNWITNESSED
            page.reason += "; a scan, with nothing to compare it with"
        return
    agreed = doubt.values - len(doubt.model_only)
    page.reason += (
        f"; OCR (its own confidence {doubt.sure:.2f}) read {agreed} of the page's"
        f" {counted(doubt.values, 'number')} too"
    )
    # a page without a number is one that nothing was compared on
    page.confidence = round(agreed / doubt.values, 3) if doubt.values else _UNWITNESSED
    if doubt.said():
        page.warnings.append(doubt.said())
