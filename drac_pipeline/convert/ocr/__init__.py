"""OCR for pages without a text layer to be believed."""

from drac_pipeline.convert.ocr.page import Read, read_with_ocr

__all__ = ["Read", "read_with_ocr"]
