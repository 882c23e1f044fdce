"""Images in PDF: one page a frame, upright, at a sensible size."""

from __future__ import annotations

import io
import zlib
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from PIL import Image

from drac_pipeline.errors import CorruptDocument, DocumentTooLarge
from drac_pipeline.normalize.images import images_to_pdf

LIMIT = 10_000_000


def picture(width: int = 200, height: int = 100) -> Image.Image:
    """White with a black top left quarter."""
    image = Image.new("RGB", (width, height), "white")
    image.paste("black", (0, 0, width // 2, height // 2))
    return image


def convert(tmp_path: Path, image: Image.Image, kind: str, **options: Any) -> pymupdf.Document:
    source = tmp_path / "image"
    image.save(source, kind, **options)
    images_to_pdf(source, tmp_path / "image.pdf", max_pixels=LIMIT)
    return pymupdf.open(tmp_path / "image.pdf")


def dark_corner(page: pymupdf.Page) -> str:
    shown = page.get_pixmap()
    dark = {
        name: shown.pixel(int(x * shown.width), int(y * shown.height))[0] < 100
        for name, x, y in (("tl", 0.25, 0.25), ("tr", 0.75, 0.25), ("bl", 0.25, 0.75), ("br", 0.75, 0.75))
    }
    return " ".join(n for n, d in dark.items() if d)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "WEBP", "BMP", "GIF"])
def test_every_kind_shows_as_it_is(tmp_path: Path, kind: str) -> None:
    doc = convert(tmp_path, picture(), kind)
    assert doc.page_count == 1
    assert dark_corner(doc[0]) == "tl"
    if kind != "BMP":  # which always states a resolution
        assert doc[0].rect.width == pytest.approx(842, abs=1)  # fitted to A4 of its orientation


@pytest.mark.parametrize("mode", ["1", "L", "P", "LA", "RGBA", "CMYK", "I;16", "F"])
def test_modes(tmp_path: Path, mode: str) -> None:
    image = (
        picture().convert("L").point(lambda v: v * 100).convert("I;16")
        if mode == "I;16"
        else picture().convert(mode)
    )
    kind = "TIFF" if mode in ("CMYK", "F", "I;16") else "PNG"
    assert dark_corner(convert(tmp_path, image, kind)[0]) == "tl"


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "TIFF"])
@pytest.mark.parametrize(
    ("orientation", "corner"),
    [(1, "tl"), (2, "tr"), (3, "br"), (4, "bl"), (5, "tl"), (6, "tr"), (7, "br"), (8, "bl")],
)
def test_exif_orientation(tmp_path: Path, kind: str, orientation: int, corner: str) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    page = convert(tmp_path, picture(), kind, exif=exif)[0]
    assert dark_corner(page) == corner
    assert (page.rect.height > page.rect.width) == (orientation >= 5)


def test_resolution_gives_the_size_unless_it_is_absurd(tmp_path: Path) -> None:
    page = convert(tmp_path, picture(600, 300), "PNG", dpi=(300, 300))[0]
    assert (page.rect.width, page.rect.height) == pytest.approx((144, 72), abs=0.5)
    page = convert(tmp_path, picture(3000, 1500), "PNG", dpi=(72, 72))[0]
    assert page.rect.width == pytest.approx(842, abs=1)


def test_transparency_is_white(tmp_path: Path) -> None:
    doc = convert(tmp_path, Image.new("RGBA", (50, 50), (0, 0, 0, 0)), "PNG")
    assert doc[0].get_pixmap().pixel(100, 100) == (255, 255, 255)


def test_each_frame_of_a_tiff_is_a_page_and_of_an_animation_only_the_first(tmp_path: Path) -> None:
    frames = [picture(100, 100 + 50 * n) for n in range(3)]
    doc = convert(tmp_path, frames[0], "TIFF", save_all=True, append_images=frames[1:])
    assert [round(p.rect.height / p.rect.width, 1) for p in doc] == [1.0, 1.5, 2.0]
    frames[0].save(tmp_path / "a.gif", save_all=True, append_images=[Image.new("RGB", (100, 100), "red")])
    notes = images_to_pdf(tmp_path / "a.gif", tmp_path / "a.pdf", max_pixels=LIMIT)
    assert notes == ["animation: the first of 2 frames was taken"]


def test_a_jpeg_goes_in_unchanged(tmp_path: Path) -> None:
    doc = convert(tmp_path, picture(), "JPEG")
    assert doc.extract_image(doc[0].get_images()[0][0])["image"] == (tmp_path / "image").read_bytes()


def test_the_same_image_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second = (
        (convert(tmp_path, picture(), "PNG"), (tmp_path / "image.pdf").read_bytes())[1] for _ in "ab"
    )
    assert first == second


def test_a_pixel_bomb_is_refused_before_it_is_decoded(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    Image.new("1", (10, 10)).save(buffer, "PNG")
    data = bytearray(buffer.getvalue())
    data[16:24] = (60_000).to_bytes(4, "big") * 2  # width and height of the header
    data[29:33] = zlib.crc32(data[12:29]).to_bytes(4, "big")
    (tmp_path / "bomb.png").write_bytes(data)
    with pytest.raises(DocumentTooLarge) as caught:
        images_to_pdf(tmp_path / "bomb.png", tmp_path / "b.pdf", max_pixels=LIMIT)
    assert caught.value.remedy
    assert not (tmp_path / "b.pdf").exists()


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF"])
def test_a_cut_off_image_is_corrupt(tmp_path: Path, kind: str) -> None:
    source = tmp_path / "image"
    Image.effect_noise((300, 300), 90).save(source, kind)
    source.write_bytes(source.read_bytes()[:4000])
    with pytest.raises(CorruptDocument):
        images_to_pdf(source, tmp_path / "image.pdf", max_pixels=LIMIT)
