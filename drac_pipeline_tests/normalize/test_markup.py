"""Plain text, CSV and Markdown as HTML: structure right, nothing lost, nothing trusted."""

from __future__ import annotations

import re

import pytest

from drac_pipeline.normalize.markup import csv_page, markdown_page, text_page


def body(page: str) -> str:
    inner = page.rpartition("</style>")[2]
    return re.sub(r"\s*\n\s*", "", inner.removesuffix("</body></html>"))


def markdown(text: str) -> str:
    return body(markdown_page(text, "t"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# One\n## Two ##\nText", "<h1>One</h1><h2>Two</h2><p>Text</p>"),
        ("Title\n=====\nSub\n---\n", "<h1>Title</h1><h2>Sub</h2>"),
        ("a\nb\n\nc", "<p>a b</p><p>c</p>"),
        ("- a\n- b", "<ul><li>a</li><li>b</li></ul>"),
        ("3. a\n4. b", '<ol start="3"><li>a</li><li>b</li></ol>'),
        ("- a\n  - b\n  - c\n- d", "<ul><li>a<ul><li>b</li><li>c</li></ul></li><li>d</li></ul>"),
        ("1. a\n\n   more\n2. b", '<ol start="1"><li>a<p>more</p></li><li>b</li></ol>'),
        ("- a\n\nb", "<ul><li>a</li></ul><p>b</p>"),
        ("- a\n\n1. b", '<ul><li>a</li></ul><ol start="1"><li>b</li></ol>'),
        ("> a\n> b", "<blockquote><p>a b</p></blockquote>"),
        ("```py\n# no *title*\n```\nx", "<pre># no *title*</pre><p>x</p>"),
        ("~~~\nopen to the end", "<pre>open to the end</pre>"),
        ("***", "<hr>"),
        (
            "| A | B |\n|---|:-:|\n| 1 | x\\|y |\n| 2 |",
            "<table><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><td>1</td><td>x|y</td></tr>"
            "<tr><td>2</td><td></td></tr></tbody></table>",
        ),
        (
            "**b** and *i* and `c<d` and ~~s~~",
            "<p><b>b</b> and <i>i</i> and <code>c&lt;d</code> and <s>s</s></p>",
        ),
        ("snake_case_name 2*3*4 \\*x\\*", "<p>snake_case_name 2*3*4 *x*</p>"),
        ("[text](http://x.example) ![alt](y.png)", "<p>text alt</p>"),
        ("<script>alert(1)</script> & <b>", "<p>&lt;script&gt;alert(1)&lt;/script&gt; &amp; &lt;b&gt;</p>"),
    ],
)
def test_markdown(text: str, expected: str) -> None:
    assert markdown(text) == expected


def test_csv_delimiters_quotes_and_header() -> None:
    for text in ('a;b\n"x;y";2\n', 'a\tb\n"x;y"\t2', 'a,b\n"x;y",2'):
        page = body(csv_page(text, "t"))
        assert "<th>a</th><th>b</th>" in page
        assert "<td>x;y</td><td>2</td>" in page
    assert "<th>" not in body(csv_page("1,2\n3,4", "t"))
    assert "<td>&lt;b&gt;</td>" in body(csv_page("a,b\n<b>,2", "t"))


def test_text_keeps_line_breaks_and_is_not_markup() -> None:
    page = text_page("one\n  two\n\n<three>\r\n\r\nfour\ffive", "t").rpartition("</style>")[2]
    assert re.findall(r">([^<]+)<", page) == ["one\n  two", "&lt;three&gt;", "four", "five"]
