"""The stages as assets partitioned by document: one multi-asset, a node a stage in the graph.

One run may carry any number of documents. Each goes through the selected stages on its own;
one that fails stops at its failed stage, and the others go on. At the end the run fails and
names the failed ones, so that exactly their failed and later stages show as failed and
"retry from failure" launches only those.
"""

import logging
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence

from dagster import (
    AssetCheckKey,
    AssetCheckSpec,
    AssetExecutionContext,
    AssetsDefinition,
    AssetSpec,
    BackfillPolicy,
    Config,
    Failure,
    MetadataValue,
    multi_asset,
)
from dagster._utils.warnings import PreviewWarning
from pydantic import Field

from drac_pipeline.config import DracConfig
from drac_pipeline.counted import counted
from drac_pipeline.defs.alerts import FAILED_DOCUMENTS
from drac_pipeline.defs.events import (
    SOURCE_CODE_VERSION,
    asset_key,
    failure_observation,
    reason,
    recorded_checks,
    source_materialization,
    write_outcomes,
)
from drac_pipeline.defs.instance_events import record_planned, write_together
from drac_pipeline.defs.names import DOCUMENTS, documents_of, group_of, named
from drac_pipeline.defs.overview import report_overview
from drac_pipeline.defs.register import Refresh, documents_to_refresh, register
from drac_pipeline.defs.resources import HomeResource
from drac_pipeline.defs.run_log import logging_to_run, tell
from drac_pipeline.defs.run_process import process_tags
from drac_pipeline.defs.vector_index import INDEXED, index_after_run, indexed_evaluations
from drac_pipeline.defs.versions import defined_versions
from drac_pipeline.errors import ClusterError, DocumentError, DracError
from drac_pipeline.index.sync import STAGE as EMBEDDINGS
from drac_pipeline.index.sync import index_state
from drac_pipeline.pipeline import STAGES, DocumentOutcome
from drac_pipeline.pipeline.pool import map_documents
from drac_pipeline.pipeline.progress import PageLines, listening_to_pages, report
from drac_pipeline.pipeline.stage import SOURCE
from drac_pipeline.pipeline.worklist import refresh_sources, source_failure
from drac_pipeline.store import Home, Manifest

NO_CLUSTER = "cluster"  # metadata of the failure of a run that could not work on its cluster
CHECKS = {
    "no_table_syntax": "No line of the Markdown is still a row of a table in pipes or HTML.",
    "fidelity": "Each page has its own words and no others: recall and precision against the PDF's text.",
    "coverage": "Every content element is in exactly one chunk, in order, under its own headings.",
    "verbatim": "The text of each chunk is the text of its elements, byte for byte.",
    "chunk_size": "No chunk of several elements is over the hard size, and none is without text.",
    "within_embedder": "No chunk was cut to what the embedder reads; lists those that are longer.",
}
DOCUMENTS_PER_BACKFILL_RUN = 500  # a run takes all cores: several at once start several times, for nothing
FLUSH_DOCUMENTS = 25
FLUSH_SECONDS = 2.0


class DocumentsConfig(Config):
    """What a run does. A run launched with partitions takes those documents; else `documents`.

    With partitions and without source_document among the selected stages, the selected ones run
    even if nothing has changed: somebody asked for just these.
    """

    documents: list[str] = Field(
        default=[],
        description="Document keys, or globs on them (2024/*.pdf)."
        " Empty in a run without partitions: look at the sources and take every"
        " document that is new, changed or not up to date.",
    )
    stages: list[str] = Field(
        default=[], description="Stages to bring up to date, such as chunk_plan; empty: all selected ones."
    )
    force: bool = Field(default=False, description="Run the stages even where nothing has changed.")
    automatic: bool = Field(
        default=False,
        description="With `documents` empty: leave out failed ones that the retry policy lets wait, and files"
        " that may still be written. Set by the sensor and the schedule.",
    )
    sources: list[str] = Field(
        default=[],
        description="Folders or files to look at where `documents` is empty; empty: those of earlier runs.",
    )


