"""PyMuPDF without its layout model.

PyMuPDF 2 loads the model's three networks whenever it is imported: a second and a half and a
hundred megabytes in every process, for something that few pages need. Import it from here:
`from drac_pipeline.mupdf import pymupdf`. Who needs the model imports `pymupdf.layout`, as ever.
"""

from __future__ import annotations

import sys

_MODEL = "pymupdf.layout"
_held_back = _MODEL not in sys.modules
if _held_back:
    # None makes the import fail with the ImportError that PyMuPDF expects where there is no model
    sys.modules[_MODEL] = None  # pyright: ignore[reportArgumentType]
try:
    import pymupdf
finally:
    if _held_back:
        del sys.modules[_MODEL]

__all__ = ["pymupdf"]
