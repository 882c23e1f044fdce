"""Page images: their size, their determinism, and pages that cannot be drawn."""

from __future__ import annotations

import io
from pathlib import Path

import pymupdf
import pytest
from PIL import Image, ImageChops

from drac_pipeline.config import RenderConfig
from drac_pipeline.errors import CorruptDocument, EncryptedDocument
from drac_pipeline.render import encode_png, iter_pages, render_pages, scale_for

A4 = (595, 842)


def pdf_of(path: Path, *sizes: tuple[float, float]) -> Path:
    doc = pymupdf.open()
    for n, (width, height) in enumerate(sizes):
        page = doc.new_page(width=width, height=height)
        page.draw_rect((0, 0, width / 2, height / 2), fill=(0, 0, 0), color=None)
        page.insert_text((width / 2, height * 0.75), f"page {n + 1}", fontsize=height / 20)
    doc.save(path)
    return path


@pytest.mark.parametrize(
    ("size", "pixels"),
    [
        (A4, (1108, 1568)),  # 1654 x 2339 at 200 DPI, scaled down
        (A4[::-1], (1568, 1108)),
        ((142, 14), (395, 39)),  # tiny: 200 DPI and no more
        ((14_400, 14_400), (1568, 1568)),
        ((14_400, 20), (1568, 3)),
        ((564.48, 400), (1568, 1112)),  # exactly at the limit
    ],
)
def test_size_is_200_dpi_but_no_side_over_1568(
    tmp_path: Path, size: tuple[float, float], pixels: tuple[int, int]
) -> None:
    [page] = render_pages(pdf_of(tmp_path / "a.pdf", size), tmp_path / "out", RenderConfig())
    assert page.path
    assert page.path == tmp_path / "out" / "page-0001.png"
    with Image.open(page.path) as image:
        assert image.size == (page.width, page.height)
        assert max(image.size) <= 1568
        assert image.size == pytest.approx(pixels, abs=1)
    assert page.scale == pytest.approx(scale_for(*size, RenderConfig()))
    assert page.width == pytest.approx(size[0] * page.scale, abs=1)


def test_direct_rendering_is_the_picture_that_scaling_down_would_give(tmp_path: Path) -> None:
    path = pdf_of(tmp_path / "a.pdf", A4)
    [page] = render_pages(path, tmp_path / "out", RenderConfig())
    with pymupdf.open(path) as doc:
        full = Image.open(io.BytesIO(doc[0].get_pixmap(dpi=200).tobytes("png"))).convert("L")
    assert page.path
    scaled = full.resize((page.width, page.height), Image.Resampling.LANCZOS)
    with Image.open(page.path) as image:
        difference = ImageChops.difference(image.convert("L"), scaled)
    histogram = difference.histogram()
    assert sum(histogram[64:]) < 0.005 * sum(histogram)


def test_pages_are_numbered_through_across_windows(tmp_path: Path) -> None:
    path = pdf_of(tmp_path / "a.pdf", *[(100, 100 + n) for n in range(7)])
    small = render_pages(path, tmp_path / "one", RenderConfig(window=3))
    whole = render_pages(path, tmp_path / "two", RenderConfig(window=100))
    assert [p.page for p in small] == [1, 2, 3, 4, 5, 6, 7]
    assert len({p.height for p in small}) == 7
    for a, b in zip(small, whole, strict=True):
        assert a.path and b.path
        assert a.path.name == b.path.name == f"page-{a.page:04d}.png"
        assert a.path.read_bytes() == b.path.read_bytes()


def test_the_document_is_reopened_for_each_window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = pdf_of(tmp_path / "a.pdf", *[A4] * 5)
    opened = []
    original = pymupdf.open
    monkeypatch.setattr(pymupdf, "open", lambda *a, **k: opened.append(1) or original(*a, **k))
    render_pages(path, tmp_path / "out", RenderConfig(window=2))
    assert len(opened) == 3


