"""Find what killed processes have left in a store, and outputs that somebody has deleted.

Nothing younger than a given age is touched: it may be on its way to be named by a manifest.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from drac_pipeline.errors import ConfigError
from drac_pipeline.store.local import LocalStore
from drac_pipeline.store.manifest import Manifest
from drac_pipeline.store.objects import ObjectStore
from drac_pipeline.store.store import MANIFEST_FILE, Store


@dataclass
class Swept:
    """What a sweep found: files that no manifest names and their bytes; uploads in parts that nobody
    finished; outputs (document and stage) of which files are missing."""

    files: int = 0
    size: int = 0
    uploads: int = 0
    lost: list[tuple[str, str]] = field(default_factory=list)


def sweep(store: Store, older_than: float, *, dry: bool = False) -> Swept:
    """Delete what no manifest names and is older than so many seconds, and take outputs of which files are
    missing out of their manifests, so that the next run makes them. `dry` only looks."""
    if isinstance(store, ObjectStore):
        return _sweep_bucket(store, older_than, dry)
    if isinstance(store, LocalStore):
        return _sweep_folder(store, older_than, dry)
    raise ConfigError(f"{store.address}: this store has no sweep")


def _sweep_bucket(store: ObjectStore, older_than: float, dry: bool) -> Swept:
    swept = Swept()
    there = {}
    for part in ("documents/", "leases/"):
        there.update((o.key, o) for o in store.bucket.list(f"{store.prefix}{part}"))
    named: set[str] = set()
    manifests = list(store.manifests(retired=True))  # after the listing: what it names has been listed
    for m in manifests:
        for stage, record in m.stages.items():
            keys = {store.object_key(m.document_key, stage, record, f): f for f in record.files}
            named.update(keys)
            missing = [f for k, f in keys.items() if k not in there]
            if missing and store.is_missing(m.document_key, stage, record, missing):
                swept.lost.append((m.document_key, stage))
                if not dry:
                    store.drop_output(m.document_key, stage, record)
    now = time.time()
    left = [o for o in there.values() if o.key not in named and now - o.modified / 1e9 > older_than]
    swept.files, swept.size = len(left), sum(o.size for o in left)
    if not dry:
        store.bucket.delete_all(o.key for o in left)
        swept.uploads = store.bucket.abort_uploads(f"{store.prefix}documents/", older_than)
    return swept


def _sweep_folder(store: LocalStore, older_than: float, dry: bool) -> Swept:
    swept = Swept()
    limit = time.time() - older_than
    known: dict[Path, Manifest] = {}
    for m in store.manifests(retired=True):
        known[store.document_dir(m.document_key)] = m
        for stage, record in m.stages.items():
            if not store.has_files(m.document_key, stage, record):
                swept.lost.append((m.document_key, stage))  # every look sees that: nothing to take out
    for folder in (store.root / "documents").glob("*/*"):
        m = known.get(folder)
        if m is None:
            if not (folder / MANIFEST_FILE).exists():  # what is left of a deletion that was cut short
                _remove([folder], limit, swept, dry)
            continue
        versions = {stage: r.version for stage, r in m.stages.items()}
        left = [
            output
            for stage in folder.iterdir()
            if stage.is_dir() and not stage.name.startswith(".")
            for output in stage.iterdir()
            if output.name != versions.get(stage.name)
        ]
        _remove([*left, *folder.glob(".tmp-*")], limit, swept, dry)
    return swept


def _remove(paths: Iterable[Path], limit: float, swept: Swept, dry: bool) -> None:
    for path in paths:
        files = [f for f in [path, *path.rglob("*")] if f.is_file()]
        if path.stat().st_mtime > limit:
            continue
        swept.files += len(files)
        swept.size += sum(f.stat().st_size for f in files)
        if not dry:
            shutil.rmtree(path, ignore_errors=True)
