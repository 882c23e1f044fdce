"""A pruned page to blocks: one walk over the tree in reading order, without recursion."""

from __future__ import annotations

import re
from dataclasses import dataclass

import lxml.etree as etree

from drac_pipeline.model.conversion import Dropped
from drac_pipeline.web.blocks import Block
from drac_pipeline.web.facts import HEADINGS, Facts
from drac_pipeline.web.inline import Inline, formula
from drac_pipeline.web.lists import ListState, bullet_of, word_list
from drac_pipeline.web.prune import GONE
from drac_pipeline.web.tree import Node


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_BLOCKS = _set(
    """html body div p section article main header footer aside nav address center figure figcaption details
    summary form fieldset legend dl ul ol li menu dir table caption thead tbody tfoot tr td th colgroup hr
    blockquote pre xmp listing plaintext noframes hgroup search dt dd dialog marquee object"""
) | frozenset(HEADINGS)
_CODE = frozenset({"pre", "xmp", "listing", "plaintext"})
_LISTS = frozenset({"ul", "ol", "menu", "dir"})
_LANGUAGE = re.compile(r"(?:language|lang|highlight-source|brush:)-?\s*([A-Za-z0-9+#]{1,20})$")
_SIGNS = re.compile(r"[\s\-–—_=*·•|/\\~.,:;#<>›‹»«+]*")
MAX_NESTED = 8  # tables in tables beyond this are read as running text


@dataclass(slots=True)
class Term:
    """The terms of a definition list that wait for their definition."""

    text: str = ""
    block: Block | None = None
    defining: bool = False


