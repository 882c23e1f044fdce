"""What tokens cost: genai-prices, a maintained library, under an override file.

`prices.toml` in the home, USD per million tokens:

    ["google.gemma-3-27b-it"]
    input = 0.23
    output = 0.38
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from drac_pipeline.errors import ConfigError

PRICE_FILE = "prices.toml"
PROVIDERS = {"bedrock": "aws", "openai": "openai"}  # ours to those of the library
UNPRICED = "no price known"


@dataclass(frozen=True, slots=True)
class Cost:
    """USD, and where the price is from."""

    usd: float
    source: str


class Prices:
    """The prices of a home. `provider` is a provider of genai-prices."""

    def __init__(self, home: Path | None = None, provider: str = "aws") -> None:
        self._file = home / PRICE_FILE if home else None
        self._provider = provider

    def cost(self, model: str, input_tokens: int, output_tokens: int) -> Cost:
        """Of one call: some prices depend on its size. 0 with source UNPRICED where there is none."""
        own = self._own.get(model)
        if own is not None:
            usd = (input_tokens * own["input"] + output_tokens * own["output"]) / 1e6
            return Cost(usd, PRICE_FILE)
        usd = _library_cost(self._provider, model, input_tokens, output_tokens)
        return Cost(usd, f"genai-prices {_library_version()}") if usd is not None else Cost(0.0, UNPRICED)

    @cached_property
    def _own(self) -> dict[str, dict[str, float]]:
        if self._file is None or not self._file.is_file():
            return {}
        try:
            found: dict[str, Any] = tomllib.loads(self._file.read_text(encoding="utf-8"))
            return {m: {k: float(p[k]) for k in ("input", "output")} for m, p in found.items()}
        except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError, UnicodeDecodeError) as e:
            raise ConfigError(
                f'{self._file}: each model needs a table ["id"] with input and output in USD per million'
                f" tokens ({e})"
            ) from e


@lru_cache(maxsize=4096)
def _library_cost(provider: str, model: str, input_tokens: int, output_tokens: int) -> float | None:
    # half a second to import, hence here
    from genai_prices import Usage, calc_price

    try:
        usage = Usage(input_tokens=input_tokens, output_tokens=output_tokens)
        return float(calc_price(usage, model, provider_id=provider).total_price)
    except LookupError:
        return None


@lru_cache(maxsize=1)
def _library_version() -> str:
    return version("genai-prices")
