"""A Markdown source to Markdown of our conventions: tables as sentences, links as text, no images.

It is parsed as CommonMark (with pipe tables, struck text, footnotes and definition lists) and
goes the way of a web page from there, so that both are read alike; nothing is boilerplate.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.front_matter import front_matter_plugin

from drac_pipeline.config import ConvertConfig
from drac_pipeline.model.conversion import Converted, Dropped
from drac_pipeline.web.html import VERSION, convert_tree
from drac_pipeline.web.tags import KNOWN_TAGS
from drac_pipeline.web.tree import decode_page, parse_html

_TICK = re.compile(r"\[([ xX])\]\s+")
_TAG = re.compile(r"</?([A-Za-z][\w-]*)\b[^<>]*>")


def convert_markdown_source(data: bytes, _config: ConvertConfig) -> Converted:
    """A Markdown file. Raises CorruptDocument, EmptyDocument."""
    text, warnings = decode_page(data)
    parser = _parser()
    tokens = parser.parse(text)
    _tick_boxes(tokens)
    front = next((t.content for t in tokens if t.type == "front_matter"), "")
    page = parser.renderer.render(tokens, parser.options, {})
    root, more = parse_html(f"<html><body>{page}</body></html>")
    done = convert_tree(root, f"markdown/{VERSION}", warnings + more, boilerplate=False)
    if front.strip():
        done.report.dropped.insert(0, Dropped(page=0, text=front.strip()[:2000], reason="front matter"))
    return done


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": 100}).enable(["table", "strikethrough"])
    parser.use(front_matter_plugin).use(footnote_plugin, inline=False).use(deflist_plugin)
    for name in ("html_inline", "html_block"):
        parser.add_render_rule(name, _html)
    parser.add_render_rule("front_matter", _nothing)
    parser.add_render_rule("footnote_ref", _footnote_mark)
    parser.add_render_rule("footnote_anchor", _nothing)
    return parser


def _tick_boxes(tokens: list[Token]) -> None:
    """`[ ]` and `[x]` at an item's begin as the signs that a page shows."""
    for item, _, text in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if item.type != "list_item_open" or text.type != "inline" or not text.children:
            continue
        first = text.children[0]
        if first.type == "text" and (box := _TICK.match(first.content)):
            first.content = ("☐ " if box[1] == " " else "☒ ") + first.content[box.end() :]


def _html(_self: Any, tokens: Sequence[Token], at: int, _options: Any, _env: Any) -> str:
    """HTML in the source; what only looks like a tag (`<server-name>`) is text."""
    return _TAG.sub(
        lambda m: m[0] if m[1].lower() in KNOWN_TAGS else html.escape(m[0], quote=False), tokens[at].content
    )


def _footnote_mark(_self: Any, tokens: Sequence[Token], at: int, _options: Any, _env: Any) -> str:
    return f"<sup>{tokens[at].meta['id'] + 1}</sup>"


def _nothing(_self: Any, _tokens: Sequence[Token], _at: int, _options: Any, _env: Any) -> str:
    return ""
