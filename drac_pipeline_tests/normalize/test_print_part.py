"""A large page is printed in part, and read whole."""

from __future__ import annotations

import re

import pytest

from drac_pipeline.normalize.print_part import beginning


def page(body: str) -> str:
    head = "<head><title>t</title><style>p{color:red}</style></head>"
    return f"<!doctype html><html>{head}<body>{body}</body></html>"


def test_a_page_within_the_limit_is_as_it_was() -> None:
    text = page("<p>a</p>")
    assert beginning(text, 1000) == (text, 1.0)
    assert beginning(page("<p>a</p>" * 1000), 0)[1] == 1.0


@pytest.mark.parametrize(
    "body",
    [
        "".join(f"<p>Paragraph number {n} of many.</p>" for n in range(3000)),
        "<div><table>" + "".join(f"<tr><td>c{n}</td><td>x</td></tr>" for n in range(3000)) + "</table></div>",
        "<pre>" + "".join(f"line {n}\n" for n in range(20000)) + "</pre>",
        "<ul>" + "<li>item<b>bold</b> and tail text</li>" * 3000 + "</ul><p>After.</p>",
    ],
    ids=["paragraphs", "table", "one text", "list"],
)
def test_the_beginning_is_what_the_page_begins_with(body: str) -> None:
    cut, share = beginning(page(body), 20_000)
    assert share < 1
    assert len(cut) < 30_000
    assert "color:red" in cut

    def words(markup: str) -> str:
        return re.sub(r"\s+", "", re.sub(r"<[^>]*>", "", markup.split("<body>")[1]))

    got = words(cut)
    assert len(got) > 5_000 or "<td>" in body
    assert words(page(body)).startswith(got)
