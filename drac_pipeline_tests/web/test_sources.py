"""Markdown sources and plain text to Markdown of our conventions."""

from __future__ import annotations

import pytest

from drac_pipeline.config import ConvertConfig
from drac_pipeline.web import WEB_FORMATS, convert_markdown_source, convert_text, convert_web

MARKDOWN = {
    "setext": ("Title\n=====\n\nSub\n---\n\ntext\n", "# Title\n\n## Sub\n\ntext\n"),
    "closing hashes": ("## A ##\n", "## A\n"),
    "links and images": ('See [here](http://x "t"), ![pic](a.png) <http://y>.\n', "See here, http://y.\n"),
    "pipe table": ("| A | B |\n|---|:-:|\n| 1 \\| 2 | **x**<br>y |\n", "A: 1 | 2; B: x y.\n"),
    "table without header": ("| | |\n|-|-|\n| a | b |\n| c | d |\n", "a: b.\n\nc: d.\n"),
    "HTML table": ("<table><tr><th>K<td>V</table>\n\nafter\n", "K: V.\n\nafter\n"),
    "nested list": ("1. a\n   - b\n   - c\n2. d\n\n   more\n", "1. a\n    - b\n    - c\n2. d\n  more\n"),
    "tasks": ("- [x] done\n- [ ] open\n", "- ☒ done\n- ☐ open\n"),
    "code": ("```sh\nls <x>\n\n# no heading\n```\n", "```sh\nls <x>\n\n# no heading\n```\n"),
    "indented code": ("text\n\n    a = 1\n", "text\n\n```\na = 1\n```\n"),
    "placeholders": ("Log in to <server-name> with `<b>`.\n", "Log in to <server-name> with <b>.\n"),
    "quote": ("> a\n> b\n", "> a b\n"),
    "hard break": ("a  \nb\\\nc\nd\n", "a\nb\nc d\n"),
    "footnote": ("Text[^n].\n\n[^n]: The note.\n", "Text¹.\n\n1. The note.\n"),
    "escapes": ("\\*a\\* &amp; \\# b\n", "*a* & # b\n"),
    "comment": ("a\n\n<!-- page 3 -->\n\nb\n", "a\n\nb\n"),
}


@pytest.mark.parametrize("name", MARKDOWN)
def test_markdown_is_exactly(name: str) -> None:
    source, markdown = MARKDOWN[name]
    assert convert_markdown_source(source.encode(), ConvertConfig()).markdown == markdown


@pytest.mark.parametrize("name", ["setext", "nested list", "code", "quote", "tasks", "hard break"])
def test_markdown_of_ours_stays_as_it_is(name: str) -> None:
    markdown = MARKDOWN[name][1]
    markdown = {"hard break": "a\n\nb\n", "nested list": "1. a\n    - b\n2. d\n"}.get(name, markdown)
    assert convert_markdown_source(markdown.encode(), ConvertConfig()).markdown == markdown


def test_front_matter_is_reported() -> None:
    done = convert_markdown_source(b"---\ntitle: X\nowner: me\n---\n\n# A\n", ConvertConfig())
    assert done.markdown == "# A\n"
    assert [(d.reason, d.text) for d in done.report.dropped] == [("front matter", "title: X\nowner: me")]


