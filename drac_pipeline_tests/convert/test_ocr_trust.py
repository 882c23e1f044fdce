"""Which text layers are believed, from their characters alone."""

from __future__ import annotations

import string

import pymupdf
import pytest

from drac_pipeline.convert.local.text_layer import PageText, Segment, Word
from drac_pipeline.convert.ocr.trust import judge_text
from drac_pipeline_tests.convert.scans import PROSE, TITLE


def page(text: str, *, hidden: bool = False) -> PageText:
    out = PageText(page=1, width=595, height=842, segments=[])
    words = [Word(w, 10.0 * k, 10.0 * k + 8) for k, w in enumerate(text.split())]
    out.segments = [Segment(words, 100, 10, "F", False, False, 0, out, hidden)]
    return out


@pytest.mark.parametrize(
    "text",
    [
        PROSE,
        "Ärger über Öl — größer als nötig; œuvre, naïve, señor, žluťoučký kůň " * 3,
        "البرمجة بلغة تحليل البيانات " * 5,
        "日本語の文書にも文字がある。" * 5,
        "1,204.50 3,300.00 −12.5 % (4,100) 17 18 19 20.5 £1,240 $99 " * 4,
        "LM-640 PT-2411 F-07-1 XKCD HTML PNG TCP " * 6,
        "\uf0b7 first point \uf0b7 second point \uf0b7 third point",
        "p(x) = ∑ αᵢ · φ(xᵢ) ≤ ∫ f dμ, where α ∈ ℝ and x ≥ 0 holds for all i",
    ],
)
def test_real_text_is_believed(text: str) -> None:
    assert judge_text(page(text)).suspect == ""


@pytest.mark.parametrize(
    ("text", "suspect", "unusable"),
    [
        (
            "\ufffd\ufffd\ufffd \ufffdab\ufffd\ufffd " * 5,
            "the text layer has no encoding for its glyphs",
            True,
        ),
        ("\ue021\ue044\ue065 \ue011\ue012 " * 5, "the text layer is in private-use characters", True),
        ("$$## &^%~ =+<>| @{}^ ~~$$ ab " * 6, "the text layer is mostly symbols", False),
        ("wkhq pbvw zklfk grfv qrw vshdn " * 8, "the text layer is no words", False),
    ],
)
def test_garbage_is_suspected(text: str, suspect: str, unusable: bool) -> None:
    verdict = judge_text(page(text))
    assert (verdict.suspect, verdict.unusable) == (suspect, unusable)


@pytest.mark.parametrize("by", range(1, 26))
def test_letters_shifted_along_the_alphabet_are_suspected(by: int) -> None:
    small = string.ascii_lowercase
    moved = small[by:] + small[:by]
    text = f"{TITLE} {PROSE}".translate(str.maketrans(small + small.upper(), moved + moved.upper()))
    assert judge_text(page(text)).suspect == "the text layer is no words"


def test_invisible_text_is_suspected() -> None:
    assert judge_text(page(PROSE, hidden=True)).suspect == "the text layer is invisible"


def test_a_page_without_characters_has_nothing_to_suspect() -> None:
    with pymupdf.open():
        assert judge_text(PageText(page=1, width=595, height=842, segments=[])).suspect == ""


@pytest.mark.parametrize(
    "text",
    [
        "Semua orang dilahirkan merdeka dan mempunyai martabat dan hak yang sama. Mereka dikaruniai akal dan"
        " hati nurani dan hendaknya bergaul satu sama lain dalam semangat persaudaraan.",
        "Watu wote wamezaliwa huru, hadhi na haki zao ni sawa. Wote wamejaliwa akili na dhamiri, hivyo yapasa"
        " watendeane kindugu. Kila mtu anastahili kuwa na haki zote na uhuru wote.",
        "Ang lahat ng tao ay isinilang na malaya at pantay sa karangalan at mga karapatan. Sila ay"
        " pinagkalooban ng katwiran at budhi at dapat magpalagayan ang isa't isa sa diwa ng pagkakapatiran.",
    ],
    ids=["Indonesian", "Swahili", "Tagalog"],
)
def test_other_languages_in_latin_script_are_not_suspected(text: str) -> None:
    assert judge_text(page(text)).suspect == ""
