"""Any OpenAI-compatible chat endpoint: vLLM, Ollama, llama.cpp, hosted ones."""

from __future__ import annotations

import base64
import contextlib
import os
from collections.abc import Iterator
from typing import Any

from drac_pipeline.config import ModelConfig
from drac_pipeline.llm.bedrock import seconds_of
from drac_pipeline.llm.protocol import CallFailed, ImagePart, Reply, Request, Stop

_STOPS = {"stop": Stop.END, "length": Stop.LENGTH, "content_filter": Stop.FILTERED}
_NOT_SENT = {"ConnectError", "ConnectTimeout", "PoolTimeout"}  # of the SDK's HTTP library


class OpenAIClient:
    """`complete` is one HTTP request: the SDK's own retries are off, ours see every failure."""

    provider = "openai"

    def __init__(self, config: ModelConfig, model: str) -> None:
        self.model = model
        self._client = openai_client(config, os.environ.get(config.api_key_env))

    def complete(self, request: Request) -> Reply:
        """One chat completion."""
        with told_as_failures():
            answer: Any = self._client.chat.completions.create(**self._arguments(request))
        return _reply(answer)

    def _arguments(self, request: Request) -> dict[str, Any]:
        content = [
            {
                "type": "image_url",
                "image_url": {"url": "data:image/png;base64," + base64.b64encode(p.data).decode()},
            }
            if isinstance(p, ImagePart)
            else {"type": "text", "text": p}
            for p in request.parts
        ]
        messages: list[dict[str, Any]] = [{"role": "user", "content": content}]
        if request.system:
            messages.insert(0, {"role": "system", "content": request.system})
        arguments: dict[str, Any] = {
            "model": self.model,
            "messages": messages,
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
        }
        if request.schema is not None:
            arguments["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "reply", "schema": request.schema, "strict": True},
            }
        return arguments


def openai_client(config: ModelConfig, key: str | None) -> Any:
    """The SDK's client, without retries of its own."""
    import openai

    timeout = openai.Timeout(config.read_timeout, connect=config.connect_timeout)
    # local servers take any key, but the SDK insists on one
    return openai.OpenAI(
        api_key=key or "none", base_url=config.endpoint_url or None, timeout=timeout, max_retries=0
    )


@contextlib.contextmanager
def told_as_failures() -> Iterator[None]:
    """What the SDK raises, as CallFailed."""
    import openai

    try:
        yield
    except openai.APITimeoutError as e:
        sent = type(e.__cause__).__name__ not in _NOT_SENT
        raise CallFailed("timeout", str(e), again=True, billed=sent) from e
    except openai.APIConnectionError as e:
        sent = type(e.__cause__).__name__ not in _NOT_SENT
        raise CallFailed("connection", str(e.__cause__ or e), again=True, billed=sent) from e
    except openai.APIStatusError as e:
        raise _failure(e) from e
    except (openai.OpenAIError, ValueError) as e:  # what is no JSON is a ValueError
        raise CallFailed("client error", f"the reply cannot be read: {e}", again=False) from e


def _reply(answer: Any) -> Reply:
    if isinstance(answer, str):
        if answer.lstrip().startswith("data:"):
            raise CallFailed(
                "client error", "the endpoint must be streaming only: it sent events", again=False
            )
        raise CallFailed("client error", f"the reply is no JSON: {answer[:100]!r}", again=False)
    if not getattr(answer, "choices", None):
        raise CallFailed("empty reply", "the endpoint sent no choices", again=True)
    choice = answer.choices[0]
    usage = answer.usage
    details = getattr(usage, "prompt_tokens_details", None)
    refusal = getattr(choice.message, "refusal", None)
    return Reply(
        text=choice.message.content or refusal or "",
        stop=Stop.FILTERED if refusal else _STOPS.get(choice.finish_reason, Stop.MALFORMED),
        input_tokens=usage.prompt_tokens if usage else 0,
        output_tokens=usage.completion_tokens if usage else 0,
        cached_tokens=(getattr(details, "cached_tokens", 0) or 0) if details else 0,
    )


def _failure(e: Any) -> CallFailed:
    status = int(e.status_code)
    throttled = status in (429, 503)
    return CallFailed(
        f"HTTP {status}",
        str(e.message)[:500],
        again=throttled or status >= 500 or status in (408, 409, 424),
        throttled=throttled,
        retry_after=seconds_of(e.response.headers.get("retry-after", "")),
        status=status,
        billed=status in (408, 504),
    )
