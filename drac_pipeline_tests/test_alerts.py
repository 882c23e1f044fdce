"""Messages to a webhook, over loopback."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from drac_pipeline.alerts import send_alert
from drac_pipeline.config import AlertsConfig


class Webhook(HTTPServer):
    """Keeps what it is sent; answers with the statuses of `answers` in turn, then 200."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.got: list[dict] = []
        self.answers: list[int] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/secret-path"


class _Handler(BaseHTTPRequestHandler):
    server: Webhook  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = self.server.answers.pop(0) if self.server.answers else 200
        if status == 200:
            self.server.got.append(json.loads(body))
        self.send_response(status)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def webhook() -> Iterator[Webhook]:
    with Webhook() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def test_a_message_has_a_text_for_people_and_fields_for_programs(webhook: Webhook) -> None:
    lines = [f"doc {i}.pdf: „kaputt“" for i in range(25)]
    assert send_alert(AlertsConfig(webhook=webhook.url), "ingest failed", lines, {"run_id": "r1"})
    (message,) = webhook.got
    assert message["text"].startswith("ingest failed\n• doc 0.pdf: „kaputt“\n")
    assert message["text"].endswith("… and 5 more") and message["run_id"] == "r1"


def test_a_webhook_in_trouble_is_tried_again_and_never_fails_the_run(
    webhook: Webhook, caplog: pytest.LogCaptureFixture
) -> None:
    webhook.answers = [503, 429]
    assert send_alert(AlertsConfig(webhook=webhook.url), "a")
    webhook.answers = [404]
    assert not send_alert(AlertsConfig(webhook=webhook.url), "b")  # no second try: it is not there
    assert [m["title"] for m in webhook.got] == ["a"]
    with caplog.at_level(logging.ERROR):
        assert not send_alert(AlertsConfig(webhook="http://127.0.0.1:9/secret-path", timeout_seconds=2), "c")
    assert "127.0.0.1" in caplog.text and "secret-path" not in caplog.text


def test_the_address_may_come_from_the_environment(webhook: Webhook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DRAC_ALERT_WEBHOOK", raising=False)
    assert not send_alert(AlertsConfig(), "nobody")
    monkeypatch.setenv("DRAC_ALERT_WEBHOOK", webhook.url)
    assert send_alert(AlertsConfig(), "somebody") and webhook.got[0]["title"] == "somebody"
