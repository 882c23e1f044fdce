"""What a person sees of an evaluation: one page, files, a table on the terminal."""

from drac_pipeline.evaluate.report.files import write_report
from drac_pipeline.evaluate.report.page import render_page

__all__ = ["render_page", "write_report"]
