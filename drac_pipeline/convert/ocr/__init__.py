"""OCR for pages without a text layer to be believed."""

from drac_pipeline.convert.ocr.page import Read, read_with_ocr
from drac_pipeline.convert.ocr.sizes import even_sizes

__all__ = ["Read", "even_sizes", "read_with_ocr"]
