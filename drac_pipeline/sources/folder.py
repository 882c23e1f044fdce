"""Documents in a folder, or one single file."""

from __future__ import annotations

import contextlib
import os
import re
import stat as stat_module
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path

from drac_pipeline.config import SourceConfig
from drac_pipeline.errors import ConfigError, DocumentError
from drac_pipeline.globs import glob_pattern
from drac_pipeline.model import SourceDocument
from drac_pipeline.sources.fingerprint import FingerprintCache, hash_file
from drac_pipeline.sources.keys import document_key
from drac_pipeline.sources.paths import path_of_text, path_text
from drac_pipeline.sources.source import Skipped, SourceEntry

# hidden files, lock files of office programs, and what browsers and copying programs call a file
# that is not whole yet
_IGNORED_NAMES = re.compile(
    r"\.|~\$|(?:Thumbs\.db|desktop\.ini)\Z|.*\.(?:part|partial|crdownload|download|filepart|tmp)\Z",
    re.IGNORECASE | re.DOTALL,
)


class FolderSource:
    """The documents below `root`; if `root` is a file, that file alone.

    Raises ConfigError if `root` does not exist or cannot be read.
    """

    def __init__(self, root: Path, config: SourceConfig, cache: FingerprintCache | None = None) -> None:
        root = root.expanduser().absolute()
        self._only: str | None = None
        if root.is_file():
            root, self._only = root.parent, root.name
        elif not root.is_dir():
            raise ConfigError(f"source {root}: there is no such file or folder")
        if self._only is None and _is_home(root):
            raise ConfigError(
                f"source {root}: this is a home of drac; keep documents in a folder of their own"
            )
        if not os.access(root, os.R_OK | os.X_OK):
            raise ConfigError(f"source {root}: no permission to read it")
        self.root = root
        self.config = config
        self.cache = cache
        self.skipped: list[Skipped] = []

    @property
    def place(self) -> str:
        """The folder."""
        return path_text(self.root)

    @property
    def is_single_file(self) -> bool:
        """True where the source is one file, and so says nothing of its neighbours."""
        return self._only is not None

    def list(self) -> list[SourceEntry]:
        """Every document, sorted by key; `skipped` then holds what was passed over and why.

        Only names and stats are read. Globs are matched against the path as people
        write it (NFC, unescaped); `**` spans folders, `*` does not.
        """
        self.skipped = []
        if self._only is not None:
            path = self.root / self._only
            entry = self._entry(path, self._only, path.stat())
            return [entry]
        include, exclude = (
            [glob_pattern(g) for g in globs] for globs in (self.config.include, self.config.exclude)
        )
        root = len(str(self.root).rstrip("/")) + 1
        entries = []
        for entry in self._walk(self.root, "", ()):
            name = unicodedata.normalize("NFC", str(entry.path)[root:])
            if any(g.fullmatch(name) for g in include) and not any(g.fullmatch(name) for g in exclude):
                entries.append(entry)
        return sorted(entries, key=lambda e: e.key)

    def ahead(self, entries: Iterable[SourceEntry]) -> contextlib.AbstractContextManager[None]:  # noqa: ARG002
        """Nothing to do: files are read when they are asked for."""
        return contextlib.nullcontext()

    def fetch(self, entry: SourceEntry) -> Path:
        """The file."""
        return entry.path

    def holds(self, path: str) -> bool:
        """Whether there is such a file."""
        return os.path.lexists(path_of_text(path))

    def cannot_say(self, path: str) -> bool:
        """Whether the file lies below what could not be read."""
        at = path_of_text(path)
        return any(at.is_relative_to(s.path) for s in self.skipped if s.unreadable)

    def fingerprint(self, entry: SourceEntry) -> SourceDocument:
        """The document with the SHA-256 of its bytes (remembered if a cache was given).

        Raises SourceChanged or UnreadableDocument, naming the document.
        """
        if self.cache is not None:
            try:
                stat = entry.path.stat()
            except OSError:
                stat = None
            if stat is not None and (known := self.cache.get(entry.path, stat)):
                return _document(entry, known, stat)
        try:
            digest, stat = hash_file(entry.path)
        except DocumentError as e:
            e.key, e.stage = entry.key, "source"
            raise
        if self.cache is not None:
            self.cache.put(entry.path, stat, digest)
        return _document(entry, digest, stat)

    def _walk(self, folder: Path, prefix: str, parents: tuple[tuple[int, int], ...]) -> Iterator[SourceEntry]:
        try:
            here = folder.stat()
            found = sorted(os.scandir(folder), key=lambda e: e.name)
        except OSError as e:
            self.skipped.append(Skipped(folder, f"cannot be read: {e.strerror}", unreadable=True))
            return
        me = (here.st_dev, here.st_ino)
        if me in parents:
            self.skipped.append(Skipped(folder, "a link back to a folder above it"))
            return
        for item in found:
            if is_ignored(item.name):
                continue
            path = Path(item.path)
            try:
                is_folder = item.is_dir()
                if is_folder and _is_home(path):
                    self.skipped.append(Skipped(path, "a home of drac, not documents"))
                    continue
                if item.is_symlink() and not self._may_follow(path):
                    continue
                if is_folder:
                    yield from self._walk(path, f"{prefix}{item.name}/", (*parents, me))
                    continue
                stat = item.stat()
            except OSError as e:
                self.skipped.append(Skipped(path, f"cannot be read: {e.strerror}", unreadable=True))
                continue
            if stat_module.S_ISREG(stat.st_mode):
                yield self._entry(path, f"{prefix}{item.name}", stat)
            else:
                self.skipped.append(Skipped(path, "neither a file nor a folder"))

    def _may_follow(self, path: Path) -> bool:
        target = Path(os.path.realpath(path))
        if not target.exists():
            self.skipped.append(Skipped(path, "a link to nothing"))
            return False
        if not self.config.follow_symlinks and not target.is_relative_to(os.path.realpath(self.root)):
            self.skipped.append(Skipped(path, "a link out of the source"))
            return False
        return True

    def _entry(self, path: Path, relative: str, stat: os.stat_result) -> SourceEntry:
        return SourceEntry(document_key(relative), path, stat.st_size, stat.st_mtime_ns)


def is_ignored(name: str) -> bool:
    """Whether a part of a path is hidden, a lock file, or a file that is not whole yet."""
    return _IGNORED_NAMES.match(name) is not None


def _is_home(folder: Path) -> bool:
    """What `drac run --home` makes: its artifacts must never be taken for documents."""
    try:
        if (folder / "store" / "documents").is_dir():
            return True
        return (folder / "dagster.yaml").is_file() and (folder / "history").is_dir()
    except PermissionError:  # listing it will say so
        return False


def _document(entry: SourceEntry, fingerprint: str, stat: os.stat_result) -> SourceDocument:
    return SourceDocument(entry.key, entry.path, fingerprint, stat.st_size, stat.st_mtime)
