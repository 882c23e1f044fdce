"""Hostile pages: bounded, clean, linear."""

from __future__ import annotations

import re

import pytest

from drac_pipeline.config import ConvertConfig
from drac_pipeline.convert.leftovers import find_table_syntax
from drac_pipeline.errors import CorruptDocument, DocumentError, EmptyDocument
from drac_pipeline.parse import parse_markdown
from drac_pipeline.web import convert_html, convert_markdown_source, convert_text

N = 100_000
PAGES = {
    "nested div": "<div>" * N + "inner" + "</div>" * N + "<p>end</p>",
    "nested lists": "<ul><li>" * 5_000 + "inner" + "</ul>" * 5_000 + "<p>end</p>",
    "nested tables": "<table><tr><td>" * 3_000 + "inner" + "</table>" * 3_000 + "<p>end</p>",
    "nested quotes and bold": "<blockquote><b>" * 5_000
    + "inner"
    + "</b></blockquote>" * 5_000
    + "<p>end</p>",
    "huge attribute": f'<p class="{"nav " * N}" style="{"x:y;" * N}">inner</p><p>end</p>',
    "many attributes": "<p " + " ".join(f"a{i}=1" for i in range(20_000)) + ">inner<p>end",
    "many items": "<ul>" + "<li>x" * 30_000 + "</ul><p>inner</p><p>end</p>",
    "many comments": "<p>" + "<!-- x -->a" * 30_000 + "</p><p>inner<p>end",
    "many scripts": "<script></script>a" * 20_000 + "<p>inner<p>end",
    "open brackets": "<p>inner</p>" + "<" * N + "<p>end</p>",
    "unclosed tags": "<p>inner</p>" + "<b><i><a href=x>" * 2_000 + "<p>end</p>",
    "rows": "<table><tr><th>A<th>B" + "<tr><td>1<td>2" * 10_000 + "</table><p>inner</p><p>end</p>",
    "spans": "<table>" + "<tr><td rowspan=9999 colspan=999>x<td>y" * 2_000 + "</table><p>inner<p>end",
    "entities": "<p>" + "&amp;lt;&#x41;&#0;&#xD800;&#1114112;" * 5_000 + "</p><p>inner<p>end",
    "menus": "<div class=menu><a href=/x>x</a></div>" * 20_000 + "<p>inner" + " text" * 200 + "<p>end",
}


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", PAGES)
def test_page_is_read_in_bounded_time(name: str) -> None:
    done = convert_html(PAGES[name].encode(), ConvertConfig())
    assert "inner" in done.markdown
    assert done.markdown.rstrip().endswith("end")
    assert len(done.report.dropped) < 1_000


def test_work_grows_with_the_page_and_not_faster(effort) -> None:
    part = "<h2>T</h2><p>Some text <a href=/x>here</a>.</p><ul><li>a<li>b</ul>"
    part += "<table><tr><th>A<th>B<tr><td>1<td>2</table>"

    def work(n: int) -> int:
        return effort(lambda: convert_html((part * n).encode(), ConvertConfig()))

    work(10)  # what is compiled and cached once
    assert work(800) < 5 * work(200)


def test_entity_bombs_are_not_expanded() -> None:
    bomb = '<?xml version="1.0"?><!DOCTYPE html [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">'
    bomb += '<!ENTITY f SYSTEM "file:///etc/passwd">]><html><body><p>x &b; &f;</p></body></html>'
    markdown = convert_html(bomb.encode(), ConvertConfig()).markdown
    assert "aaaa" not in markdown and "root:" not in markdown and "x" in markdown


def test_nothing_that_runs_or_fetches_is_left() -> None:
    page = """<meta http-equiv=refresh content="0;url=http://evil.example"><base href=http://evil.example>
    <p onclick="steal()">Text</p><script>steal()</script><svg onload="steal()"><text>drawn</text></svg>
    <iframe srcdoc="<script>steal()</script>"></iframe><object data=x>fallback</object>
    <a href="javascript:steal()">go</a>"""
    markdown = convert_html(page.encode(), ConvertConfig()).markdown
    assert "steal" not in markdown and "evil" not in markdown
    assert "Text" in markdown and "go" in markdown


def test_control_characters_and_our_own_comments() -> None:
    page = "<p>a\x01\x08b\u200bc</p><p>&lt;!-- page 7 --&gt;</p><p>" + "text " * 100
    page += "<pre>&lt;!-- page 8 -->\n&lt;!-- drac:error --></pre>"
    done = convert_html(page.encode(), ConvertConfig())
    assert "abc" in done.markdown
    assert all(e.page_start == 0 and e.kind != "error" for e in parse_markdown(done.markdown, done.spans))


@pytest.mark.parametrize("convert", [convert_html, convert_markdown_source, convert_text])
@pytest.mark.parametrize(
    "data", [b"", b" \n\t", bytes(range(32)) * 50, b"<!-- -->", b"\xff\xfe", b"<", b"\x00"]
)
def test_nothing_to_read(convert, data: bytes) -> None:
    try:
        done = convert(data, ConvertConfig())
    except DocumentError as e:
        assert isinstance(e, EmptyDocument | CorruptDocument)
        assert e.remedy
    else:
        assert len(done.markdown) < 100


MARKDOWN = {
    "brackets": "[" * 20_000,
    "emphasis": "*a_ " * 10_000,
    "quotes": ">" * 3_000 + " x",
    "lists": "".join(" " * (2 * n) + "- x\n" for n in range(300)),
    "links": "[a](" * 5_000,
    "fences": "```\n" * 5_001,
    "tags": "<a" * 20_000,
    "backticks": "".join("`" * n + " " for n in range(300)),
    "table": "|a|b|\n|-|-|\n" + "|1|2|\n" * 5_000,
}


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", MARKDOWN)
def test_markdown_is_read_in_bounded_time(name: str) -> None:
    done = convert_markdown_source(MARKDOWN[name].encode(), ConvertConfig())
    assert not find_table_syntax(done.markdown)


TEXTS = {
    "one line": "x " * 500_000,
    "short lines": "a\n" * N,
    "items": "- x\n" * 20_000,
    "deep items": "".join(" " * (n % 300) + "- x\n" for n in range(20_000)),
    "letters": "a. x\n" * 20_000,
    "blanks": " " * 1_000_000 + "x",
    "rules": "=" * 500_000 + "\n" + "- " * 100_000,
    "rulers": "a b\n-- --\n" * 20_000,
    "bars": "a | b\n" * 30_000,
    "bars and text": "a | b\nx\n" * 20_000,
    "columns": "a     b\n" * 50_000,
}


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", TEXTS)
def test_text_is_read_in_bounded_time(name: str) -> None:
    done = convert_text(TEXTS[name].encode(), ConvertConfig())
    letters = re.sub(r"[^a-z0-9]", "", TEXTS[name])
    assert len(re.sub(r"[^a-z0-9]", "", done.markdown)) >= len(letters)
