"""Make documents known to Dagster: partitions, source versions, and what needs a run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dagster import DagsterInstance

from drac_pipeline.defs.events import SOURCE_KEY, asset_key, source_materialization, source_version
from drac_pipeline.defs.instance_events import (
    failed_partitions,
    latest_code_versions,
    latest_data_versions,
    report_runless,
)
from drac_pipeline.defs.partitions import DOCUMENTS
from drac_pipeline.defs.versions import made_versions
from drac_pipeline.errors import ConfigError, DocumentError, DracError
from drac_pipeline.pipeline import STAGES, DocumentOutcome, State, document_states, find_work
from drac_pipeline.pipeline.pool import Task
from drac_pipeline.pipeline.stages import SOURCE
from drac_pipeline.pipeline.worklist import WorkList, refresh_source, source_failure
from drac_pipeline.store import Home, Manifest

_STAGE_BY_NAME = {s.name: s for s in STAGES}


@dataclass
class Looked:
    """What a look at the sources gave: a list per source, and the sources that could not be listed."""

    found: list[WorkList] = field(default_factory=list)
    unreachable: dict[str, str] = field(default_factory=dict)

    @property
    def unreadable(self) -> dict[str, DocumentError]:
        """Documents whose file could not be read, and why."""
        return {k: e for f in self.found for k, e in f.unreadable.items()}


@dataclass
class Refresh:
    """What a run has to do, and what failed before it began."""

    tasks: list[Task] = field(default_factory=list)
    failed: list[DocumentOutcome] = field(default_factory=list)
    unreachable: dict[str, str] = field(default_factory=dict)


def register(instance: DagsterInstance, manifests: Collection[Manifest]) -> list[str]:
    """Add the documents' partitions and report their sources' fingerprints, where these are news.

    Gives the keys that got a partition.
    """
    known = set(instance.get_dynamic_partitions(DOCUMENTS))
    fresh = sorted(m.document_key for m in manifests if m.document_key not in known)
    if fresh:
        instance.add_dynamic_partitions(DOCUMENTS, fresh)
    seen = latest_data_versions(instance, SOURCE_KEY, [m.document_key for m in manifests])
    failed = failed_partitions(instance, SOURCE_KEY)
    news = [
        m
        for m in manifests
        if seen.get(m.document_key) != source_version(m)
        or (m.document_key in failed and m.source.local_path.exists())
    ]
    report_runless(instance, [source_materialization(m) for m in news])
    return fresh


def unreported(instance: DagsterInstance, manifests: Collection[Manifest]) -> dict[str, list[str]]:
    """Per document the stages whose good output Dagster does not show: that of a run killed between
    publishing and reporting, of a stage run in a notebook, one made again with the same result
    above it, or one that a run failed to get to."""
    out: dict[str, list[str]] = {}
    keys = [m.document_key for m in manifests]
    made = {m.document_key: made_versions(m) for m in manifests}
    for stage in STAGES:
        data = latest_data_versions(instance, asset_key(stage.name), keys)
        code = latest_code_versions(instance, asset_key(stage.name), keys)
        failed = failed_partitions(instance, asset_key(stage.name))
        for m in manifests:
            key, record = m.document_key, m.stages.get(stage.name)
            if record is None:
                continue
            version = made[key][stage.name]
            shown = data.get(key) == record.data_version and code.get(key, version) == version
            if not shown or key in failed:
                out.setdefault(key, []).append(stage.name)
    return out


def look_at_sources(home: Home, sources: Iterable[str] = ()) -> Looked:
    """Register what is new or changed in the sources (default: those the home remembers).

    One that cannot be listed does not keep the others from being looked at. Raises ConfigError
    where there is none to look at.
    """
    chosen = [Path(s).expanduser() for s in sources] or home.sources()
    if not chosen:
        raise ConfigError(
            "this home remembers no source yet: name one under `sources`, or start with `drac run SOURCE`"
        )
    looked = Looked()
    for source in chosen:
        try:
            looked.found.append(find_work(home, source, home.config))
        except DracError as e:
            looked.unreachable[str(source)] = str(e)
    return looked


def documents_to_refresh(
    instance: DagsterInstance,
    home: Home,
    keys: Sequence[str],
    stages: Sequence[str],
    *,
    force: bool,
    look: bool,
    sources: Sequence[str] = (),
) -> Refresh:
    """The documents and stages that a run without partitions has to bring up to date.

    With `keys` just these; without, every document of the home, after a look at the sources
    if `look` says so. Raises ConfigError for a key that the home does not know.
    """
    out = Refresh()
    if not keys and look:
        looked = look_at_sources(home, sources)
        out.unreachable = looked.unreachable
        out.failed = [source_failure(home.store, k, e) for k, e in looked.unreadable.items()]
    manifests = {m.document_key: m for m in _manifests(home, keys)}
    if missing := set(keys) - set(manifests):
        raise ConfigError(f"not in this home: {', '.join(sorted(missing)[:5])}; see `drac status`")
    for key in keys if look else ():
        try:
            manifests[key] = refresh_source(home.store, key, trust_times=True)
        except DocumentError as e:
            out.failed.append(source_failure(home.store, key, e))
    for outcome in out.failed:
        manifests.pop(outcome.key, None)
    register(instance, manifests.values())
    silent = unreported(instance, manifests.values())
    for key, m in sorted(manifests.items()):
        if not keys and not look and not _can_begin(m, stages):
            continue
        states = document_states(home.store, m, home.config)
        due = {n for n, s in states.items() if force or s.state != State.FRESH}
        due.update(silent.get(key, ()))
        if wanted := [n for n in stages if n in due]:
            out.tasks.append((key, wanted))
    return out


def _manifests(home: Home, keys: Sequence[str]) -> list[Manifest]:
    return [m for m in (map(home.store.manifest, keys) if keys else home.store.manifests()) if m]


def _can_begin(manifest: Manifest, stages: Sequence[str]) -> bool:
    """True where the first of the stages has all its parents' outputs."""
    parents = _STAGE_BY_NAME[stages[0]].parents if stages else ()
    return all(p == SOURCE or p in manifest.stages for p in parents)
