"""Headings, lists, notes and boxes of a DOCX, read from its XML."""

from __future__ import annotations

from pathlib import Path

import pytest

from drac_pipeline_tests.office.conftest import body, docx_of, item, p, read, with_notes


def level(n: int, kind: str, text: str, left: int = 0, more: str = "") -> str:
    indent = f'<w:pPr><w:ind w:left="{left}"/></w:pPr>' if left else ""
    return (
        f'<w:lvl w:ilvl="{n}"><w:start w:val="1"/><w:numFmt w:val="{kind}"/>{more}'
        f'<w:lvlText w:val="{text}"/>{indent}</w:lvl>'
    )


def listing(number: int, *levels: str, override: str = "", abstract: int | None = None) -> tuple[str, str]:
    name = number if abstract is None else abstract
    definition = (
        f'<w:abstractNum w:abstractNumId="{name}">{"".join(levels)}</w:abstractNum>' if levels else ""
    )
    instance = f'<w:num w:numId="{number}"><w:abstractNumId w:val="{name}"/>{override}</w:num>'
    return definition, instance


def numbering(*lists: tuple[str, str]) -> str:
    return "".join(x[0] for x in lists) + "".join(x[1] for x in lists)


def test_headings_by_style_outline_level_and_inheritance(tmp_path: Path) -> None:
    styles = (
        '<w:style w:type="paragraph" w:styleId="Kap"><w:name w:val="Kapitel"/><w:pPr>'
        '<w:outlineLvl w:val="1"/></w:pPr></w:style>'
        '<w:style w:type="paragraph" w:styleId="Unter"><w:name w:val="Unterkapitel"/>'
        '<w:basedOn w:val="Kap"/></w:style>'
        '<w:style w:type="paragraph" w:styleId="Flach"><w:name w:val="Flach"/><w:basedOn w:val="Kap"/><w:pPr>'
        '<w:outlineLvl w:val="9"/></w:pPr></w:style>'
    )
    xml = (
        p("First", '<w:pStyle w:val="Heading1"/>')
        + p("By its level", '<w:pStyle w:val="Kap"/>')
        + p("By what it is based on", '<w:pStyle w:val="Unter"/>')
        + p("Text again", '<w:pStyle w:val="Flach"/>')
        + p("Direct", '<w:outlineLvl w:val="2"/>')
        + p("x" * 301, '<w:pStyle w:val="Heading1"/>')
    )
    assert body(read(docx_of(tmp_path / "a.docx", xml, styles=styles))) == [
        "# First",
        "## By its level",
        "## By what it is based on",
        "Text again",
        "### Direct",
        "x" * 301,
    ]


def test_a_title_stands_above_the_headings_of_its_document(tmp_path: Path) -> None:
    xml = p("Manual", '<w:pStyle w:val="Title"/>') + p("Start", '<w:pStyle w:val="Heading1"/>') + p("Text.")
    assert body(read(docx_of(tmp_path / "a.docx", xml))) == ["# Manual", "## Start", "Text."]


def test_numbers_of_headings_are_part_of_them(tmp_path: Path) -> None:
    lists = numbering(
        listing(
            1,
            level(0, "decimal", "%1", more='<w:pStyle w:val="Heading1"/>'),
            level(1, "decimal", "%1.%2", more='<w:pStyle w:val="Heading2"/>'),
        )
    )
    number = '<w:numPr><w:ilvl w:val="{}"/><w:numId w:val="1"/></w:numPr>'
    one = f'<w:pStyle w:val="Heading1"/>{number.format(0)}'
    two = f'<w:pStyle w:val="Heading2"/>{number.format(1)}'
    xml = p("Alpha", one) + p("Beta", two) + p("Gamma", two) + p("Delta", one) + p("Epsilon", two)
    assert body(read(docx_of(tmp_path / "a.docx", xml, numbering=lists))) == [
        "# 1 Alpha",
        "## 1.1 Beta",
        "## 1.2 Gamma",
        "# 2 Delta",
        "## 2.1 Epsilon",
    ]


def test_without_heading_styles_short_bold_and_large_lines_are_headings(tmp_path: Path) -> None:
    bold, large = "<w:b/>", '<w:b/><w:sz w:val="36"/>'
    text = "This is running text that goes on for a while and ends with a stop."
    xml = (
        p("Guide", run=large)
        + p(text)
        + p("Cleaning", run=bold)
        + p(text)
        + p("Note:", run=bold)
        + p(text)
        + p("The end", run=bold)
    )
    assert body(read(docx_of(tmp_path / "a.docx", xml))) == [
        "# Guide",
        text,
        "## Cleaning",
        text,
        "Note:",
        text,
        "The end",
    ]


def test_lists_nest_count_and_go_on(tmp_path: Path) -> None:
    lists = numbering(
        listing(1, level(0, "bullet", "•", 720), level(1, "bullet", "o", 1440)),
        listing(2, level(0, "decimal", "%1.", 720), level(1, "lowerLetter", "%2)", 1440)),
        listing(
            3, override='<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride>', abstract=2
        ),
        listing(4, level(0, "bullet", " ", 720)),
        listing(5, level(0, "decimal", "Art. %1", 0)),
    )
    xml = (
        item("one", 1)
        + item("inner", 1, 1)
        + item("two", 1)
        + p("between")
        + item("first", 2)
        + item("a of first", 2, 1)
        + item("b of first", 2, 1)
        + item("second", 2)
        + item("more of second", 4)
        + item("third", 2)
        + p("between")
        + item("fifth", 3)
        + p("between")
        + item("scope", 5)
    )
    assert body(read(docx_of(tmp_path / "a.docx", xml, numbering=lists))) == [
        "- one",
        "    - inner",
        "- two",
        "between",
        "1. first",
        "    - a. a of first",
        "    - b. b of first",
        "2. second",
        "  more of second",
        "3. third",
        "between",
        "5. fifth",
        "between",
        "- Art. 1 scope",
    ]


