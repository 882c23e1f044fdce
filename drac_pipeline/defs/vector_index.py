"""The vector index as an asset: one for all documents, brought in step at the end of each run.

A run that makes vectors writes its documents to the index itself, even where some of them failed: an
asset after theirs would be skipped then. The asset is there to be seen, checked and made by hand.
"""

import logging
from collections.abc import Collection, Iterable, Sequence

from dagster import (
    AssetCheckEvaluation,
    AssetCheckResult,
    AssetCheckSpec,
    AssetExecutionContext,
    AssetMaterialization,
    AssetsDefinition,
    DagsterInstance,
    Failure,
    MaterializeResult,
    MetadataValue,
    asset,
)
from dagster._core.definitions.metadata import RawMetadataValue

from drac_pipeline.defs.events import asset_key
from drac_pipeline.defs.instance_events import report_runless, write_together
from drac_pipeline.defs.names import asset_named, group_of
from drac_pipeline.defs.resources import HomeResource
from drac_pipeline.errors import DracError
from drac_pipeline.index.sync import STAGE, IndexState, Synced, index_state, index_uri, sync_index
from drac_pipeline.store import Home

log = logging.getLogger(__name__)

INDEX = "vector_index"
IN_STEP = "index_in_step"
INDEXED = "indexed"
_MOST_KEYS = 30
Event = AssetMaterialization | AssetCheckEvaluation


def make_vector_index(corpus: str = "") -> AssetsDefinition:
    """The asset, with its check."""
    key = asset_named(INDEX, corpus)

    @asset(
        key=key,
        deps=[asset_key(STAGE, corpus)],
        group_name=group_of("corpus", corpus),
        kinds={"lancedb"},
        code_version="1",
        check_specs=[
            AssetCheckSpec(
                IN_STEP,
                asset=key,
                description="The index holds the chunks of every document as they are now, and nothing else.",
            )
        ],
        description="Chunks with their text and vectors in LanceDB, one table an embedder, for `drac search`."
        " Every run that changes chunks or retires documents brings it in step.",
    )
    def vector_index(context: AssetExecutionContext, home: HomeResource) -> MaterializeResult:
        """Bring the index in step with the chunks there are."""
        opened = home.open()
        try:
            done = sync_index(opened)
        except DracError as e:
            raise Failure(str(e), allow_retries=False) from e
        report_runless(context.instance, indexed_evaluations(done.state, done.keys, corpus))
        verdict = _evaluation(done.state, corpus)
        return MaterializeResult(
            metadata=_metadata(opened, done),
            check_results=[
                AssetCheckResult(check_name=IN_STEP, passed=verdict.passed, metadata=verdict.metadata)
            ],
        )

    return vector_index


def index_after_run(context: AssetExecutionContext, home: Home, embedded: Collection[str]) -> None:
    """Bring the index in step in the run of another asset; a failure is told by the checks, and logged.
    `embedded` are the documents whose vectors the run made or found good."""
    try:
        done = sync_index(home)
        told = indexed_evaluations(done.state, {*done.keys, *embedded}, home.corpus)
        write_together(context, [*_events(home, done), *told])
    except Exception as e:  # nothing that is wrong with the index may take a run's documents with it
        context.log.error(f"the index could not be brought in step: {type(e).__name__}: {e}")
        verdict = AssetCheckEvaluation(
            asset_key=asset_named(INDEX, home.corpus),
            check_name=IN_STEP,
            passed=False,
            metadata={"error": f"{type(e).__name__}: {e}"},
        )
        lost = [_indexed(k, f"{type(e).__name__}: {e}", home.corpus) for k in sorted(embedded)]
        write_together(context, [verdict, *lost])


def index_without_run(instance: DagsterInstance, home: Home) -> Synced | None:
    """Bring the index in step outside of runs where it is not; None where there was nothing to do, or
    where it could not be done (the log says why, and `drac status` that it was not)."""
    try:
        if index_state(home).in_step:
            return None
        done = sync_index(home)
    except Exception as e:
        log.error("the index could not be brought in step: %s: %s", type(e).__name__, e)
        return None
    verdicts = indexed_evaluations(done.state, done.keys, home.corpus)
    report_runless(instance, [_materialization(home, done), _evaluation(done.state, home.corpus), *verdicts])
    return done


def indexed_evaluations(
    state: IndexState, keys: Iterable[str], corpus: str = ""
) -> list[AssetCheckEvaluation]:
    """Whether the index holds the chunks of the documents of these keys as they are now."""
    why = dict.fromkeys(state.waiting, "it has no vectors of its chunks yet")
    why.update(dict.fromkeys(state.behind, "its rows are missing or of other chunks"))
    return [_indexed(k, why.get(k, ""), corpus) for k in sorted(keys)]


def _indexed(key: str, why: str, corpus: str) -> AssetCheckEvaluation:
    return AssetCheckEvaluation(
        asset_key=asset_key(STAGE, corpus),
        check_name=INDEXED,
        passed=not why,
        metadata={"why": why} if why else {},
        partition=key,
    )


def _events(home: Home, done: Synced) -> list[Event]:
    told: Sequence[Event] = [_materialization(home, done)] if done.state.embedder else []
    return [*told, _evaluation(done.state, home.corpus)]


def _materialization(home: Home, done: Synced) -> AssetMaterialization:
    return AssetMaterialization(asset_named(INDEX, home.corpus), metadata=_metadata(home, done))


def _metadata(home: Home, done: Synced) -> dict[str, RawMetadataValue]:
    state = done.state
    return {
        "documents": state.documents,
        "chunks": state.chunks,
        "embedder": state.embedder,
        "documents written": done.written,
        "documents removed": done.removed,
        "seconds": round(done.seconds, 2),
        "place": MetadataValue.path(index_uri(home)),
    }


def _evaluation(state: IndexState, corpus: str) -> AssetCheckEvaluation:
    lists = {"behind": state.behind, "surplus": state.surplus, "without vectors yet": state.waiting}
    metadata: dict[str, MetadataValue] = {
        "documents": MetadataValue.int(state.documents),
        "chunks": MetadataValue.int(state.chunks),
    }
    for name, keys in lists.items():
        metadata[name] = MetadataValue.int(len(keys))
        if keys:
            more = f"\n- … and {len(keys) - _MOST_KEYS} more" if len(keys) > _MOST_KEYS else ""
            metadata[f"{name}: which"] = MetadataValue.md(
                "\n".join(f"- {k}" for k in keys[:_MOST_KEYS]) + more
            )
    return AssetCheckEvaluation(
        asset_key=asset_named(INDEX, corpus), check_name=IN_STEP, passed=state.in_step, metadata=metadata
    )
