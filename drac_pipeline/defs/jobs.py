"""The jobs an operator launches by hand."""

from collections.abc import Iterable

from dagster import (
    AssetSelection,
    Config,
    Failure,
    JobDefinition,
    MetadataValue,
    OpExecutionContext,
    RunConfig,
    define_asset_job,
    job,
    op,
)
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition
from pydantic import Field

from drac_pipeline.counted import counted
from drac_pipeline.defs.events import asset_key
from drac_pipeline.defs.names import DOCUMENTS, corpus_tags, named
from drac_pipeline.defs.register import drop_strays, register, show_own_settings
from drac_pipeline.defs.resources import HomeResource
from drac_pipeline.defs.retire import retire_documents
from drac_pipeline.defs.stages import DocumentsConfig
from drac_pipeline.errors import DracError, explain
from drac_pipeline.pipeline import STAGES_BY_NAME
from drac_pipeline.pipeline.look import look_at_sources
from drac_pipeline.pipeline.stage import SOURCE

INGEST = "ingest"
REPLAN = "replan"
PLAN_STAGES = ["chunk_plan", "chunks", "chunk_embeddings"]
_MOST_LINES = 200


def make_jobs(corpus: str = "") -> list[JobDefinition | UnresolvedAssetJobDefinition]:
    """`ingest`, `replan` and `register_documents`."""
    every = AssetSelection.assets(*(asset_key(n, corpus) for n in (SOURCE, *STAGES_BY_NAME)))
    op_name = named(DOCUMENTS, corpus)
    ingest = define_asset_job(
        named(INGEST, corpus),
        selection=every,
        description="Bring documents up to date. Launch it without a partition: it takes the documents named"
        " in the config, or else every document of the sources that is new, changed or not up to date.",
        config=RunConfig(ops={op_name: DocumentsConfig()}),
        tags=corpus_tags(corpus),
    )
    replan = define_asset_job(
        named(REPLAN, corpus),
        selection=every,
        description="Plan, assemble and embed chunks again from the elements there are; never converts."
        " Launch it without a partition: it takes the documents named in the config, or else all.",
        config=RunConfig(ops={op_name: DocumentsConfig(stages=PLAN_STAGES, force=True)}),
        tags=corpus_tags(corpus),
    )

    @job(
        name=named("register_documents", corpus),
        description="Look at the sources and add a partition for each new document, and note which files have"
        " changed; retire what is gone; process nothing. Then backfill the new partitions, or launch"
        " `ingest`.",
        tags=corpus_tags(corpus),
    )
    def register_documents() -> None:
        """Register only."""
        _look.alias(named("look_at_sources", corpus))()

    return [ingest, replan, register_documents]


class SourcesConfig(Config):
    """Where to look."""

    sources: list[str] = Field(
        default=[], description="Folders or files to look at; empty: the sources of earlier runs."
    )


@op(name="look_at_sources")
def _look(context: OpExecutionContext, config: SourcesConfig, home: HomeResource) -> None:
    opened = home.open()
    try:
        looked = look_at_sources(opened, config.sources)
    except DracError as e:
        raise Failure(str(e), allow_retries=False) from e
    retired = retire_documents(context.instance, opened, looked.retire)
    fresh = register(context.instance, opened, list(opened.store.manifests()))
    show_own_settings(context.instance, opened, opened.store.manifests())
    drop_strays(context.instance, opened)
    work = [w for f in looked.found for w in f.work]
    skipped = [line for f in looked.found for line in f.skipped]
    context.add_output_metadata(
        {
            "new partitions": len(fresh),
            "documents not up to date": len(work),
            "documents up to date": sum(f.unchanged for f in looked.found),
            "retired": len(retired),
            "what a run would do": _listing(
                f"{w.key}: {w.reason} ({counted(len(w.stages), 'stage')}, from {w.stages[0]})" for w in work
            ),
            "gone": _listing(f"{k}: {r}" for k, r in looked.retire.items()),
            "skipped": _listing(skipped),
        }
    )
    problems = list(looked.refused)
    problems += [f"{s}: {r}" for s, r in looked.unreachable.items()]
    problems += [f"{k}: {explain(e.kind, e.cause, e.remedy)}" for k, e in looked.unreadable.items()]
    if problems:
        raise Failure(
            f"{counted(len(problems), 'source or file', 'sources or files')} could not be read; the"
            " others are registered",
            metadata={"problems": _listing(problems)},
            allow_retries=False,
        )


def _listing(lines: Iterable[str]) -> MetadataValue:
    told = list(lines)
    more = [f"- … and {len(told) - _MOST_LINES} more"] if len(told) > _MOST_LINES else []
    return MetadataValue.md("\n".join([f"- {line}" for line in told[:_MOST_LINES]] + more) or "none")
