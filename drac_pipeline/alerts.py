"""Tell somebody: a message to a webhook, in the shape that chat services take."""

from __future__ import annotations

import json
import logging
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from drac_pipeline.config import AlertsConfig

log = logging.getLogger(__name__)

MOST_LINES = 20
ATTEMPTS = 3


def send_alert(
    config: AlertsConfig, title: str, lines: Sequence[str] = (), facts: Mapping[str, str] | None = None
) -> bool:
    """POST `{"text": …, "title": …, "lines": […], …facts}` as JSON to the webhook; True where it was taken.

    The address is that of `alerts.webhook`, or else of the environment variable `alerts.webhook_env`.
    Without one nothing is sent. A webhook that cannot be reached is tried again, then logged: an alert
    never fails what it tells about.
    """
    url = config.address()
    if not url:
        return False
    told = list(lines[:MOST_LINES])
    if len(lines) > MOST_LINES:
        told.append(f"… and {len(lines) - MOST_LINES} more")
    text = "\n".join([title, *(f"• {line}" for line in told)])
    body = json.dumps({"text": text, "title": title, "lines": told, **(facts or {})}, ensure_ascii=False)
    request = urllib.request.Request(
        url, body.encode("utf-8"), {"Content-Type": "application/json; charset=utf-8"}, method="POST"
    )
    why = ""
    for _ in range(ATTEMPTS):
        try:
            with urllib.request.urlopen(request, timeout=config.timeout_seconds):
                return True
        except urllib.error.HTTPError as e:
            why = f"{e.code} {e.reason}"
            if e.code < 500 and e.code != 429:
                break
        except (OSError, ValueError) as e:
            why = str(e)
    log.error("the alert %r could not be sent to %s: %s", title, _host(url), why)
    return False


def _host(url: str) -> str:
    """The host alone: the path of a webhook is its secret."""
    try:
        return urlsplit(url).hostname or "the webhook"
    except ValueError:
        return "the webhook"
