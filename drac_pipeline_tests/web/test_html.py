"""HTML to exact Markdown."""

from __future__ import annotations

import pytest

from drac_pipeline.config import ConvertConfig
from drac_pipeline.model import Converted
from drac_pipeline.parse import parse_markdown
from drac_pipeline.web import convert_html


def convert(html: str) -> Converted:
    return convert_html(html.encode(), ConvertConfig())


CASES = {
    "headings and paragraphs": (
        "<h1>One</h1><p>Some <b>bold</b>\n text.</p><h2>Two<br>lines</h2><h3>Three</h3>tail",
        "# One\n\nSome bold text.\n\n## Two lines\n\n### Three\n\ntail\n",
    ),
    "roles": (
        '<div role="heading" aria-level="2">Two</div><div role="list"><div role="listitem">a</div></div>',
        "## Two\n\n- a\n",
    ),
    "line breaks stay": ("<p>Street 1<br>1010 Vienna</p>", "Street 1\n1010 Vienna\n"),
    "two breaks are a paragraph": ("one<br>more<br><br>two<br><br><br>three", "one\nmore\n\ntwo\n\nthree\n"),
    "marks beside headings": (
        "<h2>Title <a href=#t>§</a><button>Copy</button></h2><ol><li>Note <a href=#fnref1>↩2</a></ol>",
        "## Title\n\n1. Note\n",
    ),
    "tabs": (
        """<div role=tablist><button role=tab aria-controls=w>Windows</button></div>
        <div role=tabpanel id=w hidden>Press F1.</div>""",
        "Windows\n\nPress F1.\n",
    ),
    "label and value": ("<p><span>Price:</span><span>5</span></p>", "Price: 5\n"),
    "items of a word processor": (
        """<p class=MsoTitle>Manual</p><p style='mso-list:l0 level1 lfo1'><span style='mso-list:Ignore'>·
        </span>One</p><p style='mso-list:l0 level2 lfo1'><span style='mso-list:Ignore'>1.</span>Two</p>""",
        "# Manual\n\n- One\n    1. Two\n",
    ),
    "raised, lowered, quoted, struck": (
        "<p>H<sub>2</sub>O, 10<sup>-3</sup> m<sup>2</sup>, <q>so</q>, <s>9</s> 8, 4<sup>th</sup></p>",
        "H2O, 10⁻³ m², “so”, ~~9~~ 8, 4th\n",
    ),
    "nested list": (
        "<ol start=3><li>a<ul><li>x<li>y<br>z</ul><li value=7><p>b</p><p>c</p></ol>",
        "3. a\n    - x\n    - y\n      z\n7. b\n  c\n",
    ),
    "lettered list": ("<ol type=a><li>one<li>two</ol>", "- a. one\n- b. two\n"),
    "tick boxes": (
        "<ul><li><input type=checkbox checked>done<li><input type=checkbox>open</ul>",
        "- ☒ done\n- ☐ open\n",
    ),
    "bullets typed by hand": ("<p>Kinds:<br>• a<br>• b</p>", "Kinds:\n\n- a\n- b\n"),
    "boxes that look like a list": (
        "<ul><li><h3>A</h3><p>x</p></li><li><h3>B</h3><ul><li>y</ul></li></ul>",
        "### A\n\nx\n\n### B\n\n- y\n",
    ),
    "code": (
        '<pre><code class="language-python">if x:\n    y  \n</code></pre>',
        "```python\nif x:\n    y\n```\n",
    ),
    "code with a fence in it": ("<pre>```\na\n```</pre>", "````\n```\na\n```\n````\n"),
    "definitions": (
        "<dl><dt>T<dd>one<dd>two<dt>A<dt>B<dd>both<dt>L<dd><ul><li>x</ul></dl>",
        "T: one\ntwo\n\nA, B: both\n\nL\n\n- x\n",
    ),
    "quote": ("<blockquote><p>a<p>b</blockquote><p>c", "> a\n\n> b\n\nc\n"),
    "details": ("<details><summary>More</summary>Text</details>", "More\n\nText\n"),
    "what looks like markup": (
        "<p># no heading</p><p>&gt; no quote</p><p>a &lt;table&gt; is text, ![x] too</p>",
        "\\# no heading\n\n\\> no quote\n\na \\<table> is text, \\![x] too\n",
    ),
    "formula": (
        '<p>So <span style="display:none"><math alttext="{\\displaystyle a^2}"><mi>a</mi></math></span>.</p>',
        "So a^2 .\n",
    ),
    "comments keep what follows": ("<p>a<!-- x -->b<?pi?>c</p>", "abc\n"),
    "neighbouring links": ("<p><a href=1>One</a><a href=2>Two</a></p>", "One Two\n"),
}


@pytest.mark.parametrize("name", CASES)
def test_markdown_is_exactly(name: str) -> None:
    html, markdown = CASES[name]
    assert convert(html).markdown == markdown


@pytest.mark.parametrize("name", CASES)
def test_spans_are_the_blocks_and_the_parser_agrees(name: str) -> None:
    done = convert(CASES[name][0])
    text = done.markdown
    covered = "".join(text[s.start : s.end] for s in done.spans)
    assert "".join(covered.split()) == "".join(text.split())
    kinds = {"heading", "paragraph", "list_item", "code", "quote", "table_row"}
    for element in parse_markdown(text, done.spans):
        span = next(s for s in done.spans if s.start < element.end and s.end > element.start)
        assert span.kind == str(element.kind) and span.kind in kinds


def test_no_pages_and_named_converter() -> None:
    done = convert("<p>x")
    assert done.report.converter.startswith("web/")
    assert done.report.pages == [] and "<!--" not in done.markdown


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252", "utf-8-sig"])
def test_encodings(encoding: str) -> None:
    html = '<meta charset="windows-1252"><p>Größe: 5 €</p>' if encoding == "cp1252" else "<p>Größe: 5 €</p>"
    assert convert_html(html.encode(encoding), ConvertConfig()).markdown == "Größe: 5 €\n"


def test_false_declaration_is_reported() -> None:
    html = '<meta charset="utf-8"><p>' + "Привет, это длинный текст. " * 4
    done = convert_html(html.encode("cp1251"), ConvertConfig())
    assert "Привет, это длинный текст." in done.markdown
    assert "cp1251" in done.report.warnings[0]


def test_xhtml_by_the_rules_of_xml() -> None:
    page = '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head>'
    assert convert(page + "<body><p>caf&eacute; <br/>x</p></body></html>").markdown == "café\nx\n"
