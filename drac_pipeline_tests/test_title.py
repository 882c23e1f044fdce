"""What a document is called."""

from __future__ import annotations

import pytest

from drac_pipeline.parse import parse_markdown
from drac_pipeline.title import document_title, name_of, root_heading, says


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("products/LM-640 Beck_Operation  Manual.pdf", "LM-640 Beck Operation Manual"),
        ("Prices 2025.v2.xlsx", "Prices 2025.v2"),
        ("scan_0012.pdf", ""),
        ("IMG 2034.png", ""),
        ("3f2a9c1e-77b0-4d1c-9a3e-001122334455.pdf", ""),
        ("2024-03-01.pdf", ""),
        ("Verträge.docx", "Verträge"),
    ],
)
def test_the_name_of_a_file_as_words_if_it_says_anything(key, name):
    assert name_of(key) == name


def test_a_heading_over_all_others_is_the_title_and_the_name_is_not_needed():
    elements = parse_markdown("From: me\n\n# Manual\n\ntext\n\n## One\n\ntext")
    root = root_heading(elements)
    assert root is not None and root.text == "Manual"
    assert document_title("a/Guide.pdf", elements) == ""


@pytest.mark.parametrize(
    "markdown", ["text", "# 1 Safety\n\ntext\n\n# 2 Use\n\ntext", "## Kicker\n\n# Head\n\nx"]
)
def test_without_one_it_is_the_name(markdown):
    assert document_title("a/Guide.pdf", parse_markdown(markdown)) == "Guide"


def test_headings_say_a_title_when_they_hold_most_of_its_words():
    assert says(["Spare parts – price list 2025"], "Spare Parts Price List 2025")
    assert not says(["6 Maintenance"], "Operation and Maintenance Manual")
    assert says([], "")
