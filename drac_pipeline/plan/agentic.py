"""Agentic chunking, a baseline: the model writes the chunks' texts itself.

For comparison only. It costs the whole text in output tokens, and nothing stops the model from
changing, dropping or inventing words; `fidelity` counts what it did.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from drac_pipeline.config import ModelConfig
from drac_pipeline.llm.ledger import Purpose
from drac_pipeline.llm.prompts import AGENTIC, prompt
from drac_pipeline.llm.protocol import Request, RequestRefused, Stop
from drac_pipeline.llm.service import ModelService
from drac_pipeline.model import Element

STAGE = "agentic"
PART_CHARS = 12_000  # of text in a call: its reply must fit the model's output too
TRIES = 2
_WORD = re.compile(r"[^\W_]+")
_SCHEMA = {
    "type": "object",
    "properties": {"chunks": {"type": "array", "items": {"type": "string"}}},
    "required": ["chunks"],
    "additionalProperties": False,
}


@dataclass
class AgenticChunks:
    """`texts` as the model wrote them. `lost` and `invented` are shares of the words: of the
    document's that are in no chunk, of the chunks' that the document does not have. `failed` says
    which parts gave no chunks; their text is lost."""

    texts: list[str] = field(default_factory=list)
    lost: float = 0.0
    invented: float = 0.0
    failed: list[str] = field(default_factory=list)


def chunk_by_rewriting(
    document: str, elements: Sequence[Element], config: ModelConfig, service: ModelService
) -> AgenticChunks:
    """The chunks of a document in the agentic way. Raises ModelUnavailable or BudgetExceeded."""
    out = AgenticChunks()
    words = prompt(AGENTIC)
    for number, part in enumerate(_parts(elements), 1):
        request = Request(
            (part,),
            system=words.text,
            max_tokens=config.planning_tokens,
            temperature=config.temperature,
            schema=_SCHEMA,
            metadata={"document": document, "stage": STAGE},
        )
        why = ""
        for attempt in range(TRIES):
            try:
                answer = service.call(
                    request, Purpose(document, STAGE, f"part {number}", words.version), str(attempt)
                )
            except RequestRefused as e:
                why = str(e)
                break
            texts = _read(answer.reply.text) if answer.reply.stop is Stop.END else None
            why = "" if texts else f"no chunks in the reply ({answer.reply.stop})"
            service.settle(answer, why or "accepted")
            if texts:
                out.texts += texts
                break
        if why:
            out.failed.append(f"part {number}: {why}")
    source = Counter(w for e in elements for w in _words(e.text))
    made = Counter(w for t in out.texts for w in _words(t))
    out.lost = sum((source - made).values()) / max(sum(source.values()), 1)
    out.invented = sum(n for w, n in made.items() if w not in source) / max(sum(made.values()), 1)
    return out


def _parts(elements: Sequence[Element]) -> list[str]:
    """The document as Markdown, cut between elements."""
    parts: list[list[str]] = [[]]
    size = 0
    for e in elements:
        if e.kind == "error":
            continue
        text = f"{'#' * e.level} {e.text}" if e.kind == "heading" else e.text
        if parts[-1] and size + len(text) > PART_CHARS:
            parts.append([])
            size = 0
        parts[-1].append(text)
        size += len(text) + 2
    return ["\n\n".join(p) for p in parts if p]


def _read(text: str) -> list[str] | None:
    start, end = text.find("{"), text.rfind("}")
    try:
        found = json.loads(text[start : end + 1]).get("chunks")
    except (ValueError, AttributeError):
        return None
    return [t for t in found if isinstance(t, str) and t.strip()] if isinstance(found, list) else None


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
