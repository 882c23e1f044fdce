"""Open, add and take away the corpora of a deployment (`drac_pipeline.store.corpora`)."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from drac_pipeline.config import CONFIG_FILE
from drac_pipeline.errors import ConfigError
from drac_pipeline.index.sync import index_uri
from drac_pipeline.sources.address import SourceAddress
from drac_pipeline.sources.open import open_source
from drac_pipeline.store import Home
from drac_pipeline.store.corpora import Deployment, check_name, deployment_of_home, write_whole

FIRST_PORT = 3070
_SETTINGS = """\
# Settings of the corpus {name}: docs/configuration.md has all of them.
[refresh]
trigger = "sensor"   # the daemon follows the source

[inspect]
url = "http://127.0.0.1:{port}"   # where `drac inspect --serve` of this corpus is reached
"""


def open_corpus(deployment: Deployment, name: str) -> Home:
    """The home of a corpus.

    Raises ConfigError where there is none of that name, or where its artifacts or its index would lie where
    another's do: each could then read and delete what is the other's.
    """
    home = Home(deployment.home_path(name))
    check_apart(home)
    return home


def check_apart(home: Home) -> None:
    """Raises ConfigError where artifacts or index of a corpus lie where another's do. A home of its own is
    not looked at."""
    above = deployment_of_home(home.path)
    if above is None:
        return
    deployment, own = Deployment(above), _places(home)
    for other in deployment.names():
        if other == home.corpus:
            continue
        try:
            taken = _places(Home(deployment.home_path(other)))
        except ConfigError:  # its settings are wrong: its own affair, it opens nothing then
            continue
        for what, place in own.items():
            for others_what, others_place in taken.items():
                if _meet(place, others_place):
                    raise ConfigError(
                        f"the {what} of corpus {home.corpus!r} ({place}) lies in the {others_what} of"
                        f" {other!r} ({others_place}), or holds it: give each a place of its own in its"
                        f" {CONFIG_FILE}"
                    )


def _places(home: Home) -> dict[str, str]:
    """Where things of a corpus are kept, links followed."""
    artifacts = home.config.store.url or str(home.path / "store")
    found = {"home": str(home.path), "artifacts": artifacts, "index": index_uri(home)}
    return {n: p if "://" in p else str(Path(p).resolve()) for n, p in found.items()}


def _meet(one: str, other: str) -> bool:
    one, other = one.rstrip("/") + "/", other.rstrip("/") + "/"
    return one.startswith(other) or other.startswith(one)


@dataclass(frozen=True, slots=True)
class Added:
    """A corpus that was added, and whether the deployment is new."""

    home: Home
    first: bool


def add_corpus(
    deployment: Deployment, name: str, source: SourceAddress, settings: Path | None = None
) -> Added:
    """Make the home of a new corpus, with the file `settings` as its drac.toml (default: the daemon follows
    the source). A home that lies there already, of a corpus taken away before, is taken up as it is.

    Raises ConfigError where the name cannot be or is taken, the settings are wrong, or the source is not
    there; then nothing has changed.
    """
    check_name(name)
    first = not deployment.file.exists()
    names = [] if first else deployment.names()
    if name in names:
        raise ConfigError(f"{deployment.path} has a corpus {name!r} already; `drac corpus list` shows it")
    if first and (deployment.path / "store").exists():
        raise ConfigError(f"{deployment.path} is a home of its own; a deployment needs another folder")
    path = deployment.path / "corpora" / name
    kept = path.exists()
    path.mkdir(parents=True, exist_ok=True)
    try:
        if settings is not None:
            shutil.copyfile(settings, path / CONFIG_FILE)
        elif not (path / CONFIG_FILE).exists():
            text = _SETTINGS.format(name=name, port=_free_port(deployment, names))
            write_whole(path / CONFIG_FILE, text)
        deployment.write_names([*names, name])
        home = open_corpus(deployment, name)
        open_source(source, home.config.source, home.remote)
        home.prepare()
        home.remember_source(source)
        return Added(home, first)
    except BaseException:
        if first:
            deployment.file.unlink(missing_ok=True)
        else:
            deployment.write_names(names)
        if not kept:
            shutil.rmtree(path)
        raise


def _free_port(deployment: Deployment, names: list[str]) -> int:
    taken = set()
    for name in names:
        try:
            taken.add(Home(deployment.home_path(name)).config.inspect.url.rpartition(":")[2].rstrip("/"))
        except ConfigError:
            continue
    return next(port for port in range(FIRST_PORT, 65_536) if str(port) not in taken)


def remove_corpus(deployment: Deployment, name: str, *, delete: bool = False) -> Path:
    """Take a corpus out of the deployment; with `delete` its home goes too. Gives where that is, or was."""
    path = deployment.home_path(name)
    deployment.write_names(n for n in deployment.names() if n != name)
    if delete:
        shutil.rmtree(path.resolve() if path.is_symlink() else path)
        path.unlink(missing_ok=True)
    return path
