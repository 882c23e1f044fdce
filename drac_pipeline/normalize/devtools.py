"""Chromium's DevTools protocol over its pipe (`--remote-debugging-pipe`).

JSON messages, each ended by a zero byte: no port that others could reach, and it works without a network.
https://chromedevtools.github.io/devtools-protocol/
"""

from __future__ import annotations

import json
import os
import select
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_POLL = 0.1
_GONE = frozenset(
    {
        "Inspector.targetCrashed",
        "Inspector.detached",
        "Target.detachedFromTarget",
        "Target.targetCrashed",
        "Target.targetDestroyed",
    }
)


class Refused(Exception):
    """The browser answered with an error."""


class PageGone(Exception):
    """The page's process has ended."""


class DevTools:
    """Calls to a browser that reads from one named pipe and writes to the other.

    `look` is called ten times a second, whether answers come or not: what it raises ends the call.
    """

    def __init__(self, folder: Path, look: Callable[[], None]) -> None:
        self.requests, self.answers = folder / "requests", folder / "answers"
        for pipe in (self.requests, self.answers):
            os.mkfifo(pipe, 0o600)
        # Opened both ways: neither open has to wait for the browser, and it never sees an end of file.
        self._to = os.open(self.requests, os.O_RDWR | os.O_CLOEXEC)
        self._from = os.open(self.answers, os.O_RDWR | os.O_CLOEXEC)
        self._look = look
        self._read = bytearray()
        self._number = 0
        self._looked = 0.0
        self._events: list[dict[str, Any]] = []
        self._page: set[str | None] = set()  # the target and the session of the page
        self._gone: set[str | None] = set()

    def close(self) -> None:
        """Let go of the pipes."""
        os.close(self._to)
        os.close(self._from)

    def call(self, method: str, session: str = "", **params: Any) -> dict[str, Any]:
        """The result of `method`. Raises Refused, PageGone and what `look` raises."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise Refused(f"{method}: {answer['error'].get('message', answer['error'])}")
                return answer["result"]
            self._note(answer)

    def open_page(self) -> tuple[str, str]:
        """A page in a process of its own, and its session. From here on calls raise PageGone when that
        process has ended."""
        self.call("Target.setDiscoverTargets", discover=True)
        page = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._page = {page}
        session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        self._page.add(session)
        return page, session

    def close_page(self, page: str) -> None:
        """End the page and its process."""
        self._page = set()
        self.call("Target.closeTarget", targetId=page)
        self._gone.clear()
        self._events.clear()

    def wait_for(self, event: str, session: str) -> None:
        """Return when the page of `session` has told of `event`; what it told before counts."""
        while not any(_is(e, event, session) for e in self._events):
            self._note(self._next())

    def forget(self) -> None:
        """Forget the events told so far."""
        self._events.clear()

    def _note(self, message: dict[str, Any]) -> None:
        self._events.append(message)
        if message.get("method") in _GONE:
            params = message.get("params", {})
            self._gone |= {message.get("sessionId"), params.get("sessionId"), params.get("targetId")}
        if self._page & self._gone:
            raise PageGone

    def _next(self) -> dict[str, Any]:
        searched = 0
        while (end := self._read.find(b"\0", searched)) < 0:
            searched = len(self._read)
            if select.select([self._from], [], [], _POLL)[0]:
                self._read += os.read(self._from, 1 << 20)
            if time.monotonic() > self._looked + _POLL:
                self._look()
                self._looked = time.monotonic()
        message = bytes(self._read[:end])
        del self._read[: end + 1]
        return json.loads(message)


def _is(message: dict[str, Any], event: str, session: str) -> bool:
    return message.get("method") == event and message.get("sessionId") == session
