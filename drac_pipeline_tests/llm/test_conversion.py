"""Pages by a model: the real client at the double that sees, with every fault it knows."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pymupdf
import pytest

from drac_pipeline.config import ConvertConfig, DracConfig
from drac_pipeline.convert import vlm
from drac_pipeline.convert.fidelity import compare
from drac_pipeline.convert.model.places import find_places
from drac_pipeline.convert.vlm import Tally, convert_by_model, local_reading, pages_for_model
from drac_pipeline.llm.doubles import Brain, Double, FaultPlan, page_table
from drac_pipeline.llm.doubles.faults import TEXT_FAULTS
from drac_pipeline.llm.doubles.pages import image_hash
from drac_pipeline.llm.protocol import ModelUnavailable
from drac_pipeline.llm.service import ModelService
from drac_pipeline.model import Converted, Element
from drac_pipeline.parse import parse_markdown
from drac_pipeline.render import render_pages
from drac_pipeline_tests.convert.pages import Doc
from drac_pipeline_tests.convert.scans import PROSE, TITLE, letter, printed, scan

Make = Callable[..., ModelService]


XS = (72, 220, 360)
CHAPTERS = (
    "Start",
    "Daily work",
    "Oil and grease",
    "Winter",
    "Faults",
    "Spare parts",
    "Warranty of the maker",
)


def manual(root: Path, n_pages: int, name: str = "manual.pdf") -> Path:
    """A chapter a page: heading, paragraph, ruled table, paragraph."""
    doc = Doc()
    for n in range(1, n_pages + 1):
        if n > 1:
            doc.new_page()
        doc.heading(CHAPTERS[n - 1])
        doc.paragraph(
            f"Chapter {n} of the manual tells how pump number 77{n}0 is started and stopped, and what",
            f"it costs in the year 20{n}1 in all of the countries where it is sold.",
        )
        doc.rule(66, 500)
        doc.row(XS, "Name", "Pressure", "Price", font="hebo")
        for i in range(1, 5):
            doc.rule(66, 500).row(XS, f"Pump {n}{i}", f"{n}{i}7 bar", f"EUR {n},{i}50")
        doc.rule(66, 500)
        doc.y += 20
        doc.paragraph(f"Call extension 4{n}88 with questions about chapter {n} before you open the valve.")
    path = root / name
    path.write_bytes(doc.bytes())
    return path


class Case:
    """A document of 7 pages, its images, and what the double knows of it."""

    def __init__(self, root: Path) -> None:
        self.pdf = manual(root, 7)
        pages = render_pages(self.pdf, root / "images", DracConfig().render)
        self.images = {p.page: p.path for p in pages if p.path}
        self.table = page_table([self.pdf])


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return Case(tmp_path_factory.mktemp("case"))


def convert(case: Case, service: ModelService, mode: str = "model"):
    config = DracConfig(convert=ConvertConfig.model_validate({"mode": mode}), model=service.config)
    local = local_reading(case.pdf, config)
    pages = pages_for_model(local, config)
    return convert_by_model(case.pdf, case.images, local, pages, config, service, "manual.pdf")


def rows_of(converted: Converted) -> list[Element]:
    elements = parse_markdown(converted.markdown, converted.spans)
    return [e for e in elements if e.kind == "table_row"]


def sentences(markdown: str) -> list[str]:
    return re.findall(r"Name: .*", markdown)


def double(case: Case, *script: str, **more) -> Double:
    more.setdefault("faults", FaultPlan(script=list(script)))
    return Double(Brain(case.table), **more)


def test_pages_come_from_the_model_in_batches(case: Case, service: Make):
    with double(case) as server:
        model = service(server)
        converted, tally = convert(case, model)
        assert (server.requests, server.pages) == (2, 7)
    assert (tally.by_model, tally.fallback) == (7, 0)
    assert [p.reader for p in converted.report.pages] == ["google.gemma-3-27b-it"] * 7
    assert [(r["unit"], r["verdict"]) for r in sorted(model.ledger.records(), key=lambda r: r["unit"])] == [
        ("pages 1,2,3,4,5", "accepted"),
        ("pages 6,7", "accepted"),
    ]
    elements = parse_markdown(converted.markdown, converted.spans)
    rows = rows_of(converted)
    assert len(rows) == 28
    assert rows[5].text == "Name: Pump 22; Pressure: 227 bar; Price: EUR 2,250."
    assert [t.header for t in converted.tables] == [[["Name"], ["Pressure"], ["Price"]]] * 7
    assert [e.page_start for e in elements if e.kind == "heading"] == list(range(1, 8))


@pytest.mark.parametrize("fault", TEXT_FAULTS)
def test_every_fault_is_found_and_the_document_is_whole(fault: str, case: Case, service: Make):
    with double(case, fault, fault) as server:
        model = service(server)
        converted, tally = convert(case, model)
    assert tally.by_model + tally.fallback == 7
    assert [int(n) for n in re.findall(r"<!-- page (\d+) -->", converted.markdown)] == list(range(1, 8))
    assert len(sentences(converted.markdown)) == len(set(sentences(converted.markdown))) == 28
    assert sorted(re.findall(r"\d+", converted.markdown)) == sorted(
        re.findall(r"\d+", local_reading(case.pdf, DracConfig()).markdown)
    )
    assert [r["verdict"] for r in model.ledger.records()].count("accepted") < len(model.ledger.records())


@pytest.mark.parametrize("fault", ["refusal", "invented digit", "loop", "filtered"])
def test_a_model_that_only_errs_leaves_the_local_reading(fault: str, case: Case, service: Make):
    with double(case, faults=FaultPlan(rate=1.0, kinds=(fault,))) as server:
        converted, tally = convert(case, service(server))
    assert tally.fallback > 1  # pages before the fault in a batch are good
    assert converted.markdown == local_reading(case.pdf, DracConfig()).markdown
    refused = [p for p in converted.report.pages if "the model's page was refused" in p.reason]
    assert len(refused) == tally.fallback
    assert len(rows_of(converted)) == 28


def test_what_is_finished_is_not_paid_again(case: Case, service: Make):
    with double(case) as server:
        first, _ = convert(case, service(server))
        again, tally = convert(case, service(server))
        assert server.requests == 2
    assert tally.reused == 7
    assert again.markdown == first.markdown


class Killed(BaseException):
    """In place of SIGKILL."""


def killed_at(n: int, function: Callable[..., object]) -> Callable[..., object]:
    calls = iter(range(1, 100))

    def call(*args: object, **more: object) -> object:
        if next(calls) == n:
            raise Killed
        return function(*args, **more)

    return call


@pytest.mark.parametrize("page", [1, 2, 5])
def test_a_reply_of_which_a_kill_left_some_pages_is_not_paid_again(
    page: int, case: Case, service: Make, monkeypatch: pytest.MonkeyPatch
):
    with double(case) as server:
        with monkeypatch.context() as patch:
            patch.setattr(vlm, "_keep", killed_at(page, vlm._keep))
            with pytest.raises(Killed):
                convert(case, service(server, calls_in_parallel=1))
        assert server.pages == 5
        _, tally = convert(case, service(server, calls_in_parallel=1))
        assert (server.pages, tally.by_model) == (7, 7)


def test_half_a_batch_that_came_before_a_kill_is_not_paid_again(
    case: Case, service: Make, monkeypatch: pytest.MonkeyPatch
):
    with double(case, "refusal") as server:
        with monkeypatch.context() as patch:
            patch.setattr(vlm, "check_pages", killed_at(2, vlm.check_pages))
            with pytest.raises(Killed):
                convert(case, service(server, calls_in_parallel=1))
        assert server.pages == 5 + 3  # the first half is there, and nothing was made of it
        _, tally = convert(case, service(server, calls_in_parallel=1))
        assert (server.pages, tally.by_model) == (5 + 3 + 2 + 2, 7)


def test_an_outage_keeps_what_came_before_it(case: Case, service: Make):
    with double(case, "", *["unavailable"] * 3) as server:
        with pytest.raises(ModelUnavailable):
            convert(case, service(server, attempts=3, calls_in_parallel=1))
        assert server.pages == 5 + 3 * 2
        before = server.pages
        _, tally = convert(case, service(server, calls_in_parallel=1))
        assert server.pages - before == 2
    assert (tally.by_model, tally.reused) == (7, 5)


def test_a_faulty_batch_is_asked_for_in_halves(case: Case, service: Make):
    with double(case, "refusal") as server:
        model = service(server, calls_in_parallel=1)
        convert(case, model)
    assert [r["unit"] for r in model.ledger.records()] == [
        "pages 1,2,3,4,5",
        "pages 1,2,3",
        "pages 4,5",
        "pages 6,7",
    ]


def test_auto_sends_only_pages_that_need_pixels(tmp_path: Path, service: Make):
    with pymupdf.open(manual(tmp_path, 2, "a.pdf")) as doc:
        pixels = doc[1].get_pixmap(dpi=100)
        scan = doc.new_page(2)
        scan.insert_image(scan.rect, pixmap=pixels)
        doc.save(tmp_path / "b.pdf")
    rendered = render_pages(tmp_path / "b.pdf", tmp_path / "images", DracConfig().render)
    images = {p.page: p.path for p in rendered if p.path}
    brain = Brain({image_hash(images[3].read_bytes()): "# Chapter 2\n\nRead by the model."})
    # the local reading of the scan stays an error, which is one of the reasons to ask
    with Double(brain) as server:
        model = service(server)
        drac = DracConfig(convert=ConvertConfig(mode="auto", ocr=False), model=model.config)
        local = local_reading(tmp_path / "b.pdf", drac)
        pages = pages_for_model(local, drac)
        converted, tally = convert_by_model(tmp_path / "b.pdf", images, local, pages, drac, model, "b.pdf")
        assert server.pages == 1
    assert (pages, tally.by_model, tally.spared) == ([3], 1, 2)
    assert converted.markdown.endswith("<!-- page 3 -->\n\n# Chapter 2\n\nRead by the model.\n")
    assert len(rows_of(converted)) == 8


def test_headings_and_columns_of_the_pages_before_are_told(
    case: Case, service: Make, monkeypatch: pytest.MonkeyPatch
):
    heard: list[list[str]] = []
    say = Brain.say

    def listen(self, system, parts, limit, fault, faults):
        heard.append([p for p in parts if isinstance(p, str)])
        return say(self, system, parts, limit, fault, faults)

    monkeypatch.setattr(Brain, "say", listen)
    with double(case) as server:
        convert(case, service(server, grounding=True, calls_in_parallel=1))
    first, second = heard
    assert first[1] == "Page 1"
    assert second[0].startswith("Headings of the pages before:\n# Start\n# Daily work")
    assert "# Faults" in second[0] and "# Spare parts" not in second[0]
    assert second[1].startswith("The text layer of page 6") and "Pump 61" in second[1]


def test_a_model_named_after_ocr_is_compared_like_any_other(case: Case, service: Make):
    with double(case) as server:
        converted, _ = convert(case, service(server, model="some/olmOCR-7b"))
    report = compare(case.pdf, converted)
    assert report.compared == 7
    assert report.foreign_values == 0


LETTER = f"# {TITLE}\n\n{PROSE}"


class Scan:
    """A scanned letter that the double knows by `texts`, in turn, the last one from then on."""

    def __init__(self, root: Path, *texts: str) -> None:
        self.pdf = root / "scan.pdf"
        self.pdf.write_bytes(scan(printed(letter)))
        pages = render_pages(self.pdf, root / "images", DracConfig().render)
        self.images = {p.page: p.path for p in pages if p.path}
        self.texts = list(texts)
        self.table: dict[str, str] = {}

    def brain(self) -> Brain:
        brain, texts = Brain(), list(self.texts)
        say = brain._pages
        name = image_hash(self.images[1].read_bytes())

        def pages(parts: list[str | bytes]) -> str:
            brain.table[name] = texts.pop(0) if len(texts) > 1 else texts[0]
            return say(parts)

        brain._pages = pages  # type: ignore[method-assign]
        return brain

    def convert(self, service: Make, server: Double, mode: str = "model", **more: object):
        model = service(server, **more)
        config = DracConfig(convert=ConvertConfig.model_validate({"mode": mode}), model=model.config)
        local = local_reading(self.pdf, config)
        return convert_by_model(self.pdf, self.images, local, [1], config, model, "scan.pdf")


@pytest.mark.parametrize("mode", ["model", "auto"])
def test_a_scan_that_ocr_reads_alike_is_taken_at_once(mode: str, tmp_path: Path, service: Make):
    case = Scan(tmp_path, LETTER)
    with Double(case.brain()) as server:
        converted, tally = case.convert(service, server, mode)
        assert server.requests == 1
    page = converted.report.pages[0]
    assert (page.warnings, page.confidence, tally.by_model) == ([], 1.0, 1)
    assert re.search(r"OCR \(its own confidence [\d.]+\) read \d of the page's \d numbers too", page.reason)
    assert "OCR" in compare(case.pdf, converted).pages[0].reason


def test_an_invented_number_in_a_scan_is_asked_for_again(tmp_path: Path, service: Make):
    case = Scan(tmp_path, LETTER.replace("640-24-0417", "640-24-9417"), LETTER)
    with Double(case.brain()) as server:
        converted, _ = case.convert(service, server)
        again, tally = case.convert(service, server)
        assert server.requests == 2
    assert "640-24-0417" in converted.markdown and "9417" not in converted.markdown
    assert converted.report.pages[0].warnings == []
    assert (again.markdown, tally.reused) == (converted.markdown, 1)


def test_what_two_readings_of_the_model_and_ocr_do_not_agree_in_is_said(tmp_path: Path, service: Make):
    case = Scan(tmp_path, LETTER.replace("640-24-0417", "640-24-9417"))
    with Double(case.brain()) as server:
        for _ in range(2):  # the second time from what is kept
            converted, tally = case.convert(service, server)
            assert (tally.by_model, tally.fallback) == (1, 0)
            [warning] = converted.report.pages[0].warnings
            assert "numbers that OCR did not read: 640-24-9417" in warning
            assert "numbers that only OCR read: 640-24-0417" in warning
            assert converted.report.pages[0].confidence < 1
        assert server.requests == 2


def test_a_second_reading_that_is_worse_leaves_the_first(tmp_path: Path, service: Make):
    doubtful = LETTER.replace("640-24-0417", "640-24-9417")
    case = Scan(tmp_path, doubtful, "I'm sorry, but I can't help with that.")
    with Double(case.brain()) as server:
        converted, tally = case.convert(service, server)
    assert "9417" in converted.markdown
    assert (tally.by_model, len(converted.report.pages[0].warnings)) == (1, 1)


def test_without_a_witness_a_scan_is_marked_as_such(tmp_path: Path, service: Make):
    case = Scan(tmp_path, LETTER.replace("640-24-0417", "640-24-9417"))
    with Double(case.brain()) as server:
        converted, _ = case.convert(service, server, ocr_witness=False)
        assert server.requests == 1
    page = converted.report.pages[0]
    assert "nothing to compare it with" in page.reason
    assert page.confidence == 0.5


def test_blocks_of_a_model_have_their_places(case: Case, service: Make):
    with double(case) as server:
        converted, tally = convert(case, service(server))
    placed = with_places(case.pdf, converted, tally)
    local = parse_markdown(*(lambda c: (c.markdown, c.spans))(local_reading(case.pdf, DracConfig())))
    assert [e.text for e in placed] == [e.text for e in local]
    assert all(e.boxes for e in placed)
    for mine, theirs in zip(placed, local, strict=True):
        (a,), (b,) = mine.boxes, theirs.boxes
        assert a.page == b.page
        assert abs((a.y0 + a.y1) - (b.y0 + b.y1)) < 8 and a.x0 < b.x1 and b.x0 < a.x1, mine.text


def test_blocks_of_a_scan_stand_where_ocr_read_them(tmp_path: Path, service: Make):
    case = Scan(tmp_path, LETTER + "\n\nNot a word of this stands there.")
    with Double(case.brain()) as server:
        converted, tally = case.convert(service, server)
    title, prose, foreign = with_places(case.pdf, converted, tally)
    assert 40 < title.boxes[0].y0 < title.boxes[0].y1 < 70
    assert prose.boxes[0].y0 > 70 and prose.boxes[-1].y1 < 200
    assert foreign.boxes == ()


def with_places(pdf: Path, converted: Converted, tally: Tally) -> list[Element]:
    blocks = [(e.start, e.end, e.page_start) for e in parse_markdown(converted.markdown, converted.spans)]
    pages = {p.page for p in converted.report.pages if p.reader == tally.reader}
    return parse_markdown(converted.markdown, find_places(pdf, converted, blocks, pages, tally.scans))
