"""Open a PDF, see whether it can be read, and say what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from drac_pipeline.counted import counted
from drac_pipeline.errors import CorruptDocument, DocumentError, EncryptedDocument
from drac_pipeline.mupdf import pymupdf
from drac_pipeline.normalize.damage import Ending, ending, find_damage

pymupdf.TOOLS.mupdf_display_errors(False)  # they are gathered and reported, not printed
pymupdf.TOOLS.mupdf_display_warnings(False)

_NO_ENCRYPTION = 1  # PDF_ENCRYPT_NONE
UNLOCK = "Remove the password, or add it to normalize.passwords."
REPAIR = "Open it in the program that made it and save it again."
FETCH = "Copy or download it again, or set normalize.damaged_pdf = 'take' to take what is left."


@dataclass(frozen=True, slots=True)
class PdfProbe:
    """Pages of a readable PDF; `password` is the one it needed, None if none."""

    pages: int
    warnings: list[str] = field(default_factory=list)
    password: str | None = None


def probe_pdf(path: Path, passwords: Sequence[str] = (), *, take_damaged: bool = True) -> PdfProbe:
    """What a PDF is like, and whether what its pages need is there.

    Raises EncryptedDocument if no password opens it, CorruptDocument if it has no readable page
    or, unless `take_damaged`, if it was cut off and content is missing. A bad page among good ones
    and a damage that cost nothing are warnings.
    """
    end = ending(path)
    try:
        with pymupdf.open(path, filetype="pdf") as doc:
            return _probe(doc, passwords, end, take_damaged)
    except DocumentError:
        raise
    except Exception as e:
        if end.cut_off:
            raise _nothing_left() from e
        raise CorruptDocument(f"the PDF cannot be opened ({_first_line(e)})", remedy=REPAIR) from e


def _nothing_left() -> CorruptDocument:
    return CorruptDocument(
        "the PDF is cut off: it has no end, and no page of it can be read",
        remedy="Copy or download it again.",
    )


def _probe(doc: pymupdf.Document, passwords: Sequence[str], end: Ending, take_damaged: bool) -> PdfProbe:
    warnings = []
    password = None
    if doc.needs_pass:
        password = next((p for p in passwords if doc.authenticate(p)), None)
        if password is None:
            tried = "none of the configured passwords opens it" if passwords else "a password is needed"
            raise EncryptedDocument(f"the PDF is encrypted: {tried}", remedy=UNLOCK)
        warnings.append("encrypted; opened with a configured password")
    count = doc.page_count
    damage = find_damage(doc, end)
    unloadable = [n for n, kinds in damage.lost.items() if "page" in kinds]
    if not count or len(unloadable) == count:
        if end.cut_off:
            raise _nothing_left()
        raise CorruptDocument("the PDF has no readable page", remedy=REPAIR)
    if end.cut_off and (damage.lost or damage.missing):
        if not take_damaged:
            raise CorruptDocument(
                f"the PDF is cut off; missing of {counted(count, 'page')}: {damage}", remedy=FETCH
            )
        warnings.append(f"cut off; missing of {counted(count, 'page')}: {damage}")
    elif end.cut_off:
        warnings.append("cut off at its very end, where no page's content was")
    elif damage.lost:
        warnings.append(f"damaged; missing of {counted(count, 'page')}: {damage}")
    elif doc.is_repaired:
        warnings.append("damaged structure, repaired while reading; nothing that its pages need is missing")
    return PdfProbe(count, warnings, password)


def decrypt_pdf(source: Path, target: Path, password: str) -> None:
    """Write `source` to `target` without its encryption."""
    with pymupdf.open(source, filetype="pdf") as doc:
        doc.authenticate(password)
        doc.save(target, encryption=_NO_ENCRYPTION, no_new_id=True)


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0][:200]
