"""The stages as assets partitioned by document: one multi-asset, a node a stage in the graph.

One run may carry any number of documents. Each goes through the selected stages on its own;
one that fails stops at its failed stage, and the others go on. At the end the run fails and
names the failed ones, so that exactly their failed and later stages show as failed and
"retry from failure" launches only those.
"""

import time
from collections.abc import Generator, Iterator, Sequence

from dagster import (
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
from pydantic import Field

from drac_pipeline.config import DracConfig
from drac_pipeline.defs.events import (
    SOURCE_CODE_VERSION,
    SOURCE_KEY,
    asset_key,
    source_materialization,
    write_outcomes,
)
from drac_pipeline.defs.instance_events import record_planned, write_together
from drac_pipeline.defs.partitions import documents
from drac_pipeline.defs.register import documents_to_refresh
from drac_pipeline.defs.resources import HomeResource
from drac_pipeline.errors import DocumentError
from drac_pipeline.pipeline import STAGES, DocumentOutcome, code_version
from drac_pipeline.pipeline.pool import Task, map_documents
from drac_pipeline.pipeline.progress import report
from drac_pipeline.pipeline.worklist import refresh_source, source_failure
from drac_pipeline.store import Home, Manifest

OP_NAME = "documents"
DOCUMENTS_PER_BACKFILL_RUN = 50
FLUSH_DOCUMENTS = 25
FLUSH_SECONDS = 2.0


class DocumentsConfig(Config):
    """What a run does. A run launched with partitions takes those documents; else `documents`."""

    documents: list[str] = Field(
        default=[],
        description="Document keys. Empty in a run without partitions: look at the sources and take every"
        " document that is new, changed or not up to date.",
    )
    stages: list[str] = Field(
        default=[], description="Stages to bring up to date, such as chunk_plan; empty: all selected ones."
    )
    force: bool = Field(default=False, description="Run the stages even where nothing has changed.")


def make_stage_assets(config: DracConfig) -> AssetsDefinition:
    """The multi-asset of all stages; code versions follow the settings."""
    source = AssetSpec(
        SOURCE_KEY,
        description="The file in the source; its data version is the SHA-256 of its bytes.",
        code_version=SOURCE_CODE_VERSION,
        skippable=True,
        group_name="corpus",
        kinds={"file"},
    )
    specs = [
        AssetSpec(
            asset_key(stage.name),
            deps=[asset_key(p) for p in stage.parents],
            description=stage.about,
            code_version=code_version(stage, config),
            skippable=True,
            group_name="corpus",
            kinds={"python"},
        )
        for stage in STAGES
    ]
    checks = [
        AssetCheckSpec(name, asset=asset_key(s.name), blocking=blocking, partitions_def=documents)
        for s in STAGES
        for name, blocking in s.checks.items()
    ]

    @multi_asset(
        name=OP_NAME,
        specs=[source, *specs],
        check_specs=checks,
        partitions_def=documents,
        can_subset=True,
        backfill_policy=BackfillPolicy.multi_run(DOCUMENTS_PER_BACKFILL_RUN),
    )
    def stage_assets(
        context: AssetExecutionContext, config: DocumentsConfig, home: HomeResource
    ) -> Iterator[object]:
        opened = home.open()
        selected = [s.name for s in STAGES if asset_key(s.name) in context.selected_asset_keys]
        stages = [n for n in selected if not config.stages or n in config.stages]
        failed: list[DocumentOutcome] = []
        if context.has_partition_key or context.has_partition_key_range:
            keys = list(context.partition_keys)
            if SOURCE_KEY in context.selected_asset_keys:
                keys, failed = yield from _look_at_sources(context, opened, keys)
            tasks: list[Task] = [(key, stages) for key in keys] if stages else []
        else:
            tasks = documents_to_refresh(context.instance, opened, config.documents, stages, config.force)
            planned = [(asset_key(n), key) for key, names in tasks for n in names or ()]
            step = context.get_step_execution_context().step
            record_planned(context.instance, context.run, step.key, planned)
        buffer: list[DocumentOutcome] = []
        flushed = time.monotonic()
        context.log.info(f"{len(tasks)} documents, stages: {', '.join(stages)}")
        for outcome in map_documents(opened.store, tasks, opened.config, force=config.force):
            report(outcome)
            if outcome.failure:
                failed.append(outcome)
                context.log.error(_failure_line(outcome))
            buffer.append(outcome)
            if len(buffer) >= FLUSH_DOCUMENTS or time.monotonic() - flushed > FLUSH_SECONDS:
                yield from write_outcomes(context, opened.store, buffer)
                buffer, flushed = [], time.monotonic()
        yield from write_outcomes(context, opened.store, buffer)
        if failed:
            raise Failure(
                f"{len(failed)} documents failed; the others are done",
                metadata={"failed documents": MetadataValue.md(_failure_list(failed))},
                allow_retries=False,
            )

    return stage_assets


def _look_at_sources(
    context: AssetExecutionContext, home: Home, keys: list[str]
) -> Generator[object, None, tuple[list[str], list[DocumentOutcome]]]:
    """Fingerprint the documents' files again; yields their events, gives the keys that can go on
    and the failures."""
    good: list[Manifest] = []
    failed: list[DocumentOutcome] = []
    for key in keys:
        try:
            good.append(refresh_source(home.store, key))
        except DocumentError as e:
            failed.append(source_failure(home.store, key, e))
            context.log.error(_failure_line(failed[-1]))
            report(failed[-1])
    yield from write_together(context, [source_materialization(m) for m in good])
    return [m.document_key for m in good], failed


def _failure_line(outcome: DocumentOutcome) -> str:
    f = outcome.failure
    assert f is not None
    return f"{outcome.key}, {f.stage}: {f.kind}: {f.cause} {f.remedy}".rstrip()


def _failure_list(failed: Sequence[DocumentOutcome]) -> str:
    lines = [f"- {_failure_line(o)}" for o in failed[:100]]
    if len(failed) > 100:
        lines.append(f"- … and {len(failed) - 100} more")
    return "\n".join(lines)
