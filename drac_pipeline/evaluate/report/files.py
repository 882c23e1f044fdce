"""Write an evaluation's files: the page, the figures, a line a question."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from drac_pipeline.evaluate.report.page import render_page
from drac_pipeline.export import write_atomically

PAGE_FILE = "report.html"
SUMMARY_FILE = "evaluation.json"
QUESTIONS_FILE = "questions.jsonl"


def write_report(folder: Path, summary: dict[str, Any], records: Iterable[dict[str, Any]]) -> Path:
    """Write report.html, evaluation.json and questions.jsonl into `folder`; gives the page's path. Each
    file is replaced as a whole, the page last."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records)
    page = render_page(summary)
    write_atomically(folder / QUESTIONS_FILE, lines.encode())
    write_atomically(folder / SUMMARY_FILE, f"{json.dumps(summary, ensure_ascii=False, indent=1)}\n".encode())
    write_atomically(folder / PAGE_FILE, page.encode())
    return folder / PAGE_FILE
