"""Which release opens a home: a number in it, raised when an older release would misread it.

`home.json` holds the number and the release that last wrote it. Homes of before have none and count as 0.
A newer home is refused whole, before anything of it is read; an older one goes through the migrations, one
a number, when a command first writes to it. Manifests and artifacts carry numbers of their own beside it.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path

from drac_pipeline.errors import DracError

HOME_FILE = "home.json"
HOME_FORMAT = 1
OLDEST_FORMAT = 0  # what is older has to be opened with a release in between first
MIGRATIONS: Mapping[int, Callable[[Path], None]] = {
    0: lambda _: None,  # manifests of schema 1 and artifacts of that time are read as they are
}


def check_format(path: Path) -> int:
    """The format of the home at `path`.

    Raises DracError where this release cannot read it.
    """
    found, release = _read(path)
    if found > HOME_FORMAT:
        raise DracError(
            f"{path}: written by a newer release, {release} (home format {found}, this one reads up to"
            f" {HOME_FORMAT}); upgrade drac_pipeline to open this home, or restore a backup of before"
        )
    if found < OLDEST_FORMAT:
        raise DracError(
            f"{path}: written by a release that is too old (home format {found}, this one reads from"
            f" {OLDEST_FORMAT} on); open it with a release in between first, or fill a new home"
        )
    return found


def bring_to_format(path: Path, release: str) -> None:
    """Migrate the home at `path` to the format of this release, and note that.

    A migration that is killed is done again: each has to bear that. Raises DracError as `check_format`.
    """
    found = check_format(path)
    for number in range(found, HOME_FORMAT):
        MIGRATIONS[number](path)
    if found < HOME_FORMAT or not (path / HOME_FILE).exists():
        temporary = path / f".tmp-{uuid.uuid4().hex}"
        temporary.write_text(json.dumps({"format": HOME_FORMAT, "release": release}), encoding="utf-8")
        os.replace(temporary, path / HOME_FILE)  # noqa: PTH105 - two processes at once write the same


def _read(path: Path) -> tuple[int, str]:
    try:
        found = json.loads((path / HOME_FILE).read_text(encoding="utf-8"))
        return int(found["format"]), str(found.get("release", "unknown"))
    except FileNotFoundError:
        return 0, ""
    except (ValueError, KeyError, TypeError) as e:
        raise DracError(
            f"{path / HOME_FILE} is damaged ({e}); delete it if this release wrote the home"
        ) from e
