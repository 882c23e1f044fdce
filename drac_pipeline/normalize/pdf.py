"""Open a PDF, see whether it can be read, and say what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from drac_pipeline.errors import CorruptDocument, DocumentError, EncryptedDocument
from drac_pipeline.mupdf import pymupdf

pymupdf.TOOLS.mupdf_display_errors(False)  # they are gathered and reported, not printed
pymupdf.TOOLS.mupdf_display_warnings(False)

_NO_ENCRYPTION = 1  # PDF_ENCRYPT_NONE
UNLOCK = "Remove the password, or add it to normalize.passwords."
REPAIR = "Open it in the program that made it and save it again."


@dataclass(frozen=True, slots=True)
class PdfProbe:
    """Pages of a readable PDF; `password` is the one it needed, None if none."""

    pages: int
    warnings: list[str] = field(default_factory=list)
    password: str | None = None


def probe_pdf(path: Path, passwords: Sequence[str] = ()) -> PdfProbe:
    """What a PDF is like, page contents unread.

    Raises EncryptedDocument if no password opens it, CorruptDocument if it has no
    readable page. One bad page among good ones is a warning.
    """
    try:
        with pymupdf.open(path, filetype="pdf") as doc:
            return _probe(doc, passwords)
    except DocumentError:
        raise
    except Exception as e:
        raise CorruptDocument(f"the PDF cannot be opened ({_first_line(e)})", remedy=REPAIR) from e


def _probe(doc: pymupdf.Document, passwords: Sequence[str]) -> PdfProbe:
    warnings = []
    password = None
    if doc.needs_pass:
        password = next((p for p in passwords if doc.authenticate(p)), None)
        if password is None:
            tried = "none of the configured passwords opens it" if passwords else "a password is needed"
            raise EncryptedDocument(f"the PDF is encrypted: {tried}", remedy=UNLOCK)
        warnings.append("encrypted; opened with a configured password")
    if doc.is_repaired:
        warnings.append("damaged structure, repaired while reading")
    count = doc.page_count
    bad = [n + 1 for n in range(count) if not _loads(doc, n)]
    if not count or len(bad) == count:
        raise CorruptDocument("the PDF has no readable page", remedy=REPAIR)
    if bad:
        warnings.append(f"pages that cannot be loaded: {page_list(bad)}")
    return PdfProbe(count, warnings, password)


def decrypt_pdf(source: Path, target: Path, password: str) -> None:
    """Write `source` to `target` without its encryption."""
    with pymupdf.open(source, filetype="pdf") as doc:
        doc.authenticate(password)
        doc.save(target, encryption=_NO_ENCRYPTION, no_new_id=True)


def page_list(pages: Sequence[int]) -> str:
    """`1, 2, 5` with at most ten numbers."""
    shown = ", ".join(map(str, pages[:10]))
    return f"{shown} and {len(pages) - 10} more" if len(pages) > 10 else shown


def _loads(doc: pymupdf.Document, number: int) -> bool:
    try:
        return not doc.load_page(number).rect.is_empty
    except Exception:
        return False


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0][:200]
