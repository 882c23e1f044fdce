"""Make documents known to Dagster: partitions, source versions, and what needs a run."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from dagster import DagsterInstance

from drac_pipeline.defs.events import SOURCE_KEY, asset_key, source_materialization, source_version
from drac_pipeline.defs.instance_events import latest_data_versions
from drac_pipeline.defs.partitions import DOCUMENTS
from drac_pipeline.errors import ConfigError
from drac_pipeline.pipeline import STAGES, State, document_states, find_work
from drac_pipeline.pipeline.pool import Task
from drac_pipeline.store import Home, Manifest


def register(instance: DagsterInstance, manifests: Collection[Manifest]) -> None:
    """Add the documents' partitions and report their sources' fingerprints, where these are news."""
    known = set(instance.get_dynamic_partitions(DOCUMENTS))
    fresh = sorted(m.document_key for m in manifests if m.document_key not in known)
    if fresh:
        instance.add_dynamic_partitions(DOCUMENTS, fresh)
    seen = latest_data_versions(instance, SOURCE_KEY, [m.document_key for m in manifests])
    for manifest in manifests:
        if seen.get(manifest.document_key) != source_version(manifest):
            instance.report_runless_asset_event(source_materialization(manifest))


def unreported(instance: DagsterInstance, manifests: Collection[Manifest]) -> dict[str, list[str]]:
    """Per document the stages whose output Dagster does not know: those of a run that was
    killed between publishing and reporting, or of a stage run in a notebook."""
    out: dict[str, list[str]] = {}
    keys = [m.document_key for m in manifests]
    for stage in STAGES:
        seen = latest_data_versions(instance, asset_key(stage.name), keys)
        for m in manifests:
            record = m.stages.get(stage.name)
            if record and seen.get(m.document_key) != record.data_version:
                out.setdefault(m.document_key, []).append(stage.name)
    return out


def documents_to_refresh(
    instance: DagsterInstance, home: Home, keys: Sequence[str], stages: Sequence[str], force: bool
) -> list[Task]:
    """The documents and stages that a run without partitions has to bring up to date.

    With `keys` just these; without, the sources are looked at first. Raises ConfigError
    for a key that the home does not know.
    """
    if not keys and not force:
        for root in sorted({m.source.root for m in home.store.manifests()}):
            find_work(home, Path(root), home.config)
    manifests = [m for m in (map(home.store.manifest, keys) if keys else home.store.manifests()) if m]
    if missing := set(keys) - {m.document_key for m in manifests}:
        raise ConfigError(f"not in this home: {', '.join(sorted(missing)[:5])}; see `drac status`")
    register(instance, manifests)
    silent = unreported(instance, manifests)
    tasks: list[Task] = []
    for m in sorted(manifests, key=lambda m: m.document_key):
        states = document_states(home.store, m, home.config)
        due = {n for n, s in states.items() if force or s.state != State.FRESH}
        due.update(silent.get(m.document_key, ()))
        wanted = [n for n in stages if n in due]
        if wanted:
            tasks.append((m.document_key, wanted))
    return tasks
