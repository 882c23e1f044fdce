"""Office documents through the stages: printed by LibreOffice, read from their own file."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from drac_pipeline.config import DracConfig
from drac_pipeline.pipeline import find_work, process_document
from drac_pipeline.store import Home
from drac_pipeline_tests.office.conftest import docx_of, p, with_notes
from drac_pipeline_tests.office.test_docx_text import BOX

office = pytest.mark.skipif(not shutil.which("soffice"), reason="LibreOffice is not installed")


def run(home: Home, source: Path, **convert: object):
    config = DracConfig.model_validate({"convert": convert})
    (item,) = find_work(home, source, config).work
    outcome = process_document(home.store, item.key, config)
    assert outcome.failure is None
    manifest = home.store.manifest(item.key)
    assert manifest is not None
    folder = next((home.path / "store").rglob("document.md")).parent
    return manifest, folder


@office
def test_the_file_is_read_and_the_record_says_what_was_left_out(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    with_notes(tmp_path / "in" / "a.docx")
    manifest, folder = run(Home(tmp_path / "home"), tmp_path / "in")
    assert manifest.stages["normalized_pdf"].facts["read_as"] == "docx"
    assert manifest.stages["normalized_pdf"].facts["left_out"] == ["1 comment"]
    facts = manifest.stages["markdown"].facts
    assert facts["left_out"] == {"comment": 1, "running header": 1, "running footer": 1}
    assert facts["readers"] == {"file": 2}  # endnotes are printed on a page of their own
    assert facts["taken_in"] == []
    text = (folder / "document.md").read_text(encoding="utf-8")
    assert text.startswith("<!-- page 1 -->\n\nOpen the valve¹ⁱ\n\n¹ footnote text 1\n\nClose it²")
    conversion = json.loads((folder / "conversion.json").read_text(encoding="utf-8"))
    assert [bool(s["boxes"]) for s in conversion["spans"]] == [True] * 5
    assert all(c.passed for s in manifest.stages.values() for c in s.checks.values())


@office
def test_settings_take_in_what_is_left_out_otherwise(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    with_notes(tmp_path / "in" / "a.docx")
    manifest, folder = run(Home(tmp_path / "home"), tmp_path / "in", comments=True, headers_footers=True)
    assert manifest.stages["markdown"].facts["taken_in"] == ["1 header", "1 comment", "1 footer"]
    assert "Comment by Ann: really?" in (folder / "document.md").read_text(encoding="utf-8")


@office
def test_what_its_print_does_not_show_is_named_where_that_is_read(tmp_path: Path) -> None:
    """The text box has neither size nor place, so that it is not printed."""
    (tmp_path / "in").mkdir()
    docx_of(tmp_path / "in" / "a.docx", p("A heading", '<w:pStyle w:val="Heading1"/>') + BOX)
    manifest, folder = run(Home(tmp_path / "home"), tmp_path / "in", office_route="pdf")
    text = (folder / "document.md").read_text(encoding="utf-8")
    assert text == "<!-- page 1 -->\n\n# A heading\n\nbefore\n\nafter\n"
    markdown = manifest.stages["markdown"]
    assert markdown.facts["readers"] == {"text layer": 1}
    assert markdown.warnings == ["words of the file that were not read: the, box"]


_FLAT = """<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" office:version="1.3"
 office:mimetype="application/vnd.oasis.opendocument.{kind}"><office:body>{body}</office:body></office:document>"""


def _row(*cells: str) -> str:
    inner = "".join(
        f'<table:table-cell office:value-type="string"><text:p>{c}</text:p></table:table-cell>' for c in cells
    )
    return f"<table:table-row>{inner}</table:table-row>"


@office
@pytest.mark.parametrize(
    ("kind", "body", "read_as", "line"),
    [
        (
            "text",
            '<office:text><text:h text:outline-level="1">Pump</text:h><text:p>Words.</text:p></office:text>',
            "docx",
            "# Pump",
        ),
        (
            "spreadsheet",
            "<office:spreadsheet><table:table table:name='Parts'>"
            + _row("Part", "Price", "Unit")
            + _row("Valve", "EUR 4", "piece")
            + _row("Seal", "EUR 3", "piece")
            + "</table:table></office:spreadsheet>",
            "ods",
            "Part: Valve; Price: EUR 4; Unit: piece.",
        ),
    ],
)
def test_flat_files_are_read_like_their_zipped_twins(
    tmp_path: Path, kind: str, body: str, read_as: str, line: str
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "flat.xml").write_text(_FLAT.format(kind=kind, body=body))
    manifest, folder = run(Home(tmp_path / "home"), tmp_path / "in")
    assert manifest.stages["normalized_pdf"].facts["read_as"] == read_as
    assert line in (folder / "document.md").read_text().splitlines()
