"""One Chromium prints many pages, as a fresh one would, and leaves nothing."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from pathlib import Path

import pytest

from drac_pipeline.errors import ConversionFailed, DocumentTooLarge, StageTimeout
from drac_pipeline.normalize.browser import Browser, find_browser
from drac_pipeline.normalize.devtools import DevTools
from drac_pipeline.normalize.process import session_pids
from drac_pipeline.normalize.sanitize import page
from drac_pipeline.normalize.stamps import take_out_stamps
from drac_pipeline_tests.normalize.conftest import alive, assert_ends_with_its_worker, pdf_text, wait_for

TABLE = page(
    "Pumps",
    "<h1>Pumps</h1><table><tr><th>Name</th><th>Bar</th></tr><tr><td>P-1</td><td>6</td></tr></table>",
)
LONG = page(
    "Long", "<h1>Long</h1>" + "<p>The valve of this line was checked and found in order.</p>" * 30_000
)


def printed(browser: Browser, html: str, target: Path) -> bytes:
    browser.print(html, target)
    take_out_stamps(target)
    return target.read_bytes()


def pid_of(browser: Browser) -> int:
    assert browser._tool
    return browser._tool.process.pid


@pytest.fixture
def browser():
    made = Browser(find_browser(), timeout=60)
    yield made
    made.close()


@pytest.mark.browser
def test_it_prints_as_a_fresh_one_does_and_leaves_nothing(tmp_path: Path, browser: Browser) -> None:
    first = printed(browser, TABLE, tmp_path / "a.pdf")
    pid, home = pid_of(browser), browser._home
    between = printed(browser, page("t", "<p>Another</p>" * 50), tmp_path / "b.pdf")
    again = printed(browser, TABLE, tmp_path / "c.pdf")
    assert pid_of(browser) == pid
    assert home
    assert sorted(x.name for x in home.glob("*.html")) == []
    browser.close()
    assert not home.exists()
    assert not alive(pid)
    fresh = printed(browser, TABLE, tmp_path / "d.pdf")
    assert pid_of(browser) != pid
    assert first == again == fresh != between
    assert b"(node00000001)" in first  # and a name is what differs without care


@pytest.mark.browser
def test_each_page_has_a_renderer_that_goes_with_it(
    tmp_path: Path, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[set[int]] = []
    close = DevTools.close_page

    def look_and_close(devtools: DevTools, opened: str) -> None:
        seen.append(set(renderers(browser)))
        close(devtools, opened)

    monkeypatch.setattr(DevTools, "close_page", look_and_close)
    browser.print(TABLE, tmp_path / "first.pdf")
    time.sleep(1)
    own = set(renderers(browser))
    for n in range(3):
        browser.print(TABLE, tmp_path / f"{n}.pdf")
        wait_for(lambda: set(renderers(browser)) <= own)
    pages = [each - own for each in seen[1:]]
    assert all(pages)
    assert sum(map(len, pages)) == len(set.union(*pages))


@pytest.mark.browser
def test_it_is_replaced_after_so_many_pages(tmp_path: Path, browser: Browser) -> None:
    browser.recycle = 2
    pids = []
    for n in range(4):
        browser.print(TABLE, tmp_path / f"{n}.pdf")
        pids.append(pid_of(browser))
    assert pids[0] == pids[1] != pids[2] == pids[3]


@pytest.mark.browser
def test_a_killed_browser_is_started_anew(tmp_path: Path, browser: Browser) -> None:
    browser.print(TABLE, tmp_path / "a.pdf")
    for pid in session_pids(pid_of(browser)):
        with contextlib.suppress(ProcessLookupError):  # renderers go by themselves
            os.kill(pid, 9)
    browser.print(TABLE, tmp_path / "b.pdf")
    assert pdf_text(tmp_path / "b.pdf") == "Pumps Name Bar P-1 6"


@pytest.mark.browser
@pytest.mark.parametrize("served", [False, True])
def test_a_page_that_crashes_is_tried_once_more_where_others_went_before(
    tmp_path: Path, browser: Browser, served: bool
) -> None:
    if served:
        browser.print(TABLE, tmp_path / "a.pdf")
    done = threading.Event()
    thread = threading.Thread(target=crash_page, args=(browser, done))
    thread.start()
    try:
        if served:
            browser.print(LONG, tmp_path / "b.pdf")
            assert pdf_text(tmp_path / "b.pdf").startswith("Long The valve")
        else:
            with pytest.raises(ConversionFailed, match="the browser printed nothing"):
                browser.print(LONG, tmp_path / "b.pdf")
    finally:
        done.set()
        thread.join()
    browser.print(TABLE, tmp_path / "c.pdf")
    assert pdf_text(tmp_path / "c.pdf") == "Pumps Name Bar P-1 6"


@pytest.mark.browser
@pytest.mark.parametrize(
    ("limit", "error"),
    [({"timeout": 0.7}, StageTimeout), ({"memory_bytes": 10_000_000}, DocumentTooLarge)],
)
def test_a_page_beyond_the_limits_ends_the_browser(
    tmp_path: Path, browser: Browser, limit: dict[str, float], error: type[Exception]
) -> None:
    browser.print(TABLE, tmp_path / "a.pdf")
    pid = pid_of(browser)
    kept = {name: getattr(browser, name) for name in limit}
    for name, value in limit.items():
        setattr(browser, name, value)
    with pytest.raises(error):
        browser.print(LONG, tmp_path / "b.pdf")
    assert not alive(pid)
    for name, value in kept.items():
        setattr(browser, name, value)
    browser.print(TABLE, tmp_path / "c.pdf")
    assert pdf_text(tmp_path / "c.pdf") == "Pumps Name Bar P-1 6"


@pytest.mark.browser
def test_a_print_that_cannot_be_written_leaves_no_page_open(tmp_path: Path, browser: Browser) -> None:
    browser.print(TABLE, tmp_path / "a.pdf")
    pid, home = pid_of(browser), browser._home
    with pytest.raises(FileNotFoundError):
        browser.print(TABLE, tmp_path / "no such folder" / "b.pdf")
    assert not alive(pid)
    assert home
    assert not home.exists()
    browser.print(TABLE, tmp_path / "c.pdf")
    assert pdf_text(tmp_path / "c.pdf") == "Pumps Name Bar P-1 6"


def test_a_browser_that_ends_at_once_is_told_with_its_last_words(tmp_path: Path) -> None:
    command = tmp_path / "chromium"
    command.write_text("#!/bin/sh\necho no such display >&2\nexit 21\n")
    command.chmod(0o755)
    with pytest.raises(ConversionFailed, match=r"exit code 21: no such display"):
        Browser(str(command)).print(TABLE, tmp_path / "a.pdf")


@pytest.mark.browser
def test_it_dies_with_a_killed_worker(tmp_path: Path) -> None:
    code = f"""
import pathlib, time
from drac_pipeline.normalize.browser import Browser, find_browser
b = Browser(find_browser())
b.print("<p>a</p>", pathlib.Path({str(tmp_path / "a.pdf")!r}))
print(b._tool.process.pid, b._home, flush=True)
time.sleep(20)
"""
    assert_ends_with_its_worker(code)


def renderers(browser: Browser) -> list[int]:
    found = []
    for pid in session_pids(pid_of(browser)):
        words = Path(f"/proc/{pid}/cmdline")
        if words.exists() and b"--type=renderer" in words.read_bytes():
            found.append(pid)
    return found


def crash_page(browser: Browser, done: threading.Event) -> None:
    """Kill every renderer of the browser that draws the next page, until another one is there."""
    crashed = None
    while not done.wait(0.05):
        home, tool = browser._home, browser._tool
        if tool and home and (home / "page.html").exists() and crashed in (None, home):
            crashed = home
            for pid in renderers(browser):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, 9)
