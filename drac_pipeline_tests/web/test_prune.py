"""Main content only; what is left out is reported, and a plain page loses nothing."""

from __future__ import annotations

import re

import pytest

from drac_pipeline.config import ConvertConfig
from drac_pipeline.model import Converted
from drac_pipeline.web import convert_html

TEXT = "<p>" + "The pump runs dry when the inlet is closed for more than a minute. " * 8 + "</p>"
LINKS = "".join(f'<li><a href="/{n}">{n}</a></li>' for n in ("Home", "Products", "Support", "Contact"))


def convert(html: str) -> Converted:
    return convert_html(html.encode(), ConvertConfig())


def reasons(done: Converted) -> set[str]:
    return {d.reason for d in done.report.dropped}


FURNITURE = {
    "nav": (f"<nav><ul>{LINKS}</ul></nav>", "navigation"),
    "role": (f'<div role="navigation"><ul>{LINKS}</ul></div>', "navigation"),
    "class name": (f'<div class="main-menu"><ul>{LINKS}</ul></div>', "navigation"),
    "list without a name": (f"<ul>{LINKS}</ul>", "navigation"),
    "site header": (f"<header><b>Acme</b><ul>{LINKS}</ul></header>", "navigation"),
    "breadcrumb": ('<p class="breadcrumb"><a href="/">Home</a> › Pumps</p>', "navigation"),
    "skip link": ('<a href="#main">Skip to content</a>', "navigation"),
    "footer": ("<footer>© 2025 Acme <a href=/i>Imprint</a></footer>", "footer"),
    "footer by name": ('<div id="site-footer">© 2025 Acme</div>', "footer"),
    "sidebar": ("<aside><h3>Popular</h3><a href=/x>Pumps</a></aside>", "sidebar"),
    "related": ('<div class="related">Related: <a href=/x>Other pumps</a></div>', "sidebar"),
    "cookie banner": (
        '<div id="cookie-banner">We use cookies. <button>Accept all</button><a href=/c>More</a></div>',
        "cookie banner",
    ),
    "cookie banner without a name": (
        "<div>This site uses cookies. <a href=# role=button>Accept</a></div>",
        "cookie banner",
    ),
    "dialog": ('<div role="dialog">Subscribe now</div>', "dialog"),
    "login": ("<form>User <input name=u> Password <input type=password><button>Go</button></form>", "login"),
    "search": ('<form role="search"><label>Search</label><input></form>', "form"),
    "script": ("<script>var secret = 1</script><style>p{}</style><noscript>Turn on</noscript>", ""),
    "frame": ('<iframe src="https://example.com" title="Map"></iframe>', "embedded"),
    "hidden": ("<p hidden>secret one</p>", "hidden"),
    "hidden by style": ('<p style="color:red; Display : NONE">secret</p>', "hidden"),
    "for screen readers": ('<span class="sr-only">opens in a new tab</span>', "hidden"),
}


PLACES = [(name, place) for name in FURNITURE for place in ("before", "after")]
# a list of links after the text may be part of it
PLACES.remove(("list without a name", "after"))


@pytest.mark.parametrize(("name", "place"), PLACES)
def test_furniture_is_left_out_and_reported(name: str, place: str) -> None:
    html, reason = FURNITURE[name]
    body = html + "<h1>Pump</h1>" + TEXT if place == "before" else "<h1>Pump</h1>" + TEXT + html
    done = convert(f"<body>{body}</body>")
    assert done.markdown == convert("<h1>Pump</h1>" + TEXT).markdown
    assert not reason or reason in reasons(done)


CONTENT = {
    "a title block": "<header><h1>Pump</h1><p>Rev. 3, Quality</p></header>",
    "the only heading in the site header": "<header><h1>Pump</h1></header>",
    "a note": "<article><aside>Mind the voltage.</aside></article>",
    "a section named after its heading": '<section id="navigation"><h2>Navigation</h2><p>Menus</p></section>',
    "links under a heading": f"<h2>Forms</h2><ul>{LINKS}</ul>",
    "links at the end": '<p><a href="/a">Alpha</a> | <a href="/b">Beta</a> | <a href="/c">Gamma</a></p>',
    "the only text": "<footer>Imprint of Acme</footer>",
    "a folded answer": '<div class="accordion-body" style="display:none">The answer</div>',
    "a tab": '<div role="tabpanel" hidden>The second tab</div>',
    "what a button opens": '<button aria-controls="x">More</button><p id="x" hidden>The rest</p>',
    "a text on cookies": "<p>Cookies are small files. You may accept or reject them.</p>",
    "a text on logging in": '<div class="login-help"><h2>Login</h2><p>Enter name and password.</p></div>',
    "a form around the page": "<form><h2>Intranet</h2><p>All text lies in one form here.</p><input></form>",
    "a button as heading": "<h3><button>Question</button></h3><p>Answer</p>",
    "footnotes": '<footer class="footnotes"><ol><li>First note</ol></footer>',
}


@pytest.mark.parametrize("name", CONTENT)
def test_content_stays(name: str) -> None:
    html = CONTENT[name]
    whole = TEXT + html if name not in ("the only text",) else f"<article>{html}</article>"
    done = convert(whole)
    kept = "".join(done.markdown.replace("#", "").replace("-", "").split())
    words = {"a button as heading": "QuestionAnswer", "what a button opens": "Therest"}
    plain = words.get(name) or "".join(_plain(html).split())
    assert plain.replace("-", "") in kept.replace("1.", "")


def _plain(html: str) -> str:
    return re.sub(r"<[^>]*>", "", html)


def test_outside_main() -> None:
    page = f"<div>Weather: rain</div><main><h1>Pump</h1>{TEXT}</main><div>Ticker: up</div>"
    done = convert(page)
    assert "rain" not in done.markdown and "Ticker" not in done.markdown
    assert {d.text for d in done.report.dropped if d.reason == "outside main"} == {
        "Weather: rain",
        "Ticker: up",
    }


def test_title_outside_main_is_kept() -> None:
    assert convert(f"<div><h1>Pump</h1></div><main>{TEXT}</main>").markdown.startswith("# Pump\n")


def test_a_main_without_the_text_is_none() -> None:
    assert "runs dry" in convert(f"<main><p>Hello</p></main>{TEXT}").markdown


def test_menu_column_of_a_layout_table() -> None:
    done = convert(
        f"<table><tr><td><h1>Acme</h1></td></tr><tr><td><ul>{LINKS}</ul></td><td>{TEXT}</td></tr></table>"
    )
    assert "Products" not in done.markdown and "# Acme" in done.markdown


def test_pictures_are_reported_with_their_names() -> None:
    done = convert('<p>Text <img src=x alt="A pump"></p>')
    assert done.markdown == "Text\n"
    assert [(d.text, d.reason) for d in done.report.dropped] == [("A pump", "image")]
