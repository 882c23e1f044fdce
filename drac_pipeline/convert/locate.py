"""Pages and boxes of what was read from a document's own file, where its print shows it."""

from __future__ import annotations

from pathlib import Path

from drac_pipeline.model import Converted
from drac_pipeline.mupdf import pymupdf
from drac_pipeline.office.places import read_print
from drac_pipeline.office.placing import placed

MOST_PAGES = 400  # a print of more is not searched: a thousand pages of a table take longer than reading it


def located(converted: Converted, pdf: Path) -> Converted:
    """The same, its spans with the boxes at which the PDF has their text.

    A block that is not found (hidden in the print, cut, laid out in another order) has none, and so
    no page. What has boxes already, and a print of more than `MOST_PAGES`, is left as it is.
    """
    if not converted.spans or any(s.boxes for s in converted.spans):
        return converted
    with pymupdf.open(pdf, filetype="pdf") as document:
        if document.page_count > MOST_PAGES:
            return converted
        printed = read_print(document)
    # the name of a sheet is not printed
    pages = [0 if s.kind == "heading" and s.origin and "!" not in s.origin else None for s in converted.spans]
    spans = placed(converted.spans, converted.tables, pages, printed, converted.markdown)
    return converted.model_copy(update={"spans": spans})
