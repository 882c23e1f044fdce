"""A deployment: a folder with many corpora, each with a home of its own, and one Dagster instance for all.

DEPLOYMENT/corpora.toml     the corpora by name
DEPLOYMENT/dagster.yaml     the instance; DAGSTER_HOME names the deployment
DEPLOYMENT/workspace.yaml   a code location for each corpus
DEPLOYMENT/corpora/NAME/    the home of a corpus: its settings, artifacts, index, budget
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

from drac_pipeline.errors import ConfigError

CORPORA_FILE = "corpora.toml"
HOMES_FOLDER = "corpora"
_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_MOST_CHARACTERS = 40


def deployment_of_home(path: Path) -> Path | None:
    """The deployment that a home is in, by where it lies; None for a home of its own."""
    parent = path.parent
    above = parent.parent
    return above if parent.name == HOMES_FOLDER and (above / CORPORA_FILE).is_file() else None


def corpus_of_home(path: Path) -> str:
    """The name of a home's corpus; "" for a home of its own."""
    return path.name if deployment_of_home(path) else ""


def is_deployment(path: Path) -> bool:
    """Whether the folder is a deployment."""
    return (path / CORPORA_FILE).is_file()


def check_name(name: str) -> None:
    """Raises ConfigError unless the name may be a corpus's: it becomes part of names in Dagster."""
    if not _NAME.fullmatch(name) or len(name) > _MOST_CHARACTERS:
        raise ConfigError(
            f"{name!r} cannot name a corpus: small letters a–z, digits and single underscores between them, a"
            f" letter first, {_MOST_CHARACTERS} characters at most"
        )


class Deployment:
    """The corpora of a folder."""

    def __init__(self, path: Path) -> None:
        self.path = Path(path).expanduser().absolute()

    @property
    def file(self) -> Path:
        """Where the names of the corpora stand."""
        return self.path / CORPORA_FILE

    def names(self) -> list[str]:
        """The corpora by name. Raises ConfigError where this is no deployment, or its file is wrong."""
        try:
            given = tomllib.loads(self.file.read_text(encoding="utf-8"))
        except FileNotFoundError as e:
            raise ConfigError(f"{self.path} has no {CORPORA_FILE}; `drac corpus add` makes one") from e
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
            raise ConfigError(f"{self.file}: not valid TOML: {e}") from e
        names = given.get("corpora")
        if (
            set(given) != {"corpora"}
            or not isinstance(names, list)
            or not all(isinstance(n, str) for n in names)
        ):
            raise ConfigError(f'{self.file}: it has to be one list of names, corpora = ["…", "…"]')
        for name in names:
            check_name(name)
        if len(set(names)) < len(names):
            raise ConfigError(f"{self.file}: a corpus is named twice")
        return names

    def home_path(self, name: str) -> Path:
        """Where the home of a corpus lies. Raises ConfigError for one that there is not."""
        names = self.names()
        if name not in names:
            known = f"there are {', '.join(names)}" if names else "there is none yet"
            raise ConfigError(f"{self.path} has no corpus {name!r}; {known}")
        return self.path / HOMES_FOLDER / name

    def write_names(self, names: Iterable[str]) -> None:
        """Set the corpora."""
        listed = "".join(f'  "{n}",\n' for n in names)
        head = "# The corpora of this deployment; `drac corpus add` and `remove` write this file.\n"
        write_whole(self.file, f"{head}corpora = [\n{listed}]\n")


def write_whole(path: Path, text: str) -> None:
    """Write a file so that nobody ever reads half of it."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)
