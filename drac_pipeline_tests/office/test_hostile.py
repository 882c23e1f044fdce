"""Hostile office files: what our own reader refuses, ignores and bounds."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from drac_pipeline.errors import DocumentTooLarge
from drac_pipeline.model import ConversionReport, Converted
from drac_pipeline.office import package
from drac_pipeline.office.package import Package
from drac_pipeline_tests.office import conftest
from drac_pipeline_tests.office.conftest import body, docx_of, p, read


def changed(source: Path, **parts: bytes) -> Path:
    """The DOCX with parts replaced (names without folder and suffix)."""
    target = source.with_name("changed.docx")
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            new.writestr(name, parts.get(Path(name).stem, old.read(name)))
    return target


def test_entities_of_a_part_are_not_expanded(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("CANARY")
    source = docx_of(tmp_path / "a.docx", p("shown &amp; known"))
    with zipfile.ZipFile(source) as z:
        xml = z.read("word/document.xml").decode()
    head = f'<!DOCTYPE x [<!ENTITY f SYSTEM "{secret.as_uri()}"><!ENTITY g "EXPANDED">]>'
    xml = xml.replace("<w:document", head + "<w:document", 1).replace("shown", "shown &f;&g;")
    lines = body(read(changed(source, document=xml.encode())))
    assert len(lines) == 1
    assert lines[0].startswith("shown")
    assert "CANARY" not in lines[0]
    assert "EXPANDED" not in lines[0]


def test_relations_that_lead_out_of_the_file_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside.xml"
    outside.write_text("<x/>")
    rels = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="a" Type="t/styles" Target="{outside}" TargetMode="External"/>'
        f'<Relationship Id="b" Type="t/styles" Target="../../../../{outside}"/>'
        '<Relationship Id="c" Type="t/styles" Target="/word/styles.xml"/></Relationships>'
    )
    source = docx_of(tmp_path / "a.docx", p("x"))
    target = tmp_path / "b.docx"
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            new.writestr(name, rels if name == "word/_rels/document.xml.rels" else old.read(name))
    with Package(target) as opened:
        found = opened.relations("word/document.xml")
        assert sorted(found) == ["b", "c"]
        assert opened.part(found["b"].target) is None
        assert opened.part(found["c"].target) is not None


def test_a_part_too_large_to_parse_leaves_the_document_to_its_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = docx_of(tmp_path / "a.docx", p("x" * 5000))
    monkeypatch.setattr(package, "MAX_PART", 4000)
    with Package(source) as opened, pytest.raises(DocumentTooLarge):
        opened.part("word/document.xml")
    printed = Converted(markdown="the print\n", report=ConversionReport(converter="local"))
    monkeypatch.setattr(conftest, "no_print", lambda: printed)
    assert body(read(source)) == ["the print"]


def test_absurd_spans_and_levels_are_bounded(tmp_path: Path) -> None:
    xml = (
        '<w:tbl><w:tr><w:trPr><w:gridBefore w:val="999999999"/></w:trPr><w:tc><w:tcPr>'
        f'<w:gridSpan w:val="999999999"/></w:tcPr>{p("wide")}</w:tc><w:tc>{p("next")}</w:tc></w:tr></w:tbl>'
        + p("deep", '<w:numPr><w:ilvl w:val="99999"/><w:numId w:val="1"/></w:numPr>')
        + p("level", '<w:outlineLvl w:val="-5"/>')
    )
    text = " ".join(body(read(docx_of(tmp_path / "a.docx", xml))))
    for word in ("wide", "next", "deep", "level"):
        assert word in text


def test_styles_based_on_each_other_end(tmp_path: Path) -> None:
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{a}"><w:name w:val="{a}"/><w:basedOn w:val="{b}"/></w:style>'
        for a, b in (("A", "B"), ("B", "A"))
    )
    assert body(read(docx_of(tmp_path / "a.docx", p("text", '<w:pStyle w:val="A"/>'), styles=styles))) == [
        "text"
    ]
