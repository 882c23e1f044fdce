"""Settings of every stage, as typed models with the method's defaults.

A stage's settings are part of its identity: their hash goes into the code version,
so that a change re-runs exactly the stages it affects.
"""

from drac_pipeline.config.base import Settings, settings_hash
from drac_pipeline.config.drac import CONFIG_FILE, DracConfig, by_document, load_config
from drac_pipeline.config.map import MapConfig
from drac_pipeline.config.model import ModelConfig
from drac_pipeline.config.operation import AlertsConfig, InspectConfig, LogsConfig, RefreshConfig
from drac_pipeline.config.overrides import ByDocument, Override
from drac_pipeline.config.plan import PlanConfig
from drac_pipeline.config.search import EmbedConfig, EvaluateConfig, IndexConfig
from drac_pipeline.config.stages import (
    ConvertConfig,
    LimitsConfig,
    NormalizeConfig,
    RenderConfig,
    SectionConfig,
    SourceConfig,
)
from drac_pipeline.config.storage import StoreConfig

__all__ = [
    "CONFIG_FILE",
    "AlertsConfig",
    "ByDocument",
    "ConvertConfig",
    "DracConfig",
    "EmbedConfig",
    "EvaluateConfig",
    "IndexConfig",
    "InspectConfig",
    "LimitsConfig",
    "LogsConfig",
    "MapConfig",
    "ModelConfig",
    "NormalizeConfig",
    "Override",
    "PlanConfig",
    "RefreshConfig",
    "RenderConfig",
    "SectionConfig",
    "Settings",
    "SourceConfig",
    "StoreConfig",
    "by_document",
    "load_config",
    "settings_hash",
]
