"""Make documents known to Dagster: partitions, source versions, and what needs a run."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from dagster import DagsterInstance

from drac_pipeline.defs.events import (
    asset_key,
    source_materialization,
    source_version,
    stale_materialization,
)
from drac_pipeline.defs.instance_events import (
    PARTITIONS_PER_QUERY,
    failed_partitions,
    latest_code_versions,
    latest_data_versions,
    report_runless,
)
from drac_pipeline.defs.names import partition_set
from drac_pipeline.defs.retire import forget, retire_documents
from drac_pipeline.defs.versions import defined_versions, made_versions
from drac_pipeline.errors import ConfigError, DocumentError
from drac_pipeline.globs import glob_pattern
from drac_pipeline.pipeline import STAGES, STAGES_BY_NAME, DocumentOutcome, State, document_states
from drac_pipeline.pipeline.look import due_documents, look_at_sources
from drac_pipeline.pipeline.pool import Task
from drac_pipeline.pipeline.stage import SOURCE
from drac_pipeline.pipeline.worklist import refresh_sources, source_failure
from drac_pipeline.store import Home, Manifest


@dataclass
class Refresh:
    """What a run has to do, what failed before it began, which documents were retired, and why those
    that are gone were not."""

    tasks: list[Task] = field(default_factory=list)
    failed: list[DocumentOutcome] = field(default_factory=list)
    unreachable: dict[str, str] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    retired: list[str] = field(default_factory=list)


def register(instance: DagsterInstance, home: Home, manifests: Collection[Manifest]) -> list[str]:
    """Add the documents' partitions and report their sources' fingerprints, where these are news.

    Gives the keys that got a partition.
    """
    partitions, source = partition_set(home.corpus), asset_key(SOURCE, home.corpus)
    known = set(instance.get_dynamic_partitions(partitions))
    fresh = sorted(m.document_key for m in manifests if m.document_key not in known)
    for start in range(0, len(fresh), PARTITIONS_PER_QUERY):
        instance.add_dynamic_partitions(partitions, fresh[start : start + PARTITIONS_PER_QUERY])
    seen = latest_data_versions(instance, source, [m.document_key for m in manifests])
    failed = failed_partitions(instance, source)
    news = [
        m
        for m in manifests
        if seen.get(m.document_key) != source_version(m)
        or (m.document_key in failed and (m.source.in_bucket or m.source.local_path.exists()))
    ]
    report_runless(instance, [source_materialization(m, home.corpus) for m in news])
    return fresh


def drop_strays(instance: DagsterInstance, home: Home) -> list[str]:
    """Remove partitions without a document: those of a process killed while it retired them, or
    added by hand under a key that no document has. Gives their keys."""
    partitions = instance.get_dynamic_partitions(partition_set(home.corpus))
    known = home.store.manifests_of(partitions)
    strays = [k for k in partitions if not _active(known.get(k))]
    forget(instance, strays, home.corpus)
    return strays


def _active(manifest: Manifest | None) -> bool:
    return manifest is not None and manifest.retired is None


def unreported(
    instance: DagsterInstance, home: Home, manifests: Collection[Manifest]
) -> dict[str, list[str]]:
    """Per document the stages whose good output Dagster does not show: that of a run killed between
    publishing and reporting, of a stage run in a notebook, one made again with the same result
    above it, or one that a run failed to get to."""
    out: dict[str, list[str]] = {}
    keys = [m.document_key for m in manifests]
    made = {m.document_key: made_versions(m, home.config) for m in manifests}
    for stage in STAGES:
        asset = asset_key(stage.name, home.corpus)
        data = latest_data_versions(instance, asset, keys)
        code = latest_code_versions(instance, asset, keys)
        failed = failed_partitions(instance, asset)
        for m in manifests:
            key, record = m.document_key, m.stages.get(stage.name)
            if record is None:
                continue
            version = made[key][stage.name]
            shown = data.get(key) == record.data_version and code.get(key, version) == version
            if not shown or key in failed:
                out.setdefault(key, []).append(stage.name)
    return out


def show_own_settings(instance: DagsterInstance, home: Home, manifests: Iterable[Manifest]) -> None:
    """Have Dagster show as stale what is so since an override came, changed or went: it compares with one
    version an asset, which settings for some documents do not touch."""
    defined = defined_versions(home.config)
    made = [(m, made_versions(m, home.config)) for m in manifests if m.failure is None]
    for stage in STAGES:
        name = stage.name
        found = [(m, vs[name]) for m, vs in made if vs.get(name, defined[name]) != defined[name]]
        asset = asset_key(name, home.corpus)
        shown = latest_code_versions(instance, asset, [m.document_key for m, _ in found])
        report_runless(
            instance,
            [
                stale_materialization(home, m, stage, version)
                for m, version in found
                if shown.get(m.document_key, version) != version
            ],
        )


def documents_to_refresh(
    instance: DagsterInstance,
    home: Home,
    keys: Sequence[str],
    stages: Sequence[str],
    *,
    force: bool,
    look: bool,
    sources: Sequence[str] = (),
    automatic: bool = False,
) -> Refresh:
    """The documents and stages that a run without partitions has to bring up to date.

    With `keys` just these; without, every document of the home, after a look at the sources
    if `look` says so: then documents that left them are retired, and with `automatic` failed ones
    wait as the retry policy says. Raises ConfigError for a key that the home does not know.
    """
    keys = _expanded(home, keys)
    out = Refresh()
    waiting: Collection[str] = ()
    if not keys and look:
        settle = home.config.refresh.settle_seconds if automatic else 0.0
        looked = look_at_sources(home, sources, settle_seconds=settle)
        waiting = due_documents(home, looked).waiting if automatic else ()
        out.unreachable, out.refused = looked.unreachable, looked.refused
        out.retired = retire_documents(instance, home, looked.retire)
        out.failed = [
            source_failure(home.store, k, e) for k, e in looked.unreadable.items() if k not in waiting
        ]
    manifests = {m.document_key: m for m in _manifests(home, keys)}
    if missing := set(keys) - set(manifests):
        raise ConfigError(f"not in this home: {', '.join(sorted(missing)[:5])}; see `drac status --all`")
    for key, found in refresh_sources(home.store, keys if look else (), trust_times=True):
        if isinstance(found, DocumentError):
            out.failed.append(source_failure(home.store, key, found))
        else:
            manifests[key] = found
    for key in [*waiting, *(o.key for o in out.failed)]:
        manifests.pop(key, None)
    register(instance, home, manifests.values())
    silent = unreported(instance, home, manifests.values())
    for key, m in sorted(manifests.items()):
        if not keys and not look and not _can_begin(m, stages):
            continue
        states = document_states(home.store, m, home.config)
        due = {n for n, s in states.items() if force or s.state != State.FRESH}
        due.update(silent.get(key, ()))
        if wanted := [n for n in stages if n in due]:
            out.tasks.append((key, wanted))
    return out


def _expanded(home: Home, keys: Sequence[str]) -> list[str]:
    """The keys, those that are globs replaced by what they match. A key that a document has is
    itself, whatever characters it holds; a glob without a match stays, to be named as unknown."""
    out: dict[str, None] = {}
    known: list[str] | None = None
    for key in keys:
        if not re.search(r"[*?\[]", key) or home.store.manifest(key) is not None:
            out[key] = None
            continue
        known = known if known is not None else sorted(m.document_key for m in home.store.manifests())
        out.update(dict.fromkeys([k for k in known if glob_pattern(key).fullmatch(k)] or [key]))
    return list(out)


def _manifests(home: Home, keys: Sequence[str]) -> list[Manifest]:
    return list(home.store.manifests_of(keys).values() if keys else home.store.manifests())


def _can_begin(manifest: Manifest, stages: Sequence[str]) -> bool:
    """True where the first of the stages has all its parents' outputs."""
    parents = STAGES_BY_NAME[stages[0]].parents if stages else ()
    return all(p == SOURCE or p in manifest.stages for p in parents)
