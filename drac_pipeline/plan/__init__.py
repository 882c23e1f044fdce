"""Planners: which elements make a chunk, said in ids alone, and the proof that none is lost."""

from drac_pipeline.plan.boilerplate import find_boilerplate
from drac_pipeline.plan.coverage import CoverageReport, complete, verify_coverage
from drac_pipeline.plan.local import plan_local
from drac_pipeline.plan.size import TokenCounter

__all__ = [
    "CoverageReport",
    "TokenCounter",
    "complete",
    "find_boilerplate",
    "plan_local",
    "verify_coverage",
]