def make_stage_assets(config: DracConfig, corpus: str = "") -> AssetsDefinition:
    """The multi-asset of all stages; code versions follow the settings."""
    documents, group = documents_of(corpus), group_of("corpus", corpus)
    versions = defined_versions(config)
    source = AssetSpec(
        asset_key(SOURCE, corpus),
        description="The file in the source; its data version is the SHA-256 of its bytes.",
        code_version=SOURCE_CODE_VERSION,
        skippable=True,
        group_name=group,
        kinds={"file"},
    )
    specs = [
        AssetSpec(
            asset_key(stage.name, corpus),
            deps=[asset_key(p, corpus) for p in stage.parents],
            description=stage.about,
            code_version=versions[stage.name],
            skippable=True,
            group_name=group,
            kinds={"python"},
        )
        for stage in STAGES
    ]
    with warnings.catch_warnings():  # a check with partitions is a preview feature, used on purpose
        warnings.simplefilter("ignore", PreviewWarning)
        checks = [
            AssetCheckSpec(
                name,
                asset=asset_key(s.name, corpus),
                description=CHECKS.get(name),
                blocking=blocking,
                partitions_def=documents,
            )
            for s in STAGES
            for name, blocking in s.checks.items()
        ]
        checks.append(
            AssetCheckSpec(
                INDEXED,
                asset=asset_key(EMBEDDINGS, corpus),
                description="The vector index holds the chunks of this document as they are now.",
                partitions_def=documents,
            )
        )

    @multi_asset(
        name=named(DOCUMENTS, corpus),
        specs=[source, *specs],
        check_specs=checks,
        partitions_def=documents,
        can_subset=True,
        backfill_policy=BackfillPolicy.multi_run(DOCUMENTS_PER_BACKFILL_RUN),
    )
    def stage_assets(
        context: AssetExecutionContext, config: DocumentsConfig, home: HomeResource
    ) -> Iterator[object]:
        yield from ()  # to Dagster nothing is an output: `write_together` stores the events
        opened = home.open()
        with logging_to_run(context, opened.config.logs):
            _process(context, config, opened)

    return stage_assets


def _process(context: AssetExecutionContext, config: DocumentsConfig, opened: Home) -> None:
    """The body of the asset."""
    context.instance.add_run_tags(context.run.run_id, process_tags(context.run.run_id))
    corpus = opened.corpus
    selected = [s.name for s in STAGES if asset_key(s.name, corpus) in context.selected_asset_keys]
    stages = _named_stages(config.stages, selected)
    whole = asset_key(SOURCE, corpus) in context.selected_asset_keys
    ranged = context.has_partition_key or context.has_partition_key_range
    force = config.force or (ranged and not whole)
    if not whole and not selected:  # checks alone, as by "Execute" on their page
        keys = context.partition_keys if ranged else [m.document_key for m in opened.store.manifests()]
        wanted = context.selected_asset_check_keys
        told = recorded_checks(opened.store, keys, wanted, corpus)
        if AssetCheckKey(asset_key(EMBEDDINGS, corpus), INDEXED) in wanted:
            told += indexed_evaluations(index_state(opened), keys, corpus)
        write_together(context, told)
        return
    if ranged:
        refresh = _look_at_partitions(context, opened, stages, whole)
    else:
        refresh = _refresh(context, opened, config, stages)
    failed = refresh.failed
    for outcome in failed:
        report(outcome)
        _tell_failure(context, outcome)
    write_together(context, [failure_observation(o, corpus) for o in failed])
    for source, why in refresh.unreachable.items():
        tell(context, logging.ERROR, f"source {source}: {why}")
    for why in refresh.refused:
        tell(context, logging.ERROR, why)
    if refresh.retired:
        some = ", ".join(refresh.retired[:20])
        tell(context, logging.INFO, f"{counted(len(refresh.retired), 'document')} retired: {some}")
    buffer: list[DocumentOutcome] = []
    embedded: set[str] = set()
    flushed = time.monotonic()
    tell(context, logging.INFO, f"{counted(len(refresh.tasks), 'document')}, stages: {', '.join(stages)}")
    cluster: ClusterError | None = None
    with listening_to_pages(PageLines(context.log.info)):
        try:
            for outcome in map_documents(opened.store, refresh.tasks, opened.config, force=force):
                buffer.append(outcome)
                report(outcome)
                if outcome.failure:
                    failed.append(outcome)
                    context.log.error(_failure_line(outcome))  # the worker has logged it
                if any(s.stage == EMBEDDINGS and s.failure is None for s in outcome.stages):
                    embedded.add(outcome.key)
                if len(buffer) >= FLUSH_DOCUMENTS or time.monotonic() - flushed > FLUSH_SECONDS:
                    write_outcomes(context, opened, buffer)
                    buffer, flushed = [], time.monotonic()
        except ClusterError as e:
            cluster = e
        finally:  # also of an interrupted run: Dagster shows as failed what it meant to make and tells not of
            write_outcomes(context, opened, buffer)
    if cluster:
        raise Failure(str(cluster), metadata={NO_CLUSTER: str(cluster)}, allow_retries=False) from cluster
    index_after_run(context, opened, embedded)
    report_overview(context.instance, opened, len(refresh.tasks))
    if failed or refresh.unreachable or refresh.refused:
        raise _failure(failed, refresh.unreachable, refresh.refused)


