"""Tables of web pages to row sentences and data."""

from __future__ import annotations

import pytest

from drac_pipeline.config import ConvertConfig
from drac_pipeline.model import Converted
from drac_pipeline.parse import parse_markdown
from drac_pipeline.web import convert_html


def convert(html: str) -> Converted:
    return convert_html(html.encode(), ConvertConfig())


CASES = {
    "header path, spans, foot first": (
        """<table><caption>Cap</caption><thead><tr><th rowspan=2>Name<th colspan=2>2023<tr><th>Q1<th>Q2
        <tfoot><tr><th>Sum<td>6<td>8<tbody><tr><th scope=row rowspan=2>B<td>1<td>2<tr><td>5<td>6</table>""",
        """Cap

Name: B; 2023, Q1: 1; 2023, Q2: 2.

Name: B; 2023, Q1: 5; 2023, Q2: 6.

Name: Sum; 2023, Q1: 6; 2023, Q2: 8.
""",
    ),
    "columns without values": (
        """<table><tr><th>Item<th>Seen by<th>Qty<th>Date<tr><td>Valve<td><td>4<td>
        <tr><td>Pump<td><td>2<td></table>""",
        "Seen by; Date.\n\nItem: Valve; Qty: 4.\n\nItem: Pump; Qty: 2.\n",
    ),
    "a value over several columns": (
        """<table><tr><th>Site<th>Mon<th>Tue<tr><td>Vienna<td colspan=2>9-17</table>""",
        "Site: Vienna; Mon / Tue: 9-17.\n",
    ),
    "row headers without a header row": (
        "<table><tr><th>Kingdom<td>Animalia<tr><th>Class<td>Aves</table>",
        "Kingdom: Animalia.\n\nClass: Aves.\n",
    ),
    "two keys in a row": (
        "<table><tr><th>Name<td>Bolt<th>Size<td>M6<tr><th>Nut<td>x<th>Size<td>M8</table>",
        "Name: Bolt; Size: M6.\n\nNut: x; Size: M8.\n",
    ),
    "keys in bold": (
        "<table><tr><td><b>Grade:</b><td>SNB22<tr><td><b>Class:</b><td>Steel</table>",
        "Grade: SNB22.\n\nClass: Steel.\n",
    ),
    "header told by numbers below": (
        "<table><tr><td>City<td>People<tr><td>Vienna<td>2,000,000<tr><td>Graz<td>300,000</table>",
        "City: Vienna; People: 2,000,000.\n\nCity: Graz; People: 300,000.\n",
    ),
    "keys with colons, two in a row": (
        "<table><tr><td>Name:<td>Bob<td>Age:<td>5<tr><td>City:<td>Rome<td>Zip:<td>12</table>",
        "Name: Bob; Age: 5.\n\nCity: Rome; Zip: 12.\n",
    ),
    "header in groups told by numbers": (
        """<table><tr><td rowspan=2>Region<td colspan=2>Sales<tr><td>2023<td>2024
        <tr><td>North<td>10<td>20<tr><td>South<td>5<td>6</table>""",
        "Region: North; Sales, 2023: 10; Sales, 2024: 20.\n\n"
        "Region: South; Sales, 2023: 5; Sales, 2024: 6.\n",
    ),
    "names and values": (
        "<table><tr><td>Model<td>Zoom<tr><td>Length<td>4,655 mm<tr><td>Width<td>1,840 mm</table>",
        "Model: Zoom.\n\nLength: 4,655 mm.\n\nWidth: 1,840 mm.\n",
    ),
    "header told by bold": (
        "<table><tr><td><b>City</b><td><b>Land</b><tr><td>Vienna<td>Austria</table>",
        "City: Vienna; Land: Austria.\n",
    ),
    "sections": (
        """<table><tr><th>Part<th>Price<tr><td colspan=2><b>Bolts</b><tr><td>M6<td>1
        <tr><td colspan=2><b>Nuts</b><tr><td>M8<td>2</table>""",
        "Bolts — Part: M6; Price: 1.\n\nNuts — Part: M8; Price: 2.\n",
    ),
    "title above the header": (
        "<table><tr><th colspan=2>Prices 2025<tr><th>Part<th>Price<tr><td>M6<td>1</table>",
        "Prices 2025\n\nPart: M6; Price: 1.\n",
    ),
    "a second header further down": (
        "<table><tr><th>A<th>B<tr><td>1<td>2<tr><th>C<th>D<tr><td>3<td>4</table>",
        "A: 1; B: 2.\n\nC: 3; D: 4.\n",
    ),
    "lists and paragraphs stay in the cell": (
        """<table><tr><th>Step<th>Do<tr><td>1<td><ul><li>open<li>close</ul>
        <tr><td>2<td><p>Turn.</p><p>Wait</p></table>""",
        "Step: 1; Do: open, close.\n\nStep: 2; Do: Turn. Wait.\n",
    ),
    "pictures that are the value": (
        '<table><tr><th>Feature<th>Basic<tr><td>SSO<td><img src=y alt="Yes"></table>',
        "Feature: SSO; Basic: Yes.\n",
    ),
    "a table in a table": (
        """<table><tr><th>Item<th>Detail<tr><td>Pump<td>see <table><tr><th>i<th>j<tr><td>7<td>8</table>
        <tr><td>Hose<td>none</table>""",
        "Item: Pump; Detail: see.\n\nPump — i: 7; j: 8.\n\nItem: Hose; Detail: none.\n",
    ),
    "layout": (
        "<table><tr><td><h2>Left</h2><p>Some text.</p></td><td><ul><li>x</ul></td></tr></table>",
        "## Left\n\nSome text.\n\n- x\n",
    ),
    "layout by role": (
        '<table role="presentation"><tr><td>a<td>b<tr><td>c<td>d</table>',
        "a\n\nb\n\nc\n\nd\n",
    ),
    "a table within an item": (
        "<ol><li>See<table><tr><th>A<th>B<tr><td>1<td>2</table><li>Go</ol>",
        "1. See\n\n  A: 1; B: 2.\n\n2. Go\n",
    ),
    "header only": ("<table><tr><th>A<th>B</table>", "A; B.\n"),
    "text beside the cells": ("<table>stray<tr><th>A<th>B<tr><td>1<td>2</table>", "stray\n\nA: 1; B: 2.\n"),
    "hidden rows": (
        "<table><tr><th>A<th>B<tr style='display:none'><td>9<td>9<tr><td>1<td>2</table>",
        "A: 1; B: 2.\n",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_sentences_are_exactly(name: str) -> None:
    html, markdown = CASES[name]
    assert convert(html).markdown == markdown


def test_data_and_spans() -> None:
    done = convert("<table><caption>Cap<tr><th>A<th>B<tr><td rowspan=2>x<td>1<tr><td>2</table><p>end")
    (table,) = done.tables
    assert (table.table_id, table.caption, table.header) == ("t1", "Cap", [["A"], ["B"]])
    assert [r.cells for r in table.rows] == [["x", "1"], ["x", "2"]]
    rows = [e for e in parse_markdown(done.markdown, done.spans) if e.kind == "table_row"]
    assert [(e.text, e.group, e.row) for e in rows] == [("A: x; B: 1.", "t1", 0), ("A: x; B: 2.", "t1", 1)]


def test_a_list_goes_on_after_a_table_in_it() -> None:
    done = convert("<ol><li>See<table><tr><th>A<th>B<tr><td>1<td>2</table><li>Go</ol>")
    items = [e for e in parse_markdown(done.markdown, done.spans) if e.kind == "list_item"]
    assert [e.group for e in items] == ["l1", "l1"]


def test_spans_larger_than_any_table() -> None:
    html = (
        "<table><tr><th colspan=999999>T<tr>" + "<td rowspan=65535 colspan=999>x" * 300 + "<tr><td>y</table>"
    )
    done = convert(html)
    assert done.markdown.count("x") >= 300 and "y" in done.markdown
    assert len(done.markdown) < 20_000
