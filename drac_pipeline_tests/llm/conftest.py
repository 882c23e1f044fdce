"""A clock that does not wait, and settings that lead to a double."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from drac_pipeline.config import ModelConfig
from drac_pipeline.llm.clock import Clock
from drac_pipeline.llm.doubles import Double
from drac_pipeline.llm.service import ModelService


class FakeClock(Clock):
    """Time passes only by sleeping, and `slept` says how long each sleep was."""

    def __init__(self) -> None:
        self.time = 1_800_000_000.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds

    def jitter(self, most: float) -> float:
        return most


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> Callable[..., ModelConfig]:
    """Settings for a double; further ones by name."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "double")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "double")
    monkeypatch.delenv("AWS_PROFILE", raising=False)

    def make(double: Double | str, provider: str = "bedrock", **more: object) -> ModelConfig:
        url = double if isinstance(double, str) else double.url
        url += "/v1" if provider == "openai" else ""
        values = {"provider": provider, "region": "eu-west-1", "endpoint_url": url, "read_timeout": 20}
        return ModelConfig.model_validate({**values, **more})

    return make


@pytest.fixture
def service(
    tmp_path: Path, clock: FakeClock, settings: Callable[..., ModelConfig]
) -> Callable[..., ModelService]:
    """A service at a double, with the fake clock."""

    def make(double: Double | str, provider: str = "bedrock", **more: object) -> ModelService:
        return ModelService(settings(double, provider, **more), tmp_path / "model", "run", clock=clock)

    return make
