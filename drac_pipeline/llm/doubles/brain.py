"""What a double answers: Markdown for page images, a plan for a list of elements."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass

from drac_pipeline.llm.doubles.faults import PLAN_FAULTS, FaultPlan
from drac_pipeline.llm.doubles.pages import image_hash, read_by_ocr

_PAGE = re.compile(r"Page (\d+)\s*$")
_ELEMENT = re.compile(r"^(?P<id>[hp]\d+) (?P<kind>\w+)", re.M)
_MOST = 6  # elements in a chunk of the double's plans


@dataclass(frozen=True, slots=True)
class Said:
    """A reply: text, stop reason in Bedrock's words, tokens in and out."""

    text: str
    stop: str
    input_tokens: int
    output_tokens: int


class Brain:
    """Knows the pages of `table`; others are read by OCR."""

    def __init__(self, table: Mapping[str, str] | None = None) -> None:
        self.table = dict(table or {})
        self._ocr = threading.Lock()

    def say(self, system: str, parts: list[str | bytes], limit: int, fault: str, faults: FaultPlan) -> Said:
        """The reply to a request of texts and images."""
        images = [p for p in parts if isinstance(p, bytes)]
        words = "\n".join(p for p in parts if isinstance(p, str))
        if images:
            text = self._pages(parts)
        elif "Write the text of each chunk" in system:
            text = json.dumps({"chunks": [p for p in words.split("\n\n") if not p.startswith("#")]})
        elif _ELEMENT.search(words):
            text = plan(words, _style(system + words), fault)
            if "This source is a web page" in system:
                text = without_sharing(words, text)
        else:
            text = "Yes."
        stop = "end_turn"
        if fault and fault not in PLAN_FAULTS:
            text, stop = faults.apply(fault, text, system or words)
        if len(text) // 4 > limit:
            text, stop = text[: limit * 4], "max_tokens"
        return Said(text, stop, (len(system) + len(words)) // 4 + 260 * len(images), max(1, len(text) // 4))

    def _pages(self, parts: list[str | bytes]) -> str:
        out = []
        number = 0
        for part in parts:
            if isinstance(part, str):
                match = _PAGE.search(part)
                number = int(match[1]) if match else number
                continue
            text = self.table.get(image_hash(part))
            if text is None:
                with self._ocr:
                    text = self.table.setdefault(image_hash(part), read_by_ocr(part))
            out.append(f"<!-- page {number} -->\n\n{text}".strip())
        return "\n\n".join(out)


def _style(asked: str) -> str:
    """The format that the prompt asks for."""
    return "lists" if '"chunks"' in asked else "boundaries" if "a slash and" in asked else "ranges"


def without_sharing(words: str, text: str) -> str:
    """The plan with lines of share links left out."""
    out = [m["id"] for m in re.finditer(r"^(?P<id>p\d+) \w+ .*\bShare\b", words, re.M)]
    if not out:
        return text
    if not text.startswith("{"):
        return f"{text} | {', '.join(i[1:] for i in out)}: share links"
    chunks = [[i for i in c if i not in out] for c in json.loads(text)["chunks"]]
    return json.dumps({"chunks": chunks, "left_out": [{"id": i, "reason": "share links"} for i in out]})


def plan(words: str, style: str = "ranges", fault: str = "") -> str:
    """Content under one heading, a few elements a chunk, in the format that was asked for."""
    chunks: list[list[str]] = []
    heading, last = "", None
    for m in _ELEMENT.finditer(words):
        if m["kind"] == "heading":
            heading = m["id"]
            continue
        if not chunks or heading != last or len(chunks[-1]) >= _MOST:
            chunks.append([])
            last = heading
        chunks[-1].append(m["id"])
    if fault == "garbage":
        return "Here are the chunks you asked for!"
    if fault == "missing ids" and chunks:
        chunks = chunks[:-1] or [chunks[0][:1]]
    if fault == "duplicated ids" and len(chunks) > 1:
        chunks[1] = chunks[0][:1] + chunks[1]
    if fault == "unknown ids":
        chunks.append(["p99998", "p99999"])
    if fault == "out of order":
        chunks = chunks[::-1]
    if style == "lists":
        return json.dumps({"chunks": chunks})
    if style == "boundaries":
        last = max(int(m["id"][1:]) for m in _ELEMENT.finditer(words) if m["id"][0] == "p")
        last -= fault == "missing ids"
        return " ".join(c[0][1:] for c in chunks if c) + f" /{last}"
    return " ".join(c[0][1:] if len(c) == 1 else f"{c[0][1:]}-{c[-1][1:]}" for c in chunks if c)
