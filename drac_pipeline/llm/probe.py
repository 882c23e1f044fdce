"""What a model can do, found out with small calls where the settings say `probe`."""

from __future__ import annotations

import json
import struct
import uuid
import zlib
from typing import TYPE_CHECKING

from drac_pipeline.llm.hints import hint_for
from drac_pipeline.llm.ledger import Purpose
from drac_pipeline.llm.protocol import Capabilities, ImagePart, ModelUnavailable, Request, RequestRefused

if TYPE_CHECKING:
    from drac_pipeline.llm.service import ModelService

CAPABILITIES_FILE = "capabilities.json"
_SCHEMA = {
    "type": "object",
    "properties": {"word": {"type": "string"}},
    "required": ["word"],
    "additionalProperties": False,
}


def capabilities(service: ModelService) -> Capabilities:
    """As configured, with the probed ones asked once per provider, model and endpoint."""
    config = service.config
    known = _known(service)
    found = {}
    questions = {
        "images": (config.images, Request(("Answer with one word.", ImagePart(_dot())), max_tokens=256)),
        "system": (config.system_prompt, Request(("Go.",), system="Answer with one word.", max_tokens=256)),
        "structured": (
            config.structured_output,
            Request(("Answer with one word, as JSON.",), schema=_SCHEMA, max_tokens=256),
        ),
    }
    for name, (setting, request) in questions.items():
        if setting != "probe":
            found[name] = setting == "yes"
        elif name in known:
            found[name] = known[name]
        else:
            found[name] = known[name] = _takes(service, name, request)
            _remember(service, known)
    return Capabilities(**found, output_cap=config.output_cap, images_per_call=config.images_per_call)


def _takes(service: ModelService, name: str, request: Request) -> bool:
    try:
        service.send(request, Purpose("", "probe", name, "probe-v1"))
    except RequestRefused:
        return False
    except ModelUnavailable as e:
        hint = hint_for(e.cause)
        if hint is not None and hint.lacks == name:
            return False
        raise
    return True


def _key(service: ModelService) -> str:
    return f"{service.config.provider} {service.model} {service.config.endpoint_url}"


def _known(service: ModelService) -> dict[str, bool]:
    try:
        return json.loads((service.state / CAPABILITIES_FILE).read_bytes()).get(_key(service), {})
    except (FileNotFoundError, ValueError):
        return {}


def _remember(service: ModelService, known: dict[str, bool]) -> None:
    path = service.state / CAPABILITIES_FILE
    try:
        everything = json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError):
        everything = {}
    everything[_key(service)] = known
    temporary = path.with_name(f".{path.name}-{uuid.uuid4().hex[:8]}")
    temporary.write_text(json.dumps(everything, indent=1), encoding="utf-8")
    temporary.replace(path)


def _dot(side: int = 32) -> bytes:
    """A small white PNG."""

    def part(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    rows = zlib.compress(b"".join(b"\0" + b"\xff" * side for _ in range(side)))
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", header) + part(b"IDAT", rows) + part(b"IEND", b"")
