"""OCR against Tesseract on pages whose text is known: PDFs drawn as scans and read back.

    python benchmarks/ocr/measure.py PDFS [--pages 20] [--variants clean-200 skew-3 ...] [--no-tesseract]

PDFS is a folder of PDFs with a text layer. A sample of their pages is drawn in each variant
(resolution, skew, noise, JPEG, grey paper, turned) and read by the converter and, where it is
installed, by Tesseract (`apt install tesseract-ocr`), one thread each. Printed a variant:
recall and precision of tokens (runs of letters and digits) against the text layer, the share
of table rows whose cells come back as they are read from the text layer, CPU seconds a page.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import resource
import subprocess
import tempfile
import time
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from drac_pipeline.config import ConvertConfig
from drac_pipeline.convert import convert_pdf
from drac_pipeline.convert.ocr import scan as scans
from drac_pipeline.model import Converted
from drac_pipeline.mupdf import pymupdf

Grey = NDArray[np.uint8]
_TOKEN = re.compile(r"[^\W_]+")


def skewed(image: Grey, degrees: float) -> Grey:
    """Turned on a sheet of the same size, as a feeder pulls it in."""
    h, w = image.shape
    matrix = cv2.getRotationMatrix2D((w / 2, h / 2), degrees, 1)
    return np.asarray(cv2.warpAffine(image, matrix, (w, h), flags=cv2.INTER_CUBIC, borderValue=255), np.uint8)


def noisy(image: Grey, sigma: float, blur: float = 0.0) -> Grey:
    """Blurred, with the grain of a sensor."""
    if blur:
        image = np.asarray(cv2.GaussianBlur(image, (0, 0), blur), np.uint8)
    grain = np.random.default_rng(7).normal(0, sigma, image.shape)
    return np.clip(image + grain, 0, 255).astype(np.uint8)


def jpeg(image: Grey, quality: int) -> Grey:
    """As strong compression leaves it."""
    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, "JPEG", quality=quality)
    return np.asarray(Image.open(buffer), np.uint8)


def grey_paper(image: Grey) -> Grey:
    """Faded print on paper that darkens to one side."""
    h, w = image.shape
    paper = np.linspace(215, 150, w)[None, :] - np.linspace(0, 15, h)[:, None]
    out = paper - (255 - image.astype(np.float64)) / 255 * (paper - 60)
    return noisy(out.astype(np.uint8), 4)


def turned(quarters: int) -> Callable[[Grey], Grey]:
    """By quarter turns counter-clockwise."""
    return lambda image: np.ascontiguousarray(np.rot90(image, quarters))


VARIANTS: dict[str, tuple[int, Callable[[Grey], Grey]]] = {
    "clean-150": (150, lambda g: g),
    "clean-200": (200, lambda g: g),
    "clean-300": (300, lambda g: g),
    "skew+3": (200, lambda g: skewed(g, 3)),
    "skew-3": (200, lambda g: skewed(g, -3)),
    "noise": (200, lambda g: noisy(g, 25, 0.8)),
    "jpeg-25": (150, lambda g: jpeg(g, 25)),
    "grey": (200, grey_paper),
    "turned-90": (200, turned(1)),
    "turned-180": (200, turned(2)),
    "turned-270": (200, turned(3)),
    "fax": (200, lambda g: (noisy(skewed(g, 1), 30, 1.0) > 150).astype(np.uint8) * 255),
    "all": (150, lambda g: jpeg(noisy(skewed(grey_paper(g), -1.5), 12, 0.7), 50)),
}


@dataclass
class Page:
    """A page to be read: what it says, and its table rows."""

    pdf: Path
    number: int
    words: Counter[str]
    rows: list[tuple[str, ...]]


@dataclass
class Score:
    found: int = 0
    wanted: int = 0
    written: int = 0
    rows: int = 0
    rows_wanted: int = 0
    seconds: float = 0.0
    pages: int = 0
    worst: list[tuple[float, str]] = field(default_factory=list)

    def add(self, want: Counter[str], got: Counter[str], name: str) -> None:
        both = (want & got).total()
        self.found += both
        self.wanted += want.total()
        self.written += got.total()
        self.pages += 1
        self.worst.append((both / max(1, want.total()), name))

    def line(self, tables: bool) -> str:
        recall, precision = self.found / max(1, self.wanted), self.found / max(1, self.written)
        rows = f"{self.rows / max(1, self.rows_wanted):6.3f}" if tables else "     -"
        return f"{recall:6.4f} {precision:6.4f} {rows} {self.seconds / max(1, self.pages):6.2f}"


def tokens(text: str) -> Counter[str]:
    return Counter(_TOKEN.findall(unicodedata.normalize("NFKC", text).casefold()))


def rows_of(converted: Converted) -> list[tuple[str, ...]]:
    return [tuple(" ".join(sorted(tokens(c))) for c in r.cells) for t in converted.tables for r in t.rows]


def sample(folder: Path, count: int) -> list[Page]:
    """Pages spread over the documents; every other one has a table."""
    tables: list[Page] = []
    plain: list[Page] = []
    paths = sorted(folder.rglob("*.pdf"))
    for path in paths[:: max(1, len(paths) // (2 * count))]:
        with pymupdf.open(path) as document:
            for n in range(min(3, document.page_count)):
                words = tokens(document[n].get_text())
                if words.total() < 60 or any(p.pdf == path for p in tables):
                    continue
                rows = rows_of(convert_pdf(path, ConvertConfig(), pages=range(n, n + 1)))
                (tables if len(rows) >= 3 else plain).append(Page(path, n, words, rows))
    half = tables[: count // 2]
    return half + plain[: count - len(half)]


def draw(page: Page, dpi: int, change: Callable[[Grey], Grey]) -> Grey:
    with pymupdf.open(page.pdf) as document:
        pix = document[page.number].get_pixmap(dpi=dpi, colorspace=pymupdf.csGRAY)
    image = np.frombuffer(pix.samples, np.uint8).reshape(pix.height, pix.stride)[:, : pix.width]
    return change(np.ascontiguousarray(image))


def as_pdf(image: Grey, dpi: int) -> bytes:
    ok, data = cv2.imencode(".png", image)
    assert ok
    with pymupdf.open() as document:
        page = document.new_page(width=image.shape[1] * 72 / dpi, height=image.shape[0] * 72 / dpi)
        page.insert_image(page.rect, stream=data.tobytes())
        return document.tobytes()


def read_by_us(image: Grey, dpi: int) -> tuple[Counter[str], list[tuple[str, ...]], float]:
    """Tokens as recognised, table rows as converted, CPU seconds."""
    read: list[str] = []
    original = scans.read_scan

    def listening(*args, **kwargs):  # type: ignore[no-untyped-def]
        out = original(*args, **kwargs)
        read.extend(s.text for p in (out.page, *out.page.side) for s in p.segments)
        return out

    scans.read_scan = listening
    began = time.process_time()
    try:
        converted = convert_pdf(as_pdf(image, dpi), ConvertConfig())
    finally:
        scans.read_scan = original
    return tokens(" ".join(read)), rows_of(converted), time.process_time() - began


def read_by_tesseract(image: Grey, dpi: int) -> tuple[Counter[str], float]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.png"
        cv2.imwrite(str(path), image)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            ["tesseract", str(path), "-", "--dpi", str(dpi), "--psm", "1"],
            capture_output=True,
            env={**os.environ, "OMP_THREAD_LIMIT": "1"},
            check=False,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return tokens(done.stdout.decode()), after.ru_utime - before.ru_utime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("pdfs", type=Path)
    parser.add_argument("--pages", type=int, default=20)
    parser.add_argument("--variants", nargs="*", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument("--no-tesseract", action="store_true")
    parser.add_argument("--worst", type=int, default=0, help="name so many worst pages of each variant")
    given = parser.parse_args()
    pages = sample(given.pdfs, given.pages)
    print(f"{len(pages)} pages, {sum(len(p.rows) > 0 for p in pages)} with tables")
    print(f"{'':12}  ours: R, P, rows, s             Tesseract: R, P, rows, s")
    for name in given.variants:
        dpi, change = VARIANTS[name]
        ours, theirs = Score(), Score()
        for page in pages:
            image = draw(page, dpi, change)
            label = f"{page.pdf.stem} p{page.number + 1}"
            got, rows, seconds = read_by_us(image, dpi)
            ours.add(page.words, got, label)
            ours.seconds += seconds
            ours.rows += (Counter(page.rows) & Counter(rows)).total()
            ours.rows_wanted += len(page.rows)
            if not given.no_tesseract:
                got, seconds = read_by_tesseract(image, dpi)
                theirs.add(page.words, got, label)
                theirs.seconds += seconds
        peer = "" if given.no_tesseract else theirs.line(False)
        print(f"{name:12}  {ours.line(True)}   {peer}", flush=True)
        for share, label in sorted(ours.worst)[: given.worst]:
            print(f"    {share:.3f} {label}")


if __name__ == "__main__":
    main()