WRAPPED = """\
The pump is set up on a level floor, not further than ten metres from
the tank, and is then connected with the two hoses that came with it -
a long one and a short one - before the power is switched on for the
first time.
"""
TEXT = {
    "hard-wrapped lines": (WRAPPED, " ".join(WRAPPED.split()) + "\n"),
    "addresses": ("Acme Ltd.\nMain Street 5\nVienna\n", "Acme Ltd.\nMain Street 5\nVienna\n"),
    "underlined": ("Title\n=====\nText\n\nSub\n---\nText\n", "# Title\n\nText\n\n## Sub\n\nText\n"),
    "between lines": ("=======\n TITLE\n=======\n\nText.\n", "# TITLE\n\nText.\n"),
    "capitals": ("SAFETY NOTES\n\nWear gloves.\n", "# SAFETY NOTES\n\nWear gloves.\n"),
    "shouting at the end": ("Wear gloves.\n\nDO NOT RUN\n", "Wear gloves.\n\nDO NOT RUN\n"),
    "numbered headings": (
        "1. Scope\n\nAll pumps.\n\n2. Steps\n\n2.1 Start\n\nPress on.\n",
        "## 1. Scope\n\nAll pumps.\n\n## 2. Steps\n\n### 2.1 Start\n\nPress on.\n",
    ),
    "numbered list": ("Steps:\n1. Open\n2. Close\n", "Steps:\n\n1. Open\n2. Close\n"),
    "nested list": ("- a\n  more\n  * b\n  * c\n- d\nEnd.\n", "- a\n  more\n    - b\n    - c\n- d\n\nEnd.\n"),
    "full lines in a list": (
        WRAPPED + "\n- a suite with doors and a wardrobe, an amenity kit, plush duvet\n- films\n",
        " ".join(WRAPPED.split())
        + "\n\n- a suite with doors and a wardrobe, an amenity kit, plush duvet\n- films\n",
    ),
    "initials": ("A. Smith wrote this.\nIn 1999.\n", "A. Smith wrote this.\nIn 1999.\n"),
    "letters": ("a) one\nb) two\n", "- a) one\n- b) two\n"),
    "columns": (
        "Name    Qty\nBolt      3\nNut       4\n",
        "```\nName    Qty\nBolt      3\nNut       4\n```\n",
    ),
    "a ruler of dashes": (
        "Parts\n\nName     Qty\n------- ----\nBolt M6    3\nNut       14\n\nEnd.\n",
        "Parts\n\nName: Bolt M6; Qty: 3.\n\nName: Nut; Qty: 14.\n\nEnd.\n",
    ),
    "rows of several lines": (
        "  -----------------\n  Name     Price\n           (EUR)\n  -------- --------\n  Bolt,    3\n"
        "  long\n\n  Nut      4\n  -----------------\n\nEnd.\n",
        "Name: Bolt, long; Price (EUR): 3.\n\nName: Nut; Price (EUR): 4.\n\nEnd.\n",
    ),
    "bars": (
        "| a | b |\n|---|---|\n| 1 | 2 |\nEnd.\n",
        "a: 1; b: 2.\n\nEnd.\n",
    ),
    "a frame around each cell": (
        "+---+----+\n| a | b  |\n+===+====+\n| 1 | 2  |\n|   | x  |\n+---+----+\n| 3 | 4  |\n+---+----+\n",
        "a: 1; b: 2 x.\n\na: 3; b: 4.\n",
    ),
    "output of a database": (
        " id | name\n----+------\n  1 | Bob\n  2 | Ann\n",
        "id: 1; name: Bob.\n\nid: 2; name: Ann.\n",
    ),
    "bars in running text": ("a | b is a choice\nnot a table\n", "a | b is a choice\nnot a table\n"),
    "quoted mail": ("> so you\n> said\n\nYes.\n", "> so you\n> said\n\nYes.\n"),
    "markup is text": ("# no heading\n\n<b>x</b> *y*\n", "\\# no heading\n\n<b>x</b> *y*\n"),
    "line ends": ("a\r\n\r\nb\r\rc\x0cd", "a\n\nb\n\nc\n"),
}


@pytest.mark.parametrize("name", TEXT)
def test_text_is_exactly(name: str) -> None:
    source, markdown = TEXT[name]
    done = convert_text(source.encode(), ConvertConfig()).markdown
    assert done == (markdown if name != "line ends" else "a\n\nb\n\nc\nd\n")


def test_every_format_has_a_converter() -> None:
    assert {"html", "markdown", "text"} <= WEB_FORMATS
    for kind in ("html", "markdown", "text"):
        assert convert_web(b"word", kind, ConvertConfig()).markdown == "word\n"
