"""The two jobs an operator launches by hand."""

from __future__ import annotations

from dagster import RunConfig, define_asset_job

from drac_pipeline.defs.stages import OP_NAME, DocumentsConfig

INGEST = "ingest"
REPLAN = "replan"
PLAN_STAGES = ["chunk_plan", "chunks"]

ingest = define_asset_job(
    INGEST,
    selection="group:corpus",
    description="Bring documents up to date. Without partitions and keys: every new, changed or stale one.",
    config=RunConfig(ops={OP_NAME: DocumentsConfig()}),
)

replan = define_asset_job(
    REPLAN,
    selection="group:corpus",
    description="Plan and assemble chunks again from the elements there are; never converts.",
    config=RunConfig(ops={OP_NAME: DocumentsConfig(stages=PLAN_STAGES, force=True)}),
)
