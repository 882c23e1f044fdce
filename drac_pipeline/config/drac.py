"""`drac.toml`: all sections, and reading them."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from pydantic import PrivateAttr, ValidationError

from drac_pipeline.config.base import Settings
from drac_pipeline.config.map import MapConfig
from drac_pipeline.config.model import ModelConfig
from drac_pipeline.config.operation import AlertsConfig, InspectConfig, LogsConfig, RefreshConfig
from drac_pipeline.config.overrides import OVERRIDE, ByDocument
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
from drac_pipeline.config.wrong import what_is_wrong
from drac_pipeline.errors import ConfigError

CONFIG_FILE = "drac.toml"


class DracConfig(Settings):
    """All settings; the sections of `drac.toml` have these names."""

    source: SourceConfig = SourceConfig()
    store: StoreConfig = StoreConfig()
    normalize: NormalizeConfig = NormalizeConfig()
    render: RenderConfig = RenderConfig()
    convert: ConvertConfig = ConvertConfig()
    limits: LimitsConfig = LimitsConfig()
    map: MapConfig = MapConfig()
    section: SectionConfig = SectionConfig()
    plan: PlanConfig = PlanConfig()
    model: ModelConfig = ModelConfig()
    embed: EmbedConfig = EmbedConfig()
    index: IndexConfig = IndexConfig()
    inspect: InspectConfig = InspectConfig()
    refresh: RefreshConfig = RefreshConfig()
    alerts: AlertsConfig = AlertsConfig()
    logs: LogsConfig = LogsConfig()
    evaluate: EvaluateConfig = EvaluateConfig()

    _resolved: dict[tuple[tuple[int, ...], ...], DracConfig] = PrivateAttr(default_factory=dict)
    _remembered: dict[str, str] = PrivateAttr(default_factory=dict)

    def for_document(self, key: str) -> DracConfig:
        """The settings for the document of this key: the overrides that match it applied, and none left.
        Documents that the same overrides match get the same object."""
        sections = {n: s for n in by_document() if (s := getattr(self, n)).override}
        if not sections:
            return self
        which = tuple(
            tuple(i for i, o in enumerate(s.override) if o.holds_for(key)) for s in sections.values()
        )
        if which not in self._resolved:
            changed = {n: s.for_document(key) for n, s in sections.items()}
            self._resolved[which] = self.model_copy(update=changed)
        return self._resolved[which]

    def remembered(self, name: str, work_out: Callable[[], str]) -> str:
        """What `work_out` gives, which follows from these settings alone; worked out once a name."""
        if name not in self._remembered:
            self._remembered[name] = work_out()
        return self._remembered[name]

    def for_all_others(self) -> DracConfig:
        """The settings for a document that no override matches."""
        sections = {n: s for n in by_document() if (s := getattr(self, n)).override}
        if not sections:
            return self
        if () not in self._resolved:
            self._resolved[()] = self.model_copy(update={n: s.with_changes({}) for n, s in sections.items()})
        return self._resolved[()]

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy, some sections replaced; what was worked out for documents of this one stays here."""
        copied = super().model_copy(update=update, deep=deep)
        copied._resolved, copied._remembered = {}, {}
        return copied

    @property
    def converts_by_model(self) -> bool:
        """Whether any page may go to a model."""
        return any(mode != "local" for mode in self.convert.values("mode"))

    @property
    def plans_by_model(self) -> bool:
        """Whether chunks are planned by a model, of any document."""
        return "model" in self.plan.values("planner")

    @property
    def embeds_by_service(self) -> bool:
        """Whether vectors come from a service."""
        return self.embed.provider != "local"


def by_document() -> list[str]:
    """The names of the sections that documents may have their own settings of."""
    return [n for n, f in DracConfig.model_fields.items() if isinstance(f.default, ByDocument)]


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
        lines = what_is_wrong(e, DracConfig, unknown_key)
        raise ConfigError(f"{path}: settings are wrong:\n" + "\n".join(f"  {x}" for x in lines)) from e


def unknown_key(loc: Sequence[int | str]) -> str:
    """What to say of a key that there is none: the nearest one, or where it belongs."""
    *above, key = map(str, loc)
    if above[1:2] == [OVERRIDE]:
        return _told_in_override(above, key)
    if len(above) > 1:
        return "there is no such setting here"
    if key == OVERRIDE:
        return f"its settings hold for all documents; some may have other ones of {', '.join(by_document())}"
    sections = {
        n: [k for k in f.default.__class__.model_fields if k != OVERRIDE]
        for n, f in DracConfig.model_fields.items()
    }
    known = sections.get(above[0], []) if above else list(sections)
    if near := difflib.get_close_matches(key, known, n=1, cutoff=0.6):
        return f"there is no such setting; did you mean {'.'.join([*above, near[0]])}?"
    if owners := [n for n, keys in sections.items() if key in keys]:
        return f"there is no such setting here; it belongs into [{owners[0]}]"
    place = f"[{above[0]}]" if above else CONFIG_FILE
    return f"there is no such setting; {place} may have {', '.join(known)}"


def _told_in_override(above: list[str], key: str) -> str:
    section: ByDocument = DracConfig.model_fields[above[0]].default
    known = section.may_differ()
    if key in section.for_all:
        return f"it holds for all documents: set it under [{above[0]}]"
    if near := difflib.get_close_matches(key, known, n=1, cutoff=0.6):
        return f"there is no such setting; did you mean {near[0]}?"
    owners = [n for n in by_document() if key in DracConfig.model_fields[n].default.may_differ()]
    if owners:
        return f"there is no such setting here; it belongs into [[{owners[0]}.{OVERRIDE}]]"
    return f"there is no such setting; beside match there may be {', '.join(known)}"
