"""A PDF that was cut off gives all of its text or says what is missing, and never gibberish."""

from __future__ import annotations

import re
from pathlib import Path

import pymupdf
import pytest

from drac_pipeline.config import ConvertConfig
from drac_pipeline.convert import convert_pdf
from drac_pipeline.errors import CorruptDocument
from drac_pipeline.normalize.damage import Damage, ending, find_damage, page_list
from drac_pipeline_tests.conftest import MANUAL

PAGES = [MANUAL, "<h1>Second</h1><p>Beta <b>two</b>.</p>", "<h1>Third</h1><p>Gamma <i>three</i> ωμέγα.</p>"]


@pytest.fixture
def whole(tmp_path: Path, make_pdf) -> bytes:
    return make_pdf(tmp_path / "whole.pdf", *PAGES).read_bytes()


def text_of(pdf: Path) -> str:
    return convert_pdf(pdf, ConvertConfig(ocr=False)).markdown


@pytest.mark.parametrize("share", [10, 30, 50, 65, 80, 90, 95, 99])
@pytest.mark.parametrize("tail", [b"", bytes(3000)], ids=["cut", "zeros at the end"])
def test_a_cut_pdf_has_all_of_its_text_or_is_an_error(
    tmp_path: Path, whole: bytes, run, share: int, tail: bytes
) -> None:
    (tmp_path / "a.pdf").write_bytes(whole[: len(whole) * share // 100] + tail)
    try:
        done = run(tmp_path / "a.pdf")
    except CorruptDocument as e:
        assert "cut off" in e.cause and "again" in e.remedy
    else:
        assert text_of(done.pdf) == text_of(tmp_path / "whole.pdf")
        assert any("cut off" in w for w in done.warnings)


def _cut_in_page(whole: bytes, tmp_path: Path, page: int) -> bytes:
    """The file cut within the content of a page: it and what lies behind it in the file are lost."""
    with pymupdf.open(tmp_path / "whole.pdf") as doc:
        xref = doc[page].get_contents()[0]
    m = re.search(rb"(?<!\d)%d 0 obj" % xref, whole)
    assert m
    return whole[: whole.index(b"stream", m.end()) + 20]


def test_what_is_missing_is_named_and_what_is_left_can_be_taken(tmp_path: Path, run) -> None:
    doc = pymupdf.open()
    for n in range(1, 6):
        doc.new_page().insert_text((72, 72), f"Words of page {n}")
    doc.save(tmp_path / "whole.pdf")
    whole = (tmp_path / "whole.pdf").read_bytes()
    cut = _cut_in_page(whole, tmp_path, 3)
    (tmp_path / "a.pdf").write_bytes(cut)
    with pytest.raises(CorruptDocument, match="missing of 5 pages: content of page 4, page 5") as caught:
        run(tmp_path / "a.pdf")
    assert "damaged_pdf" in caught.value.remedy
    done = run(tmp_path / "a.pdf", damaged_pdf="take")
    assert any("cut off; missing" in w for w in done.warnings)
    read = convert_pdf(done.pdf, ConvertConfig())
    assert [p.page for p in read.report.pages if p.error] == [4, 5]
    assert "Words of page 3" in read.markdown and "Words of page 4" not in read.markdown


def test_a_page_whose_fonts_are_gone_is_no_text(tmp_path: Path, whole: bytes) -> None:
    with pymupdf.open(tmp_path / "whole.pdf") as doc:
        fonts = {f[0] for f in doc[1].get_fonts()}
    m = re.search(rb"(?<!\d)%d 0 obj" % min(fonts), whole)
    assert m
    # the object is no more, and the table that says where it lay neither
    broken = whole[: m.start()] + b"%" * (m.end() - m.start()) + whole[m.end() :]
    broken = re.sub(rb"startxref\s+\d+", b"startxref\n1", broken)
    (tmp_path / "a.pdf").write_bytes(broken)
    read = convert_pdf(tmp_path / "a.pdf", ConvertConfig())
    assert "fonts" in (read.report.pages[1].error or "")
    assert "two" not in read.markdown


def test_a_wrong_table_of_objects_costs_nothing(tmp_path: Path, whole: bytes, run) -> None:
    (tmp_path / "a.pdf").write_bytes(re.sub(rb"startxref\s+\d+", b"startxref\n7", whole))
    done = run(tmp_path / "a.pdf")
    assert text_of(done.pdf) == text_of(tmp_path / "whole.pdf")
    assert [w for w in done.warnings if "repaired" in w and "nothing" in w]


@pytest.mark.usefixtures("whole")
def test_a_whole_file_is_not_looked_through(tmp_path: Path) -> None:
    end = ending(tmp_path / "whole.pdf")
    assert not end.cut_off
    with pymupdf.open(tmp_path / "whole.pdf") as doc:
        assert find_damage(doc, end) == Damage()


def test_page_lists_are_short() -> None:
    assert page_list([1, 2, 3, 5, 8, 9]) == "1–3, 5, 8, 9"
    assert page_list(list(range(1, 60, 2))) == "1, 3, 5, 7, 9, 11, 13, 15, 17, 19 and 20 more"
