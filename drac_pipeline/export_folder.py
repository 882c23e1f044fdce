"""Which files of a folder earlier exports wrote: so that those of documents that are gone can go, and no
file of anybody else does.

A hidden file in the folder lists them with the SHA-256 of what was written, apart for each store: several
corpora may be exported into one folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Collection
from pathlib import Path

from drac_pipeline.errors import ConfigError

RECORD_FILE = ".drac-export.json"


class ExportRecord:
    """The files that exports of the store at the address `owner` wrote into `folder`, by their path in it.

    Raises ConfigError where the record there is damaged.
    """

    def __init__(self, folder: Path, owner: str) -> None:
        self.folder, self._owner = folder, owner
        self.path = folder / RECORD_FILE
        self._all: dict[str, dict[str, str]] = {}
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))["written"]
            self._all = {str(o): {str(p): str(h) for p, h in files.items()} for o, files in found.items()}
        except FileNotFoundError:
            pass
        except (ValueError, KeyError, TypeError, AttributeError) as e:
            raise ConfigError(
                f"{self.path} is damaged ({e}); delete it to go on: old files of documents gone then stay"
            ) from e
        self._own = self._all.setdefault(owner, {})

    def remove_others(self, kept: Collection[str]) -> tuple[list[str], list[str]]:
        """Delete what was written and is not in `kept`, with folders that are empty then; forget it.

        Gives the paths that were deleted, and those that stay since somebody changed them.
        """
        removed, changed = [], []
        for name in sorted(self._own.keys() - kept):
            digest = self._own.pop(name)
            path = self.folder / name
            inside = path.resolve().is_relative_to(self.folder.resolve())
            if not inside or path.is_symlink() or not path.is_file():
                continue
            if _digest(path.read_bytes()) != digest:
                changed.append(name)
                continue
            path.unlink()
            removed.append(name)
            self._drop_empty(path.parent)
        return removed, changed

    def _drop_empty(self, folder: Path) -> None:
        with contextlib.suppress(OSError):  # not empty
            while folder != self.folder:
                folder.rmdir()
                folder = folder.parent

    def note(self, name: str, data: bytes) -> None:
        """Have it that `data` was written to the path `name`."""
        for files in self._all.values():
            files.pop(name, None)  # another store's export of before is overwritten
        self._own[name] = _digest(data)

    def text(self) -> str:
        """What the record's file is to hold."""
        written = {owner: dict(sorted(files.items())) for owner, files in sorted(self._all.items()) if files}
        return json.dumps({"written": written}, ensure_ascii=False, indent=1) + "\n"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
