"""A home: one folder with the store, the settings and the Dagster instance of a corpus."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path

from drac_pipeline import __version__
from drac_pipeline.config import DracConfig, load_config
from drac_pipeline.errors import ConfigError
from drac_pipeline.s3.connection import Connection
from drac_pipeline.sources.address import SourceAddress, address_of_text, address_text, source_address
from drac_pipeline.sources.remote import Remote
from drac_pipeline.store.corpora import corpus_of_home, deployment_of_home
from drac_pipeline.store.home_format import bring_to_format, check_format
from drac_pipeline.store.local import LocalStore
from drac_pipeline.store.store import Store

HOME_VARIABLE = "DRAC_HOME"


class Home:
    """The parts of a home folder. Nothing is created until it is written to."""

    def __init__(self, path: Path, connection: Connection | None = None) -> None:
        self.path = Path(path).absolute()
        self._connection = connection

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
    def corpus(self) -> str:
        """The name of the corpus where the home is one of many in a deployment; else ""."""
        return corpus_of_home(self.path)

    def check_apart(self) -> None:
        """Raises ConfigError where the home is a corpus's, and shares a place with another's."""
        if self.corpus:
            from drac_pipeline.corpora import check_apart

            check_apart(self)

    @property
    def instance_path(self) -> Path:
        """The folder of the Dagster instance: the home itself, or the deployment it is in."""
        return deployment_of_home(self.path) or self.path

    @cached_property
    def store(self) -> Store:
        """The artifacts: in the folder `store`, or in the bucket that `[store] url` names.

        Raises ConfigError; DracError where the home is of a release that this one cannot read.
        """
        check_format(self.path)
        self.check_apart()
        if not self.config.store.url:
            return LocalStore(self.path / "store", self.remote)
        from drac_pipeline.store.open import open_object_store  # imports an SDK

        return open_object_store(self.config.store, self.path, self.connection)

    @property
    def remote(self) -> Remote:
        """How documents in buckets are reached, and the folder for copies of them."""
        settings = self.config.store
        folder = self.path / (settings.cache or "cache") / "documents"
        return Remote(self.connection, folder, int(settings.cache_gb * 1e9))

    @cached_property
    def connection(self) -> Connection:
        """How buckets are reached: as the home was opened with, else as `[store]` says."""
        return self._connection or Connection.of(self.config.store)

    def prepare(self) -> None:
        """Make the folder, or bring an older home to the format of this release.

        Raises DracError where this release cannot read the home, OSError where it cannot be written to.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        bring_to_format(self.path, __version__)

    @cached_property
    def config(self) -> DracConfig:
        """The settings in `drac.toml`, read once. Raises ConfigError."""
        return load_config(self.path)

    def sources(self) -> list[SourceAddress]:
        """The folders, files and places in buckets that documents were taken in from, in the order of
        first use."""
        try:
            lines = self._sources_file.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []
        return [address_of_text(line) for line in dict.fromkeys(lines) if line.strip()]

    def remember_source(self, source: SourceAddress) -> None:
        """Have `sources` name it from now on. To forget one, take its line out of the file."""
        source = source_address(source)
        if source not in self.sources():
            self.path.mkdir(parents=True, exist_ok=True)
            text = address_text(source)
            with self._sources_file.open("a", encoding="utf-8") as f:
                f.write(f"{text}\n")  # one write of a line: two runs at once do not mix

    @property
    def _sources_file(self) -> Path:
        return self.path / "sources.txt"

    @property
    def fingerprint_cache(self) -> Path:
        """Where fingerprints of unchanged files are remembered."""
        return self.path / "fingerprints.sqlite"
