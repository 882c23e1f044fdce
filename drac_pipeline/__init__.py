"""D-RAC: documents to retrieval-ready chunks, with proof of where every word came from.

Every stage is a plain function; `drac_pipeline.defs` alone knows Dagster.
"""

__version__ = "0.1.0"
