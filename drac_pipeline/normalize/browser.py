"""Print HTML to PDF with headless Chromium: no network, no scripts, one file to read.

One Chromium waits in the background for the documents of a process (`Browser`): starting it takes five
times what printing a small page does. Each page gets a tab and with it a renderer process of its own,
which ends with it. (A browser context of its own would double the price, and part nothing that a page without
scripts and network can reach.) It is printed without scripts, which sanitizing takes out and the page's
content security policy forbids as well. The profile is private, and the network namespace empty where the
system grants one; host names resolve to nothing in any case. As root, and where the system withholds user
namespaces, Chromium only starts without its own sandbox: run the pipeline as an ordinary user where pages
come from strangers.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import logging
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

from drac_pipeline.config import NormalizeConfig
from drac_pipeline.errors import ConversionFailed, MissingTool
from drac_pipeline.normalize.devtools import DevTools, PageGone, Refused
from drac_pipeline.normalize.kept import Kept
from drac_pipeline.normalize.process import Tool, clean_environment

_log = logging.getLogger(__name__)
_no_sandbox: list[str] = []  # filled once a sandbox was tried in vain

_PRINT = {
    "printBackground": True,
    "preferCSSPageSize": True,
    "generateTaggedPDF": True,
    "generateDocumentOutline": True,
    "transferMode": "ReturnAsStream",
}
_CHUNK = 1 << 20
_NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "chrome-headless-shell",
)
_FLAGS = (
    "--headless=new",
    "--disable-gpu",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-features=DialMediaRouteProvider,MediaRouter,OptimizationHints,SpareRendererForSitePerProcess,Translate",
    "--disable-sync",
    "--no-default-browser-check",
    "--no-first-run",
    "--password-store=basic",
    "--use-mock-keychain",
    "--remote-debugging-pipe",
)


def find_browser(command: str = "") -> str:
    """The path of Chromium or Chrome. Raises MissingTool."""
    for name in (command,) if command else _NAMES:
        if found := shutil.which(name):
            return found
    mac = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
    if not command and mac.exists():
        return str(mac)
    raise MissingTool(
        f"{command or 'Chromium'} is not installed",
        remedy="Install Chromium or Chrome (Debian: apt install chromium), or set normalize.browser_command.",
    )


@functools.lru_cache(maxsize=4)
def browser_version(browser: str) -> str:
    """For the record, e.g. `Chromium 126.0.6478.56`."""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run([browser, "--version"], capture_output=True, text=True, timeout=30, check=False)
        if m := re.search(r"((?:Chromium|Google Chrome)\S* [\d.]+)", done.stdout):
            return m.group(1)
    return "Chromium"


class BrowserGone(Exception):
    """Chromium has ended; the text is the last line of what it said."""


class Browser(Kept):
    """Prints one page at a time (others wait) under limits of time and memory."""

    recycle = 200

    def __init__(self, command: str, *, timeout: float = 300.0, memory_bytes: int = 4 << 30) -> None:
        super().__init__()
        self.command = command
        self.timeout = timeout
        self.memory_bytes = memory_bytes
        self._devtools: DevTools | None = None
        self._began = 0.0

    def print(self, html: str, target: Path) -> None:
        """Print `html` (sanitized: see `sanitize`) to the PDF `target`.

        Raises ConversionFailed where no PDF comes out, StageTimeout, DocumentTooLarge (memory).
        """
        with self._lock:
            fresh = not self._usable()
            try:
                try:
                    self._print(html, target)
                except (BrowserGone, PageGone, Refused):
                    if fresh:
                        raise
                    self._stop()  # it may have been the browser's fault, which has printed others before
                    self._print(html, target)
            except (BrowserGone, PageGone, Refused) as e:
                self._stop()
                why = str(e) or "its page crashed"
                raise ConversionFailed(
                    f"the browser printed nothing: {why}",
                    remedy="Open the page in a browser, print it to PDF and use that.",
                ) from e
            except BaseException:  # limits, a full disk, an interrupt: nobody would close the page
                self._stop()
                raise

    def _print(self, html: str, target: Path) -> None:
        self._began = time.monotonic()
        devtools, home = self._serve()
        self._served += 1
        source = home / "page.html"
        source.write_text(html, encoding="utf-8")
        page, session = devtools.open_page()
        devtools.call("Page.enable", session)
        devtools.call("Emulation.setScriptExecutionDisabled", session, value=True)
        devtools.forget()
        if wrong := devtools.call("Page.navigate", session, url=source.as_uri()).get("errorText"):
            raise Refused(f"the page does not open: {wrong}")
        devtools.wait_for("Page.loadEventFired", session)
        stream = devtools.call("Page.printToPDF", session, **_PRINT)["stream"]
        with target.open("wb") as out:
            ended = False
            while not ended:
                part = devtools.call("IO.read", session, handle=stream, size=_CHUNK)
                text, ended = part["data"], part["eof"]
                out.write(base64.b64decode(text) if part.get("base64Encoded") else text.encode())
        devtools.close_page(page)
        source.unlink()

    def _serve(self) -> tuple[DevTools, Path]:
        """The background Chromium and its home, started if none runs."""
        if self._devtools and self._home:
            return self._devtools, self._home
        try:
            return self._start()
        except BrowserGone as e:
            if not (_sandboxed() and self._tool and "sandbox" in self._tool.output()):
                raise
            _no_sandbox.append(self.command)
            _log.warning("this system does not let %s use its own sandbox: printing without it", self.command)
            _log.debug("%s", e)
        self._stop()
        return self._start()

    def _start(self) -> tuple[DevTools, Path]:
        home = self._new_home("drac-browser-")
        self._devtools = devtools = DevTools(home, self._look)
        flags = [*_FLAGS, *(() if _sandboxed() else ("--no-sandbox",)), f"--user-data-dir={home / 'profile'}"]
        # Chromium reads requests from 3 and writes answers to 4.
        opened = 'exec 3<"$1" 4>"$2"; shift 2; exec "$@"'
        pipes = (str(devtools.requests), str(devtools.answers))
        self._tool = Tool(
            ["/bin/sh", "-c", opened, "sh", *pipes, self.command, *flags, "about:blank"],
            cwd=home,
            log=home / "browser.log",
            env=clean_environment(home, home),
            scratch=home,
        )
        devtools.call("Browser.getVersion")  # answered once it has started
        return devtools, home

    def _look(self) -> None:
        assert self._tool
        if not self._tool.running():
            raise BrowserGone(f"exit code {self._tool.process.returncode}: {_last_line(self._tool.output())}")
        self._tool.check(self._began, self.timeout, self.memory_bytes)

    def _stop(self) -> None:
        super()._stop()
        if self._devtools and not self._tool:
            self._devtools.close()
            self._devtools = None


_shared: dict[tuple[int, str, float, int], Browser] = {}


def print_html(command: str, html: str, target: Path, config: NormalizeConfig) -> None:
    """Print `html` to the PDF `target` with the browser that all documents of this process share (one per
    set of limits). Raises as `Browser.print` does."""
    key = (os.getpid(), command, config.timeout_seconds, config.max_memory_bytes)
    if key not in _shared:
        _shared[key] = Browser(command, timeout=config.timeout_seconds, memory_bytes=config.max_memory_bytes)
    _shared[key].print(html, target)


def _sandboxed() -> bool:
    """Chromium's sandbox needs user namespaces, which containers often withhold, and refuses root."""
    return os.geteuid() != 0 and not _no_sandbox


def _last_line(output: str) -> str:
    lines = [x for x in output.splitlines() if x.strip() and "dbus" not in x]
    return lines[-1][-200:] if lines else "no message"
