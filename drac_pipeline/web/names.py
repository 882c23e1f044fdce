"""What the class names and ids of an element say of its role on a page."""

from __future__ import annotations

import re
from collections.abc import Sequence

from drac_pipeline.web.tree import Node

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SPLIT = re.compile(r"[^a-z0-9]+")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


NAVIGATION = _set(
    """nav navbar navigation subnav sidenav topnav menu menubar submenu megamenu breadcrumb breadcrumbs crumb
    crumbs pagination pager paginator skip skiplink skiplinks toc toolbar topbar sitemap langs languages
    interlanguage navbox navlist catlinks"""
)
_MENU_END = ("menu", "navbar", "nav", "navi", "breadcrumb", "breadcrumbs")
# a name that only looks like one of navigation
_NOT_MENU = re.compile(r"\b(?:navigation-not-searchable|menu-?item)\b")
BREADCRUMB = _set("breadcrumb breadcrumbs crumb crumbs")
LOGO = _set("logo logotype brand branding sitename masthead")
SIDE = _set(
    """sidebar rail related recommended recommendations promo promotion advert adverts advertisement ads
    sponsor sponsored widget teaser newsletter subscribe subscription social share sharing sharethis follow
    outbrain taboola popular trending helpful feedback survey"""
)
LOGIN = _set("login signin signup logon register registration")
SEARCH = _set("search searchbox searchform searchbar")
_FOOTER = re.compile(
    r"(?:(?:site|page|global|main|app|layout|wrapper|bottom|print)[-_]?)?footer(?:[-_]\w+)*|colophon|copyright"
)
_COOKIE = re.compile(
    r"cookie|consent|gdpr|onetrust|cybot|didomi|usercentrics|truste|qc-cmp|cc-(?:window|banner)", re.I
)
_ACCEPT = re.compile(
    r"\b(?:accept|agree|allow|got it|ok|okay|reject|decline|only necessary|akzeptieren|zustimmen|ablehnen"
    r"|accepter|refuser|aceptar|rechazar|accetta|rifiuta|aceitar|akceptuj)",
    re.I,
)
_PERMALINK = _set(
    """headerlink permalink headinglink anchorlink hashlink editsection mw-editsection header-anchor
    heading-anchor anchor-link hash-link footnote-backref mw-cite-backlink"""
)
_OFFSCREEN = _set(
    """sr-only visually-hidden visuallyhidden screen-reader-text screenreader-text screen-reader-only
    element-invisible element-hidden visually-hidden-focusable sr-only-focusable noprint-hidden
    u-hidden-visually a-offscreen"""
)
_GUTTER = _set("gutter linenos lineno linenodiv line-numbers-rows linenumber")
_SKIP = re.compile(
    r"\s*(?:skip|jump) to\b.*|\s*(?:zum inhalt|zur navigation|aller au contenu|ir al contenido|saltar al)\b.*"
    r"|\s*(?:(?:back )?to (?:the )?top|top|nach oben|haut de page)\s*[↑^⬆▲]?\s*|\s*[↑⬆▲]\s*",
    re.I,
)


def classes(node: Node) -> Sequence[str]:
    """Class names in lower case; the list is bounded, since an attribute may be of any length."""
    return (node.get("class") or "")[:600].lower().split()


def words(node: Node) -> set[str]:
    """The words that class and id are made of."""
    text = f"{(node.get('class') or '')[:600]} {(node.get('id') or '')[:200]}"
    text = _NOT_MENU.sub(" ", text)
    return set(_SPLIT.split(_CAMEL.sub(" ", text).lower())) - {""}


def is_menu(of: set[str]) -> bool:
    """Words of class and id that say navigation: `menu`, `mainNav`, `tbmenu`."""
    return bool(of & NAVIGATION) or any(w.endswith(_MENU_END) for w in of)


def is_footer(node: Node) -> bool:
    names = [*classes(node), (node.get("id") or "")[:200].lower()]
    return any(_FOOTER.fullmatch(n) for n in names)


def says_cookie(node: Node) -> bool:
    text = (
        f"{(node.get('class') or '')[:600]} {(node.get('id') or '')[:200]} {(node.get('aria-label') or '')}"
    )
    return bool(_COOKIE.search(text[:1000]))


def is_accept(text: str) -> bool:
    """The text of a button that closes a cookie banner."""
    return len(text) < 60 and bool(_ACCEPT.search(text))


def is_permalink(node: Node) -> bool:
    """A mark beside a heading that links to it, or its `[edit]`."""
    return any(c in _PERMALINK for c in classes(node))


def is_offscreen(node: Node) -> bool:
    """Text for screen readers only, by the usual class names."""
    return any(c in _OFFSCREEN for c in classes(node))


def is_gutter(node: Node) -> bool:
    """Line numbers beside code."""
    return any(c in _GUTTER for c in classes(node))


def is_skip_link(text: str) -> bool:
    return len(text) < 60 and bool(_SKIP.fullmatch(text))
