"""The home as a Dagster resource."""

from __future__ import annotations

from pathlib import Path

from dagster import ConfigurableResource
from pydantic import Field

from drac_pipeline.store import Home


class HomeResource(ConfigurableResource):
    """The folder with the store and the settings of the corpus."""

    path: str = Field(
        default="", description="The home; empty: the folder that DRAC_HOME or DAGSTER_HOME names."
    )

    def open(self) -> Home:
        """The home. Raises ConfigError where none is named."""
        return Home(Path(self.path)) if self.path else Home.from_environment()
