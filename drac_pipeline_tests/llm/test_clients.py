"""Both clients against the loopback double: real SDKs, real HTTP, no mocks."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from drac_pipeline.config import ModelConfig
from drac_pipeline.llm.doubles import Brain, Double, FaultPlan
from drac_pipeline.llm.doubles.pages import image_hash
from drac_pipeline.llm.probe import _dot
from drac_pipeline.llm.protocol import CallFailed, ImagePart, Request, Stop
from drac_pipeline.llm.service import make_client

Settings = Callable[..., ModelConfig]
PAGE = Request(("Page 3", ImagePart(_dot())), system="Transcribe.", metadata={"document": "a b/ü.pdf"})


def double(*script: str, **more) -> Double:
    brain = Brain({image_hash(_dot()): "# Title\n\nSome text."})
    return Double(brain, faults=FaultPlan(script=list(script)), **more)


@pytest.mark.parametrize("provider", ["bedrock", "openai"])
def test_an_image_is_seen_and_tokens_are_counted(provider: str, settings: Settings):
    with double() as server:
        config = settings(server, provider)
        reply = make_client(config, config.model).complete(PAGE)
    assert reply.text == "<!-- page 3 -->\n\n# Title\n\nSome text."
    assert reply.stop is Stop.END
    assert reply.input_tokens > 260
    assert reply.output_tokens == len(reply.text) // 4


def test_bedrock_is_told_the_document_in_letters_it_takes(settings: Settings):
    with double() as server:
        make_client(settings(server), "google.gemma-3-27b-it").complete(PAGE)
        assert server.seen == [{"model": "google.gemma-3-27b-it", "metadata": {"document": "a b/_.pdf"}}]


def test_requests_to_bedrock_are_signed(settings: Settings):
    with double(secret="double") as server:
        make_client(settings(server), "amazon.nova-lite-v1:0").complete(PAGE)
    with double(secret="another") as server, pytest.raises(CallFailed, match="signature does not match"):
        make_client(settings(server), "amazon.nova-lite-v1:0").complete(PAGE)


@pytest.mark.parametrize(
    ("fault", "outcome", "again", "throttled"),
    [
        ("throttle", "ThrottlingException", True, True),
        ("timeout", "ModelTimeoutException", True, False),
        ("model error", "ModelErrorException", True, False),
        ("unavailable", "ServiceUnavailableException", True, True),
        ("internal", "InternalServerException", True, False),
        ("dropped connection", "connection", True, False),
        ("validation", "ValidationException", False, False),
        ("access", "AccessDeniedException", False, False),
    ],
)
def test_each_failure_of_bedrock_is_known(
    fault: str, outcome: str, again: bool, throttled: bool, settings: Settings
):
    with double(fault) as server:
        with pytest.raises(CallFailed) as e:
            make_client(settings(server), "m").complete(PAGE)
        assert server.requests == 1  # the SDK's own retries are off
    assert (e.value.outcome, e.value.again, e.value.throttled) == (outcome, again, throttled)


@pytest.mark.parametrize(
    ("fault", "again", "throttled"),
    [
        ("throttle", True, True),
        ("internal", True, False),
        ("dropped connection", True, False),
        ("validation", False, False),
    ],
)
def test_each_failure_of_an_openai_endpoint_is_known(
    fault: str, again: bool, throttled: bool, settings: Settings
):
    with double(fault) as server:
        with pytest.raises(CallFailed) as e:
            make_client(settings(server, "openai"), "m").complete(PAGE)
        assert server.requests == 1
    assert (e.value.again, e.value.throttled) == (again, throttled)


@pytest.mark.parametrize("provider", ["bedrock", "openai"])
@pytest.mark.parametrize(("fault", "stop"), [("truncated", Stop.LENGTH), ("filtered", Stop.FILTERED)])
def test_stop_reasons(provider: str, fault: str, stop: Stop, settings: Settings):
    with double(fault) as server:
        assert make_client(settings(server, provider), "m").complete(PAGE).stop is stop


@pytest.mark.parametrize("provider", ["bedrock", "openai"])
def test_retry_after_is_read(provider: str, settings: Settings):
    with double("throttle", retry_after="7") as server, pytest.raises(CallFailed) as e:
        make_client(settings(server, provider), "m").complete(PAGE)
    assert e.value.retry_after == 7.0


def test_a_slow_answer_is_a_timeout(settings: Settings):
    with double(latency=2.0) as server, pytest.raises(CallFailed) as e:
        make_client(settings(server, read_timeout=0.3), "m").complete(PAGE)
    assert (e.value.outcome, e.value.again) == ("timeout", True)


def test_nobody_at_home(settings: Settings):
    with pytest.raises(CallFailed) as e:
        make_client(settings("http://127.0.0.1:9"), "m").complete(PAGE)
    assert (e.value.outcome, e.value.again) == ("connection", True)
