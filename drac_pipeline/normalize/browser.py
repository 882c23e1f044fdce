"""Print HTML to PDF with headless Chromium: no network, no scripts, one file to read.

Scripts are taken out of the page and forbidden by its content security policy; they
cannot be switched off by flag, since Chromium's own print page needs them. Each print
has a profile of its own and an empty network namespace where the system grants one;
host names resolve to nothing in any case. As root, and where the system withholds user
namespaces, Chromium only starts without its own sandbox: run the pipeline as an ordinary
user where pages come from strangers.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from drac_pipeline.config import NormalizeConfig
from drac_pipeline.errors import ConversionFailed, MissingTool
from drac_pipeline.normalize.process import ToolResult, clean_environment, run_tool

_log = logging.getLogger(__name__)
_no_sandbox: list[str] = []  # filled once a sandbox was tried in vain

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
    "--no-pdf-header-footer",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-features=DialMediaRouteProvider,MediaRouter,OptimizationHints,Translate",
    "--disable-sync",
    "--no-default-browser-check",
    "--no-first-run",
    "--password-store=basic",
    "--use-mock-keychain",
    "--export-tagged-pdf",
    "--generate-pdf-document-outline",
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


def print_html(browser: str, html: str, target: Path, config: NormalizeConfig) -> None:
    """Print `html` (sanitized: see `sanitize`) to the PDF `target`.

    Raises ConversionFailed where no PDF comes out, StageTimeout, DocumentTooLarge (memory).
    """
    # Not below the working folder: Chromium's socket must fit into 108 bytes of path.
    home = Path(tempfile.mkdtemp(prefix="drac-browser-")).absolute()
    try:
        source = home / "page.html"
        source.write_text(html, encoding="utf-8")
        printed = home / "page.pdf"
        done = _run(browser, source, printed, config)
        if not printed.is_file() and _sandboxed() and "sandbox" in done.output:
            _no_sandbox.append(browser)
            _log.warning("this system does not let %s use its own sandbox: printing without it", browser)
            done = _run(browser, source, printed, config)
        if not printed.is_file() or not printed.stat().st_size:
            raise ConversionFailed(
                f"the browser printed nothing (exit code {done.code}): {_last_line(done.output)}",
                remedy="Open the page in a browser, print it to PDF and use that.",
            )
        shutil.move(printed, target)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _run(browser: str, source: Path, printed: Path, config: NormalizeConfig) -> ToolResult:
    home = source.parent
    return run_tool(
        [
            browser,
            *_FLAGS,
            *(() if _sandboxed() else ("--no-sandbox",)),
            f"--user-data-dir={home / 'profile'}",
            f"--print-to-pdf={printed}",
            source.as_uri(),
        ],
        cwd=home,
        log=home / "browser.log",
        env=clean_environment(home, home),
        timeout=config.timeout_seconds,
        memory_bytes=config.max_memory_bytes,
        scratch=home,
    )


def _sandboxed() -> bool:
    """Chromium's sandbox needs user namespaces, which containers often withhold, and refuses root."""
    return os.geteuid() != 0 and not _no_sandbox


def _last_line(output: str) -> str:
    lines = [x for x in output.splitlines() if x.strip() and "dbus" not in x]
    return lines[-1][-200:] if lines else "no message"
