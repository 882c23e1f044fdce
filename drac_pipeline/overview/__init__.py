"""The corpus at a glance: documents by format, state, age, cost and fidelity."""

from drac_pipeline.overview.gather import DocumentLine, Overview, gather_overview
from drac_pipeline.overview.html import overview_html

__all__ = ["DocumentLine", "Overview", "gather_overview", "overview_html"]
