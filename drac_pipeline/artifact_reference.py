"""The reference of artifacts and exports as Markdown, made from the schemas.

python -m drac_pipeline.artifact_reference docs/artifacts.md
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
from pydantic import BaseModel

from drac_pipeline.convert.fidelity import FidelityReport, PageFidelity
from drac_pipeline.model import (
    CHUNK_SCHEMA,
    ELEMENT_SCHEMA,
    BlockSpan,
    Box,
    Chunk,
    ChunkPlan,
    ConversionReport,
    Dropped,
    Element,
    PageReport,
    PlannedChunk,
    TableData,
    TableRow,
)
from drac_pipeline.pipeline.stages import STAGES
from drac_pipeline.store import (
    FailureRecord,
    MakeshiftRecord,
    Manifest,
    RetiredRecord,
    SourceRecord,
    StageRecord,
)

INTRO = """# Artifacts

What the store of a home holds, by document, and what exports give. Schemas carry a version: Parquet files in
the metadata `drac_schema`, JSON files in `schema_version`. A newer release reads what an older one wrote; an
older one refuses what it does not know.

    HOME/store/documents/<2 hex>/<slug-hash>/manifest.json
    HOME/store/documents/<2 hex>/<slug-hash>/<stage>/<version>/<files>

A stage's files are written into a folder of their own and count from the moment the manifest names it: a
reader sees the old output or the new one, never half of either. `Store.path(key, stage, name)` finds a file;
nothing outside the project should rely on folder names.
"""

JSON_FILES: tuple[tuple[str, str, tuple[type[Any], ...]], ...] = (
    (
        "manifest.json",
        "The record of a document.",
        (Manifest, SourceRecord, StageRecord, MakeshiftRecord, FailureRecord, RetiredRecord),
    ),
    (
        "markdown/conversion.json",
        "Where each block of `document.md` came from, its tables as data, and the report of the conversion.",
        (BlockSpan, Box, TableData, TableRow, ConversionReport, PageReport, Dropped),
    ),
    (
        "markdown/fidelity.json",
        "The Markdown held against the PDF's own text, page by page.",
        (FidelityReport, PageFidelity),
    ),
    ("chunk_plan/plan.json", "Chunks as lists of ids.", (ChunkPlan, PlannedChunk)),
)


def artifact_reference() -> str:
    """Stages with their files, then every schema with its fields."""
    parts = [INTRO, "## Stages", "", "| stage | made from | |", "|---|---|---|"]
    for s in STAGES:
        parts.append(f"| `{s.name}` | {', '.join(f'`{p}`' for p in s.parents)} | {s.about} |")
    parts += ["", "## Parquet"]
    for schema, told in _tables():
        parts += _parquet(schema, told)
    parts += ["", "## JSON"]
    for name, about, models in JSON_FILES:
        parts += ["", f"### {name}", "", about]
        for model in models:
            parts += ["", *_fields(model)]
    return "\n".join(parts) + "\n"


def _tables() -> list[tuple[pa.Schema, type]]:
    return [(ELEMENT_SCHEMA, Element), (CHUNK_SCHEMA, Chunk)]


def _parquet(schema: pa.Schema, noun: type) -> list[str]:
    about = _column_docs(noun)
    version = (schema.metadata or {}).get(b"drac_schema", b"").decode()
    lines = ["", f"### {version}", "", _summary(noun), "", "| column | type | |", "|---|---|---|"]
    return lines + [f"| `{f.name}` | {_short(str(f.type))} | {about.get(f.name, '')} |" for f in schema]


def _fields(model: type[Any]) -> list[str]:
    lines = [f"**{model.__name__}**: {_summary(model)}", "", "| field | type |", "|---|---|"]
    fields = model.model_fields if issubclass(model, BaseModel) else model.__pydantic_fields__
    for name, field in fields.items():
        kind = field.annotation
        text = kind.__name__ if isinstance(kind, type) and "[" not in str(kind) else str(kind)
        text = re.sub(r"\b(?:typing|drac_pipeline(?:\.\w+)*)\.", "", text).replace("|", "\\|")
        lines.append(f"| `{name}` | {text} |")
    return lines


def _short(kind: str) -> str:
    """Arrow's words without the name of the list's item."""
    return kind.replace("item: ", "").replace("element: ", "")


def _summary(noun: type) -> str:
    """The docstring up to its list of fields."""
    text = noun.__doc__ or ""
    head = re.split(r"\n\s*\n(?=\s+\w[\w…, ]* {2,}\S)", text)[0]
    return " ".join(head.split())


def _column_docs(noun: type) -> dict[str, str]:
    """`name   what it is` lines of a docstring, continued where they are indented further."""
    out: dict[str, str] = {}
    names: list[str] = []
    for line in (noun.__doc__ or "").splitlines():
        m = re.match(r"^ {4}([a-z_]+…?(?:, [a-z_]+)*) {2,}(\S.*)$", line)
        if m:
            names = [n.rstrip("…") for n in m[1].split(", ")]
            out.update(dict.fromkeys(names, m[2]))
        elif names and re.match(r"^ {8,}\S", line):
            for n in names:
                out[n] += " " + line.strip()
        elif line.strip():
            names = []
    if "page_start" in out:
        out.setdefault("page_end", out["page_start"])
    return {k: v.replace("|", "\\|") for k, v in out.items()}


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(artifact_reference(), encoding="utf-8")
