"""Where every document of a home stands, its sources looked at."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from drac_pipeline.errors import explain
from drac_pipeline.pipeline.condition import made_state
from drac_pipeline.pipeline.look import Looked, look_at_sources
from drac_pipeline.pipeline.retry import changed_since, retry
from drac_pipeline.sources.fingerprint import FingerprintCache, hash_file
from drac_pipeline.store import Home, Manifest

BAD = frozenset({"failed", "unreadable", "unknown"})


@dataclass(frozen=True, slots=True)
class Standing:
    """A document and its state: up to date, partial, blank, new, changed, renamed, returned, stale,
    incomplete, failed, gone, retired, unreadable, or unknown where its folder cannot be looked at. `why` is
    in words."""

    key: str
    state: str
    why: str = ""

    @property
    def bad(self) -> bool:
        """True where a person has to look after it."""
        return self.state in BAD


@dataclass
class Overview:
    """All documents by key, and what could not be looked at: a path and the reason each."""

    documents: list[Standing] = field(default_factory=list)
    blocked: list[str] = field(default_factory=list)


class _Look:
    """What a look found, gathered once: asked a document at a time, `Looked` would go through all of them
    each time."""

    def __init__(self, looked: Looked) -> None:
        self.found = looked.found
        self.unreadable, self.retire = looked.unreadable, looked.retire
        self.returned = {k for f in looked.found for k in f.returned}
        self.excluded = {k for f in looked.found for k in f.excluded}
        self.old_names = {old for f in looked.found for old in f.renamed.values()}
        self.gone = {(f.source, k) for f in looked.found for k in f.gone}


def overview(home: Home) -> Overview:
    """The state of every document that the home knows or its sources have. Writes nothing but the
    cache of fingerprints."""
    looked = look_at_sources(home, dry=True) if home.sources() else Looked()
    out = Overview(blocked=[f"{source}: {why}" for source, why in looked.unreachable.items()])
    out.blocked += [f"{path}: {why}" for f in looked.found for path, why in f.blocked.items()]
    known: set[str] = set()
    look = _Look(looked)
    with FingerprintCache(home.fingerprint_cache) as cache:
        for manifest in home.store.manifests(retired=True):
            key = manifest.document_key
            known.add(key)
            if key in look.old_names:
                continue  # it is there, under its new name
            out.documents.append(Standing(key, *_state(home, manifest, cache, look)))
    for found in looked.found:
        for work in found.work:
            if work.key not in known:
                why = work.reason if work.renamed_from else "not run yet"
                out.documents.append(Standing(work.key, work.state, why))
        out.documents += [
            Standing(k, "unreadable", explain(e.kind, e.cause, e.remedy))
            for k, e in found.unreadable.items()
            if k not in known
        ]
    out.documents.sort(key=lambda s: s.key)
    return out


def _state(home: Home, manifest: Manifest, cache: FingerprintCache, look: _Look) -> tuple[str, str]:
    if (error := look.unreadable.get(manifest.document_key)) is not None:
        return "unreadable", explain(error.kind, error.cause, error.remedy)
    if manifest.retired and manifest.document_key not in look.returned:
        r = manifest.retired
        return "retired", f"{r.reason} on {r.at[:10]}; artifacts kept until {r.delete_at[:10]}"
    then = "the next run retires it" if manifest.document_key in look.retire else "it is kept"
    if manifest.source.in_bucket:
        return _object_state(home, manifest, look, then)
    path = manifest.source.local_path
    for found in look.found:
        for blocked, why in found.blocked.items():
            if path.is_relative_to(blocked):
                return "unknown", f"{blocked} {why}; what is there of it is kept"
    try:
        stat = path.stat()
        fingerprint = cache.get(path, stat)
        if fingerprint is None:
            fingerprint, stat = hash_file(path)
            cache.put(path, stat, fingerprint)
    except FileNotFoundError:
        root = Path(manifest.source.root)
        if not root.is_dir():
            return "unknown", f"its source {root} is not there; what is there of it is kept"
        return "gone", f"{manifest.source.path} is no longer there; {then}"
    except Exception as e:  # permissions, devices: whatever keeps it from being read
        return "unreadable", str(e)
    if manifest.document_key in look.excluded:
        return "gone", f"the settings exclude it; {then}"
    if manifest.retired:
        return "returned", "returned to the source"
    return _made(home, manifest, fingerprint)


def _object_state(home: Home, manifest: Manifest, look: _Look, then: str) -> tuple[str, str]:
    """The state of a document from a bucket, by the listing: objects are not looked at one by one."""
    key, root = manifest.document_key, manifest.source.root
    for found in look.found:
        if key in found.excluded:
            return "gone", f"the settings exclude it; {then}"
        if key in found.fingerprints and found.source == root:
            if manifest.retired:
                return "returned", "returned to the source"
            return _made(home, manifest, found.fingerprints[key])
    if (root, key) in look.gone:
        return "gone", f"{manifest.source.path} is no longer there; {then}"
    return "unknown", f"its source {root} could not be listed; what is there of it is kept"


def _made(home: Home, manifest: Manifest, fingerprint: str) -> tuple[str, str]:
    state, why = made_state(home.store, manifest, home.config, fingerprint)
    if state != "failed":
        return state, why
    if changed := changed_since(manifest, home.config):
        return state, f"{why} The next run tries it again: {changed} changed since it failed."
    if home.config.refresh.trigger != "off":
        told = retry(manifest, home.config).reason
        why = f"{why} {told[0].upper()}{told[1:]}."
    return state, why
