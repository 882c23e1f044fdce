"""Who reads a document that its own reader cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from drac_pipeline.config import ConvertConfig
from drac_pipeline.convert.route import Convertible, convert_document
from drac_pipeline.model import ConversionReport, Converted


@pytest.mark.parametrize("format", ["xlsx", "docx", "pptx"])
def test_what_reads_pages_reads_them_in_place_of_a_broken_file(format: str, tmp_path: Path):
    own, pdf = tmp_path / "original", tmp_path / "document.pdf"
    own.write_bytes(b"no archive")
    asked: list[Path] = []

    def by_pages(path: Path, _: ConvertConfig) -> Converted:
        asked.append(path)
        return Converted(markdown="by the model", report=ConversionReport(converter="model"))

    done = convert_document(Convertible(pdf, format, own), ConvertConfig(), by_pages)
    assert (done.markdown, asked) == ("by the model", [pdf])
