"""The evaluation of the corpus as an asset: one for all documents, with the report of `drac eval`."""

from dagster import (
    AssetExecutionContext,
    AssetsDefinition,
    AssetSelection,
    Config,
    Failure,
    MaterializeResult,
    MetadataValue,
    TableColumn,
    TableRecord,
    TableSchema,
    asset,
    define_asset_job,
)
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition
from pydantic import Field

from drac_pipeline.counted import counted
from drac_pipeline.defs.events import asset_key
from drac_pipeline.defs.names import asset_named, corpus_tags, group_of, named
from drac_pipeline.defs.resources import HomeResource
from drac_pipeline.errors import DracError
from drac_pipeline.evaluate.job import Done, Wish, run_evaluation
from drac_pipeline.evaluate.metrics import METRICS, SHORT
from drac_pipeline.evaluate.report.verdicts import verdicts
from drac_pipeline.evaluate.summary import failed_sets
from drac_pipeline.inspection.serve import evaluation_url

NAME = "retrieval_evaluation"
EVALUATE = "evaluate"


class EvaluationConfig(Config):
    """What is evaluated; what is empty is as [evaluate] in drac.toml says."""

    questions: str = Field(
        default="", description="CSV of questions with supporting facts; relative to the home."
    )
    chunkers: list[str] = Field(
        default=[], description="Ways of chunking, as drac, fixed:size=500,overlap=50 and so on."
    )
    embedders: list[str] = Field(default=[], description="home, none, or settings changed: key=value,…")


def make_evaluation_asset(corpus: str = "") -> AssetsDefinition:
    """The asset."""

    @asset(
        key=asset_named(NAME, corpus),
        deps=[asset_key("chunks", corpus)],
        group_name=group_of("evaluation", corpus),
        kinds={"python"},
        description="How well questions find the chunks of all documents, beside other ways of chunking:"
        " recall, precision, MRR and NDCG with intervals, and the worst questions. Questions and rivals are"
        " named in the config, or under [evaluate] in drac.toml.",
    )
    def retrieval_evaluation(
        context: AssetExecutionContext, config: EvaluationConfig, home: HomeResource
    ) -> MaterializeResult:
        """Evaluate, and show figures and report."""
        try:
            opened = home.open()
            wish = Wish(
                questions=opened.path / config.questions if config.questions else None,
                chunkers=config.chunkers or opened.config.evaluate.chunkers,
                embedders=config.embedders,
            )
            done = run_evaluation(
                opened,
                wish,
                lambda phase, total, note: None if note else context.log.info(f"{phase}: {total}"),
            )
        except DracError as e:
            raise Failure(str(e), allow_retries=False) from e
        return MaterializeResult(metadata=evaluation_metadata(done, opened.config.inspect.url))

    return retrieval_evaluation


def make_evaluate_job(corpus: str = "") -> UnresolvedAssetJobDefinition:
    """The job that makes it."""
    return define_asset_job(
        named(EVALUATE, corpus),
        selection=AssetSelection.assets(asset_named(NAME, corpus)),
        description="Ask the questions of drac.toml (or of the config) and compare ways of chunking.",
        tags=corpus_tags(corpus),
    )


def evaluation_metadata(done: Done, served_at: str = "") -> dict[str, MetadataValue]:
    """The metrics of our chunks as numbers to plot, all sets in a table, and where the report is: its file,
    and its address where `drac inspect --serve` is at `served_at`."""
    c = done.summary["comparisons"][0]
    ours = next(s for s in c["sets"] if s["name"] == c["reference"])
    out: dict[str, MetadataValue] = {
        SHORT[m]: MetadataValue.float(ours["rankers"][c["main_ranker"]]["overall"][m]) for m in METRICS
    }
    out["ranked by"] = MetadataValue.text(c["main_ranker"])
    out["questions"] = MetadataValue.int(c["questions"])
    if served_at:
        out["report"] = MetadataValue.url(evaluation_url(served_at))
    out["report file"] = MetadataValue.path(str(done.page))
    out["sets"] = MetadataValue.table(
        records=[
            TableRecord(
                {
                    "set": s["name"],
                    "ranker": ranker,
                    "chunks": s["chunks"],
                    "mean chars": round(s["mean_chars"]),
                    **{SHORT[m]: round(s["rankers"][ranker]["overall"][m], 3) for m in METRICS},
                }
            )
            for ranker in c["rankers"]
            for s in c["sets"]
        ],
        schema=TableSchema(
            [
                TableColumn("set"),
                TableColumn("ranker"),
                TableColumn("chunks", "int"),
                TableColumn("mean chars", "int"),
                *(TableColumn(SHORT[m], "float") for m in METRICS),
            ]
        ),
    )
    lines = [*verdicts(c)]
    lines += [
        f"{s['name']} failed on {counted(len(s['failed']), 'document')}" for s in failed_sets(done.summary)
    ]
    lines += [f"{name} not judged: {why}" for name, why in done.summary["without_chunks"].items()]
    lines += done.summary["questions"]["notes"]
    if lines:
        out["said"] = MetadataValue.md("\n".join(f"- {line}" for line in lines))
    return out
