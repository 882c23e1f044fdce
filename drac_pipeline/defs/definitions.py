"""Everything Dagster sees: assets with their checks, jobs, the sensor and the schedule, resources."""

from __future__ import annotations

from dagster import ConfigurableResource, Definitions, in_process_executor

from drac_pipeline.config import DracConfig
from drac_pipeline.defs.alerts import make_failure_alert
from drac_pipeline.defs.evaluation import evaluate_job, retrieval_evaluation
from drac_pipeline.defs.jobs import ingest, register_documents, replan
from drac_pipeline.defs.overview import make_overview_asset, make_overview_schedule, overview_job
from drac_pipeline.defs.refresh import make_refresh_schedule, make_refresh_sensor
from drac_pipeline.defs.resources import HomeResource
from drac_pipeline.defs.stages import make_stage_assets
from drac_pipeline.defs.vector_index import vector_index
from drac_pipeline.errors import ConfigError
from drac_pipeline.s3.address import BucketAddress
from drac_pipeline.sources.address import SourceAddress
from drac_pipeline.store import Home


def _settings() -> DracConfig:
    try:
        home = Home.from_environment()
    except ConfigError:  # no home yet, as when the definitions are only validated
        return DracConfig()
    return home.config


def _resources() -> dict[str, ConfigurableResource]:
    if not _config.store.url and not any(isinstance(s, BucketAddress) for s in _sources()):
        return {"home": HomeResource()}
    from drac_pipeline.defs.buckets import BucketHomeResource, s3_resource  # imports an SDK

    s3 = s3_resource(_config.store)
    return {"s3": s3, "home": BucketHomeResource(s3=s3)}


def _sources() -> list[SourceAddress]:
    try:
        return Home.from_environment().sources()
    except ConfigError:
        return []


_config = _settings()
defs = Definitions(
    assets=[make_stage_assets(_config), vector_index, make_overview_asset(_config), retrieval_evaluation],
    jobs=[ingest, replan, register_documents, evaluate_job, overview_job],
    sensors=[make_refresh_sensor(_config), make_failure_alert(_config)],
    schedules=[make_refresh_schedule(_config), make_overview_schedule(_config)],
    resources=_resources(),
    executor=in_process_executor,  # the documents of a run are spread over processes inside the op
)