class Flow:
    """Walks one element and collects `blocks`; a table's cells are walked by a Flow of their own."""

    def __init__(self, facts: dict[Node, Facts], dropped: list[Dropped], nesting: int = 0) -> None:
        self.facts = facts
        self.dropped = dropped
        self.nesting = nesting
        self.blocks: list[Block] = []
        self.inline = Inline()
        self.lists = ListState()
        self.heading: tuple[Node, int] | None = None
        self.quotes = 0
        self.terms: list[Term] = []
        self.pictures: list[str] = []

    def run(self, root: Node) -> list[Block]:
        """The blocks of `root`."""
        walk = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
        for event, node in walk:
            if event == "start":
                if not self._start(node):
                    walk.skip_subtree()
            elif event != "end":
                self.inline.text(node.tail)
            else:
                self._end(node)
                if node is not root:
                    self.inline.text(node.tail)
        self.flush()
        return self.blocks

    # ------------------------------------------------------------------ events

    def _start(self, node: Node) -> bool:
        """Begins an element; False where its inside is already dealt with."""
        tag = node.tag
        if not isinstance(tag, str) or tag == GONE:
            return False
        if tag not in _BLOCKS:
            return self._start_inline(node)
        self.flush()
        if tag in HEADINGS:
            self._pending_term()
            self.heading = (node, HEADINGS[tag])
            self.lists.heading()
        elif tag in _LISTS:
            self._pending_term()
            self.lists.open(node)
        elif tag == "li":
            self.lists.item(node)
        elif tag == "blockquote":
            self.quotes += not self.facts[node].headings
        elif tag == "dl":
            self.terms.append(Term())
        elif tag == "dd":
            if self.terms:
                self.terms[-1].defining = True
        elif tag in _CODE:
            self._code(node)
            return False
        elif tag == "table" and self._table(node):
            return False
        elif tag == "p" and (item := word_list(node)):
            level, marker = item
            self.lists.word(level, marker)
        self.inline.text(node.text)
        return True

    def _start_inline(self, node: Node) -> bool:
        tag = node.tag
        if tag == "math":
            self.inline.text(f" {formula(node)} ")
            return False
        if tag == "img":
            if alt := " ".join((node.get("alt") or "").split()):
                self.pictures.append(alt[:300])
        elif tag == "input":
            self._field(node)
        elif tag in ("svg", "rp", "annotation"):
            return False
        self.inline.start(node)
        self.inline.text(node.text)
        return True

    def _end(self, node: Node) -> None:
        tag = node.tag
        if not isinstance(tag, str) or tag == GONE:
            return
        if tag not in _BLOCKS:
            self.inline.end(node)
            return
        if tag in _CODE:
            return
        self.flush()
        if tag in HEADINGS:
            if self.heading is not None and self.heading[0] is node:
                self.heading = None
        elif tag in _LISTS or tag == "li":
            self.lists.close(node)
        elif tag == "blockquote":
            self.quotes -= not self.facts[node].headings
        elif tag == "dl":
            self._pending_term()
            self.terms.pop()
        elif tag == "dd":
            if self.terms:
                self.terms[-1].defining = False
        elif tag == "p":
            self.lists.end_word()

    def _field(self, node: Node) -> None:
        kind = (node.get("type") or "text").lower()
        if kind in ("checkbox", "radio"):
            self.inline.text(("☒" if node.get("checked") is not None else "☐") + " ")
        else:
            self.inline.text(f" {node.get('value') or ''} ")

    # ------------------------------------------------------------------ blocks

    def flush(self) -> None:
        """Ends the running text and makes a block of it."""
        text = self.inline.take()
        for alt in self.pictures:
            self.dropped.append(Dropped(page=0, text=alt, reason="image"))
        self.pictures.clear()
        if not text:
            return
        if _SIGNS.fullmatch(text) and not self.nesting:
            self.dropped.append(Dropped(page=0, text=text[:80], reason="decoration"))
            return
        if self.heading is not None:
            self.blocks.append(Block("heading", " ".join(text.split()), level=self.heading[1]))
            return
        if self.lists.item_open or self.terms:
            text = text.replace("\n\n", "\n")
        term = self.terms[-1] if self.terms and not self.lists.item_open else None
        if term is not None and not term.defining:
            self._term(text)
            return
        if term is not None and term.text:
            text = (
                f"{term.text} {text}" if term.text.endswith((":", "?", "!", ".")) else f"{term.text}: {text}"
            )
            term.text = ""
            term.block = self._paragraph(text)
        elif term is not None and term.block is not None and self.blocks[-1] is term.block:
            term.block.text += "\n" + text
        else:
            self._lines(text)

    def _term(self, text: str) -> None:
        term = self.terms[-1]
        term.text = f"{term.text}, {text}" if term.text else text
        term.block = None

    def _pending_term(self) -> None:
        """Terms without a definition, or whose definition begins with a list or table."""
        if self.terms and self.terms[-1].text:
            text, self.terms[-1].text = self.terms[-1].text, ""
            self._paragraph(text)

    def _lines(self, text: str) -> None:
        """Paragraphs or an item; lines that begin with a bullet are items of a list."""
        if self.lists.item_open:
            self._item(text)
            return
        plain: list[str] = []
        for line in [*text.split("\n"), ""]:
            body = bullet_of(line) if line else None
            if line and body is None:
                plain.append(line)
                continue
            if plain:
                self._paragraph("\n".join(plain))
                plain = []
            if body:
                self.blocks.append(Block("list_item", body, depth=self.lists.depth + 1, marker="-"))

    def _paragraph(self, text: str) -> Block:
        kind = "quote" if self.quotes > 0 and not self.lists.depth else "paragraph"
        block = Block(kind, text, depth=self.lists.depth)
        self.blocks.append(block)
        return block

    def _item(self, text: str) -> None:
        item = self.lists.current
        assert item is not None
        if item.block is None:
            item.block = Block("list_item", text, depth=self.lists.depth, marker=item.marker)
            self.blocks.append(item.block)
        elif self.blocks[-1] is item.block:
            item.block.text += "\n" + text
        else:
            self._paragraph(text)

    def _code(self, node: Node) -> None:
        self._pending_term()
        for br in node.iter("br"):
            br.text = "\n"
        text = "".join(node.itertext(*_code_tags(node))).strip("\n").rstrip()
        text = "\n".join(line.rstrip() for line in text.expandtabs(4).split("\n"))
        if text.strip():
            self.blocks.append(Block("code", text, depth=self.lists.depth, marker=_language(node)))

    def _table(self, node: Node) -> bool:
        """Reads a data table; False for a table that only lays things out."""
        from drac_pipeline.web.tables import is_data_table, read_table

        if self.heading is not None or self.nesting >= MAX_NESTED or not is_data_table(node, self.facts):
            return False
        self._pending_term()
        before, table = read_table(node, self)
        for block in before:
            self.blocks.append(block)
        if table.rows or table.caption:
            self.blocks.append(Block("table", depth=self.lists.depth, table=table))
        return True

    def cell(self, node: Node) -> list[Block]:
        """The blocks of a table cell; a picture that is all of it stands for its text."""
        flow = Flow(self.facts, self.dropped, self.nesting + 1)
        reported = len(self.dropped)
        blocks = flow.run(node)
        if not blocks and (name := _picture_name(node)):
            blocks = [Block("paragraph", name)]
            del self.dropped[reported:]
        return blocks


def _code_tags(node: Node) -> tuple[str, ...]:
    """All tags below but what was taken out."""
    return tuple({n.tag for n in node.iter() if isinstance(n.tag, str)} - {GONE}) or ("pre",)


def _language(node: Node) -> str:
    """The language a code block names in a class, as highlighters write it."""
    near = [node, *node.iterchildren("code"), node.getparent()]
    for n in near:
        if n is None:
            continue
        for name in (n.get("class") or "")[:300].split():
            if m := _LANGUAGE.match(name):
                return m[1].lower()
    return ""


def _picture_name(node: Node) -> str:
    for n in node.iter():
        if isinstance(n.tag, str):
            for name in ("alt", "aria-label", "title"):
                if (value := " ".join((n.get(name) or "").split())) and n is not node:
                    return value[:200]
    return ""
