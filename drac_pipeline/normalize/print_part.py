"""The beginning of a page that is too large to be printed whole in good time.

Measured with Chromium 136 on two busy cores: 18 s a megabyte of running text (390 printed pages), 24 s
a megabyte of table cells, and 8 KB of memory an element: a table of 5 MB takes more than 4 GB.
"""

from __future__ import annotations

from typing import Any

import lxml.etree as etree
from lxml import html

_ELEMENT = 25  # characters that an element costs as much as


def beginning(page: str, limit: int) -> tuple[str, float]:
    """As much of the HTML `page` as costs `limit` (characters, an element counted as 25 more), and
    the share that this is: 1.0 for a page that fits, and for a limit of 0."""
    whole = len(page) + _ELEMENT * page.count("<") // 2
    if not limit or whole <= limit:
        return page, 1.0
    parser = html.HTMLParser(huge_tree=True)
    root: Any = html.document_fromstring(page, parser=parser)
    spent = 0
    for element in root.iter():
        text = len(element.text or "") if isinstance(element.tag, str) else 0
        spent += _ELEMENT + text + len(element.tail or "")
        if spent > limit:
            if text > limit:
                element.text = element.text[:limit]
            _cut_behind(element)
            break
    cut = etree.tostring(root, encoding="unicode", method="html", doctype="<!doctype html>")
    return cut, min(limit / whole, 0.99)


def _cut_behind(element: Any) -> None:
    for child in list(element):
        element.remove(child)
    while (parent := element.getparent()) is not None:
        for after in list(element.itersiblings()):
            parent.remove(after)
        element.tail = None
        element = parent
