"""The corpus at a glance as an asset: figures to plot over time, a report, and a freshness policy."""

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta

from dagster import (
    AssetCheckEvaluation,
    AssetCheckResult,
    AssetCheckSeverity,
    AssetCheckSpec,
    AssetMaterialization,
    AssetsDefinition,
    AssetSelection,
    DagsterInstance,
    DefaultScheduleStatus,
    FreshnessPolicy,
    MaterializeResult,
    MetadataValue,
    ScheduleDefinition,
    asset,
    define_asset_job,
)
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

from drac_pipeline.config import DracConfig
from drac_pipeline.defs.events import asset_key
from drac_pipeline.defs.instance_events import report_runless
from drac_pipeline.defs.names import asset_named, corpus_tags, group_of, named
from drac_pipeline.defs.resources import HomeResource
from drac_pipeline.export import write_atomically
from drac_pipeline.inspection.serve import OVERVIEW_PATH
from drac_pipeline.overview import DocumentLine, Overview, gather_overview, overview_html
from drac_pipeline.store import Home

NAME = "corpus_overview"
FILE = "overview.html"
ALL_UP_TO_DATE = "all_up_to_date"
_GOOD = frozenset({"up to date", "partial", "blank"})
MOST_DOCUMENTS = 2_000  # summed up at the end of each run; beyond, by the schedule alone
_MOST_LINES = 50


def make_overview_job(corpus: str = "") -> UnresolvedAssetJobDefinition:
    """The job that makes it."""
    return define_asset_job(
        named("overview", corpus),
        selection=AssetSelection.assets(asset_named(NAME, corpus)),
        description="Sum up the corpus: documents by format, state, age, cost and fidelity.",
        tags=corpus_tags(corpus),
    )


def make_overview_asset(config: DracConfig, corpus: str = "") -> AssetsDefinition:
    """The asset; overdue where nobody looked at the corpus for `refresh.fresh_within_hours`."""

    @asset(
        key=asset_named(NAME, corpus),
        deps=[asset_key("chunks", corpus)],
        group_name=group_of("corpus", corpus),
        kinds={"html"},
        check_specs=[
            AssetCheckSpec(
                ALL_UP_TO_DATE,
                asset=asset_named(NAME, corpus),
                description="No document is stale, incomplete or failed; says how many are, at which stage"
                " and why. The graph does not show by itself what is stale of assets with partitions.",
            )
        ],
        freshness_policy=FreshnessPolicy.time_window(timedelta(hours=config.refresh.fresh_within_hours)),
        description="Documents by format, state, age, cost and fidelity, as a self-contained HTML report in"
        " the home; its numbers are plotted over time. Made after each run, and by `overview_schedule`.",
    )
    def corpus_overview(home: HomeResource) -> MaterializeResult:
        metadata, verdict = write_overview(home.open())
        result = AssetCheckResult(
            check_name=ALL_UP_TO_DATE,
            passed=verdict.passed,
            severity=verdict.severity,
            metadata=verdict.metadata,
        )
        return MaterializeResult(metadata=metadata, check_results=[result])

    return corpus_overview


def make_overview_schedule(config: DracConfig, corpus: str = "") -> ScheduleDefinition:
    """Daily, where refreshes go by themselves."""
    return ScheduleDefinition(
        name=named("overview_schedule", corpus),
        job_name=named("overview", corpus),
        cron_schedule="0 5 * * *",
        execution_timezone=config.refresh.timezone,
        default_status=DefaultScheduleStatus.STOPPED
        if config.refresh.trigger == "off"
        else DefaultScheduleStatus.RUNNING,
        description="Makes `corpus_overview` once a day, so that it is there where nothing ran.",
    )


def report_overview(instance: DagsterInstance, home: Home, n_documents: int) -> None:
    """Make the overview at the end of a run, where the corpus is small enough for that."""
    if n_documents <= MOST_DOCUMENTS:
        metadata, verdict = write_overview(home)
        key = asset_named(NAME, home.corpus)
        report_runless(instance, [AssetMaterialization(key, metadata=metadata), verdict])


def write_overview(home: Home) -> tuple[dict[str, MetadataValue], AssetCheckEvaluation]:
    """Write the report into the home; gives the metadata of its materialization, and whether every document
    is up to date."""
    overview = gather_overview(home)
    path = home.path / FILE
    url = home.config.inspect.url
    write_atomically(path, overview_html(overview, home.path.name, url).encode("utf-8"))
    out: dict[str, MetadataValue] = {n: _number(v) for n, v in overview.figures().items()}
    out["report"] = MetadataValue.path(str(path))
    if url:
        out["report page"] = MetadataValue.url(url.rstrip("/") + OVERVIEW_PATH)
    out["formats"] = MetadataValue.text(", ".join(f"{n} {f}" for f, n in overview.formats.most_common()))
    out["needs attention"] = MetadataValue.md(_attention(overview) or "nothing")
    out["lowest fidelity"] = MetadataValue.md(_worst(overview.worst(10)) or "all words are there")
    return out, _verdict(overview, home.corpus)


def _verdict(overview: Overview, corpus: str) -> AssetCheckEvaluation:
    """A warning where documents are stale or incomplete, an error where one failed."""
    off = [d for d in overview.documents if d.state not in _GOOD]
    alike = Counter(_in_words(d) for d in off)
    lines = [f"- {n} {text}" for text, n in alike.most_common(_MOST_LINES)]
    failed = any(d.state == "failed" for d in off)
    return AssetCheckEvaluation(
        asset_key=asset_named(NAME, corpus),
        check_name=ALL_UP_TO_DATE,
        passed=not off,
        severity=AssetCheckSeverity.ERROR if failed else AssetCheckSeverity.WARN,
        metadata={
            "documents not up to date": MetadataValue.int(len(off)),
            "why": MetadataValue.md("\n".join(lines) or "all are"),
        },
    )


def _in_words(document: DocumentLine) -> str:
    if document.state == "failed":
        return f"failed at {document.why.split(':')[0]}"
    return f"{document.state}, {document.why}"


def _number(value: float) -> MetadataValue:
    return MetadataValue.int(value) if isinstance(value, int) else MetadataValue.float(value)


def _attention(overview: Overview) -> str:
    found = [d for d in overview.documents if d.state != "up to date" or d.failed_checks]
    lines = [f"- {d.key}: {d.state}, {d.why or ', '.join(d.failed_checks)}" for d in found[:_MOST_LINES]]
    if len(found) > _MOST_LINES:
        lines.append(f"- … and {len(found) - _MOST_LINES} more")
    return "\n".join(lines)


def _worst(documents: Sequence[DocumentLine]) -> str:
    return "\n".join(f"- {d.key}: {100 * (d.recall or 0):.2f} % of the words kept" for d in documents)
