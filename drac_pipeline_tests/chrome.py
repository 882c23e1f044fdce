"""A real browser for tests, driven over its DevTools protocol: real layout, mouse and keys.

What a page prints to its console, each error of its script and each request it makes is kept.
"""

from __future__ import annotations

import base64
import contextlib
import json
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

from drac_pipeline.normalize.browser import find_browser


class Page:
    """A page of the browser. `said` holds console messages, script and policy errors, `asked` the
    addresses it requested beside the document itself."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket, self._id = socket, 0
        self.said: list[str] = []
        self.asked: list[str] = []
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """One command of the protocol; events that come in between are noted."""
        self._id += 1
        self._socket.send(json.dumps({"id": self._id, "method": method, "params": params}))
        while True:
            message = json.loads(self._socket.recv(timeout=30))
            if message.get("id") == self._id:
                assert "error" not in message, message["error"]
                return message["result"]
            self._note(message.get("method", ""), message.get("params", {}))

    def _note(self, method: str, params: dict[str, Any]) -> None:
        if method == "Runtime.consoleAPICalled":
            self.said.append(json.dumps(params["args"]))
        elif method == "Runtime.exceptionThrown":
            self.said.append(json.dumps(params["exceptionDetails"]))
        elif method == "Log.entryAdded":
            self.said.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent" and not params["request"]["url"].startswith("data:"):
            self.asked.append(params["request"]["url"])

    def open(self, url: str) -> None:
        """Load `url` and wait until it is complete."""
        self.call("Page.navigate", url="about:blank")  # else a new fragment alone loads nothing
        self.call("Page.navigate", url=url)
        self.until("document.readyState === 'complete' && location.href !== 'about:blank'")

    def run(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def until(self, expression: str) -> None:
        """Wait for an expression to be true."""
        for _ in range(300):
            if self.run(expression):
                return
            time.sleep(0.05)
        raise AssertionError(f"never true: {expression}")

    def resize(self, width: int, height: int, phone: bool = False) -> None:
        """Another window, or a phone."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=2 if phone else 1,
            mobile=phone,
        )

    def move_to(self, selector: str, click: bool = False) -> None:
        """Put the mouse on the middle of an element (scrolled into view), and press."""
        spot = self.run(
            f"(() => {{ const n = document.querySelector({json.dumps(selector)});"
            " n.scrollIntoView({block: 'center'}); const r = n.getBoundingClientRect();"
            " return [r.left + r.width / 2, r.top + r.height / 2]; })()"
        )
        where = {"x": spot[0], "y": spot[1]}
        self.call("Input.dispatchMouseEvent", type="mouseMoved", **where)
        if click:
            for kind in ("mousePressed", "mouseReleased"):
                self.call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **where)

    def press(self, key: str) -> None:
        """A key down and up."""
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=key)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def screenshot(self) -> bytes:
        """What is to be seen, as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot")["data"])


@contextlib.contextmanager
def chrome_page() -> Iterator[Page]:
    """A page in a browser of its own, which ends with it."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:  # its helpers may still write
        command = [
            find_browser(),
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--remote-debugging-port=0",
            "--remote-allow-origins=*",
            "--no-first-run",
            f"--user-data-dir={profile}",
            "about:blank",
        ]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            try:
                port = _port(Path(profile) / "DevToolsActivePort")
                with connect(_page_socket(port), max_size=None) as socket:
                    yield Page(socket)
            finally:
                process.terminate()
                process.wait(20)


def _port(file: Path) -> int:
    for _ in range(600):
        if file.exists() and (found := re.match(r"\d+", file.read_text())):
            return int(found[0])
        time.sleep(0.05)
    raise AssertionError("the browser did not start")


def _page_socket(port: int) -> str:
    import urllib.request

    for _ in range(100):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=10) as reply:
            pages = [t for t in json.load(reply) if t["type"] == "page"]
        if pages:
            return pages[0]["webSocketDebuggerUrl"]
        time.sleep(0.05)
    raise AssertionError("the browser has no page")
