"""The stages bound to a store: what is stale, and running just that."""

from drac_pipeline.pipeline.freshness import StageState, State, document_states, stages_to_run
from drac_pipeline.pipeline.process import DocumentOutcome, StageOutcome, process_document
from drac_pipeline.pipeline.stage import Stage, code_version
from drac_pipeline.pipeline.stages import STAGES, STAGES_BY_NAME
from drac_pipeline.pipeline.worklist import Work, find_work

__all__ = [
    "STAGES",
    "STAGES_BY_NAME",
    "DocumentOutcome",
    "Stage",
    "StageOutcome",
    "StageState",
    "State",
    "Work",
    "code_version",
    "document_states",
    "find_work",
    "process_document",
    "stages_to_run",
]
