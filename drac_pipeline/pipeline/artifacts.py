"""The files that stages leave, by name, and the readers of those that are more than a table."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq

from drac_pipeline.convert.route import Convertible
from drac_pipeline.model import Converted, Element, elements_from_table

PDF_FILE = "document.pdf"
NORMALIZED_FILE = "normalized.json"
ORIGINAL_FILE = "original"
MARKDOWN_FILE = "document.md"
CONVERSION_FILE = "conversion.json"
FIDELITY_FILE = "fidelity.json"
ELEMENTS_FILE = "elements.parquet"
PLAN_FILE = "plan.json"
CHUNKS_FILE = "chunks.parquet"
PAGES_FILE = "pages.json"
EMBEDDINGS_FILE = "embeddings.parquet"


def read_convertible(read: Callable[[str, str], Path]) -> Convertible:
    """The output of the normalized_pdf stage. `read(stage, name)` gives the path of a file."""
    about = json.loads(read("normalized_pdf", NORMALIZED_FILE).read_bytes())
    return Convertible(
        pdf=read("normalized_pdf", PDF_FILE),
        format=about["read_as"] or about["format"],
        original=read("normalized_pdf", ORIGINAL_FILE) if about["read_as"] else None,
        whole=about.get("whole", True),
    )


def read_conversion(read: Callable[[str, str], Path]) -> Converted:
    """The output of the markdown stage. `read(stage, name)` gives the path of a file."""
    side = json.loads(read("markdown", CONVERSION_FILE).read_bytes())
    text = read("markdown", MARKDOWN_FILE).read_bytes().decode("utf-8")
    return Converted.model_validate({**side, "markdown": text})


def read_elements(read: Callable[[str, str], Path]) -> list[Element]:
    """The output of the elements stage."""
    return elements_from_table(pq.read_table(read("elements", ELEMENTS_FILE)))
