"""From a source document to its PDF: the snapshot, the route, the checks."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from drac_pipeline.config import NormalizeConfig
from drac_pipeline.errors import (
    CorruptDocument,
    DocumentError,
    DocumentTooLarge,
    EmptyDocument,
    EncryptedDocument,
    InternalError,
    MissingTool,
    SourceChanged,
    StageTimeout,
    UnreadableDocument,
    UnsupportedDocument,
    is_disk_full,
)
from drac_pipeline.model import SourceDocument
from drac_pipeline.mupdf import pymupdf
from drac_pipeline.normalize.browser import browser_version, find_browser, print_html
from drac_pipeline.normalize.charset import Decoded, decode_text
from drac_pipeline.normalize.detect import DetectedFormat, flat_kind, sniff
from drac_pipeline.normalize.epub import epub_page
from drac_pipeline.normalize.images import images_to_pdf
from drac_pipeline.normalize.limits import check_zip
from drac_pipeline.normalize.mail import mail_page
from drac_pipeline.normalize.markup import csv_page, csv_rows, markdown_page, text_page
from drac_pipeline.normalize.office import office_converter
from drac_pipeline.normalize.pdf import REPAIR, UNLOCK, decrypt_pdf, probe_pdf
from drac_pipeline.normalize.policies import Prepared, prepare_office
from drac_pipeline.normalize.print_part import beginning
from drac_pipeline.normalize.sanitize import sanitize_html
from drac_pipeline.normalize.stamps import take_out_stamps
from drac_pipeline.normalize.table_book import write_book
from drac_pipeline.normalize.unlock import unlock_office
from drac_pipeline.normalize.unlock_odf import unlock_odf

STAGE = "normalize"

Route = Literal["pass-through", "libreoffice", "image", "browser"]

_SUFFIX = {"jpeg": "jpg", "text": "txt", "markdown": "md", "fodf": "xml"}
_ZIPPED = frozenset({"docx", "pptx", "xlsx", "xlsb", "odt", "ods", "odp", "odg", "epub"})
_ODF = frozenset({"odt", "ods", "odp", "odg"})
_MAX_TEXT_BYTES = 50_000_000
_LONG_TABLE_CELLS = 10_000  # a browser takes half a minute and a gigabyte for five times as many
_REMEDIES = {
    "msg": "Save the message as .eml.",
    "mbox": "Save the messages one by one as .eml.",
    "heic": "Convert the picture to JPEG or PNG.",
    "avif": "Convert the picture to JPEG or PNG.",
    "visio": "Export the drawing as PDF.",
    "svg": "Export the drawing as PDF.",
    "zip": "Unpack it and add the files themselves.",
    "archive": "Unpack it and add the files themselves.",
}


class Normalized(BaseModel):
    """The PDF of a document and how it came about.

    `pdf` lies in the working folder; `format` is what the bytes are; `tool` names the
    program and version that made the PDF; `taken` and `left_out` say what a policy
    let in or kept out. `own` is the file to read where that is not the source itself:
    decrypted, changes resolved, in the format `own_format`. `whole` is False where the PDF
    does not show all of the document. `lack` is kind and cause of what kept it from being made as it
    should be.
    """

    model_config = ConfigDict(frozen=True)

    pdf: Path
    format: str
    route: Route
    pages: int
    tool: str
    warnings: list[str] = Field(default_factory=list)
    taken: list[str] = Field(default_factory=list)
    left_out: list[str] = Field(default_factory=list)
    own: Path | None = None
    own_format: str = ""
    whole: bool = True
    lack: tuple[str, str] | None = None


def normalize(document: SourceDocument, workdir: Path, config: NormalizeConfig) -> Normalized:
    """The PDF of `document`, written below `workdir` (which is the caller's to delete).

    Works on a snapshot of the bytes that the fingerprint stands for. Raises a
    DocumentError that carries the document's key, the cause and a remedy.
    """
    try:
        workdir.mkdir(parents=True, exist_ok=True)
        return _normalize(document, workdir.absolute(), config)
    except DocumentError as e:
        e.key, e.stage = e.key or document.key, e.stage or STAGE
        raise
    except (OSError, MemoryError, RuntimeError, ValueError) as e:
        if is_disk_full(e):
            raise  # told by the pipeline, which knows whose disk it is
        raise InternalError(f"{type(e).__name__}: {e}", key=document.key, stage=STAGE) from e


def normalize_many(
    documents: Iterable[SourceDocument], workdir: Path, config: NormalizeConfig
) -> Iterator[tuple[SourceDocument, Normalized | DocumentError]]:
    """Each document with its PDF or its error, one after the other, sharing one warm LibreOffice.

    Each document gets a numbered folder below `workdir`.
    """
    for number, document in enumerate(documents):
        try:
            yield document, normalize(document, workdir / f"{number:05d}", config)
        except DocumentError as e:
            yield document, e


def _normalize(document: SourceDocument, workdir: Path, config: NormalizeConfig) -> Normalized:
    if document.size > config.max_bytes:
        raise DocumentTooLarge(
            f"{document.size:,} bytes", remedy="Split the document, or raise normalize.max_bytes."
        )
    snapshot = _snapshot(document, workdir)
    found = sniff(snapshot)
    source = snapshot.rename(workdir / f"source.{_SUFFIX.get(found.format, found.format)}")
    target = workdir / "normalized.pdf"
    notes = _name_notes(found)
    if found.format == "empty":
        raise EmptyDocument("the file has no bytes", remedy="Restore it, or remove it from the source.")
    if found.corrupt:
        raise CorruptDocument(f"{found.format}: {found.corrupt}", remedy=REPAIR)
    if found.format in _ZIPPED and not found.encrypted:
        check_zip(source, config.max_unpacked_bytes)
    match found.family:
        case "pdf":
            made = _pass_through(source, target, config)
        case "office":
            made = _by_office(source, found, target, workdir, config)
        case "image":
            warnings = images_to_pdf(source, target, max_pixels=config.max_image_pixels)
            made = _made(target, found.format, "image", f"PyMuPDF {pymupdf.__version__}", warnings)
        case "html" | "text":
            made = _by_browser(source, document, found, target, workdir, config)
        case "mail":
            mail = mail_page(source)
            made = print_page(mail.html, found.format, [], target, workdir, config)
            made = made.model_copy(update={"taken": mail.taken, "left_out": mail.left_out})
        case "book":
            if found.encrypted:
                raise EncryptedDocument("epub: its content is protected", remedy="Use an unprotected copy.")
            html, warnings = epub_page(source)
            made = print_page(html, found.format, warnings, target, workdir, config)
        case _:
            raise UnsupportedDocument(
                f"there is no way from {found.format} to PDF",
                remedy=_REMEDIES.get(found.format, "Export it as PDF, or exclude it from the source."),
            )
    if made.route != "pass-through":
        take_out_stamps(made.pdf)
    return made.model_copy(update={"warnings": [*notes, *made.warnings]})


def _snapshot(document: SourceDocument, workdir: Path) -> Path:
    """A private copy, so that no tool works beside the original or sees it change."""
    target = (
        workdir / f"snapshot{document.path.suffix.lower()[:12] if document.path.suffix.isascii() else ''}"
    )
    digest = hashlib.sha256()
    try:
        with document.path.open("rb") as source, target.open("wb") as copy:
            while block := source.read(1 << 20):
                digest.update(block)
                copy.write(block)
    except FileNotFoundError as e:
        raise SourceChanged("the file has vanished", remedy="Run again.") from e
    except PermissionError as e:
        raise UnreadableDocument(
            "no permission to read the file", remedy="Give read permission, or exclude the file."
        ) from e
    if document.fingerprint and digest.hexdigest() != document.fingerprint:
        raise SourceChanged("the file has changed since it was listed", remedy="Run again.")
    return target


def _name_notes(found: DetectedFormat) -> list[str]:
    return [f"named as {found.declared}, is {found.format}"] if found.wrong_extension else []


def _made(pdf: Path, kind: str, route: Route, tool: str, warnings: list[str]) -> Normalized:
    probe = probe_pdf(pdf)
    return Normalized(
        pdf=pdf, format=kind, route=route, pages=probe.pages, tool=tool, warnings=[*warnings, *probe.warnings]
    )


def _pass_through(source: Path, target: Path, config: NormalizeConfig) -> Normalized:
    probe = probe_pdf(source, config.plain_passwords, take_damaged=config.damaged_pdf == "take")
    if probe.password is None:
        source.rename(target)
    else:
        decrypt_pdf(source, target, probe.password)
    return Normalized(
        pdf=target,
        format="pdf",
        route="pass-through",
        pages=probe.pages,
        tool=f"PyMuPDF {pymupdf.__version__}",
        warnings=probe.warnings,
    )


def _by_office(
    source: Path, found: DetectedFormat, target: Path, workdir: Path, config: NormalizeConfig
) -> Normalized:
    kind = found.format
    converter = office_converter(config)
    out = workdir / "office"
    out.mkdir(exist_ok=True)
    notes: list[str] = []
    locked = found.encrypted
    if locked:
        opened = workdir / "unlocked"
        if _unlock(source, kind, opened, config):
            found = sniff(opened)
            kind, source, locked = found.format, _named(opened, found.format), False
            notes.append("opened with a password")
            if kind in _ZIPPED:
                check_zip(source, config.max_unpacked_bytes)
        elif kind in _ODF:
            raise _locked(kind, config)
    flat = kind == "fodf"
    if flat:  # one XML file for all: its zipped twin goes the way of the others
        kind = flat_kind(source)
        source = converter.convert(source, workdir / "zipped", to=kind)
    prepared = Prepared(source) if locked else prepare_office(source, kind, out, config, converter)
    try:
        # Legacy files that are only protected against changes are encrypted with a
        # password known to all programs, so an encrypted file gets its one try.
        result = converter.convert(prepared.path, out, retry=not locked)
    except (CorruptDocument, StageTimeout) as e:
        if locked:
            raise _locked(kind, config) from e
        raise
    result.replace(target)
    own: Path | None = None
    own_format = prepared.own_format
    if prepared.own is not None:
        own = prepared.own.replace(workdir / f"own.{own_format}")
    elif notes or flat:
        own, own_format = source, kind
    shutil.rmtree(out, ignore_errors=True)
    made = _made(target, kind, "libreoffice", converter.version, notes)
    return made.model_copy(
        update={
            "taken": prepared.taken,
            "left_out": prepared.left_out,
            "own": own,
            "own_format": own_format if own else "",
        }
    )


def _unlock(source: Path, kind: str, opened: Path, config: NormalizeConfig) -> bool:
    if kind in _ODF:
        return unlock_odf(source, opened, config.plain_passwords, config.max_unpacked_bytes)
    return unlock_office(source, opened, config.plain_passwords)


def _locked(kind: str, config: NormalizeConfig) -> EncryptedDocument:
    tried = "none of the configured passwords opens it" if config.passwords else "a password is needed"
    return EncryptedDocument(f"{kind}: {tried}", remedy=UNLOCK)


def _named(path: Path, kind: str) -> Path:
    """LibreOffice goes by the name."""
    return path.rename(path.with_suffix(f".{kind}"))


def _by_browser(
    source: Path,
    document: SourceDocument,
    found: DetectedFormat,
    target: Path,
    workdir: Path,
    config: NormalizeConfig,
) -> Normalized:
    decoded = _decode(source)
    notes = [decoded.warning] if decoded.warning else []
    lack: tuple[str, str] | None = None
    title = Path(document.key).name
    match found.format:
        case "html":
            clean = sanitize_html(decoded.text)
            html = clean.html
            notes += clean.warnings()
        case "markdown":
            html = markdown_page(decoded.text, title)
        case "csv":
            rows = csv_rows(decoded.text)
            if sum(map(len, rows)) >= _LONG_TABLE_CELLS:
                try:
                    return _print_long_table(rows, notes, target, workdir, config)
                except MissingTool as e:
                    lack = (e.kind, e.cause)
            html = csv_page(decoded.text, title)
        case _:
            html = text_page(decoded.text, title)
    made = print_page(html, found.format, notes, target, workdir, config)
    return made.model_copy(update={"lack": lack}) if lack else made


def _print_long_table(
    rows: list[list[str]], notes: list[str], target: Path, workdir: Path, config: NormalizeConfig
) -> Normalized:
    """A table of many cells by LibreOffice, which a browser is slow at. Raises MissingTool without it."""
    converter = office_converter(config)
    book = workdir / "table.xlsx"
    write_book(rows, book)
    converter.convert(book, workdir / "office").replace(target)
    return _made(target, "csv", "libreoffice", converter.version, notes)


def print_page(
    html: str, kind: str, notes: list[str], target: Path, workdir: Path, config: NormalizeConfig
) -> Normalized:
    """Print trusted `html` with the browser, or with LibreOffice where there is none."""
    try:
        browser = find_browser(config.browser_command)
    except MissingTool as missing:
        try:
            converter = office_converter(config)
        except MissingTool:
            raise missing from None
        page = workdir / "page.html"
        page.write_text(html, encoding="utf-8")
        out = workdir / "office"
        converter.convert(page, out, to="pdf:writer_web_pdf_Export").replace(target)
        shutil.rmtree(out, ignore_errors=True)
        notes = [*notes, f"{missing.cause}: printed by LibreOffice, which lays pages out more plainly"]
        made = _made(target, kind, "libreoffice", converter.version, notes)
        return made.model_copy(update={"lack": (missing.kind, missing.cause)})
    html, share = beginning(html, config.print_max_chars)
    if share < 1:
        notes = [*notes, f"only its beginning is printed ({share:.0%}): see normalize.print_max_chars"]
    print_html(browser, html, target, config)
    made = _made(target, kind, "browser", browser_version(browser), notes)
    return made.model_copy(update={"whole": share == 1})


def _decode(source: Path) -> Decoded:
    if source.stat().st_size > _MAX_TEXT_BYTES:
        raise DocumentTooLarge(f"{source.stat().st_size:,} bytes of text", remedy="Split the document.")
    decoded = decode_text(source.read_bytes())
    if decoded is None:
        raise CorruptDocument("the text holds binary data", remedy="Save it again as UTF-8 text.")
    if not decoded.text.strip():
        raise EmptyDocument("the file holds nothing but white space", remedy="Remove it from the source.")
    return decoded
