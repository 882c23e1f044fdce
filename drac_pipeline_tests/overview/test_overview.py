"""The overview of a home: true sums, and a page that needs nothing else."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from drac_pipeline.overview import gather_overview, overview_html
from drac_pipeline.pipeline import find_work, process_document
from drac_pipeline.store import Home
from drac_pipeline_tests.chrome import chrome_page


@pytest.fixture
def home(tmp_path: Path, corpus: Path) -> Home:
    """Three good documents, a broken one, one whose chunks are missing."""
    (corpus / "<b>broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    (corpus / "notes.md").write_text("# Notes\n\nThe valve is closed.\n")
    old = time.time() - 40 * 86_400
    os.utime(corpus / "manual.pdf", (old, old))
    opened = Home(tmp_path / "home")
    for work in find_work(opened, corpus, opened.config).work:
        stages = ["normalized_pdf"] if work.key == "notes.md" else None
        process_document(opened.store, work.key, opened.config, stages)
    return opened


def test_the_sums_are_those_of_the_manifests(home: Home) -> None:
    overview = gather_overview(home)
    lines = {d.key: d for d in overview.documents}
    assert overview.states == {"up to date": 3, "failed": 1, "incomplete": 1}
    assert overview.formats == {"pdf": 3, "markdown": 1, "?": 1}
    assert overview.ages == {"under a day": 4, "under a year": 1}
    assert lines["two pages.pdf"].pages == 2 and lines["two pages.pdf"].recall == 1.0
    assert lines["<b>broken.pdf"].state == "failed" and "normalized_pdf" in lines["<b>broken.pdf"].why
    assert lines["notes.md"].why == "page_images: not made yet"
    figures = overview.figures()
    manifests = list(home.store.manifests())
    chunks = sum(m.stages["chunks"].counts["chunks"] for m in manifests if "chunks" in m.stages)
    assert figures["chunks"] == chunks > 0
    assert (figures["documents"], figures["failed"], figures["stale"]) == (5, 1, 1)


@pytest.mark.browser
def test_the_page_is_whole_by_itself_on_a_laptop_and_a_phone(home: Home, tmp_path: Path) -> None:
    page_file = tmp_path / "overview.html"
    page_file.write_text(overview_html(gather_overview(home), "Pumps & co", "http://127.0.0.1:1"))
    with chrome_page() as page:
        for width, height, phone in ((1366, 850, False), (390, 844, True)):
            page.resize(width, height, phone)
            page.open(page_file.as_uri())
            assert page.run("document.documentElement.scrollWidth") <= width
        assert page.run("document.querySelector('h1').textContent") == "Pumps & co"
        shown = page.run("[...document.querySelectorAll('td:first-child a')].map(a => a.textContent)")
        assert "<b>broken.pdf" in shown
        assert page.said == [] and set(page.asked) <= {page_file.as_uri(), "about:blank"}
