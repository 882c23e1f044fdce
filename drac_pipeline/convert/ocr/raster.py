"""Page renderings for OCR, and what their pixels say: blank, a picture, or writing."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from drac_pipeline.convert.ocr.engine import Image
from drac_pipeline.mupdf import pymupdf

MAX_PIXELS = 24_000_000  # A2 at 240 dpi; larger sheets are drawn coarser
_CONTRAST = 36  # grey levels below its surroundings from which a pixel is ink
_COARSE = 1000  # longest side of the image on which ink is judged
_SOME_INK, _BLACK = 0.5, 0.6  # per cent of a page, and its lightness: no faint page has so much dark
_INK_SHARE = 1.5  # per cent of a page: its darkest parts, of which print has a few
_FAINT, _EMPTY = 0.8, 0.96  # their lightness, 1 is paper
_SPECK = 3  # pixels there: less is dust


@dataclass(slots=True)
class Ink:
    """What is on a page besides paper.

    blank       nothing but dust and the shadow of the sheet's edge
    marks       shapes of a letter's size
    photo       share of the page in continuous tones
    """

    blank: bool
    marks: int
    photo: float


def render(page: pymupdf.Page, dpi: int, clip: pymupdf.Rect | None = None) -> tuple[Image, float]:
    """The page as displayed, or a part of it, in colour, and its pixels per point."""
    rect = clip or page.rect
    area = max(rect.width * rect.height, 1e-6)
    scale = min(dpi / 72, (MAX_PIXELS / area) ** 0.5)
    pix = page.get_pixmap(
        matrix=pymupdf.Matrix(scale, scale), colorspace=pymupdf.csRGB, alpha=False, clip=clip
    )
    image = np.frombuffer(pix.samples_mv, np.uint8).reshape(pix.height, pix.stride)
    # a copy: the samples go with the pixmap
    return image[:, : pix.width * 3].reshape(pix.height, pix.width, 3).copy(), scale


def strengthened(image: Image) -> Image:
    """A faint page with its print as dark and its paper as white as usual; others as they are.

    Print so faint that it is hardly darker than the paper's own stains is not found by the
    models, and its gaps pass for spaces.
    """
    grey = np.asarray(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), np.uint8)
    height, width = grey.shape
    if min(height, width) < 256:
        return image
    small = cv2.resize(grey, (width // 4, height // 4), interpolation=cv2.INTER_AREA)
    paper = cv2.medianBlur(cv2.dilate(small, np.ones((5, 5), np.uint8)), 51)
    paper = cv2.resize(paper, (width, height), interpolation=cv2.INTER_LINEAR).astype(np.float32)
    light = cv2.GaussianBlur(np.minimum(grey / np.maximum(paper, 1), 1).astype(np.float32), (0, 0), 1.2)
    darkest = float(np.percentile(light[::2, ::2], _INK_SHARE))
    if np.percentile(light[::2, ::2], _SOME_INK) < _BLACK:
        return image  # little print, but black
    # an empty page has nothing to be strengthened but the grain of its paper
    if not _FAINT < darkest < _EMPTY:
        return image
    strong = 255 - np.clip((1 - light) / (1 - darkest), 0, 1) * 230
    return np.repeat(strong.astype(np.uint8)[..., None], 3, axis=2)


def ink(page: pymupdf.Page) -> Ink:
    """Judge a page by a small grey rendering."""
    rect = page.rect
    zoom = min(1.4, _COARSE / max(rect.width, rect.height, 1))
    pix = page.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), colorspace=pymupdf.csGRAY, alpha=False)
    if not pix.width or not pix.height:
        return Ink(True, 0, 0.0)
    grey = np.frombuffer(pix.samples_mv, np.uint8).reshape(pix.height, pix.stride)[:, : pix.width]
    return judge(grey.copy())


def judge(grey: Image) -> Ink:
    """`ink` on a grey image of about 100 dpi."""
    height, width = grey.shape
    mask = ink_mask(grey, 51)
    count, _, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    marks, solid = 0, False
    for x, y, w, h, area in stats[1:count].tolist():
        if area < _SPECK:
            continue
        edge = x <= 1 or y <= 1 or x + w >= width - 1 or y + h >= height - 1
        if edge and (min(w, h) <= 0.04 * min(width, height)):
            continue  # the shadow along a sheet's edge
        if area < 8 and max(w, h) < 5:
            continue
        solid = True
        if 4 <= h <= 60 and 1 <= w <= 80:
            marks += 1
    # tones between paper and black over whole regions: edges of letters are thin and vanish
    tones = ((grey > 40) & (grey < 205)).astype(np.uint8)
    tones = cv2.morphologyEx(tones, cv2.MORPH_OPEN, np.ones((9, 9), np.uint8))
    photo = float(tones.mean())
    filled = photo > 0.01 or float((grey < 40).mean()) > 0.2
    return Ink(not solid and not filled, marks, photo)


def ink_mask(grey: NDArray[np.uint8], window: int) -> Image:
    """1 where a pixel is darker than the paper around it (`window` pixels)."""
    if min(grey.shape) < 4:
        return (grey < 128).astype(np.uint8)
    # letters are closed over first, else dense print pulls the median down
    side = min(window, 2 * (min(grey.shape) // 2) - 1, 99) | 1
    paper = cv2.medianBlur(cv2.dilate(grey, np.ones((9, 9), np.uint8)), side)
    return (grey.astype(np.int16) < paper.astype(np.int16) - _CONTRAST).astype(np.uint8)
