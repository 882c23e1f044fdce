"""Write an evaluation's files: the page, the figures, a line a question."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from drac_pipeline.evaluate.report.page import render_page

PAGE_FILE = "report.html"
SUMMARY_FILE = "evaluation.json"
QUESTIONS_FILE = "questions.jsonl"


def write_report(folder: Path, summary: dict[str, Any], records: Iterable[dict[str, Any]]) -> Path:
    """Write report.html, evaluation.json and questions.jsonl into `folder`; gives the page's path. Each
    file is replaced as a whole, the page last."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records)
    page = render_page(summary)
    _replace(folder / QUESTIONS_FILE, lines)
    _replace(folder / SUMMARY_FILE, json.dumps(summary, ensure_ascii=False, indent=1) + "\n")
    _replace(folder / PAGE_FILE, page)
    return folder / PAGE_FILE


def _replace(path: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as f:
            f.write(text)
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)  # a temporary file is private
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
