"""A home: one folder with the store, the settings and the Dagster instance of a corpus."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path

from drac_pipeline.config import DracConfig, load_config
from drac_pipeline.errors import ConfigError
from drac_pipeline.store.store import Store

HOME_VARIABLE = "DRAC_HOME"


class Home:
    """The parts of a home folder. Nothing is created until it is written to."""

    def __init__(self, path: Path) -> None:
        self.path = Path(path).absolute()

    @classmethod
    def from_environment(cls) -> Home:
        """The home that DRAC_HOME names, else DAGSTER_HOME.

        Raises ConfigError where neither is set.
        """
        for name in (HOME_VARIABLE, "DAGSTER_HOME"):
            if os.environ.get(name):
                return cls(Path(os.environ[name]))
        raise ConfigError(f"set {HOME_VARIABLE} (or DAGSTER_HOME) to the folder `drac run --home` wrote to")

    @cached_property
    def store(self) -> Store:
        """The artifacts."""
        return Store(self.path / "store")

    @cached_property
    def config(self) -> DracConfig:
        """The settings in `drac.toml`, read once. Raises ConfigError."""
        return load_config(self.path)

    @property
    def fingerprint_cache(self) -> Path:
        """Where fingerprints of unchanged files are remembered."""
        return self.path / "fingerprints.sqlite"
