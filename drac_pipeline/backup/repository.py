"""Makes snapshots of a home while runs may go on.

    REPOSITORY/2026-05-04T031500Z/         a home as it was: artifacts, settings, instance, ledger, index
    REPOSITORY/2026-05-04T031500Z/backup.json

Each document is copied under its lock, so that its manifest and the outputs that it names belong together;
databases are copied as of one moment, the index under its own lock. The Dagster instance is copied before
the documents: what a run made in between is in the store and not in the log, which the next run reports.
Only a snapshot that is whole gets its name.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from drac_pipeline import __version__
from drac_pipeline.backup.copying import Copier, files_below
from drac_pipeline.errors import ConfigError
from drac_pipeline.index.sync import INDEX_FOLDER
from drac_pipeline.store import Home
from drac_pipeline.store.home_format import HOME_FORMAT
from drac_pipeline.store.local import LocalStore
from drac_pipeline.store.store import MANIFEST_FILE

BACKUP_FILE = "backup.json"
BACKUP_SCHEMA_VERSION = 1
STORE_FOLDER = "store"
_PARTIAL = ".partial-"


@dataclass(frozen=True)
class Snapshot:
    """One backup. `documents` are those that are not `retired`; sizes are in bytes, `new_size` is what it
    holds that the one before does not. `database` names the dump of a database server in it, "" where the
    instance is in files; `artifacts` is where the artifacts are if they are not in it."""

    path: Path
    made_at: str
    home: str
    documents: int
    files: int
    size: int
    new_size: int
    release: str
    home_format: int
    database: str = ""
    artifacts: str = ""
    retired: int = 0
    schema_version: int = BACKUP_SCHEMA_VERSION


def make_backup(
    home: Home,
    repository: Path,
    *,
    keep: int = 0,
    dump_database: Callable[[Path], str] | None = None,
    on_document: Callable[[str], None] | None = None,
    on_delete: Callable[[Snapshot], None] | None = None,
) -> Snapshot:
    """Make a snapshot of `home` in `repository`, then delete all but the newest `keep` (0: none); those
    deleted go to `on_delete`.

    `dump_database` writes what a database server holds of the instance into a folder and gives the name of
    the file, or "". Raises ConfigError where the place will not do, holds backups of another home, or
    another backup is at work there.
    """
    repository = repository.expanduser().absolute()
    if repository == home.path or home.path in repository.parents:
        raise ConfigError(f"{repository} lies in the home; give a place outside it, best on another disk")
    if repository.exists() and not repository.is_dir():
        raise ConfigError(f"{repository} is a file; give a folder")
    repository.mkdir(parents=True, exist_ok=True, mode=0o700)  # settings may hold passwords of documents
    with _alone(repository):
        for left in repository.glob(f"{_PARTIAL}*"):
            shutil.rmtree(left)  # of a backup that was killed
        previous = latest_snapshot(repository)
        if previous and previous.home != str(home.path):
            raise ConfigError(
                f"{repository} holds backups of {previous.home}; give every home a folder of its own,"
                " since --keep deletes the oldest there and a restore takes the newest"
            )
        made_at = _free_time(repository)
        target = repository / f"{_PARTIAL}{made_at}"
        target.mkdir(mode=0o700)
        try:
            copier = Copier(home.path, target, previous.path if previous else None)
            database = dump_database(target) if dump_database else ""
            _copy_instance_and_settings(home, copier)
            documents, retired = _copy_documents(home, copier, on_document)
            _copy_index(home, copier)
            path = repository / made_at
            made = Snapshot(
                path=path,
                made_at=made_at,
                home=str(home.path),
                documents=documents,
                files=copier.files,
                size=copier.size,
                new_size=copier.new_size,
                release=__version__,
                home_format=HOME_FORMAT,
                database=database,
                artifacts="" if isinstance(home.store, LocalStore) else home.store.address,
                retired=retired,
            )
            record = {k: v for k, v in asdict(made).items() if k != "path"}
            (target / BACKUP_FILE).write_text(json.dumps(record, indent=1), encoding="utf-8")
            os.sync()  # a snapshot that has a name outlives a power cut
            target.rename(path)
        except BaseException:
            shutil.rmtree(target, ignore_errors=True)
            raise
        for old in snapshots(repository)[:-keep] if keep else []:
            shutil.rmtree(old.path)
            if on_delete:
                on_delete(old)
    return made


def snapshots(repository: Path) -> list[Snapshot]:
    """The snapshots in a folder, oldest first; or the one that the folder is."""
    folders = [repository] if (repository / BACKUP_FILE).is_file() else sorted(repository.glob("[0-9]*Z*"))
    found = []
    for folder in folders:
        with contextlib.suppress(FileNotFoundError):
            record = json.loads((folder / BACKUP_FILE).read_text(encoding="utf-8"))
            known = {k: v for k, v in record.items() if k in Snapshot.__dataclass_fields__}
            found.append(Snapshot(path=folder, **known))
    return found


def latest_snapshot(repository: Path) -> Snapshot | None:
    """The newest one, or None."""
    found = snapshots(repository)
    return found[-1] if found else None


def _copy_instance_and_settings(home: Home, copier: Copier) -> None:
    """All of the home but documents, index and copies of buckets: Dagster's files, settings, ledger …"""
    copies = home.path / (home.config.store.cache or "cache")  # of what is in buckets
    apart = {home.path / STORE_FOLDER, home.path / INDEX_FOLDER, copies}
    for entry in sorted(home.path.iterdir()):
        if entry in apart:
            continue
        for path in files_below(entry) if entry.is_dir() else _state_files(entry):
            copier.file(path)


def _state_files(path: Path) -> Iterator[Path]:
    return (p for p in files_below(path.parent) if p == path)


def _copy_documents(home: Home, copier: Copier, on_document: Callable[[str], None] | None) -> tuple[int, int]:
    """Gives how many documents there are, and how many retired ones."""
    copied = Counter[bool]()
    store = home.store
    if not isinstance(store, LocalStore):  # what keeps them keeps their past
        return 0, 0
    for manifest in store.manifests(retired=True):
        key = manifest.document_key
        folder = store.document_dir(key)
        with store.unchanged(key) as current:
            if current is None:  # deleted since
                continue
            for stage, record in current.stages.items():
                for name in record.files:
                    copier.file(folder / stage / record.version / name)
            copier.file(folder / MANIFEST_FILE)
        copied[current.retired is not None] += 1
        if on_document:
            on_document(key)
    return copied[False], copied[True]


def _copy_index(home: Home, copier: Copier) -> None:
    if (home.path / INDEX_FOLDER).is_dir():
        with home.store.exclusive("index"):
            for path in files_below(home.path / INDEX_FOLDER):
                copier.file(path)


def _free_time(repository: Path) -> str:
    while True:
        name = datetime.now(UTC).strftime("%Y-%m-%dT%H%M%SZ")
        if not (repository / name).exists():
            return name
        time.sleep(0.2)


@contextlib.contextmanager
def _alone(repository: Path) -> Iterator[None]:
    with (repository / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError(f"another backup is being made in {repository}; wait for its end") from None
        yield
