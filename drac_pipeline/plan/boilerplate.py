"""What of a web page's text is the site's and not the page's: lines that every page of a site repeats.

The web converter has left out by then what the page's structure gives away. What remains is told by
its words alone, so the rule is narrow: a short paragraph or list item that is, as a whole, one of the
phrases sites use. A phrase inside a sentence counts for nothing; in doubt the text stays.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from drac_pipeline.model.element import Element, ElementKind
from drac_pipeline.model.plan import LeftOut

MOST_CHARS = 160
MOST_SHARE = 0.5  # of a page's characters; where more looks like boilerplate, it is what the page is about
_SHOWN = 200
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)\s]*\)")
_SIGNS = re.compile(r"[^\w\s©&'’]+")
_SITES = r"(?:facebook|twitter|x|linkedin|xing|whatsapp|reddit|pinterest|instagram|youtube|email|e mail|mail)"
# each is the whole of a line, its signs taken out, in lower case
_PHRASES = [
    (
        "share links",
        [
            rf"(?:share|tweet|pin|post|teilen|partager|compartir)(?: (?:this|it|on|via|auf|sur|en|per|with|by"
            rf"|page|article|post|story|diese|seite|artikel|cette|cet|esta|and|und|et|y|{_SITES}))+",
            rf"(?:follow|find) us(?: (?:on|and|{_SITES}))*",
            rf"{_SITES}(?: (?:and |und |et |y )?{_SITES})+",
            r"(?:copy|copied) link|copy link to clipboard|link kopieren",
            r"(?:print|drucken|imprimer|imprimir)(?: (?:this|page|article|diese|seite|cette|esta|página))+",
        ],
    ),
    (
        "consent notice",
        [
            r"(?:this (?:web ?site|site|page)|we|our (?:web ?site|site)) uses? cookies\b.*"
            r"\b(?:accept|agree|consent|continu\w+|experience|settings)\b.*",
            r"(?:accept|reject|allow|deny)(?: all)? cookies|cookie (?:settings|preferences|policy)",
            r"(?:diese (?:website|webseite|seite)|wir) (?:verwendet|verwenden|nutzt|nutzen) cookies\b.*"
            r"\b(?:akzeptier\w+|einverstanden|zustimm\w+|einstellungen|erlebnis|nutzung)\b.*",
            r"(?:alle )?cookies (?:akzeptieren|ablehnen|zulassen)|cookie einstellungen",
            r"(?:ce site|nous) (?:utilise|utilisons)(?: des)? cookies\b.*\b(?:accept\w+|continu\w+)\b.*",
        ],
    ),
    (
        "newsletter form",
        [
            r"(?:subscribe|sign up)(?: (?:now|here|today|to|for|our|the|free|weekly|monthly))* newsletter",
            r"(?:zum )?newsletter (?:abonnieren|anmelden)|s'abonner à la newsletter",
        ],
    ),
    (
        "navigation",
        [
            r"skip to (?:main )?(?:content|navigation)|zum inhalt springen|aller au contenu(?: principal)?",
            r"(?:back|return|go) to (?:the )?top|nach oben|zurück nach oben|haut de page|volver arriba",
            r"(?:previous|next) (?:page|post|article)|read more|continue reading|weiterlesen|mehr lesen",
            r"was this (?:page|article|information) helpful(?: yes no)?",
        ],
    ),
    (
        "copyright line",
        [
            r"(?:copyright |© ?)+(?:\d{4}(?: \d{4})? ?)?(?:[\w&'’]+ ){0,7}(?:all rights reserved|alle rechte"
            r" vorbehalten|tous droits réservés|todos los derechos reservados)",
            r"all rights reserved|alle rechte vorbehalten|tous droits réservés",
        ],
    ),
]
_RULES = [(reason, re.compile("|".join(f"(?:{p})" for p in phrases))) for reason, phrases in _PHRASES]
_KINDS = {ElementKind.PARAGRAPH, ElementKind.LIST_ITEM}


def may_be_left_out(element: Element) -> bool:
    """Whether an element is of a kind and size that boilerplate has. Rows, code, quotes and the steps of
    a numbered list never are."""
    step = re.match(r"\s*\(?\d+[.)]\s", element.text)
    return element.kind in _KINDS and not step and len(_words(element.text)) <= MOST_CHARS


def find_boilerplate(elements: Sequence[Element]) -> list[LeftOut]:
    """The elements of a web page that are boilerplate, in reading order.

    A heading over nothing else goes with them if it says the same kind of thing itself.
    """
    found = {e.id: why for e in elements if may_be_left_out(e) and (why := _reason(e.text))}
    if sum(len(e.text) for e in elements if e.id in found) > MOST_SHARE * sum(
        len(e.text) for e in elements if e.is_content
    ):
        return []
    others = {a for e in elements if e.is_content and e.id not in found for a in e.ancestors}
    under = {a for e in elements if e.id in found for a in e.ancestors}
    for e in reversed(elements):  # inner headings first
        if e.kind is not ElementKind.HEADING:
            continue
        why = _reason(e.text) if e.id in under and e.id not in others else ""
        if why:
            found[e.id] = why
        else:
            others.update(e.ancestors)
    return [left_out(e, found[e.id]) for e in elements if e.id in found]


def left_out(element: Element, reason: str) -> LeftOut:
    """The record of an element that is left out."""
    return LeftOut(id=element.id, reason=reason, text=" ".join(element.text.split())[:_SHOWN])


def _words(text: str) -> str:
    return " ".join(_SIGNS.sub(" ", _LINK.sub(r"\1", text)).split()).lower()


def _reason(text: str) -> str:
    words = _words(re.sub(r"^\s*(?:[-*+]|\d+[.)])\s", "", text))
    return next((why for why, rule in _RULES if rule.fullmatch(words)), "")
