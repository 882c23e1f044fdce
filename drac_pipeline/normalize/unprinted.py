"""The PDF of a document that could not be printed and is read from its own file."""

from __future__ import annotations

from pathlib import Path

from drac_pipeline.errors import DocumentError, explain
from drac_pipeline.mupdf import pymupdf
from drac_pipeline.normalize.routes import Normalized


def unprinted(target: Path, format: str, error: DocumentError) -> Normalized:
    """Write a single page that says that there is no print, and why; that is the warning, too."""
    reason = explain(error.kind, error.cause, error.remedy)
    doc = pymupdf.open()
    page = doc.new_page(width=595, height=842)
    told = f"There is no print of this document.\n\n{reason}"
    page.insert_textbox(pymupdf.Rect(72, 72, 523, 770), told, fontsize=11)
    doc.save(target, no_new_id=True)
    doc.close()
    return Normalized(
        pdf=target,
        format=format,
        route="browser",
        pages=1,
        tool="none",
        whole=False,
        lack=(error.kind, error.cause),
        warnings=[f"not printed, only its text is taken in: {reason}"],
    )