def _look_at_partitions(
    context: AssetExecutionContext, home: Home, stages: list[str], whole: bool
) -> Refresh:
    """What there is to do for the run's partitions. Their files are fingerprinted again where the run
    begins at the source or at the stage after it: a repaired file has changed."""
    keys = list(context.partition_keys)
    refresh = Refresh()
    if whole or STAGES[0].name in stages:
        good: list[Manifest] = []
        for key, found in refresh_sources(home.store, keys, trust_times=not whole):
            if isinstance(found, DocumentError):
                refresh.failed.append(source_failure(home.store, key, found))
            else:
                good.append(found)
        if whole:
            write_together(context, [source_materialization(m, home.corpus) for m in good])
        else:
            register(context.instance, home, good)
        keys = [m.document_key for m in good]
    refresh.tasks = [(key, stages) for key in keys] if stages else []
    return refresh


def _named_stages(named: Sequence[str], selected: Sequence[str]) -> list[str]:
    known = [s.name for s in STAGES]
    if unknown := sorted(set(named) - set(known)):
        told = f"no such stage: {', '.join(unknown)}; the stages are {', '.join(known)}"
        raise Failure(told, allow_retries=False)
    return [n for n in selected if not named or n in named]


def _refresh(
    context: AssetExecutionContext, home: Home, config: DocumentsConfig, stages: Sequence[str]
) -> Refresh:
    """What there is to do without partitions; says to Dagster what the run means to materialize."""
    try:
        refresh = documents_to_refresh(
            context.instance,
            home,
            config.documents,
            stages,
            force=config.force,
            look=STAGES[0].name in stages,
            sources=config.sources,
            automatic=config.automatic,
        )
    except DracError as e:
        raise Failure(str(e), allow_retries=False) from e
    planned = [(asset_key(n, home.corpus), key) for key, names in refresh.tasks for n in names or ()]
    for outcome in refresh.failed:
        if home.store.manifest(outcome.key):
            planned.extend((asset_key(n, home.corpus), outcome.key) for n in (SOURCE, *stages))
    step = context.get_step_execution_context().step
    record_planned(context.instance, context.run, step.key, planned)
    return refresh


def _failure(
    failed: Sequence[DocumentOutcome], unreachable: Mapping[str, str], refused: Sequence[str]
) -> Failure:
    metadata: dict[str, MetadataValue] = {}
    told = []
    if failed:
        told.append(f"{counted(len(failed), 'document')} failed")
        metadata[FAILED_DOCUMENTS] = MetadataValue.md(_failure_list(failed))
    if unreachable:
        told.append(f"{counted(len(unreachable), 'source')} could not be looked at")
        metadata["sources"] = MetadataValue.md("\n".join(f"- {s}: {r}" for s, r in unreachable.items()))
    told.extend(refused)
    first = f" ({_failure_line(failed[0])})" if failed else ""
    return Failure(
        f"{' and '.join(told)}; the others are done{first}", metadata=metadata, allow_retries=False
    )


def _tell_failure(context: AssetExecutionContext, outcome: DocumentOutcome) -> None:
    f = outcome.failure
    assert f is not None
    tell(context, logging.ERROR, reason(f), document=outcome.key, stage=f.stage)


def _failure_line(outcome: DocumentOutcome) -> str:
    f = outcome.failure
    assert f is not None
    return f"{outcome.key}, {f.stage}: {reason(f)}"


def _failure_list(failed: Sequence[DocumentOutcome]) -> str:
    lines = [f"- {_failure_line(o)}" for o in failed[:100]]
    if len(failed) > 100:
        lines.append(f"- … and {len(failed) - 100} more")
    return "\n".join(lines)
