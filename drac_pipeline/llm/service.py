"""Calls to a model, made safely: quota, retries, breaker, budget and ledger around a client.

The policy for a failed try:

1. Throttled (429, 503): the room for all calls shrinks; wait with full jitter, no less than the
   service asked for; try again.
2. Passing (408, 424, 5xx, timeouts, dropped connections): wait likewise, try again; many in a
   row open the breaker.
3. The request itself is refused (400, 413): RequestRefused at once, for the caller to make smaller.
4. Not let in (401, 403, 404, no credentials), or the service's words say that it lacks what every
   request asks of it (images, whole replies): ModelUnavailable at once, naming the setting. A schema
   that it does not take is left out from then on.
5. After the last try: ModelUnavailable, or RequestRefused where only this request fails (424).
"""

from __future__ import annotations

import json
import logging
import uuid
from dataclasses import dataclass, replace
from pathlib import Path

from drac_pipeline.config import ModelConfig
from drac_pipeline.errors import ConfigError
from drac_pipeline.llm.books import Account, open_books
from drac_pipeline.llm.clock import Clock, backoff
from drac_pipeline.llm.hints import hint_for
from drac_pipeline.llm.ledger import Purpose
from drac_pipeline.llm.prices import PROVIDERS, UNPRICED, Prices
from drac_pipeline.llm.protocol import (
    CallFailed,
    Capabilities,
    ImagePart,
    ModelClient,
    ModelUnavailable,
    Reply,
    Request,
    RequestRefused,
    Stop,
)
from drac_pipeline.llm.results import ResultCache, key_of

log = logging.getLogger(__name__)

