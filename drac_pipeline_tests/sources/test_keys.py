"""Document keys: readable, one per path, accepted by Dagster and by file systems."""

from __future__ import annotations

import itertools
import os
import unicodedata
from pathlib import PurePosixPath, PureWindowsPath

import pytest
from dagster._core.definitions.partitions.utils.base import raise_error_on_invalid_partition_key_substring

from drac_pipeline.sources import artifact_dirname, document_key, path_of_key

NFC = "caf\u00e9.pdf"
NFD = "cafe\u0301.pdf"

ODD_PATHS = [
    "a...b.pdf",
    "......",
    "tab\there.pdf",
    "line\nbreak.pdf",
    "bell\a.pdf",
    "nul\0.pdf",
    "del\x7f.pdf",
    "back\\slash.pdf",
    "x%41.pdf",
    "x%2541.pdf",
    "xA.pdf",
    "%NFD.pdf",
    "caf\u00e9%NFD.pdf",
    NFC,
    NFD,
    "caf\u00e9/cafe\u0301.pdf",
    "\u212bngstr\u00f6m.pdf",
    "\u00c5ngstr\u00f6m.pdf",
    "a\n\u0301.pdf",
    "a%0A%CC%81.pdf",
    os.fsdecode(b"latin\xe9.pdf"),
    "latin%E9.pdf",
    "latin\u00e9.pdf",
    "right\u202eto left.pdf",
    "zero\u200bwidth.pdf",
    "%H" + "0" * 32 + ".pdf",
    "%.pdf",
    "100%",
    "100%0",
    "\U0001f4c4.pdf",
]


@pytest.mark.parametrize(
    "path",
    [
        "report.pdf",
        "Q3 figures, final (2).xlsx",
        "Verträge/Straße 12/Übersicht.docx",
        "報告/売上.pdf",
        "50% off.pdf",
        "a..b.pdf",
        "[draft] notes | old.txt",
        "a#b?c&d.pdf",
    ],
)
def test_ordinary_names_are_their_own_key(path: str) -> None:
    assert document_key(path) == path


@pytest.mark.parametrize("path", ODD_PATHS)
def test_a_key_leads_back_to_its_path(path: str) -> None:
    assert path_of_key(document_key(path)) == path


@pytest.mark.parametrize("path", ODD_PATHS)
def test_keys_are_nfc_and_dagster_takes_them(path: str) -> None:
    key = document_key(path)
    raise_error_on_invalid_partition_key_substring([key])
    assert unicodedata.is_normalized("NFC", key)
    assert all(c.isprintable() for c in key)
    key.encode("utf-8")


def test_no_two_short_paths_share_a_key() -> None:
    alphabet = ["a", ".", "%", "2", "E", "\n", "\u0301", "\u00e1", "/", "\\", "N", "F", "D"]
    paths = {
        "/".join(p for p in "".join(letters).split("/") if p not in ("", "."))
        for n in range(1, 5)
        for letters in itertools.product(alphabet, repeat=n)
    }
    paths = {p for p in paths if p and ".." not in p.split("/")}
    keys = {document_key(p) for p in paths}
    assert len(keys) == len(paths) > 10_000


def test_composed_and_decomposed_names_are_two_documents() -> None:
    assert document_key(NFC) == NFC
    assert document_key(NFD) == "café%NFD.pdf"


def test_a_key_depends_on_nothing_but_the_path() -> None:
    assert document_key(PurePosixPath("a/./b.pdf")) == document_key("a//b.pdf") == "a/b.pdf"
    assert document_key(PureWindowsPath("a\\b.pdf")) == "a/b.pdf"


@pytest.mark.parametrize("path", ["", ".", "/etc/passwd", "../x.pdf", "a/../../x.pdf"])
def test_paths_that_leave_the_source_are_refused(path: str) -> None:
    with pytest.raises(ValueError, match="below a source"):
        document_key(path)


def test_long_names_are_cut_and_stay_apart() -> None:
    one, two = "x" * 250 + "1" + "y" * 50 + ".pdf", "x" * 250 + "2" + "y" * 50 + ".pdf"
    keys = [document_key(p) for p in (one, two, "é" * 200 + ".docx", os.fsdecode(b"\xff" * 250 + b".pdf"))]
    assert len(set(keys)) == 4
    for key in keys:
        assert len(key.encode()) <= 240
        assert key.endswith((".pdf", ".docx"))
        assert path_of_key(key) is None
        raise_error_on_invalid_partition_key_substring([key])


def test_deep_paths_are_cut_and_keep_the_name() -> None:
    deep = ["/".join(["folder name"] * n) + "/the report.pdf" for n in (60, 61)]
    keys = [document_key(p) for p in deep]
    assert len(set(keys)) == 2
    assert all(len(k) <= 480 and k.endswith("/the report.pdf") for k in keys)


@pytest.mark.parametrize(
    "path", [*ODD_PATHS, "a/b/c.pdf", "..hidden/x.pdf", "x" * 255, "報告.pdf", "/".join("d" * 200)]
)
def test_directory_names_are_safe_everywhere(path: str) -> None:
    name = artifact_dirname(document_key(path))
    assert len(name.encode()) <= 120
    assert not name.startswith(".")
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


def test_directory_names_are_unique_even_where_case_is_ignored() -> None:
    keys = [document_key(p) for p in [*ODD_PATHS, "A.pdf", "a.pdf", "a-pdf", "a/pdf"]]
    assert len({artifact_dirname(k).lower() for k in keys}) == len(keys)
    assert artifact_dirname("notes/site visit.pdf").startswith("notes-site-visit-pdf-")
