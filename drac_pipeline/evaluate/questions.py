"""Questions with the facts that answer them, from CSV.

Two forms are read; the header says which:

- `question, supporting_facts` and, where there are, `type`, `organization`, `files`. Facts and files are
  separated by ` || `.
- RAG-Multi-Corpus: `Enterprise Name, Query Type, Query, Supporting Facts`, where the facts are a JSON list
  of `{"filename": …, "text": …}`.

An organization is a folder of the corpus with that name: its questions are asked of its documents alone.
"""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from drac_pipeline.counted import counted
from drac_pipeline.errors import ConfigError
from drac_pipeline.evaluate.words import content_words

SEPARATOR = "||"
_MOST_ERRORS = 10
_FIELD_LIMIT = 10_000_000


@dataclass(frozen=True, slots=True)
class Fact:
    """A statement that an answer needs; `document` is the file it stands in, where the questions say."""

    text: str
    document: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question. `organization` is empty where it is asked of the whole corpus; `documents` are the
    files that answer it, as the questions name them; `row` is its row in the file, the header being 1."""

    text: str
    facts: tuple[Fact, ...]
    type: str = ""
    organization: str = ""
    documents: tuple[str, ...] = ()
    row: int = 0


@dataclass
class QuestionSet:
    """The questions of a file, and what was left out of it and why."""

    questions: list[Question] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Form:
    """Columns by what they hold, and how facts are read from their cell."""

    question: str
    facts: str
    type: str
    organization: str
    files: str
    read: Callable[[str, str], list[Fact]]
    required: tuple[str, ...]


def load_questions(
    path: Path, organizations: Sequence[str] = (), rows_per_organization: int = 0
) -> QuestionSet:
    """The questions of a CSV file (UTF-8; comma, semicolon or tab), with `organizations` only theirs, with
    `rows_per_organization` only so many first rows of each. A question that an organization has twice is
    taken once. Raises ConfigError naming row and column of everything that is wrong.
    """
    rows = _rows(path)
    header = [name.strip() for name in rows[0][1]]
    form = _form(path, header)
    at = {name.casefold(): i for i, name in enumerate(header)}
    out = QuestionSet()
    errors: list[str] = []
    seen: set[tuple[str, str]] = set()
    counts: defaultdict[str, int] = defaultdict(int)
    repeats = over = others = 0
    for number, cells in rows[1:]:
        if not any(c.strip() for c in cells):
            continue
        if len(cells) > len(header):
            errors.append(
                f"row {number}: {counted(len(cells), 'cell')} under"
                f" {counted(len(header), 'column')}; put text that has"
                " separators in it into quotes"
            )
            continue
        row = {name: cells[i].strip() if i < len(cells) else "" for name, i in at.items()}
        organization = row.get(form.organization.casefold(), "")
        counts[organization] += 1
        if organizations and organization not in organizations:
            others += 1
            continue
        if rows_per_organization and counts[organization] > rows_per_organization:
            over += 1
            continue
        try:
            question = _question(row, form, organization, number)
        except ValueError as e:
            errors.append(f"row {number}, column {e}")
            continue
        if (organization, question.text) in seen:
            repeats += 1
            continue
        seen.add((organization, question.text))
        out.questions.append(question)
    if errors:
        more = [f"… and {len(errors) - _MOST_ERRORS} more"] if len(errors) > _MOST_ERRORS else []
        raise ConfigError(f"{path}:\n" + "\n".join(f"  {e}" for e in errors[:_MOST_ERRORS] + more))
    if not out.questions:
        known = ", ".join(sorted(o for o in counts if o)) or "none"
        raise ConfigError(
            f"{path}: no questions"
            + (f" of {', '.join(organizations)}; its organizations: {known}" if organizations else "")
        )
    for n, why in (
        (repeats, "asked before"),
        (over, f"beyond the first {counted(rows_per_organization, 'row')} of their organization"),
        (others, "of other organizations"),
    ):
        if n:
            out.notes.append(f"{counted(n, 'row')} left out: {why}")
    return out


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    """Number and cells of each record, header first."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file of questions") from None
    except UnicodeDecodeError as e:
        raise ConfigError(
            f"{path}: not UTF-8 (byte {e.start}); save it as `CSV UTF-8`, not as plain CSV"
        ) from e
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    csv.field_size_limit(_FIELD_LIMIT)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    out: list[tuple[int, list[str]]] = []
    try:
        for cells in reader:
            out.append((len(out) + 1, cells))
    except csv.Error as e:
        raise ConfigError(f"{path}, row {len(out) + 1} (line {reader.line_num}): not valid CSV: {e}") from e
    if not out:
        raise ConfigError(f"{path}: the file is empty")
    return out


def _form(path: Path, header: Sequence[str]) -> _Form:
    names = {name.casefold() for name in header}
    twice = sorted({n for n in names if n and [h.casefold() for h in header].count(n) > 1})
    if twice:
        raise ConfigError(f"{path}, row 1: column {twice[0]!r} is there twice")
    best = max(_FORMS, key=lambda f: sum(c.casefold() in names for c in f.required))
    missing = [c for c in best.required if c.casefold() not in names]
    if missing:
        forms = "; or ".join(", ".join(f.required) for f in _FORMS)
        raise ConfigError(
            f"{path}, row 1: no column {' and no column '.join(map(repr, missing))}; it has"
            f" {', '.join(map(repr, header))}. Needed are: {forms}"
        )
    return best


def _question(row: dict[str, str], form: _Form, organization: str, number: int) -> Question:
    text = row[form.question.casefold()]
    if not text:
        raise ValueError(f"{form.question!r}: empty")
    cell = row[form.facts.casefold()]
    if not cell:
        raise ValueError(f"{form.facts!r}: empty; a question needs at least one fact")
    files = row.get(form.files.casefold(), "") if form.files else ""
    facts = [f for f in form.read(cell, form.facts) if content_words(f.text)]
    if not facts:
        raise ValueError(f"{form.facts!r}: no fact has a word that counts (see `drac eval --help`)")
    documents = [f.strip() for f in files.split(SEPARATOR)] if files else [f.document for f in facts]
    return Question(
        text,
        tuple(facts),
        row.get(form.type.casefold(), ""),
        organization,
        tuple(dict.fromkeys(d for d in documents if d)),
        number,
    )


def _separated(cell: str, _column: str) -> list[Fact]:
    return [Fact(part.strip()) for part in cell.split(SEPARATOR) if part.strip()]


def _listed(cell: str, column: str) -> list[Fact]:
    try:
        found = json.loads(cell)
    except ValueError as e:
        raise ValueError(f"{column!r}: not valid JSON: {e}") from e
    if not isinstance(found, list):
        raise ValueError(f"{column!r}: not a JSON list but {type(found).__name__}")
    out = []
    for i, item in enumerate(found, 1):
        if not isinstance(item, dict) or not isinstance(item.get("text"), str):
            raise ValueError(f"{column!r}: fact {i} is no object with a `text`")
        out.append(Fact(item["text"], str(item.get("filename") or "")))
    return out


_FORMS = (
    _Form(
        "question",
        "supporting_facts",
        "type",
        "organization",
        "files",
        _separated,
        ("question", "supporting_facts"),
    ),
    _Form(
        "Query",
        "Supporting Facts",
        "Query Type",
        "Enterprise Name",
        "",
        _listed,
        ("Enterprise Name", "Query Type", "Query", "Supporting Facts"),
    ),
)