REPLIES = "replies"
# for reserves and estimates: characters a token and tokens an image, both to the safe side
CHARS_PER_TOKEN = 3.0
TOKENS_PER_IMAGE = 1600
_REFUSED = {400, 413, 422}


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply, its number in the ledger, and the name it is kept by until it is settled."""

    reply: Reply
    number: int
    key: str


def make_client(config: ModelConfig, model: str) -> ModelClient:
    """The client that the settings name. Raises ConfigError."""
    if config.provider == "openai":
        from drac_pipeline.llm.openai_chat import OpenAIClient

        return OpenAIClient(config, model)
    from drac_pipeline.llm.bedrock import BedrockClient

    return BedrockClient(config, model)


class ModelService:
    """A model as the stages use it. `state` is the folder of ledger and caches, `run` names the
    run that budgets count by. Safe in threads; processes share quota and budget through `state`."""

    def __init__(
        self,
        config: ModelConfig,
        state: Path,
        run: str = "",
        *,
        model: str = "",
        clock: Clock | None = None,
        client: ModelClient | None = None,
    ) -> None:
        self.config = config
        self.state = state
        self.model = model or config.model
        self.clock = clock or Clock()
        self.client = client or make_client(config, self.model)
        self.prices = Prices(state.parent, config.price_provider or PROVIDERS[config.provider])
        self._replies = ResultCache(state / REPLIES)
        account = Account(
            run=run,
            service=f"{config.provider} {self.model} {config.endpoint_url}",
            ceiling=config.pages_per_call * config.calls_in_parallel,
            failures=config.breaker_failures,
            rest=config.breaker_seconds,
            per_run=config.budget_per_run,
            per_day=config.budget_per_day,
        )
        self._books = open_books(account, state, self.clock)
        self.ledger, self.gate = self._books.ledger, self._books.gate
        if (config.budget_per_run or config.budget_per_day) and self._cost(1000, 1000)[1] == UNPRICED:
            raise ConfigError(
                f"a budget is set but no price of {self.model} is known; write it into prices.toml beside"
                " drac.toml, or set [model] price_provider"
            )
        self._capabilities: Capabilities | None = None

    @property
    def capabilities(self) -> Capabilities:
        """What the model takes, as configured; what is to be probed is probed once and remembered."""
        if self._capabilities is None:
            from drac_pipeline.llm.probe import capabilities

            self._capabilities = capabilities(self)
        return self._capabilities

    def call(self, request: Request, purpose: Purpose, salt: str = "") -> Answer:
        """The answer to a request. Raises ModelUnavailable, BudgetExceeded or RequestRefused.

        A reply is on disk before anything is made of it and stays until `settle`, so a killed run
        does not pay for it again; `salt` tells a second try from the first.
        """
        request = self._fitted(request)
        key = self._key(request, salt)
        kept = self._replies.get(key)
        if kept is not None:
            number = self.ledger.reused(purpose, self.client.provider, self.model)
            return Answer(Reply(kept["text"], Stop(kept["stop"])), number, key)
        try:
            return self.send(request, purpose, key, salt)
        except RequestRefused as e:
            hint = hint_for(str(e))
            if request.schema is None or hint is None or hint.lacks != "structured":
                raise
            # the reply is read without a schema just as well
            log.warning("%s takes no JSON schema, which is left out from now on. %s", self.model, hint.remedy)
            self._capabilities = replace(self.capabilities, structured=False)
            return self.send(replace(request, schema=None), purpose, key, salt)

    def holds(self, request: Request, salt: str = "") -> bool:
        """Whether `call` would answer from a reply that was not settled, and cost nothing."""
        return self._replies.get(self._key(self._fitted(request), salt)) is not None

    def unsettled(self, document: str, stage: str) -> list[tuple[str, str]]:
        """Unit and salt of replies for a document that a killed run left unsettled."""
        return [
            (x["unit"], x["salt"])
            for x in self._replies.values()
            if x.get("document") == document and x.get("stage") == stage
        ]

    def _key(self, request: Request, salt: str) -> str:
        return key_of(*_identity(request), self.model, salt)

    def settle(self, answer: Answer, verdict: str) -> None:
        """Say what became of an answer; its result is kept elsewhere by now, or not wanted."""
        self.ledger.judge(answer.number, verdict)
        self._replies.drop(answer.key)

    def send(self, request: Request, purpose: Purpose, key: str = "", salt: str = "") -> Answer:
        """`call` without a look at the model's capabilities or at kept replies."""
        call = uuid.uuid4().hex[:12]
        weight = max(1, purpose.pages)
        attempt = 0
        while True:
            attempt += 1
            wait = 0.0
            with self.gate.entered(weight):
                number = self.ledger.begin(
                    purpose, self.client.provider, self.model, call, attempt, self._reserve(request)
                )
                try:
                    reply = self.client.complete(request)
                except CallFailed as e:
                    sent = self._tokens(request) if e.billed else 0
                    priced = self._cost(1, 1)[1] if sent else ""
                    self.ledger.end(
                        number, e.outcome, detail=e.cause, status=e.status, sent_tokens=sent, priced=priced
                    )
                    wait = self._after(e, attempt, weight)
                except BaseException as e:
                    self.ledger.end(number, "error", detail=f"{type(e).__name__}: {e}")
                    raise
                else:
                    if key:
                        kept = {"text": reply.text, "stop": str(reply.stop), "salt": salt}
                        kept |= {"document": purpose.document, "stage": purpose.stage, "unit": purpose.unit}
                        self._replies.put(key, kept)
                    cost, priced = self._cost(reply.input_tokens, reply.output_tokens)
                    outcome = "ok" if reply.stop == "end" else str(reply.stop)
                    self.ledger.end(number, outcome, cost=cost, priced=priced, reply=reply, status=200)
                    self.gate.succeeded(weight)
                    return Answer(reply, number, key)
            self.clock.sleep(wait)

    def _after(self, e: CallFailed, attempt: int, weight: int) -> float:
        """Seconds to wait before the next try, or the error that ends the call."""
        if e.throttled:
            self.gate.throttled(weight)
        elif e.again:
            self.gate.failed()
        hint = hint_for(e.cause) if e.status in _REFUSED or e.status == 500 or not e.again else None
        if hint is not None and not hint.smaller and hint.lacks != "structured":
            raise ModelUnavailable(str(e), remedy=hint.remedy) from e
        if not e.again:
            if e.status in _REFUSED:
                raise RequestRefused(str(e), hint.remedy if hint else "") from e
            raise ModelUnavailable(
                str(e), remedy="Check credentials, region, model id and endpoint in [model] of drac.toml."
            ) from e
        if attempt >= self.config.attempts:
            if e.status == 424:
                raise RequestRefused(f"after {attempt} tries: {e}") from e
            raise ModelUnavailable(
                f"after {attempt} tries: {e}",
                remedy="Run again later; nothing that was finished is paid again.",
            ) from e
        return backoff(
            self.clock, attempt, self.config.backoff_seconds, self.config.backoff_cap, e.retry_after
        )

    def _fitted(self, request: Request) -> Request:
        able = self.capabilities
        if request.n_images and not able.images:
            raise ConfigError(f"{self.model} takes no images: it can plan, but not convert pages")
        request = replace(request, max_tokens=min(request.max_tokens, able.output_cap))
        if request.schema is not None and not able.structured:
            request = replace(request, schema=None)
        if request.system and not able.system:
            request = replace(request, system="", parts=(request.system, *request.parts))
        return request

    def _tokens(self, request: Request) -> int:
        """Of its input, estimated."""
        return int(request.n_chars / CHARS_PER_TOKEN) + request.n_images * TOKENS_PER_IMAGE

    def _reserve(self, request: Request) -> float:
        return self._cost(self._tokens(request), request.max_tokens)[0]

    def _cost(self, input_tokens: int, output_tokens: int) -> tuple[float, str]:
        cost = self.prices.cost(self.model, input_tokens, output_tokens)
        return cost.usd, cost.source

    def export(self, *, now: bool = False) -> None:
        """Write the ledger as Parquet, see `Ledger.export`."""
        self.ledger.export(now=now)

    def close(self) -> None:
        """Write the ledger as Parquet and let go of the files."""
        self.export(now=True)
        self._books.close()


def _identity(request: Request) -> list[str | bytes]:
    """What a reply depends on."""
    parts = [p.data if isinstance(p, ImagePart) else p for p in request.parts]
    rest = [request.max_tokens, request.temperature, request.schema]
    return [request.system, *parts, json.dumps(rest, sort_keys=True)]
