"""A reply cut into pages, and what can be told wrong with it without the PDF."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

from drac_pipeline.convert.markers import PAGE_COMMENT
from drac_pipeline.convert.postprocess import postprocess
from drac_pipeline.llm.protocol import Reply, Stop

_REFUSAL = re.compile(
    r"\b(?:i['’]?m sorry|i am sorry|i apologi[sz]e|i can(?:no|['’])t|i am unable|i['’]m unable|as an ai)\b",
    re.I,
)
_REFUSAL_CHARS = 400  # a refusal is short, a page that quotes one is not
_SAME_LINES = 6
_LOOP_CHARS, _LOOP_RATIO = 2000, 14.0  # text is rarely a tenth of its size when compressed


@dataclass
class Pages:
    """`good` is the Markdown by page, `bad` why a page is not there or not to be used."""

    good: dict[int, str] = field(default_factory=dict)
    bad: dict[int, str] = field(default_factory=dict)


def read_reply(reply: Reply, asked: Sequence[int], instructions: Sequence[str]) -> Pages:
    """The pages of a reply to a request for the pages `asked`, in order.

    `instructions` are lines of the prompt, which no page may contain.
    """
    if reply.stop in (Stop.FILTERED, Stop.MALFORMED, Stop.CONTEXT):
        return Pages(bad=dict.fromkeys(asked, str(reply.stop)))
    if any(line in reply.text for line in instructions):
        return Pages(bad=dict.fromkeys(asked, "the reply repeats its instructions"))
    parts = PAGE_COMMENT.split(postprocess(reply.text))
    numbers = [int(n) for n in parts[1::2]]
    texts = [t.strip() for t in parts[2::2]]
    before = parts[0].strip()
    if not numbers and _refuses(before):
        return Pages(bad=dict.fromkeys(asked, "refused"))
    if not numbers and len(asked) == 1 and before:
        numbers, texts = [asked[0]], [before]  # one page needs no comment to be known
    if numbers != sorted(set(numbers)):
        return Pages(bad=dict.fromkeys(asked, "pages out of order or twice"))
    out = Pages()
    for number, text in zip(numbers, texts, strict=True):
        if number in asked:
            wrong = _wrong(text)
            if wrong:
                out.bad[number] = wrong
            else:
                out.good[number] = text
    if reply.stop is Stop.LENGTH and numbers:
        # the page that was being written is not whole, and none follows it
        out.good.pop(numbers[-1], None)
        out.bad[numbers[-1]] = "truncated"
    for number in asked:
        if number not in out.good:
            out.bad.setdefault(number, "truncated" if reply.stop is Stop.LENGTH else "page left out")
    return out


def _wrong(text: str) -> str:
    if _refuses(text):
        return "refused"
    lines = [line.strip() for line in text.splitlines() if len(line.strip()) > 10]
    if any(sum(1 for _ in same) >= _SAME_LINES for _, same in groupby(lines)):
        return "looping"
    data = text.encode()
    if len(data) > _LOOP_CHARS and len(data) > _LOOP_RATIO * len(zlib.compress(data)):
        return "looping"
    return ""


def _refuses(text: str) -> bool:
    return len(text) < _REFUSAL_CHARS and bool(_REFUSAL.search(text))