def test_lists_of_different_definitions_nest_by_indent(tmp_path: Path) -> None:
    lists = numbering(listing(1, level(0, "decimal", "%1.", 360)), listing(2, level(0, "bullet", "•", 1080)))
    xml = item("step", 1) + item("detail", 2) + item("next step", 1)
    assert body(read(docx_of(tmp_path / "a.docx", xml, numbering=lists))) == [
        "1. step",
        "    - detail",
        "2. next step",
    ]


def test_runs_breaks_signs_and_fields(tmp_path: Path) -> None:
    xml = (
        '<w:p><w:r><w:t xml:space="preserve">Pres</w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>sure</w:t></w:r>'
        "<w:r><w:tab/><w:t>8</w:t><w:noBreakHyphen/><w:t>10 bar</w:t><w:br/><w:t>next line</w:t></w:r>"
        '<w:r><w:sym w:font="Wingdings" w:char="F0FC"/></w:r>'
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>PAGEREF x</w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t xml:space="preserve"> page 7</w:t></w:r>'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>'
    )
    assert body(read(docx_of(tmp_path / "a.docx", xml))) == ["Pressure 8-10 bar", "next line✓ page 7"]


def test_raised_digits_stay_raised(tmp_path: Path) -> None:
    raised = '<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>{}</w:t></w:r>'
    xml = f"<w:p><w:r><w:t>8 m</w:t></w:r>{raised.format(2)}<w:r><w:t> in the 4</w:t></w:r>"
    xml += f"{raised.format('th')}<w:r><w:t> year</w:t></w:r></w:p>"
    assert body(read(docx_of(tmp_path / "a.docx", xml))) == ["8 m² in the 4th year"]


def test_hidden_text_is_left_out_and_reported(tmp_path: Path) -> None:
    xml = "<w:p><w:r><w:t>shown</w:t></w:r><w:r><w:rPr><w:vanish/></w:rPr><w:t>secret</w:t></w:r></w:p>"
    done = read(docx_of(tmp_path / "a.docx", xml))
    assert body(done) == ["shown"]
    assert [(d.reason, d.text) for d in done.report.dropped] == [("hidden", "secret")]


BOX = (
    "<w:p><w:r><w:t>before</w:t></w:r><w:r><mc:AlternateContent"
    ' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><mc:Choice Requires="wps">'
    "<w:drawing><w:txbxContent><w:p><w:r><w:t>in the box</w:t></w:r></w:p></w:txbxContent></w:drawing>"
    "</mc:Choice><mc:Fallback><w:pict><w:txbxContent><w:p><w:r><w:t>in the box</w:t></w:r></w:p>"
    "</w:txbxContent></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p><w:p><w:r><w:t>after</w:t></w:r></w:p>"
)


def test_a_text_box_is_read_once_after_its_paragraph(tmp_path: Path) -> None:
    done = read(docx_of(tmp_path / "a.docx", BOX))
    assert body(done) == ["before", "in the box", "after"]
    assert done.report.warnings == []


def test_footnotes_follow_their_paragraph_and_endnotes_the_text(tmp_path: Path) -> None:
    done = read(with_notes(tmp_path / "a.docx"))
    assert body(done) == [
        "Open the valve¹ⁱ",
        "¹ footnote text 1",
        "Close it²",
        "² footnote text 2",
        "ⁱ endnote text 1",
    ]
    assert ("comment", "really?") in [(d.reason, d.text) for d in done.report.dropped]
    assert done.report.taken == []


def test_comments_headers_and_footers_are_taken_in_if_asked(tmp_path: Path) -> None:
    done = read(with_notes(tmp_path / "a.docx"), comments=True, headers_footers=True)
    lines = body(done)
    assert lines[:3] == ["Company secret", "Open the valve¹ⁱ", "Comment by Ann: really?"]
    assert lines[-1] == "Page 1"
    assert done.report.taken == ["1 header", "1 comment", "1 footer"]
    assert [d.reason for d in done.report.dropped] == []


def test_headers_and_footers_are_reported_on_the_page_they_are_printed_on(tmp_path: Path) -> None:
    pages = [["Company secret", "Open the valve1i", "Close it2", "Page 1"]]
    done = read(with_notes(tmp_path / "a.docx"), pages)
    found = [(d.page, d.reason, d.text) for d in done.report.dropped if d.reason.startswith("running")]
    assert found == [(1, "running header", "Company secret"), (1, "running footer", "Page 1")]


@pytest.mark.parametrize("broken", ["[Content_Types].xml", "word/styles.xml", "word/numbering.xml"])
def test_a_part_that_is_no_xml_costs_no_text(tmp_path: Path, broken: str) -> None:
    import zipfile

    source = docx_of(tmp_path / "a.docx", p("kept"))
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(tmp_path / "b.docx", "w") as new:
        for name in old.namelist():
            new.writestr(name, b"<broken" if name == broken else old.read(name))
    assert body(read(tmp_path / "b.docx")) == ["kept"]
