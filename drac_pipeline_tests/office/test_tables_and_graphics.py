"""Tables, charts and diagrams of office files as row sentences and items."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from drac_pipeline.model import ConversionReport, Converted
from drac_pipeline_tests.office import conftest
from drac_pipeline_tests.office.conftest import body, docx_of, p, read


def cell(text: str, *settings: str, bold: bool = False) -> str:
    return f"<w:tc><w:tcPr>{''.join(settings)}</w:tcPr>{p(text, run='<w:b/>' if bold else '')}</w:tc>"


def row(*cells: str, head: bool = False) -> str:
    return f"<w:tr>{'<w:trPr><w:tblHeader/></w:trPr>' if head else ''}{''.join(cells)}</w:tr>"


def table(*rows: str, properties: str = "") -> str:
    return f"<w:tbl><w:tblPr>{properties}</w:tblPr><w:tblGrid/>{''.join(rows)}</w:tbl>"


def span(n: int) -> str:
    return f'<w:gridSpan w:val="{n}"/>'


START, GOES_ON = '<w:vMerge w:val="restart"/>', "<w:vMerge/>"


def test_header_rows_column_groups_and_cells_over_rows(tmp_path: Path) -> None:
    xml = table(
        row(cell("Country", START), cell("2001", span(2)), head=True),
        row(cell("", GOES_ON), cell("Schools"), cell("Pupils"), head=True),
        row(cell("Austria", START), cell("160"), cell("4,976")),
        row(cell("", GOES_ON), cell("158"), cell("4,670")),
        row(cell("Both, joined", span(3))),
    )
    assert body(read(docx_of(tmp_path / "a.docx", xml))) == [
        "Country: Austria; 2001, Schools: 160; 2001, Pupils: 4,976.",
        "Country: Austria; 2001, Schools: 158; 2001, Pupils: 4,670.",
        "Country / 2001, Schools / 2001, Pupils: Both, joined.",
    ]


def test_a_header_by_the_tables_style_and_none_by_its_settings(tmp_path: Path) -> None:
    style = (
        '<w:style w:type="table" w:styleId="Fancy"><w:name w:val="Fancy"/>'
        '<w:tblStylePr w:type="firstRow"><w:rPr><w:b/></w:rPr></w:tblStylePr></w:style>'
    )
    rows = row(cell("8"), cell("9")) + row(cell("10"), cell("11"))
    for look, expected in (("0020", ["8: 10; 9: 11."]), ("0000", ["8: 9.", "10: 11."])):
        settings = f'<w:tblStyle w:val="Fancy"/><w:tblLook w:val="{look}"/>'
        source = docx_of(tmp_path / f"{look}.docx", table(rows, properties=settings), styles=style)
        assert body(read(source)) == expected


def test_a_frame_of_one_cell_is_no_table_and_lists_in_cells_stay_in_their_row(tmp_path: Path) -> None:
    two = f"<w:tc><w:tcPr/>{p('first')}{p('second')}</w:tc>"
    xml = table(row(cell("Framed text."))) + table(
        row(cell("Task"), cell("Steps"), head=True), row(cell("Open"), two)
    )
    assert body(read(docx_of(tmp_path / "a.docx", xml))) == [
        "Framed text.",
        "Task: Open; Steps: first, second.",
    ]


def test_columns_that_a_row_leaves_out_stay_empty(tmp_path: Path) -> None:
    late = '<w:tr><w:trPr><w:gridBefore w:val="1"/></w:trPr>' + cell("12") + "</w:tr>"
    xml = table(row(cell("Name"), cell("Count"), head=True), row(cell("Bolt"), cell("9")), late)
    assert body(read(docx_of(tmp_path / "a.docx", xml))) == ["Name: Bolt; Count: 9.", "Count: 12."]


def test_table_data_is_kept_with_the_header_path_of_each_column(tmp_path: Path) -> None:
    xml = table(row(cell("Name"), cell("Count"), head=True), row(cell("Bolt"), cell("9")))
    done = read(docx_of(tmp_path / "a.docx", xml), [["Name", "Count", "Bolt", "9"]])
    (data,) = done.tables
    assert data.header == [["Name"], ["Count"]]
    assert [(r.cells, r.page) for r in data.rows] == [(["Bolt", "9"], 1)]
    (found,) = [s for s in done.spans if s.table_id == data.table_id]
    assert (found.row, found.kind, [b.page for b in found.boxes]) == (0, "table_row", [1])


def test_a_plain_first_row_names_three_columns_or_more_over_figures_or_long_text(tmp_path: Path) -> None:
    xml = table(
        row(cell("City"), cell("Shops"), cell("Since")),
        row(cell("Berlin"), cell("12"), cell("2001")),
        row(cell("Graz"), cell("3"), cell("2015")),
    )
    assert body(read(docx_of(tmp_path / "a.docx", xml)))[0] == "City: Berlin; Shops: 12; Since: 2001."
    long = "much more text than the name of its column has"
    xml = table(
        row(cell("Value"), cell("Meaning"), cell("Where")),
        row(cell("SIMPLE", bold=True), cell(long), cell(f"{long} A")),
        row(cell("OPEN", bold=True), cell(f"{long} B"), cell(f"{long} C")),
    )
    first = body(read(docx_of(tmp_path / "b.docx", xml)))[0]
    assert first == f"Value: SIMPLE; Meaning: {long}; Where: {long} A."


def test_a_chart_is_a_table_of_its_values(tmp_path: Path) -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    assert slide.shapes.title is not None
    slide.shapes.title.text = "Sales"
    data: Any = CategoryChartData()
    data.categories = ["North", "South"]
    data.add_series("2023", (1.5, 2.25))
    data.add_series("2024", (0.1 + 0.2, 4))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(2), Inches(5), Inches(4), data)
    deck.save(str(tmp_path / "a.pptx"))
    assert body(read(tmp_path / "a.pptx")) == [
        "# Sales",
        "North; 2023: 1.5; 2024: 0.3.",
        "South; 2023: 2.25; 2024: 4.",
    ]


DIAGRAM = """<dgm:dataModel xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"
 xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><dgm:ptLst>
 <dgm:pt modelId="0" type="doc"/>
 <dgm:pt modelId="2"><dgm:t><a:p><a:r><a:t>Second step</a:t></a:r></a:p></dgm:t></dgm:pt>
 <dgm:pt modelId="1"><dgm:t><a:p><a:r><a:t>First </a:t></a:r><a:r><a:t>step</a:t></a:r></a:p></dgm:t></dgm:pt>
 <dgm:pt modelId="3"><dgm:t><a:p><a:r><a:t>Detail</a:t></a:r></a:p></dgm:t></dgm:pt>
 <dgm:pt modelId="9" type="pres"><dgm:t><a:p><a:r><a:t>not shown</a:t></a:r></a:p></dgm:t></dgm:pt>
