"""Delimited text."""

from __future__ import annotations

import pytest

from drac_pipeline.config import ConvertConfig
from drac_pipeline.errors import CorruptDocument, DocumentTooLarge, EmptyDocument
from drac_pipeline.sheets import convert_csv
from drac_pipeline.sheets.delimited import find_delimiter, kind_of


def blocks(data: str | bytes) -> list[str]:
    made = convert_csv(data.encode() if isinstance(data, str) else data, ConvertConfig())
    return made.markdown.rstrip("\n").split("\n\n")


def test_the_first_row_is_the_header():
    assert blocks("name,city\nAnna,Ulm\nTom,Bonn\n") == ["name: Anna; city: Ulm.", "name: Tom; city: Bonn."]


def test_numbers_in_the_first_row_are_no_header():
    assert blocks("1,2,3\n4,5,6\n") == ["A: 1; B: 2; C: 3.", "A: 4; B: 5; C: 6."]


def test_semicolons_and_decimal_commas():
    assert blocks("Artikel;Preis\nStift;1,20\nTinte;3,40\n") == [
        "Artikel: Stift; Preis: 1,20.",
        "Artikel: Tinte; Preis: 3,40.",
    ]


def test_tabs_quotes_and_line_breaks_in_fields():
    assert blocks('id\tnote\n1\t"a ""b""\nc"\n2\tx\n') == ['id: 1; note: a "b" c.', "id: 2; note: x."]


def test_a_title_and_a_note_around_the_table():
    assert blocks("Stock in May\n\nitem,qty,unit\npen,3,each\nink,4,box\n\nNote: counted by hand\n") == [
        "# Stock in May",
        "item: pen; qty: 3; unit: each.",
        "item: ink; qty: 4; unit: box.",
        "Note: counted by hand",
    ]


def test_the_line_that_names_the_separator():
    assert blocks("sep=;\na,x;b\n1;2\n") == ["a,x: 1; b: 2."]


def test_encodings():
    assert blocks("﻿Größe,Maß\nklein,1\n") == ["Größe: klein; Maß: 1."]
    assert blocks("Größe;Farbe\n5;grün\n".encode("cp1252")) == ["Größe: 5; Farbe: grün."]
    assert blocks("a\tb\n1\t2\n".encode("utf-16")) == ["a: 1; b: 2."]


def test_rows_shorter_and_longer_than_the_header():
    assert blocks("a,b\n1\n2,3,4\n5,6\n") == ["a: 1.", "a: 2; b: 3; 4.", "a: 5; b: 6."]


def test_rows_say_where_they_stand():
    made = convert_csv(b"a,b\n\n1,2\n", ConvertConfig())
    assert [r.origin for t in made.tables for r in t.rows] == ["A3:B3"]


def test_what_is_no_text_or_too_much():
    with pytest.raises(EmptyDocument):
        convert_csv(b" \n\n", ConvertConfig())
    with pytest.raises(CorruptDocument):
        convert_csv(bytes(range(256)) * 20, ConvertConfig())
    with pytest.raises(DocumentTooLarge):
        convert_csv(b"a,b\n" * 60, ConvertConfig(sheet_max_cells=100))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("1,234.50", "number"),
        ("-3", "number"),
        ("12 %", "number"),
        ("€ 5.00", "number"),
        ("(1,200)", "number"),
        ("2024-01-05", "date"),
        ("5.1.2024", "date"),
        ("3 May 2024", "date"),
        ("14:30", "date"),
        ("true", "bool"),
        ("T-25-001", "text"),
        ("3 pieces", "text"),
        ("1" * 60, "text"),
    ],
)
def test_kinds_of_values(text, kind):
    assert kind_of(text) == kind


def test_the_delimiter_is_the_steadiest():
    assert find_delimiter("a;b,c;d\n1;2;3\n4;5,5;6\n") == ";"
    assert find_delimiter("a|b\n1|2\n") == "|"
    assert find_delimiter("one column\nof text\n") == ","
