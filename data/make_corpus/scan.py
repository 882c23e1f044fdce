"""The scanned letter and form: pages rasterised, set askew, with noise and uneven light."""

import io
import tempfile
from pathlib import Path

import numpy as np
import pymupdf
from PIL import Image, ImageFilter

from .common import FIXED, html_to_pdf, target
from .markup import SOURCES

NAME = "quality/Scan_2025-03-17_Harbourgate complaint.pdf"
DPI = 170
SKEW = (0.8, -0.6)


def scanned(page: pymupdf.Page, angle: float, rng: np.random.Generator) -> bytes:
    """One page as a grey JPEG that looks like a scan."""
    pix = page.get_pixmap(dpi=DPI, colorspace=pymupdf.csGRAY)
    image = Image.frombytes("L", (pix.width, pix.height), pix.samples)
    image = image.rotate(angle, resample=Image.Resampling.BICUBIC, fillcolor=250)
    image = image.filter(ImageFilter.GaussianBlur(0.55))
    grey = np.asarray(image, dtype=np.float32) * 0.93 + 12
    grey += np.linspace(-6, 4, grey.shape[1])[None, :] + rng.normal(0, 3.0, grey.shape)
    for _ in range(60):
        y, x = rng.integers(0, grey.shape[0] - 3), rng.integers(0, grey.shape[1] - 3)
        grey[y : y + 2, x : x + 2] -= 90
    grey[:, :5] = 120
    out = io.BytesIO()
    Image.fromarray(np.clip(grey, 0, 255).astype(np.uint8)).save(out, "JPEG", quality=42, dpi=(DPI, DPI))
    return out.getvalue()


def make() -> None:
    """Print the letter, scan it, and write a PDF without any text."""
    rng = np.random.default_rng(17)
    with tempfile.TemporaryDirectory() as tmp:
        printed = Path(tmp) / "letter.pdf"
        html_to_pdf(SOURCES / "scan.html", printed)
        with pymupdf.open(printed) as letter, pymupdf.open() as scan:
            for page, angle in zip(letter, SKEW, strict=True):
                sheet = scan.new_page(width=page.rect.width, height=page.rect.height)
                sheet.insert_image(sheet.rect, stream=scanned(page, angle, rng))
            date = f"D:{FIXED}Z"
            scan.set_metadata({"producer": "Copyroom 3 scan to mail", "creationDate": date, "modDate": date})
            scan.save(target(NAME), no_new_id=True, garbage=3)
