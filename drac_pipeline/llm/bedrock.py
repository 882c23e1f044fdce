"""AWS Bedrock through its Converse API."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from drac_pipeline.config import ModelConfig
from drac_pipeline.errors import ConfigError
from drac_pipeline.llm.protocol import CallFailed, ImagePart, Reply, Request, Stop

_STOPS = {
    "end_turn": Stop.END,
    "stop_sequence": Stop.END,
    "tool_use": Stop.MALFORMED,
    "max_tokens": Stop.LENGTH,
    "guardrail_intervened": Stop.FILTERED,
    "content_filtered": Stop.FILTERED,
    "malformed_model_output": Stop.MALFORMED,
    "malformed_tool_use": Stop.MALFORMED,
    "model_context_window_exceeded": Stop.CONTEXT,
}
# service errors that pass; 408 and 424 are in no retry list of botocore
_THROTTLED = {"ThrottlingException", "TooManyRequestsException", "ModelNotReadyException"}
_PASSING = {"ModelTimeoutException", "ModelErrorException", "InternalServerException", "ServiceUnavailable"}
_MOST_METADATA = 16  # entries the API takes


class BedrockClient:
    """`complete` is one HTTP request: botocore's own retries are off, ours see every failure."""

    provider = "bedrock"

    def __init__(self, config: ModelConfig, model: str) -> None:
        self.model = model
        self._config = config
        self._client = bedrock_runtime(config)

    def complete(self, request: Request) -> Reply:
        """One Converse call."""
        with told_as_failures():
            answer = self._client.converse(**self._arguments(request))
        return _reply(answer)

    def _arguments(self, request: Request) -> dict[str, Any]:
        content = [
            {"image": {"format": "png", "source": {"bytes": p.data}}}
            if isinstance(p, ImagePart)
            else {"text": p}
            for p in request.parts
        ]
        arguments: dict[str, Any] = {
            "modelId": self.model,
            "messages": [{"role": "user", "content": content}],
            "inferenceConfig": {"maxTokens": request.max_tokens, "temperature": request.temperature},
        }
        if request.system:
            arguments["system"] = [{"text": request.system}]
        if request.metadata:
            items = list(request.metadata.items())[:_MOST_METADATA]
            arguments["requestMetadata"] = {k: _plain(v) for k, v in items if _plain(v)}
        if request.schema is not None:
            import json

            arguments["outputConfig"] = {
                "textFormat": {
                    "type": "json_schema",
                    "structure": {"jsonSchema": {"schema": json.dumps(request.schema), "name": "reply"}},
                }
            }
        if self._config.guardrail_id:
            arguments["guardrailConfig"] = {
                "guardrailIdentifier": self._config.guardrail_id,
                "guardrailVersion": self._config.guardrail_version or "DRAFT",
            }
        return arguments


def bedrock_runtime(config: ModelConfig) -> Any:
    """The SDK's client, without retries of its own. Raises ConfigError."""
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError

    try:
        return _session(config.profile, config.region).client(
            "bedrock-runtime",
            endpoint_url=config.endpoint_url or None,
            config=Config(
                connect_timeout=config.connect_timeout,
                read_timeout=config.read_timeout,
                retries={"total_max_attempts": 1},
                max_pool_connections=64,
                user_agent_extra="drac_pipeline",
            ),
        )
    except BotoCoreError as e:
        raise ConfigError(f"Bedrock cannot be set up ([model], or [embed] for vectors): {e}") from e


@contextlib.contextmanager
def told_as_failures() -> Iterator[None]:
    """What the SDK raises, as CallFailed."""
    from botocore.exceptions import (
        BotoCoreError,
        ClientError,
        ConnectionError,
        ConnectTimeoutError,
        EndpointConnectionError,
        HTTPClientError,
        NoCredentialsError,
    )

    try:
        yield
    except ClientError as e:
        raise _failure(e) from e
    except NoCredentialsError as e:
        raise CallFailed("no credentials", str(e), again=False, status=401) from e
    except (HTTPClientError, ConnectionError) as e:  # timeouts, refused and dropped connections
        timed_out = "imeout" in type(e).__name__
        sent = not isinstance(e, EndpointConnectionError | ConnectTimeoutError)
        raise CallFailed("timeout" if timed_out else "connection", str(e), again=True, billed=sent) from e
    except BotoCoreError as e:
        raise CallFailed("client error", str(e), again=False) from e


@lru_cache
def _session(profile: str, region: str) -> Any:
    """One a process: it keeps the description of the service, which takes long to load."""
    import boto3

    return boto3.Session(profile_name=profile or None, region_name=region or None)


def _plain(text: str) -> str:
    """Metadata values take letters, digits and little else, 256 at most."""
    return "".join(c if c.isascii() and (c.isalnum() or c in " :_@$#=/+,.-") else "_" for c in text)[:256]


def _reply(answer: dict[str, Any]) -> Reply:
    blocks = (answer.get("output") or {}).get("message", {}).get("content", [])
    usage = answer.get("usage") or {}
    return Reply(
        text="".join(b.get("text", "") for b in blocks),
        stop=_STOPS.get(answer.get("stopReason", ""), Stop.MALFORMED),
        input_tokens=int(usage.get("inputTokens", 0)),
        output_tokens=int(usage.get("outputTokens", 0)),
        cached_tokens=int(usage.get("cacheReadInputTokens", 0) or 0),
    )


def _failure(e: Any) -> CallFailed:
    error = e.response.get("Error", {})
    meta = e.response.get("ResponseMetadata", {})
    status = int(meta.get("HTTPStatusCode", 0))
    code, cause = error.get("Code", str(status)), error.get("Message", "")
    throttled = code in _THROTTLED or status == 429
    passing = status >= 500 or status in (408, 424) or any(code.startswith(p) for p in _PASSING)
    return CallFailed(
        code,
        cause,
        again=throttled or passing,
        throttled=throttled or status == 503,
        retry_after=seconds_of(meta.get("HTTPHeaders", {}).get("retry-after", "")),
        status=status,
        billed=status == 408,
    )


def seconds_of(value: str) -> float:
    """A Retry-After header in seconds; 0 where it says none. A date counts from now."""
    import email.utils
    import time

    try:
        return max(0.0, float(value))
    except ValueError:
        try:
            return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
        except (TypeError, ValueError):
            return 0.0
