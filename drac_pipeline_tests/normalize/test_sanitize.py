"""Sanitized HTML keeps the words and loses everything that could act."""

from __future__ import annotations

import re

import pytest

from drac_pipeline.normalize.sanitize import POLICY, sanitize_html

URL = "http://evil.example"


def body(html: str) -> str:
    return re.search(r"<body[^>]*>(.*)</body>", sanitize_html(html).html, re.S).group(1).strip()  # pyright: ignore


@pytest.mark.parametrize(
    "html",
    [
        f'<img src="{URL}/a.png">',
        f'<p style="background:url({URL})">x</p>',
        f'<p style="background:u\\72l({URL})">x</p>',
        f'<p style="background:u/**/rl({URL})">x</p>',
        f"<style>@import '{URL}'; p{{content:image-set('{URL}' 1x)}}</style>x",
        f'<link rel=stylesheet href="{URL}">x',
        f'<base href="{URL}">x',
        f'<meta http-equiv=refresh content="0;url={URL}">x',
        f'<iframe src="{URL}">x</iframe>',
        f'<object data="{URL}">x</object>',
        f'<embed src="{URL}">x',
        f'<video src="{URL}" poster="{URL}"></video>x',
        f'<svg><image xlink:href="{URL}"/><use href="{URL}#a"/></svg>x',
        f'<form action="{URL}"><button formaction="{URL}">x</button></form>',
        f'<body background="{URL}">x',
        f'<table background="{URL}"><tr><td>x</td></tr></table>',
        f'<img srcset="{URL} 2x" src="data:image/png;base64,AA==">',
        f'<a ping="{URL}" href="#a">x</a>',
    ],
)
def test_no_address_of_a_resource_is_left(html: str) -> None:
    assert "evil.example" not in sanitize_html(html).html


@pytest.mark.parametrize(
    "html",
    [
        "<script>alert(1)</script>",
        '<p onclick="alert(1)">x</p>',
        '<a href="javascript:alert(1)">x</a>',
        '<a href=" java\nscript:alert(1)">x</a>',
        '<img src="data:image/svg+xml,<svg onload=alert(1)>">',
        '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
        "<svg><script>alert(1)</script></svg>",
        "<style></style><script>alert(1)</script>",
        "<math><annotation-xml><script>alert(1)</script></annotation-xml></math>",
    ],
)
def test_no_script_is_left(html: str) -> None:
    assert "alert" not in sanitize_html(html).html


def test_what_follows_an_element_without_content_stays() -> None:
    html = "<embed src=a><p>one</p><picture><source srcset=b><img src=c alt=two></picture><track><p>three"
    text = re.sub(r"<[^>]+>", " ", body(html))
    assert text.split() == ["one", "two", "three"]


def test_pictures_in_the_file_stay_and_others_leave_their_text() -> None:
    html = '<p>a<img src="data:image/png;base64,AAAA">b<img src="x.png" alt="a pump">c</p>'
    clean = sanitize_html(html)
    assert 'src="data:image/png;base64,AAAA"' in clean.html
    assert "a pump" in clean.html
    assert clean.warnings() == ["left out: 1 pictures that are not in the file"]


def test_links_and_structure_stay() -> None:
    html = '<h1 id="t">T</h1><ul><li>x</li></ul><a href="https://example.org/">y</a><td colspan=2>'
    assert 'href="https://example.org/"' in body(html)
    assert "<li>x</li>" in body(html)


@pytest.mark.parametrize(
    "html", ["", "   ", "<!-- only a comment -->", "<?xml version='1.0'?>", "\x00\x01", "<html>"]
)
def test_next_to_nothing_is_still_a_page(html: str) -> None:
    assert POLICY in sanitize_html(html).html


def test_deep_nesting_is_survived_or_reported() -> None:
    assert "bottom" in sanitize_html("<div>" * 1500 + "bottom").html
    clean = sanitize_html("<div>" * 5000 + "bottom")
    assert "bottom" in clean.html or any("nested too deep" in w for w in clean.warnings())


def test_the_policy_stands_before_all_else() -> None:
    html = sanitize_html("<html><head><title>x</title></head><body>y").html
    assert html.index("Content-Security-Policy") < html.index("<title>")
