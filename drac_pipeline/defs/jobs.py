"""The two jobs an operator launches by hand."""

from __future__ import annotations

from dagster import AssetSelection, RunConfig, define_asset_job

from drac_pipeline.defs.events import SOURCE_KEY, asset_key
from drac_pipeline.defs.stages import OP_NAME, DocumentsConfig
from drac_pipeline.pipeline import STAGES

INGEST = "ingest"
REPLAN = "replan"
PLAN_STAGES = ["chunk_plan", "chunks"]
_ALL = AssetSelection.assets(SOURCE_KEY, *(asset_key(s.name) for s in STAGES))

ingest = define_asset_job(
    INGEST,
    selection=_ALL,
    description="Bring documents up to date: those of the launched partitions, those named in the config, or,"
    " without either, every document of the sources that is new, changed or not up to date.",
    config=RunConfig(ops={OP_NAME: DocumentsConfig()}),
)

replan = define_asset_job(
    REPLAN,
    selection=_ALL,
    description="Plan and assemble chunks again from the elements there are; never converts.",
    config=RunConfig(ops={OP_NAME: DocumentsConfig(stages=PLAN_STAGES, force=True)}),
)
