"""D-RAC: documents to retrieval-ready chunks, with proof of where every word came from.

Every stage is a plain function; `drac_pipeline.defs` alone knows Dagster.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from drac_pipeline.index.search import search

__version__ = "0.1.0"
__all__ = ["search"]


def __getattr__(name: str):
    if name == "search":  # what it needs takes a second to import
        from drac_pipeline.index.search import search

        return search
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
