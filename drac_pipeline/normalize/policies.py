"""What of an office file is printed and what is not, decided and counted before printing; and the
file that is read, in a format whose structure we know."""

from __future__ import annotations

import contextlib
import re
import zipfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from drac_pipeline.config import NormalizeConfig
from drac_pipeline.errors import CorruptDocument, StageTimeout
from drac_pipeline.normalize.comments import strip_comments
from drac_pipeline.normalize.office import OfficeConverter
from drac_pipeline.normalize.ooxml import parse_part
from drac_pipeline.normalize.sheets import prepare_xlsx
from drac_pipeline.normalize.tracked import resolve_docx, resolve_odt

_NOTES = re.compile(r"ppt/notesSlides/notesSlide\d+\.xml")
_SLIDE = re.compile(r"ppt/slides/slide\d+\.xml")
_COMMENT = {"docx": (r"word/comments\.xml", b"<w:comment "), "pptx": (r"ppt/comments/.*\.xml", b"<p:cm ")}


@dataclass(slots=True)
class Prepared:
    """The file to print, and what the policies took in and left out of it. `own` is the file to
    read, of format `own_format`: DOCX, PPTX or XLSX, whatever the document came as."""

    path: Path
    own: Path | None = None
    own_format: str = ""
    taken: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def prepare_office(
    source: Path, kind: str, workdir: Path, config: NormalizeConfig, converter: OfficeConverter
) -> Prepared:
    """Apply the policies of `config` to the office file `source`; new files go below `workdir`.

    Hidden slides, sheets, rows and columns, comments and speaker notes are not printed.
    """
    result = Prepared(source)
    if kind in ("docx", "doc", "rtf", "odt"):
        _prepare_text(result, kind, workdir, config, converter)
    elif kind == "xlsx":
        _prepare_sheets(result, workdir)
    elif kind in ("xls", "xlsb", "ods"):
        with contextlib.suppress(CorruptDocument):  # printing will tell what is wrong
            result.path = converter.convert(source, workdir / "as-xlsx", to="xlsx", retry=False)
            if kind == "xlsb":  # its own cells have no reader here
                result.own, result.own_format = result.path, "xlsx"
            _prepare_sheets(result, workdir)
    elif kind in ("pptx", "ppt", "odp"):
        result.own, result.own_format = source, "pptx"
        if kind != "pptx":
            result.own = _copy_as(source, "pptx", workdir, converter)
        if result.own is not None:
            _count_slides(result, result.own)
            _count_comments(result, result.own, "pptx")
    return result


def _prepare_text(
    result: Prepared, kind: str, workdir: Path, config: NormalizeConfig, converter: OfficeConverter
) -> None:
    """Other formats are looked into as DOCX; that copy is printed only if it held changes."""
    result.own_format = "docx"
    if kind == "odt" and config.tracked_changes == "accepted":
        target = workdir / "resolved.odt"
        _note_changes(result, resolve_odt(result.path, target), config)
        result.path = target if target.exists() else result.path
    result.own = result.path
    if kind != "docx":
        result.own = _copy_as(result.path, "docx", workdir, converter)
    if result.own is None:
        return
    if config.tracked_changes != "shown":
        target = workdir / "resolved.docx"
        _note_changes(result, resolve_docx(result.own, target, config.tracked_changes), config)
        if target.exists():
            result.path = result.own = target
    _count_comments(result, result.own, "docx")
    target = workdir / "printed.docx"
    if result.path == result.own and strip_comments(result.own, target):
        result.path = target


def _copy_as(source: Path, kind: str, workdir: Path, converter: OfficeConverter) -> Path | None:
    """The document in the format that is read; None where LibreOffice cannot write it."""
    try:
        return converter.convert(source, workdir / f"as-{kind}", to=kind, retry=False)
    except (CorruptDocument, StageTimeout):
        return None  # printing will tell what is wrong


def _note_changes(result: Prepared, counts: Counter[str], config: NormalizeConfig) -> None:
    insertions, deletions = counts["insertion"], counts["deletion"]
    if config.tracked_changes == "rejected":
        insertions, deletions = deletions, insertions
    names = ("insertion", "deletion") if config.tracked_changes == "accepted" else ("deletion", "insertion")
    if insertions:
        result.taken.append(_count(insertions, f"tracked {names[0]}"))
    if deletions:
        result.left_out.append(_count(deletions, f"tracked {names[1]}"))


def _prepare_sheets(result: Prepared, workdir: Path) -> None:
    target = workdir / "prepared.xlsx"
    sheets = prepare_xlsx(result.path, target)
    if sheets is None:
        return
    result.path = target
    result.taken += [f"sheet {name}" for name in sheets.shown]
    result.left_out += [f"hidden sheet {name}" for name in sheets.hidden]
    if sheets.hidden_rows:
        result.left_out.append(_count(sheets.hidden_rows, "hidden row"))
    if sheets.hidden_columns:
        result.left_out.append(_count(sheets.hidden_columns, "hidden column"))


def _count_slides(result: Prepared, source: Path) -> None:
    with zipfile.ZipFile(source) as z:
        slides = [n for n in z.namelist() if _SLIDE.fullmatch(n)]
        hidden = sum(bool(re.search(rb'<p:sld\b[^>]*\bshow="(?:0|false)"', z.read(n))) for n in slides)
        notes = sum(_has_text(z.read(n)) for n in z.namelist() if _NOTES.fullmatch(n))
    if hidden:
        result.left_out.append(_count(hidden, "hidden slide"))
    if notes:
        result.left_out.append(f"speaker notes of {_count(notes, 'slide')}")


def _has_text(notes: bytes) -> bool:
    """True if a notes page holds words, its slide number apart."""
    root = parse_part(notes)
    if root is None:
        return False
    fields = {t for f in root.iter("{*}fld") for t in f.iter("{*}t")}
    return any((t.text or "").strip() for t in root.iter("{*}t") if t not in fields)


def _count_comments(result: Prepared, source: Path, kind: str) -> None:
    pattern, mark = _COMMENT[kind]
    with zipfile.ZipFile(source) as z:
        found = sum(z.read(n).count(mark) for n in z.namelist() if re.fullmatch(pattern, n))
    if found:
        result.left_out.append(_count(found, "comment"))


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
