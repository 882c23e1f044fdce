"""What things are called in Dagster, where assets, partition sets and runs of all corpora share one instance.

A home of its own has no corpus name ("") and plain names. In a deployment of many corpora each name carries
that of its corpus: assets as a prefix, partition sets, jobs, sensors and ops as a beginning, runs as a tag.
"""

from __future__ import annotations

from dagster import AssetKey, DagsterRun, DagsterRunStatus, DynamicPartitionsDefinition

CORPUS_TAG = "drac/corpus"
UNFINISHED = [
    DagsterRunStatus.QUEUED,
    DagsterRunStatus.NOT_STARTED,
    DagsterRunStatus.STARTING,
    DagsterRunStatus.STARTED,
    DagsterRunStatus.CANCELING,
]
DOCUMENTS = "documents"  # the partition set, one partition a document; and the op that works on them


CORPORA = "drac_pipeline.defs.corpora"  # the module whose attributes are the corpora's definitions
_CORPUS_PREFIX = "corpus_"


def corpus_attribute(corpus: str) -> str:
    """The attribute of the module CORPORA that holds the definitions of a corpus."""
    return _CORPUS_PREFIX + corpus


def corpus_of_attribute(name: str) -> str:
    """The corpus of such an attribute; "" for any other name."""
    return name.removeprefix(_CORPUS_PREFIX) if name.startswith(_CORPUS_PREFIX) else ""


def asset_named(name: str, corpus: str = "") -> AssetKey:
    """The key of an asset of the corpus."""
    return AssetKey([corpus, name]) if corpus else AssetKey(name)


def named(name: str, corpus: str = "") -> str:
    """What a job, sensor, schedule or op of the corpus is called."""
    return f"{corpus}_{name}" if corpus else name


def partition_set(corpus: str = "") -> str:
    """The name of the set of the corpus's documents; a partition's key is the document key."""
    return named(DOCUMENTS, corpus)


def documents_of(corpus: str = "") -> DynamicPartitionsDefinition:
    """One partition a document of the corpus."""
    return DynamicPartitionsDefinition(name=partition_set(corpus))


def group_of(usual: str, corpus: str = "") -> str:
    """The group that assets of the corpus are shown in."""
    return corpus or usual


def corpus_tags(corpus: str) -> dict[str, str]:
    """The tags of a run of the corpus, by which the queue limits them."""
    return {CORPUS_TAG: corpus} if corpus else {}


def corpus_of_run(run: DagsterRun) -> str:
    """The corpus that a run works for: as it is tagged, or else by the assets it was launched for."""
    if CORPUS_TAG in run.tags:
        return run.tags[CORPUS_TAG]
    keys = [*(run.asset_selection or ()), *(c.asset_key for c in run.asset_check_selection or ())]
    found = {key.path[0] if len(key.path) > 1 else "" for key in keys}
    return found.pop() if len(found) == 1 else ""
