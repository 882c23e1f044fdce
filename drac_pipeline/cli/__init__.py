"""The `drac` command."""

from drac_pipeline.cli.app import main

__all__ = ["main"]
