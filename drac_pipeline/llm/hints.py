"""What a service says when it lacks something that is asked of it, and the setting that helps.

Endpoints tell no two stories alike (a status of 400, 413, 422 or 500, words of their own), so the words
are looked at. The patterns are those of Bedrock, vLLM, llama.cpp, Ollama and the hosted ones.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hint:
    """`lacks` is what is missing; `remedy` names the way out. `smaller` says that a smaller request
    may do."""

    lacks: str
    remedy: str
    smaller: bool = False


_HINTS = [
    (
        re.compile(
            r"response_format|json_schema|guided[_ ](?:json|decoding)|outputConfig|structured output", re.I
        ),
        Hint("structured", 'Set structured_output = "no" in [model] of drac.toml.'),
    ),
    (
        re.compile(
            r"context (?:length|window|size)|context_length|maximum (?:input|model) length|max_model_len"
            r"|(?:prompt|input) is too long|too many (?:input )?tokens|exceeds? the (?:available )?context",
            re.I,
        ),
        Hint(
            "context",
            "Input and output together do not fit the model's context: lower output_cap (or conversion_tokens"
            " and planning_tokens) and pages_per_call in [model] of drac.toml, or serve the model with a"
            " longer context.",
            smaller=True,
        ),
    ),
    (
        re.compile(
            r"images? (?:input|content|blocks?|in messages?)?\s*(?:is |are )?(?:not|n't|un)\s?support"
            r"|(?:n[o']t|cannot) (?:support|accept|take|process)\w* (?:the )?(?:image|vision|multi-?modal)"
            r"|at most 0 image|not a multi-?modal|image_url.{0,40}(?:not|invalid|unsupported)"
            r"|mmproj|no vision",
            re.I,
        ),
        Hint(
            "images",
            "The model takes no images, so it can plan but not convert: name one that does in [model] of"
            ' drac.toml, or set mode = "local" in [convert].',
        ),
    ),
    (
        re.compile(
            r"(?:system (?:messages?|prompts?|role)|role.{0,5}system).{0,40}(?:not|n't|un)|n[o']t support"
            r"\w* (?:a |the )?system",
            re.I,
        ),
        Hint("system", 'Set system_prompt = "no" in [model] of drac.toml.'),
    ),
    (
        re.compile(r"stream.{0,40}(?:only|must|required|enable)|(?:only|must|requires?).{0,40}stream", re.I),
        Hint(
            "whole replies",
            "The endpoint answers in streams only; drac asks for whole replies. Use an endpoint or model that"
            " answers with stream = false.",
        ),
    ),
]


def hint_for(cause: str) -> Hint | None:
    """What the words of an error say is lacking, if they do."""
    return next((hint for words, hint in _HINTS if words.search(cause)), None)