def test_one_bad_page_is_reported_and_the_others_are_drawn(tmp_path: Path) -> None:
    path = pdf_of(tmp_path / "a.pdf", A4, A4, A4)
    with pymupdf.open(path) as doc:
        root = doc.xref_get_key(doc.pdf_catalog(), "Pages")[1].split()[0]
        kids = doc.xref_get_key(int(root), "Kids")[1].strip("[]").split(" 0 R")
        # the second page is the page tree itself: a cycle
        doc.xref_set_key(int(root), "Kids", f"[{kids[0]} 0 R {root} 0 R {kids[2]} 0 R]")
        doc.save(tmp_path / "b.pdf")
    pages = render_pages(tmp_path / "b.pdf", tmp_path / "out", RenderConfig())
    bad = [p for p in pages if p.error]
    good = [p for p in pages if not p.error]
    assert good
    assert bad
    assert all(p.path is None and p.width == 0 for p in bad)
    assert sorted(f.name for f in (tmp_path / "out").iterdir()) == [p.path.name for p in good if p.path]


def test_a_broken_content_stream_is_a_warning(tmp_path: Path) -> None:
    doc = pymupdf.open()
    doc.new_page().insert_text((72, 72), "fine")
    page = doc.new_page()
    page.insert_text((72, 72), "soon broken")
    doc.update_stream(page.get_contents()[0], b"q BT /F9 12 Tf (never shown) Tj ] >> broken")
    doc.save(tmp_path / "a.pdf")
    first, second = render_pages(tmp_path / "a.pdf", tmp_path / "out", RenderConfig())
    assert first.warnings == ()
    assert second.warnings
    assert second.path and second.path.exists()


def test_what_does_not_open_is_a_typed_error(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"not a PDF")
    with pytest.raises(CorruptDocument):
        render_pages(tmp_path / "a.pdf", tmp_path / "out", RenderConfig())
    with pymupdf.open() as doc:
        doc.new_page()
        doc.save(tmp_path / "b.pdf", encryption=5, user_pw="x", owner_pw="y")
    with pytest.raises(EncryptedDocument):
        render_pages(tmp_path / "b.pdf", tmp_path / "out", RenderConfig())


def test_colour_is_kept_and_pages_without_it_are_grayscale(tmp_path: Path) -> None:
    doc = pymupdf.open()
    for colour in ((0.5, 0.5, 0.5), (0.5, 0.5, 0.52)):
        doc.new_page().draw_rect((50, 50, 300, 300), fill=colour, color=colour)
    doc.save(tmp_path / "a.pdf")
    gray, coloured = iter_pages(tmp_path / "a.pdf", tmp_path / "out", RenderConfig())
    assert (gray.gray, coloured.gray) == (True, False)
    assert gray.path and coloured.path
    assert (Image.open(gray.path).mode, Image.open(coloured.path).mode) == ("L", "RGB")
    assert Image.open(coloured.path).getpixel((300, 300)) == pytest.approx((128, 128, 133), abs=1)


@pytest.mark.parametrize("mode", ["L", "RGB"])
@pytest.mark.parametrize("kind", ["plain", "noise"])
def test_png_is_lossless_both_ways_it_is_written(mode: str, kind: str) -> None:
    noise = Image.effect_noise((301, 97), 90)
    image = Image.merge("RGB", (noise, noise.rotate(180), noise)) if mode == "RGB" else noise
    if kind == "plain":
        image = Image.new(mode, (301, 97), "white")
        image.paste("gray", (10, 10, 50, 60))
    data = encode_png(image)
    assert data == encode_png(image)
    with Image.open(io.BytesIO(data)) as read:
        read.load()
        assert read.mode == mode
        assert read.tobytes() == image.tobytes()


def test_rotated_pages_are_shown_upright(tmp_path: Path) -> None:
    doc = pymupdf.open()
    page = doc.new_page(width=200, height=100)
    page.set_rotation(90)
    doc.save(tmp_path / "a.pdf")
    [shown] = render_pages(tmp_path / "a.pdf", tmp_path / "out", RenderConfig())
    assert shown.height > shown.width
