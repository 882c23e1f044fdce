"""`drac.toml`: all sections, and reading them."""

from __future__ import annotations

import difflib
import tomllib
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from drac_pipeline.config.base import Settings
from drac_pipeline.config.model import ModelConfig
from drac_pipeline.config.operation import AlertsConfig, InspectConfig, RefreshConfig
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
from drac_pipeline.errors import ConfigError

CONFIG_FILE = "drac.toml"


class DracConfig(Settings):
    """All settings; the sections of `drac.toml` have these names."""

    source: SourceConfig = SourceConfig()
    normalize: NormalizeConfig = NormalizeConfig()
    render: RenderConfig = RenderConfig()
    convert: ConvertConfig = ConvertConfig()
    limits: LimitsConfig = LimitsConfig()
    section: SectionConfig = SectionConfig()
    plan: PlanConfig = PlanConfig()
    model: ModelConfig = ModelConfig()
    embed: EmbedConfig = EmbedConfig()
    index: IndexConfig = IndexConfig()
    inspect: InspectConfig = InspectConfig()
    refresh: RefreshConfig = RefreshConfig()
    alerts: AlertsConfig = AlertsConfig()
    evaluate: EvaluateConfig = EvaluateConfig()

    @property
    def converts_by_model(self) -> bool:
        """Whether any page may go to a model."""
        return self.convert.mode != "local"

    @property
    def plans_by_model(self) -> bool:
        """Whether chunks are planned by a model."""
        return self.plan.planner == "model"


def load_config(home: Path) -> DracConfig:
    """The settings of `home/drac.toml`, or the defaults where there is none.

    Raises ConfigError naming the key and what it may be.
    """
    path = home / CONFIG_FILE
    if not path.is_file():
        return DracConfig()
    try:
        return DracConfig.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise ConfigError(f"{path}: not valid TOML: {e}") from e
    except ValidationError as e:
        lines = [f"  {'.'.join(map(str, x['loc']))}: {_told(x)}" for x in e.errors()]
        raise ConfigError(f"{path}: settings are wrong:\n" + "\n".join(lines)) from e


def _told(error: Any) -> str:
    """What is wrong with a setting; for a key that there is none, the nearest one or where it belongs."""
    if error["type"] != "extra_forbidden":
        return error["msg"]
    *above, key = map(str, error["loc"])
    if len(above) > 1:
        return "there is no such setting here"
    sections = {n: list(f.default.__class__.model_fields) for n, f in DracConfig.model_fields.items()}
    known = sections.get(above[0], []) if above else list(sections)
    if near := difflib.get_close_matches(key, known, n=1, cutoff=0.6):
        return f"there is no such setting; did you mean {'.'.join([*above, near[0]])}?"
    if owners := [n for n, keys in sections.items() if key in keys]:
        return f"there is no such setting here; it belongs into [{owners[0]}]"
    place = f"[{above[0]}]" if above else CONFIG_FILE
    return f"there is no such setting; {place} may have {', '.join(known)}"
