"""Pages to Markdown: the local converter, clean-up of any converter's output, fidelity."""

from drac_pipeline.convert.local.document import convert_pdf

__all__ = ["convert_pdf"]
