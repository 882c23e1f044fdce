"""What a person sees of an evaluation: one page, files, a table on the terminal."""

from drac_pipeline.evaluate.report.files import write_report

__all__ = ["write_report"]
