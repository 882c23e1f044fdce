"""How a home follows its sources, and what people see of it."""

from __future__ import annotations

import logging
import os
from typing import Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field, ValidationError, field_validator

from drac_pipeline.config.base import SECRET, Settings
from drac_pipeline.config.cron import check_cron
from drac_pipeline.config.wrong import what_is_wrong
from drac_pipeline.errors import ConfigError


class RefreshConfig(Settings):
    """How a home follows its sources. Nothing here makes an output stale."""

    trigger: Literal["off", "sensor", "schedule"] = Field(
        default="off", description="what starts refreshes by itself: the sensor, the schedule, or nothing"
    )
    every_seconds: int = Field(default=30, ge=5, description="how often the sensor looks at the sources")
    cron: str = Field(default="0 * * * *", description="when the schedule refreshes, as a cron line")
    timezone: str = Field(default="UTC", description="the time zone of `cron`")
    settle_seconds: float = Field(
        default=10.0, ge=0, description="a file changed less long ago may still be written: it waits"
    )
    removed: Literal["retire", "keep"] = Field(
        default="retire",
        description="documents gone from the source: out of exports, index, partitions; or kept as they are",
    )
    keep_removed_days: float = Field(
        default=30.0,
        ge=0,
        description="how long a retired document's artifacts are kept, should it return; 0: deleted at once",
    )
    max_removed_share: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="share of a source's documents that may be gone at once before nothing is retired",
    )
    retry_attempts: int = Field(
        default=5, ge=0, description="how often a failure that may pass is tried again by itself"
    )
    retry_minutes: float = Field(
        default=10.0, ge=0, description="how long after the first failure; doubles with each attempt"
    )
    fresh_within_hours: float = Field(
        default=25.0,
        gt=0,
        description="how old the last look may be before Dagster calls the corpus overdue",
    )

    @field_validator("cron")
    @classmethod
    def _cron(cls, line: str) -> str:
        return check_cron(line)

    @field_validator("timezone")
    @classmethod
    def _timezone(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError) as e:
            raise ValueError(f"{name!r} is no time zone; one is 'UTC', another 'Europe/Berlin'") from e
        return name


class AlertsConfig(Settings):
    """Who is told of a failed run, and of a source that looks emptied by accident."""

    webhook: str = Field(
        default="",
        repr=False,
        description="address that takes a JSON message by POST; empty: none",
        json_schema_extra=SECRET,
    )
    webhook_env: str = Field(
        default="DRAC_ALERT_WEBHOOK",
        description="environment variable with that address, where it holds a secret",
    )
    timeout_seconds: float = Field(default=10.0, gt=0, description="how long a message may take")

    def address(self) -> str:
        """The webhook, from the settings or the environment; "" where there is none."""
        return self.webhook or os.environ.get(self.webhook_env, "")


LOG_FORMAT_VARIABLE, LOG_LEVEL_VARIABLE = "DRAC_LOG_FORMAT", "DRAC_LOG_LEVEL"


class LogsConfig(Settings):
    """Log lines on stderr, also of runs under Dagster. DRAC_LOG_FORMAT and DRAC_LOG_LEVEL in the environment
    come first."""

    format: Literal["text", "json"] = Field(
        default="text",
        description="text, or a JSON object a line with time, level, run, document, stage, message",
    )
    level: Literal["auto", "debug", "info", "warning", "error"] = Field(
        default="auto",
        description="the least of what is written; auto: info as JSON; as text errors, but those that the"
        " command tells of anyway",
    )

    def in_environment(self, format: str = "", level: str = "") -> LogsConfig:
        """These settings with what is given, or else what the environment says. Raises ConfigError."""
        said = {
            "format": format or os.environ.get(LOG_FORMAT_VARIABLE, "") or self.format,
            "level": level or os.environ.get(LOG_LEVEL_VARIABLE, "") or self.level,
        }
        try:
            return LogsConfig.model_validate({n: v.lower() for n, v in said.items()})
        except ValidationError as e:
            raise ConfigError("; ".join(f"log {x}" for x in what_is_wrong(e, LogsConfig))) from e

    def level_number(self) -> int:
        """The level as `logging` has it."""
        auto = "info" if self.format == "json" else "error"
        return logging.getLevelNamesMapping()[(auto if self.level == "auto" else self.level).upper()]


class InspectConfig(Settings):
    """Pages to look at documents."""

    url: str = Field(
        default="http://127.0.0.1:3070",
        description="where `drac inspect --serve` is reached, for links in the Dagster UI; empty: no links",
    )