</dgm:ptLst><dgm:cxnLst>
 <dgm:cxn modelId="11" srcId="0" destId="1" srcOrd="0"/>
 <dgm:cxn modelId="12" srcId="0" destId="2" srcOrd="1"/>
 <dgm:cxn modelId="13" srcId="1" destId="3" srcOrd="0"/>
 <dgm:cxn modelId="14" srcId="3" destId="1" srcOrd="0"/>
</dgm:cxnLst></dgm:dataModel>"""
FRAME = """<w:p><w:r><w:drawing><wp:inline><a:graphic><a:graphicData uri="x">
<dgm:relIds xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram" r:dm="rIdD"/>
</a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>"""


def test_smart_art_is_a_list_in_the_order_of_its_model_even_if_that_goes_in_circles(tmp_path: Path) -> None:
    source = docx_of(tmp_path / "a.docx", FRAME)
    relation = (
        '<Relationship Id="rIdD" Type="http://x/relationships/diagramData" Target="diagrams/data1.xml"/>'
    )
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(tmp_path / "b.docx", "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "word/_rels/document.xml.rels":
                data = data.replace(b"</Relationships>", f"{relation}</Relationships>".encode())
            new.writestr(name, data)
        new.writestr("word/diagrams/data1.xml", DIAGRAM)
    done = read(tmp_path / "b.docx")
    lines = [line.strip() for line in body(done)]
    assert sorted(lines) == ["- Detail", "- First step", "- Second step"]
    assert lines.index("- First step") < lines.index("- Second step")


@pytest.mark.parametrize(("depth", "expected"), [(50, ["deep text", "x"]), (5000, ["the print"])])
def test_deep_nesting_is_read_or_left_to_the_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, depth: int, expected: list[str]
) -> None:
    inner = "<w:sdt><w:sdtContent>" * depth + p("deep text") + "</w:sdtContent></w:sdt>" * depth
    with zipfile.ZipFile(docx_of(tmp_path / "x.docx", p("x"))) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    at = parts["word/document.xml"].index(b"<w:p>")
    parts["word/document.xml"] = (
        parts["word/document.xml"][:at] + inner.encode() + parts["word/document.xml"][at:]
    )
    with zipfile.ZipFile(tmp_path / "a.docx", "w") as new:
        for name, data in parts.items():
            new.writestr(name, data)
    printed = Converted(markdown="the print\n", report=ConversionReport(converter="local"))
    monkeypatch.setattr(conftest, "no_print", lambda: printed)
    done = read(tmp_path / "a.docx")
    assert body(done) == expected
    assert [w.split(":")[0] for w in done.report.warnings] == (
        ["read from its PDF"] if expected == ["the print"] else []
    )
