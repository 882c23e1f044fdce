"""Pages that a browser has printed: drawn bullets, and borders and shades drawn cell by cell."""

from __future__ import annotations

from pathlib import Path

import pytest

from drac_pipeline.config import ConvertConfig, NormalizeConfig
from drac_pipeline.convert import convert_pdf
from drac_pipeline.model import Converted
from drac_pipeline.normalize.browser import find_browser, print_html
from drac_pipeline_tests.convert.pages import blocks

STYLE = """
body { font: 10.5pt/1.4 'DejaVu Sans', sans-serif }
table { border-collapse: collapse; width: 100%; margin: 12px 0; font-size: 9.5pt }
td, th { padding: 6px 8px; text-align: left; vertical-align: top }
.lined td, .lined th { border-bottom: 1px solid #aaa }
.lined thead th { background: #e3f0ec }
.boxed td, .boxed th { border: 1px solid #888 }
.middle td, .middle th { vertical-align: middle }
.centre { text-align: center !important }
.bare thead th { border-bottom: 2px solid #333 }
.framed { border-collapse: separate; border-spacing: 0; border: solid #000; border-width: 2px 0 }
.framed th { background: #cde }
.striped tr:nth-child(even) td { background: #eee }
"""
LISTS = """
<h1>House rules</h1><p>These rules hold for all three sites of the works.</p>
<h2>Work at home</h2>
<ul><li>Office staff may work at home.
  <ul><li>The days are agreed with the team.</li>
      <li>Each team has one common day:
        <ul><li>Sales: Wednesday</li><li>Stores: Thursday</li></ul></li></ul></li>
  <li>Test staff may use two days a month at home for training, if the head of the test bay and
      the planner of the week have both agreed to it beforehand.</li></ul>
<h2>Raising a concern</h2>
<ol><li>Speak to your manager.</li>
    <li>If that is not possible, use the line:<ul><li>by telephone, or</li><li>by the form.</li></ul></li>
    <li>You receive an answer within three months.</li></ol>
"""
TABLES = """
<h2>Leave</h2><p>The figures are working days for a week of five days.</p>
<table class="lined"><thead>
<tr><th rowspan="2">Country</th><th colspan="3" class="centre">Days of leave by years of service</th>
    <th rowspan="2">Holidays</th><th colspan="2" class="centre">Carry-over</th></tr>
<tr><th>0–2</th><th>3–5</th><th>6 and more</th><th>Days</th><th>Use by</th></tr></thead>
<tr><td>United Kingdom</td><td>25</td><td>27</td><td>30</td><td>8</td><td>5</td><td>31 March</td></tr>
<tr><td>Germany</td><td>29</td><td>30</td><td>31</td><td>10</td><td>8</td><td>31 March</td></tr></table>
<p>What a new colleague asks first is answered here.</p>
<table class="lined"><tr><th>People team</th><td>Ground floor, room 12</td></tr>
<tr><th>Help desk</th><td>Extension 444</td></tr>
<tr><th>First aid</th><td>Next to the test bay</td></tr></table>
<h2>Incidents</h2><p>Each incident has a class, and each class its deadlines.</p>
<table class="boxed"><thead>
<tr><th rowspan="2">Class</th><th rowspan="2">Example</th><th colspan="2">Deadlines</th>
<th rowspan="2">Informed</th></tr>
<tr><th>Answer</th><th>Report</th></tr></thead>
<tr><td>S1</td><td>Loss of secret data, or access to the keys for signing firmware</td><td>15 minutes</td>
    <td>24 hours</td><td rowspan="2" style="width:6em">Managing Director, Finance Director, data protection
    officer</td></tr>
<tr><td>S2</td><td>Stolen laptop</td><td>1 hour</td><td>72 hours</td></tr>
<tr><td>S3</td><td>Phishing mail</td><td>4 hours</td><td>5 days</td><td>Security Lead</td></tr></table>
<h2>Parts</h2><p>Parts are sent on the day of the order.</p>
<table class="bare middle"><thead><tr><th>Part</th><th>What it is for</th><th>Kept</th></tr></thead>
<tr><td>LP-12</td><td>The tubing set of the sample pump with its two clamps, its collar and the bag in
    which the old set is sent back to the works</td><td>stock</td></tr>
<tr><td>LP-17</td><td>Filter</td><td>5 days</td></tr>
<tr><td>LP-18</td><td>Brush</td><td>stock</td></tr></table>
<h2>Sites</h2><p>The works has three sites.</p>
<table class="striped"><thead><tr><th>Site</th><th>Work</th><th>Staff</th></tr></thead><tbody>
<tr><td>Lancaster</td><td>Development, sales</td><td>138</td></tr>
<tr><td>Kiel</td><td>Service</td><td>41</td></tr>
<tr><td>Gdynia</td><td>Sensors</td><td>35</td></tr></tbody></table>
<p>All three are open from Monday to Friday.</p>
<h2>Rates</h2><p>The rates hold for the whole year.</p>
<table class="lined middle"><thead><tr><th>Journey</th><th>Rate</th></tr></thead><tbody>
<tr><td rowspan="2">Journey by car of the company, or by a car that is hired for the day</td>
<td>12.50</td></tr>
<tr><td>14.00</td></tr><tr><td rowspan="2">Journey by rail, second class</td><td>61.00</td></tr>
<tr><td>75.00</td></tr></tbody></table>
<p>Hotels are booked by the office.</p>
<table class="framed striped"><thead><tr><th rowspan="2">Room</th>
<th colspan="2" class="centre">Nights</th></tr>
<tr><th>Week</th><th>Weekend</th></tr></thead><tbody><tr><td>Single</td><td>80</td><td>95</td></tr>
<tr><td>Double</td><td>110</td><td>130</td></tr><tr><td>Suite</td><td>190</td><td>240</td></tr></tbody></table>
<p>Breakfast is included in all of these.</p>
"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Converted:
    target: Path = tmp_path_factory.mktemp("printed") / "rules.pdf"
    head = f"<!doctype html><meta charset=utf-8><title>House rules</title><style>{STYLE}</style>"
    print_html(find_browser(), head + LISTS + TABLES, target, NormalizeConfig())
    return convert_pdf(target, ConvertConfig(ocr=False))


def test_drawn_bullets_are_list_markers(printed: Converted):
    assert printed.markdown.index("- Office staff may work at home.") > 0
    lists = [b for b in blocks(printed) if b.lstrip().startswith(("- ", "1. "))]
    assert lists == [
        "- Office staff may work at home.\n"
        "    - The days are agreed with the team.\n"
        "    - Each team has one common day:\n"
        "        - Sales: Wednesday\n"
        "        - Stores: Thursday\n"
        "- Test staff may use two days a month at home for training, if the head of the test bay and the "
        "planner of the week have both agreed to it beforehand.",
        "1. Speak to your manager.\n"
        "2. If that is not possible, use the line:\n"
        "    - by telephone, or\n"
        "    - by the form.\n"
        "3. You receive an answer within three months.",
    ]


def rows_of(converted: Converted, first: str) -> list[str]:
    found = blocks(converted)
    start = next(i for i, b in enumerate(found) if b.startswith(first))
    rows = []
    for b in found[start:]:
        if ": " not in b or b.startswith("#"):
            break
        rows.append(b)
    return rows


def test_a_header_of_two_lines_over_the_first_rule(printed: Converted):
    days = "Days of leave by years of service"
    assert rows_of(printed, "Country: ") == [
        f"Country: United Kingdom; {days}, 0–2: 25; {days}, 3–5: 27; {days}, 6 and more: 30; Holidays: 8; "
        "Carry-over, Days: 5; Carry-over, Use by: 31 March.",
        f"Country: Germany; {days}, 0–2: 29; {days}, 3–5: 30; {days}, 6 and more: 31; Holidays: 10; "
        "Carry-over, Days: 8; Carry-over, Use by: 31 March.",
    ]


def test_keys_and_values_whose_first_row_stands_over_all_rules(printed: Converted):
    assert rows_of(printed, "People team") == [
        "People team: Ground floor, room 12.",
        "Help desk: Extension 444.",
        "First aid: Next to the test bay.",
    ]


def test_a_cell_over_two_rows_that_wraps_is_whole_in_both(printed: Converted):
    who = "Informed: Managing Director, Finance Director, data protection officer."
    assert rows_of(printed, "Class: ") == [
        "Class: S1; Example: Loss of secret data, or access to the keys for signing firmware; "
        f"Deadlines, Answer: 15 minutes; Deadlines, Report: 24 hours; {who}",
        f"Class: S2; Example: Stolen laptop; Deadlines, Answer: 1 hour; Deadlines, Report: 72 hours; {who}",
        "Class: S3; Example: Phishing mail; Deadlines, Answer: 4 hours; Deadlines, Report: 5 days; "
        "Informed: Security Lead.",
    ]


def test_cells_set_in_the_middle_under_a_header_with_the_only_rule(printed: Converted):
    assert rows_of(printed, "Part: ") == [
        "Part: LP-12; What it is for: The tubing set of the sample pump with its two clamps, its collar and "
        "the bag in which the old set is sent back to the works; Kept: stock.",
        "Part: LP-17; What it is for: Filter; Kept: 5 days.",
        "Part: LP-18; What it is for: Brush; Kept: stock.",
    ]


def test_shades_alone_tell_rows_and_columns(printed: Converted):
    assert rows_of(printed, "Site: ") == [
        "Site: Lancaster; Work: Development, sales; Staff: 138.",
        "Site: Kiel; Work: Service; Staff: 41.",
        "Site: Gdynia; Work: Sensors; Staff: 35.",
    ]


def test_labels_over_two_rows_whose_lines_never_meet_the_values(printed: Converted):
    car = "Journey by car of the company, or by a car that is hired for the day"
    assert rows_of(printed, "Journey: ") == [
        f"Journey: {car}; Rate: 12.50.",
        f"Journey: {car}; Rate: 14.00.",
        "Journey: Journey by rail, second class; Rate: 61.00.",
        "Journey: Journey by rail, second class; Rate: 75.00.",
    ]


def test_a_shade_in_a_tone_of_its_own_is_the_header(printed: Converted):
    assert rows_of(printed, "Room: ") == [
        "Room: Single; Nights, Week: 80; Nights, Weekend: 95.",
        "Room: Double; Nights, Week: 110; Nights, Weekend: 130.",
        "Room: Suite; Nights, Week: 190; Nights, Weekend: 240.",
    ]
