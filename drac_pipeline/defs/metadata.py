"""What a materialization and a check show in the UI."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyarrow.parquet as pq
from dagster import MetadataValue, TableColumn, TableMetadataValue, TableRecord, TableSchema

from drac_pipeline.inspection.serve import document_url
from drac_pipeline.pipeline import StageOutcome
from drac_pipeline.pipeline.artifacts import CHUNKS_FILE, MARKDOWN_FILE, PAGES_FILE
from drac_pipeline.store import ArtifactMissing, Home

PREVIEW_CHARS = 2_000
PREVIEW_ROWS = 6
PREVIEW_CELL = 160
MOST_WORDS = 30

Metadata = dict[str, MetadataValue]


def stage_metadata(home: Home, key: str, outcome: StageOutcome) -> Metadata:
    """Counts, seconds, facts, where the output lies, warnings, a preview of the text, and a link to
    the page that `drac inspect --serve` shows of the document."""
    record = outcome.record
    if record is None:
        return {}
    out: Metadata = {name: _number(value) for name, value in record.counts.items()}
    out["seconds"] = MetadataValue.float(record.seconds)
    out["result"] = MetadataValue.text(outcome.status + (f" ({outcome.reason})" if outcome.reason else ""))
    for name, value in record.facts.items():
        # a number keeps its name, so that it is plotted over time; the list that it counts has one of its own
        out[f"which {name}" if name in out else name] = _value(value)
    out["files"] = MetadataValue.path(home.store.place(key, outcome.stage, record.version))
    if home.config.inspect.url:
        out["inspect"] = MetadataValue.url(document_url(home.config.inspect.url, key))
    if record.warnings:
        out["warnings"] = MetadataValue.md("\n".join(f"- {w}" for w in record.warnings[:50]))
    preview = _PREVIEWS.get(outcome.stage)
    if preview:
        with contextlib.suppress(ArtifactMissing):  # another run may have replaced it since
            out["preview"] = preview(lambda name: home.store.file(key, outcome.stage, record, name))
    return out


def check_metadata(detail: Mapping[str, object]) -> Metadata:
    """The figures a check looked at."""
    return {name: _value(value) for name, value in detail.items()}


def _value(value: object) -> MetadataValue:
    if isinstance(value, bool):
        return MetadataValue.bool(value)
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, dict) or (isinstance(value, list) and any(isinstance(v, dict) for v in value)):
        return MetadataValue.json(value)
    return MetadataValue.text(_words(value) if isinstance(value, list) else str(value))


def _words(values: Sequence[object]) -> str:
    """A list in a line: the UI shows JSON only after a click."""
    more = f" … and {len(values) - MOST_WORDS} more" if len(values) > MOST_WORDS else ""
    return (", ".join(map(str, values[:MOST_WORDS])) or "none") + more


def _number(value: float) -> MetadataValue:
    return MetadataValue.int(value) if isinstance(value, int) else MetadataValue.float(value)


def _markdown_preview(file: Callable[[str], Path]) -> MetadataValue:
    with file(MARKDOWN_FILE).open(encoding="utf-8", newline="") as f:
        text = f.read(PREVIEW_CHARS + 1)
    return MetadataValue.md(
        text if len(text) <= PREVIEW_CHARS else text[:PREVIEW_CHARS].rsplit("\n", 1)[0] + "\n\n…"
    )


def _chunk_preview(file: Callable[[str], Path]) -> TableMetadataValue:
    columns = ["ordinal", "breadcrumb", "text", "page_start", "page_end", "n_chars"]
    rows = pq.read_table(file(CHUNKS_FILE), columns=columns).slice(0, PREVIEW_ROWS).to_pylist()
    return MetadataValue.table(
        records=[TableRecord({n: _cell(row[n]) for n in columns}) for row in rows],
        schema=TableSchema(
            [TableColumn(n, "string" if n in ("breadcrumb", "text") else "int") for n in columns]
        ),
    )


def _page_preview(file: Callable[[str], Path]) -> MetadataValue:
    return MetadataValue.path(str(file(PAGES_FILE)))


def _cell(value: str | int) -> str | int:
    return value if isinstance(value, int) or len(value) <= PREVIEW_CELL else value[:PREVIEW_CELL] + "…"


_PREVIEWS = {"markdown": _markdown_preview, "chunks": _chunk_preview, "page_images": _page_preview}
