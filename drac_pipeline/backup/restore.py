"""Makes a home of a snapshot."""

from __future__ import annotations

import shutil
import uuid
from dataclasses import dataclass, field
from pathlib import Path

from drac_pipeline.backup.repository import BACKUP_FILE, Snapshot, latest_snapshot
from drac_pipeline.errors import ConfigError, DracError
from drac_pipeline.store import Home
from drac_pipeline.store.home_format import HOME_FORMAT


@dataclass(frozen=True)
class Restored:
    """A home made of `snapshot`; `damaged` are documents of which files are missing there: a run makes
    those again."""

    home: Home
    snapshot: Snapshot
    damaged: list[str] = field(default_factory=list)


def restore_backup(backup: Path, target: Path) -> Restored:
    """Make the home `target` of a snapshot, or of the newest one in a folder of snapshots.

    The snapshot stays as it is. Raises ConfigError where `target` holds something or there is no
    snapshot, DracError where a newer release made it.
    """
    snapshot = latest_snapshot(backup)
    if snapshot is None:
        raise ConfigError(f"{backup} holds no backup; it is made by `drac backup FOLDER --home HOME`")
    if snapshot.home_format > HOME_FORMAT:
        raise DracError(
            f"{snapshot.path}: made by a newer release, {snapshot.release} (home format"
            f" {snapshot.home_format}, this one reads {HOME_FORMAT}); upgrade drac_pipeline to restore it"
        )
    target = target.expanduser().absolute()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise ConfigError(f"{target} is not empty; restore into a new folder")
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.restoring-{uuid.uuid4().hex[:8]}")
    try:
        # copied, never linked: databases change in place
        shutil.copytree(snapshot.path, partial, ignore=shutil.ignore_patterns(BACKUP_FILE))
        if target.exists():
            target.rmdir()
        partial.rename(target)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    home = Home(target)
    damaged = [
        m.document_key
        for m in home.store.manifests(retired=True)
        if not all(home.store.has_files(m.document_key, n, r) for n, r in m.stages.items())
    ]
    return Restored(home, snapshot, sorted(damaged))
