"""Encodings: marks, declarations, and declarations that are false."""

from __future__ import annotations

import codecs

import pytest

from drac_pipeline.normalize.charset import decode_text

ARABIC = "في قرية من القرى كان هناك رجل حكيم يعرف كل شيء عن الحياة"
RUSSIAN = "Насос перекачивает воду из нижнего бака в верхний."
GREEK = "Η αντλία μεταφέρει νερό από την κάτω δεξαμενή στην επάνω."
HEBREW = "המשאבה מעבירה מים מהמיכל התחתון למיכל העליון"
FRENCH = "Le café est fermé; les employés ont déjà quitté l’hôtel."
META = '<meta http-equiv="Content-Type" content="text/html; charset={}">'


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
    ],
)
def test_a_byte_order_mark_wins_over_a_declaration(mark: bytes, encoding: str) -> None:
    text = META.format("iso-8859-1") + FRENCH
    found = decode_text(mark + text.encode(encoding))
    assert found is not None
    assert (found.text, found.encoding) == (text, encoding)


@pytest.mark.parametrize(
    ("label", "encoding", "text"),
    [
        ("windows-1251", "cp1251", RUSSIAN),
        ("iso-8859-1", "cp1252", FRENCH),
        ("Shift_JIS", "shift_jis", "ポンプは水を運ぶ"),
        ("utf-8", "utf-8", ARABIC),
    ],
)
def test_a_true_declaration_is_followed(label: str, encoding: str, text: str) -> None:
    found = decode_text((META.format(label) + text).encode(encoding))
    assert found is not None
    assert found.text.endswith(text)
    assert not found.warning


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1256", ARABIC),
        ("cp1251", RUSSIAN),
        ("cp1253", GREEK),
        ("cp1255", HEBREW),
        ("cp1252", FRENCH),
        ("gb18030", "水泵把水从下面"),
    ],
)
def test_a_false_declaration_is_found_out_and_reported(encoding: str, text: str) -> None:
    found = decode_text((META.format("UTF-8") + text).encode(encoding))
    assert found is not None
    assert found.text.endswith(text)
    assert "declared as UTF-8" in found.warning


def test_wide_text_without_a_mark() -> None:
    found = decode_text("plain words, many of them".encode("utf-16-be"))
    assert found is not None
    assert found.text == "plain words, many of them"


def test_binary_is_not_text_and_a_cut_character_is_no_harm() -> None:
    assert decode_text(bytes(range(256)) * 8) is None
    found = decode_text("käse".encode()[:2], cut=True)
    assert found is not None
    assert (found.text, found.encoding) == ("k", "utf-8")
