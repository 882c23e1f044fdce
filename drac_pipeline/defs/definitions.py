"""Everything Dagster sees: assets with their checks, jobs, the sensor and the schedule, resources."""

from __future__ import annotations

from collections.abc import Iterable

from dagster import ConfigurableResource, Definitions, in_process_executor

from drac_pipeline.config import DracConfig
from drac_pipeline.defs.alerts import make_failure_alert
from drac_pipeline.defs.evaluation import make_evaluate_job, make_evaluation_asset
from drac_pipeline.defs.jobs import make_jobs
from drac_pipeline.defs.overview import make_overview_asset, make_overview_job, make_overview_schedule
from drac_pipeline.defs.refresh import make_refresh_schedule, make_refresh_sensor
from drac_pipeline.defs.resources import HomeResource
from drac_pipeline.defs.stages import make_stage_assets
from drac_pipeline.defs.vector_index import make_vector_index
from drac_pipeline.errors import ConfigError
from drac_pipeline.s3.address import BucketAddress
from drac_pipeline.sources.address import SourceAddress
from drac_pipeline.store import Home


def make_definitions(
    config: DracConfig, sources: Iterable[SourceAddress] = (), corpus: str = "", path: str = ""
) -> Definitions:
    """The definitions of a home with these settings and sources: of the one that the environment names, or
    of the `corpus` whose home is at `path`."""
    return Definitions(
        assets=[
            make_stage_assets(config, corpus),
            make_vector_index(corpus),
            make_overview_asset(config, corpus),
            make_evaluation_asset(corpus),
        ],
        jobs=[*make_jobs(corpus), make_evaluate_job(corpus), make_overview_job(corpus)],
        sensors=[make_refresh_sensor(config, corpus), make_failure_alert(config, corpus)],
        schedules=[make_refresh_schedule(config, corpus), make_overview_schedule(config, corpus)],
        resources=_resources(config, sources, path),
        executor=in_process_executor,  # the documents of a run are spread over processes inside the op
    )


def _settings() -> DracConfig:
    try:
        home = Home.from_environment()
    except ConfigError:  # no home yet, as when the definitions are only validated
        return DracConfig()
    return home.config


def _resources(
    config: DracConfig, sources: Iterable[SourceAddress], path: str
) -> dict[str, ConfigurableResource]:
    if not config.store.url and not any(isinstance(s, BucketAddress) for s in sources):
        return {"home": HomeResource(path=path)}
    from drac_pipeline.defs.buckets import BucketHomeResource, s3_resource  # imports an SDK

    s3 = s3_resource(config.store)
    return {"s3": s3, "home": BucketHomeResource(path=path, s3=s3)}


def _sources() -> list[SourceAddress]:
    try:
        return Home.from_environment().sources()
    except ConfigError:
        return []


defs = make_definitions(_settings(), _sources())
