"""The page of a document: what stands in it, and how it behaves in a real browser."""

import json
import threading
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from drac_pipeline.errors import ConfigError
from drac_pipeline.inspection import inspect_document, inspection_html, view_document
from drac_pipeline.inspection.pages import MOST_PAGES, default_pages, parse_pages
from drac_pipeline.inspection.serve import InspectionServer, document_url
from drac_pipeline.pipeline import find_work, process_document
from drac_pipeline.store import Home
from drac_pipeline_tests.chrome import chrome_page

HOSTILE = "<script>document.title = 'owned'</script><img src=x onerror=alert(1)>"
MANUAL = (
    "<h1>Pump manual</h1><h2>Starting</h2><p>"
    + "Open the inlet valve and wait for ten seconds. " * 14
    + "</p>"
    "<h2>Limits</h2><p>" + "The pressure stays below 6 bar at all times in every hall. " * 14 + "</p>",
    "<h2>Storage</h2><p>" + "Keep the pump dry and above freezing, away from the tanks. " * 14 + "</p>",
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    from drac_pipeline_tests.conftest import write_pdf

    root = tmp_path_factory.mktemp("inspection")
    write_pdf(root / "in" / "manual.pdf", *MANUAL)
    (root / "in" / "page.html").write_text(
        "<html><head><title>T</title></head><body><main><h1>Prices &lt;b&gt;</h1><p>"
        + HOSTILE.replace("<", "&lt;")
        + " and enough words around it to be a paragraph that is kept.</p>"
        "<table><tr><th>Part</th><th>Price</th></tr><tr><td>Valve</td><td>7 EUR</td></tr>"
        "<tr><td>Seal</td><td>2 EUR</td></tr></table></main></body></html>"
    )
    (root / "in" / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    opened = Home(root / "home")
    find_work(opened, root / "in", opened.config)
    for manifest in list(opened.store.manifests()):
        process_document(opened.store, manifest.document_key, opened.config)
    return opened


def test_each_page_has_its_picture_elements_boxes_and_figures(home: Home) -> None:
    view = view_document(home.store, "manual.pdf")
    assert [p.number for p in view.pages] == [1, 2]
    assert view.pages[0].width == pytest.approx(595) and view.pages[0].image
    assert {e.page_start for e in view.pages[1].elements} == {2}
    fidelity = view.pages[0].fidelity
    assert fidelity is not None and fidelity.recall == 1.0
    text = inspection_html(view)
    assert text.count("data:image/jpeg;base64,") == 2
    for e in view.pages[0].elements:
        assert f'id="e-{e.id}"' in text and f'data-e="{e.id}"' in text
    for c in view.chunks:
        assert c.chunk_id in text


def test_values_that_are_on_one_side_only_are_marked(home: Home) -> None:
    view = view_document(home.store, "manual.pdf", [1])
    page = view.pages[0]
    assert page.fidelity is not None
    from dataclasses import replace

    lying = page.fidelity.model_copy(update={"foreign_values": ["6"], "missing_values": ["ten<i>"]})
    text = inspection_html(replace(view, pages=(replace(page, fidelity=lying),)))
    assert 'below <mark class="foreign" title="not in the PDF">6</mark> bar' in text
    assert '<mark class="missing">ten&lt;i&gt;</mark>' in text


def test_a_document_is_data_and_never_markup(home: Home) -> None:
    text = inspection_html(view_document(home.store, "page.html"))
    assert "&lt;script&gt;document.title" in text and "<script>document.title" not in text
    assert "<img src=x" not in text


def test_a_failed_document_shows_why(home: Home) -> None:
    text = inspection_html(view_document(home.store, "broken.pdf"))
    failure = home.store.manifest("broken.pdf")
    assert failure is not None and failure.failure is not None
    assert "stopped at normalized_pdf" in text and "Not made yet: Markdown, elements, chunks" in text


def test_pages_are_named_as_people_write_them(home: Home) -> None:
    assert parse_pages("1-3, 7") == {1, 2, 3, 7}
    for wrong in ("", "x", "3-1", "0", "1-", "1-99999999"):
        with pytest.raises(ConfigError, match="1-20,25"):
            parse_pages(wrong)
    assert view_document(home.store, "manual.pdf", parse_pages("2")).left_out == 1
    with pytest.raises(ConfigError, match="no such page; it has 2"):
        view_document(home.store, "manual.pdf", [9])
    assert default_pages(home.store, "manual.pdf") is None and MOST_PAGES == 100
    with pytest.raises(ConfigError, match=r"drac status"):
        view_document(home.store, "nowhere.pdf")


@pytest.mark.browser
def test_hovering_a_chunk_lights_its_places_and_the_page_asks_for_nothing(home: Home, tmp_path: Path) -> None:
    file = inspect_document(home, "manual.pdf", tmp_path / "manual.html")
    own = inspect_document(home, "page.html", tmp_path / "page.html")
    lit = "[...document.querySelectorAll('.mark.on')].map(n => n.dataset.c)"
    view = view_document(home.store, "manual.pdf")
    boxes = {c.ordinal: len(c.boxes) for c in view.chunks}
    assert len(boxes) >= 3
    with chrome_page() as page:
        page.resize(1366, 850)
        page.open(file.as_uri())
        page.move_to(".chunkhead[data-c='1']")
        assert page.run(lit) == ["1"] * boxes[1]
        page.move_to("header h1")
        assert page.run(lit) == []
        page.move_to(".mark[data-c='0']", click=True)  # kept when the mouse goes
        page.move_to("header h1")
        assert set(page.run(lit)) == {"0"}
        page.press("n")
        assert set(page.run(lit)) == {"1"}
        page.move_to("[data-show=chunks]", click=True)
        shown = (
            "[...document.querySelectorAll('.chunk pre')].filter(n => n.offsetParent).map(n => n.textContent)"
        )
        assert page.run(shown) == [c.text for c in view.chunks]
        page.open(file.as_uri() + "#chunk-3")
        assert set(page.run(lit)) == {"2"}
        page.resize(390, 844, phone=True)
        page.open(file.as_uri())
        assert page.run("document.documentElement.scrollWidth") == 390
        columns = "getComputedStyle(document.querySelector('.page')).gridTemplateColumns.split(' ').length"
        assert page.run(columns) == 1
        page.open(own.as_uri())
        assert page.run("document.title") == "page.html"  # the document's script did not run
        assert page.said == []
        assert {a.split("#")[0] for a in page.asked} <= {file.as_uri(), own.as_uri(), "about:blank"}


@pytest.fixture
def server(home: Home):
    with InspectionServer(home) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running
        running.shutdown()


def fetch(url: str, **headers: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=20) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as e:
        return e.code, e.read().decode()


def test_the_server_shows_every_document_and_answers_this_machine_only(server: InspectionServer) -> None:
    status, listing = fetch(server.url)
    assert status == 200 and "failed at normalized_pdf" in listing
    assert "/document/manual.pdf" in listing
    status, text = fetch(document_url(server.url, "manual.pdf", 1).split("#")[0] + "?pages=2")
    assert status == 200 and 'id="page-2"' in text and 'id="page-1"' not in text
    assert document_url("http://h:1/", "a b/c#.pdf", 4) == "http://h:1/document/a%20b/c%23.pdf#chunk-5"
    assert fetch(f"{server.url}/document/..%2F..%2Fsecret")[0] == 404
    assert fetch(f"{server.url}/elsewhere")[0] == 404
    status, text = fetch(document_url(server.url, "manual.pdf"), Host="evil.example")
    assert status == 403 and "Pump" not in text


def test_the_command_finds_a_document_by_a_part_of_its_key(home: Home, capsys: pytest.CaptureFixture) -> None:
    from drac_pipeline.cli import main

    def run(*arguments: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as stop:
            main(["inspect", *arguments, "--home", str(home.path)])
        shown = capsys.readouterr()
        return int(stop.value.code or 0), shown.out + shown.err

    code, text = run("MANUAL")
    assert code == 0 and Path(text.strip()).read_text().startswith("<!doctype html>")
    code, text = run("a")
    assert code == 2 and "'manual.pdf', 'page.html'" in text
    code, text = run("zzz")
    assert code == 2 and "drac status --all" in text
    assert run()[0] == 2


def test_dagster_links_to_the_page(home: Home) -> None:
    from drac_pipeline.defs.metadata import stage_metadata
    from drac_pipeline.pipeline import StageOutcome

    manifest = home.store.manifest("manual.pdf")
    assert manifest is not None
    found = stage_metadata(home, "manual.pdf", StageOutcome("chunks", "made", manifest.stages["chunks"]))
    assert json.loads(json.dumps(found["inspect"].value)) == "http://127.0.0.1:3070/document/manual.pdf"
