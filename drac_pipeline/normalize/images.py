"""Wrap images into a PDF, one page per frame, upright and at their physical size."""

from __future__ import annotations

import io
import logging
import warnings as python_warnings
from pathlib import Path
from typing import cast

from PIL import Image, ImageOps, ImageSequence

from drac_pipeline.counted import counted
from drac_pipeline.errors import CorruptDocument, DocumentTooLarge
from drac_pipeline.mupdf import pymupdf

A4 = (595.0, 842.0)
logging.getLogger("PIL").setLevel(logging.CRITICAL)  # what it has against a file is in the error we raise
_MAX_POINTS = 1300.0  # just above A3: beyond this the stated resolution is a camera's default, not a size
_MAX_FRAMES = 2000
_ORIENTATION = 0x0112  # EXIF
_ROTATION = {1: 0, 3: 180, 6: 270, 8: 90}  # EXIF orientation to counter-clockwise degrees


def images_to_pdf(source: Path, target: Path, *, max_pixels: int) -> list[str]:
    """Write the frames of the image `source` to the PDF `target`; returns warnings.

    A JPEG goes in as it is, anything else losslessly, transparency over white. Raises
    DocumentTooLarge for more than `max_pixels` a frame, CorruptDocument for an
    image that does not decode.
    """
    try:
        with python_warnings.catch_warnings():
            python_warnings.simplefilter("ignore")  # our own limit below replaces Pillow's warning
            with Image.open(source) as image:
                return _wrap(image, source, target, max_pixels)
    except (DocumentTooLarge, CorruptDocument):
        raise
    except Image.DecompressionBombError as e:
        raise _too_large(str(e)) from e
    except Exception as e:  # decoders raise whatever the bytes provoke
        told = str(e).replace(f" {str(source)!r}", "")
        cause = f"the image does not decode ({type(e).__name__}: {told})"[:300]
        raise CorruptDocument(cause, remedy="Export the image again.") from e


def _wrap(image: Image.Image, source: Path, target: Path, max_pixels: int) -> list[str]:
    notes = []
    frames = getattr(image, "n_frames", 1)
    if frames > 1 and image.format not in ("TIFF", "MPO"):
        notes.append(f"animation: the first of {counted(frames, 'frame')} was taken")
    paged = image.format == "TIFF"
    if frames > _MAX_FRAMES and paged:
        raise DocumentTooLarge(f"the image has {counted(frames, 'frame')}", remedy="Split it.")
    with pymupdf.open() as doc:
        for frame in ImageSequence.Iterator(image) if paged else (image,):
            if frame.width * frame.height > max_pixels:
                raise _too_large(f"{frame.width:,} x {frame.height:,} pixels")
            _add_page(doc, frame, source)
        doc.save(target, deflate=True, garbage=3, no_new_id=True)
    return notes


def _add_page(doc: pymupdf.Document, frame: Image.Image, source: Path) -> None:
    orientation = frame.getexif().get(_ORIENTATION, 1)
    dpi = frame.info.get("dpi")
    if frame.format in ("JPEG", "MPO") and orientation in _ROTATION and frame.mode in ("RGB", "L"):
        frame.load()  # a cut-off file must fail here, not show half a page later
        rotation = _ROTATION[orientation]
        size = (frame.height, frame.width) if rotation in (90, 270) else frame.size
        data = source.read_bytes()
    else:
        upright = _flat(ImageOps.exif_transpose(frame))
        rotation, size = 0, upright.size
        buffer = io.BytesIO()
        upright.save(buffer, "PNG", compress_level=3)
        data = buffer.getvalue()
    width, height = _points(size, dpi)
    page = doc.new_page(width=width, height=height)
    page.insert_image(page.rect, stream=data, rotate=rotation, keep_proportion=False)


def _flat(image: Image.Image) -> Image.Image:
    """The image in a mode that PNG and PDF share, over white where it is transparent."""
    if image.mode in ("1", "L", "RGB") and "transparency" not in image.info:
        return image
    if image.mode.startswith("I") or image.mode == "F":
        return _stretched(image)
    if image.mode in ("LA", "La", "PA", "RGBA", "RGBa") or "transparency" in image.info:
        rgba = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", rgba.size, "white"), rgba).convert("RGB")
    return image.convert("RGB")


def _stretched(image: Image.Image) -> Image.Image:
    """A 16-bit or floating-point image with its own darkest and lightest value as black and white."""
    low, high = cast("tuple[float, float]", image.getextrema())
    factor = 255 / ((high - low) or 1)
    return image.convert("F").point(lambda v: v * factor - low * factor).convert("L")


def _points(size: tuple[int, int], dpi: object) -> tuple[float, float]:
    """Page size in points: from a credible resolution, else fitted into A4 of the same orientation."""
    width, height = size
    if isinstance(dpi, tuple) and all(50 <= float(d) <= 2400 for d in dpi):
        points = (width * 72 / float(dpi[0]), height * 72 / float(dpi[1]))
        if max(points) <= _MAX_POINTS and min(points) >= 3:
            return points
    box = A4 if height >= width else A4[::-1]
    scale = min(box[0] / width, box[1] / height)
    return max(width * scale, 3.0), max(height * scale, 3.0)


def _too_large(what: str) -> DocumentTooLarge:
    return DocumentTooLarge(
        f"the image is too large: {what}", remedy="Scale it down, or raise normalize.max_image_pixels."
    )
