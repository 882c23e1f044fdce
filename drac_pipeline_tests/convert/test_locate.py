"""What is read from a document's own file has the pages and boxes of its print."""

from __future__ import annotations

from pathlib import Path

from drac_pipeline.config import ConvertConfig
from drac_pipeline.convert.locate import located
from drac_pipeline.convert.route import Convertible, convert_document
from drac_pipeline.parse import parse_markdown
from drac_pipeline_tests.conftest import MANUAL

SECOND = """<h2>Parts</h2><table><tr><th>Part</th><th>EUR</th></tr><tr><td>Valve</td><td>41</td></tr>
<tr><td>Seal</td><td>3</td></tr></table><p>Prices hold until the end of May.</p>"""


def document(tmp_path: Path, make_pdf, own: str = MANUAL + SECOND, *, whole: bool = True) -> Convertible:
    (tmp_path / "own.html").write_text(own)
    pdf = make_pdf(tmp_path / "print.pdf", MANUAL, SECOND)
    return Convertible(pdf, "html", tmp_path / "own.html", whole)


def test_elements_of_a_web_page_know_their_page(tmp_path: Path, make_pdf) -> None:
    made = convert_document(document(tmp_path, make_pdf), ConvertConfig())
    elements = parse_markdown(made.markdown, made.spans)
    assert {e.page_start for e in elements if "Open the inlet valve" in e.text} == {1}
    row = next(e for e in elements if e.text == "Part: Valve; EUR: 41.")
    assert row.page_start == row.page_end == 2 and len(row.boxes) == 1
    last = next(e for e in elements if e.text.startswith("Prices hold"))
    assert last.page_start == 2 and last.boxes[0].y0 > row.boxes[0].y1
    assert [r.page for r in made.tables[0].rows] == [2, 2]


def test_what_is_not_printed_has_no_page(tmp_path: Path, make_pdf) -> None:
    own = MANUAL + "<p>A remark that the print does not show at all.</p>" + SECOND
    made = convert_document(document(tmp_path, make_pdf, own), ConvertConfig())
    elements = {e.text[:8]: e for e in parse_markdown(made.markdown, made.spans)}
    assert elements["A remark"].page_start == 0 and elements["A remark"].boxes == ()
    assert elements["Prices h"].page_start == 2


def test_a_print_that_does_not_show_all_is_not_looked_through(tmp_path: Path, make_pdf) -> None:
    made = convert_document(document(tmp_path, make_pdf, whole=False), ConvertConfig())
    assert not any(s.boxes for s in made.spans)


def test_what_has_places_keeps_them(tmp_path: Path, make_pdf) -> None:
    found = convert_document(document(tmp_path, make_pdf), ConvertConfig())
    assert located(found, tmp_path / "not there.pdf") is found
