"""Any format to PDF.

`normalize` finds out what a file is (`sniff`), takes the route for it and returns the
PDF with a record of how it came about, or raises a typed DocumentError.
"""

from drac_pipeline.normalize.detect import DetectedFormat, sniff
from drac_pipeline.normalize.routes import Normalized, normalize, normalize_many

__all__ = ["DetectedFormat", "Normalized", "normalize", "normalize_many", "sniff"]
