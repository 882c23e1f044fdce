"""Stand-ins for model services that speak the wire: for tests and demonstrations, never a default.

They know pages by the hash of their image and answer with what the local converter made of
them, as fast and as badly as they are told to.
"""

from drac_pipeline.llm.doubles.brain import Brain
from drac_pipeline.llm.doubles.faults import ALL_FAULTS, FaultPlan
from drac_pipeline.llm.doubles.pages import page_table
from drac_pipeline.llm.doubles.server import Double

__all__ = ["ALL_FAULTS", "Brain", "Double", "FaultPlan", "page_table"]
