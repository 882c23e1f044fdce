"""Per page: is there anything to read, can the text layer be believed, else OCR.

| the page                                             | what becomes of it |
|---|---|
| no ink, no text                                      | blank |
| text that looks right                                | text layer |
| text that looks wrong, or is invisible over an image | kept if the image says the same, else OCR |
| ink and no text                                      | OCR |
| a picture covers most of it, with hardly any text    | OCR, if that finds more |
| a large picture on it holds sentences or a table     | they join the text; labels are left, with a warning |
| a script that the models do not read             | an error; single lines are left out with a warning |
| OCR finds nothing: a photograph or a few shapes      | nothing to read: a warning |
| OCR finds nothing, and the ink looks like writing    | an error, and a marker in the Markdown |

Models and image code are imported by the pages that need them, not by every document.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from drac_pipeline.config import ConvertConfig
from drac_pipeline.convert.local.text_layer import PageText
from drac_pipeline.convert.ocr.trust import judge_text
from drac_pipeline.counted import counted
from drac_pipeline.model.conversion import PageReport
from drac_pipeline.mupdf import pymupdf

log = logging.getLogger(__name__)

OCR_OFF = "set convert.ocr = true to read it"
_PICTURE, _PAGE_SCAN = 0.05, 0.5  # shares of the page that an image covers
_FEW_CHARS = 400  # a page of print has more
_PHOTO = 0.05
_WRITING = 10  # marks of a letter's size from which ink looks like writing
_DOUBTFUL = 0.8
_VIETNAMESE = 0.5
SCRIPTS = "Latin, Chinese and Japanese"  # of the models in rapidocr's wheel
_OTHER_MODELS = "set convert.ocr_models to a folder with models for it"


@dataclass(slots=True)
class Read:
    """A page to go on with, if any, and its report."""

    page: PageText | None
    report: PageReport


def read_with_ocr(page: pymupdf.Page, text: PageText, config: ConvertConfig) -> Read:
    """Decide how a page is read, given its text layer, and read it."""
    number = text.page
    if not text.segments and not any(s.segments for s in text.side):
        from drac_pipeline.convert.ocr.raster import ink

        if ink(page).blank:
            return Read(None, PageReport(page=number, reader="none", reason="no ink on the page", blank=True))
        return _scan(page, None, "no text layer", config)
    verdict = judge_text(text)
    report = PageReport(page=number, reader="text layer", reason="the page has a text layer")
    if not verdict.suspect:
        return _pictures(page, text, report, config)
    if not config.ocr:
        report.confidence = 0.3
        report.warnings.append(f"{verdict.suspect}, and OCR is off: {OCR_OFF}")
        if verdict.unusable:
            report.error = f"{verdict.suspect}, and OCR is off: {OCR_OFF}"
            return Read(None, report)
        return Read(text, report)
    if not verdict.unusable:
        from drac_pipeline.convert.ocr.agreement import AGREES, agreement
        from drac_pipeline.convert.ocr.engine import get_engine

        share = agreement(get_engine(config.ocr_models), page, text, config)
        if share >= AGREES:
            report.reason = f"{verdict.suspect}, but agrees with the page's image"
            report.confidence = round(share, 2)
            return _pictures(page, text, report, config)
    return _scan(page, text, verdict.suspect, config)


def _scan(page: pymupdf.Page, text: PageText | None, reason: str, config: ConvertConfig) -> Read:
    """Read a page by OCR; `text` is the text layer that was not believed."""
    number = (page.number or 0) + 1
    if not config.ocr:
        error = f"the page has ink but no text, and OCR is off: {OCR_OFF}"
        return Read(
            None,
            PageReport(
                page=number, reader="none", reason=f"{reason}, and OCR is off", confidence=0.0, error=error
            ),
        )
    try:
        from drac_pipeline.convert.ocr.engine import get_engine
        from drac_pipeline.convert.ocr.scan import read_scan

        scan = read_scan(get_engine(config.ocr_models), page, number, config)
    except ImportError as e:
        error = f"the page needs OCR, and that is not installed ({e}): pip install rapidocr onnxruntime"
        return Read(None, PageReport(page=number, reader="none", reason=reason, confidence=0.0, error=error))
    log.info(
        "page %d read by OCR: %d lines in %.1f s, confidence %.2f",
        number,
        len(scan.page.segments),
        scan.seconds,
        scan.confidence,
    )
    if scan.turned:
        reason += f"; {scan.turned}"
    report = PageReport(page=number, reader="ocr", reason=reason, confidence=round(scan.confidence, 3))
    if scan.unsure:
        report.warnings.append(
            f"{len(scan.unsure)} of {counted(scan.found, 'line')}"
            f" {'was' if len(scan.unsure) == 1 else 'were'} read too unsurely to be kept"
            f" (convert.ocr_min_confidence = {config.ocr_min_confidence})"
        )
    if scan.foreign and scan.readable:
        report.confidence, report.warnings = 0.0, []
        known = "" if config.ocr_models else f", which read {SCRIPTS} print"
        report.error = f"script not read by the OCR models{known}: {_OTHER_MODELS}"
        return Read(None, report)
    if scan.unknown:
        report.warnings.append(
            f"{len(scan.unknown)} of {counted(scan.found, 'line')}"
            f" {'is' if len(scan.unknown) == 1 else 'are'} in a script or hand not read by the OCR models:"
            f" left out ({_OTHER_MODELS})"
        )
    if scan.accents_lost and not config.ocr_models:
        report.confidence = min(report.confidence, _VIETNAMESE)
        report.warnings.append(
            f"Vietnamese: letters with two marks are not read by the OCR models ({_OTHER_MODELS})"
        )
    if scan.readable:
        if scan.confidence < _DOUBTFUL:
            report.warnings.append(f"the page is hard to read: confidence {scan.confidence:.2f}")
        return Read(scan.page, report)
    return _nothing_found(page, text, report, scan.found)


def _nothing_found(page: pymupdf.Page, text: PageText | None, report: PageReport, found: int) -> Read:
    """OCR gave no text: a picture may be without words, writing may not."""
    from drac_pipeline.convert.ocr.raster import ink

    marks = ink(page)
    if marks.blank:
        report.blank, report.warnings = True, []
        report.reader, report.reason, report.confidence = "none", "no ink on the page", 1.0
        return Read(None, report)
    photo = marks.photo > _PHOTO
    if text is None and (photo or (marks.marks < _WRITING and not found)):
        report.confidence = 1.0
        report.warnings = ["the page shows a picture without readable text: nothing was taken from it"]
        return Read(None, report)
    report.confidence = 0.0
    report.error = (
        "the page has ink but no text that could be read: handwriting, too faint a scan, or print in a"
        f" script not read by the OCR models ({_OTHER_MODELS})"
    )
    return Read(None, report)


def _pictures(page: pymupdf.Page, text: PageText, report: PageReport, config: ConvertConfig) -> Read:
    """Look for text in large images on a page that has a text layer."""
    boxes = _images(page)
    if not boxes:
        return Read(text, report)
    area = max(page.rect.width * page.rect.height, 1e-6)
    covered = sum(b.width * b.height for b in boxes) / area
    if not config.ocr:
        report.warnings.append(
            f"images cover {min(covered, 1.0):.0%} of the page; text in them is not read: {OCR_OFF}"
        )
        return Read(text, report)
    try:
        from drac_pipeline.convert.ocr.engine import get_engine
        from drac_pipeline.convert.ocr.pictures import take_in, unread_lines

        engine = get_engine(config.ocr_models)
    except ImportError:
        report.warnings.append("text in images was not read: OCR is not installed")
        return Read(text, report)
    seen = unread_lines(engine, page, text, boxes, config)
    if sum(seen) < 2:
        return Read(text, report)
    if covered >= _PAGE_SCAN and text.n_chars < _FEW_CHARS and sum(seen) >= 3:
        scanned = _scan(page, text, "the page is an image with a little text on it", config)
        if scanned.page is not None and scanned.page.n_chars > text.n_chars:
            return scanned
    found = take_in(engine, page, text, boxes, seen, config)
    if found.taken:
        log.info("page %d: %d lines in images read by OCR", text.page, found.taken)
        report.reason += f"; {counted(found.taken, 'line of images was', 'lines of images were')} read by OCR"
        chars = text.n_chars + found.chars
        report.confidence = round((text.n_chars * report.confidence + found.scores) / max(chars, 1), 3)
    if found.left:
        report.warnings.append(
            "images on the page hold about"
            f" {counted(found.left, 'line of text that was', 'lines of text that were')} not read"
        )
    return Read(text, report)


def _images(page: pymupdf.Page) -> list[pymupdf.Rect]:
    """Where large images lie on the page as displayed."""
    area = page.rect.width * page.rect.height
    if not page.get_images():  # quick; the next question is answered by running the page
        return []
    out = []
    for info in page.get_image_info():
        box = pymupdf.Rect(info["bbox"]) * page.rotation_matrix & page.rect
        if box.is_empty or info["width"] * info["height"] < 20_000:
            continue
        if box.width * box.height >= _PICTURE * area:
            out.append(box)
    return out
