"""Rival ways of chunking."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drac_pipeline.errors import ConfigError, ConversionFailed
from drac_pipeline.evaluate.chunkers import Chunker, Piece, chunk_corpus, chunker
from drac_pipeline.evaluate.chunkers.structured import sections_by_heading
from drac_pipeline.evaluate.chunkers.windows import recursive, windows
from drac_pipeline.evaluate.corpus import corpus_documents, same_document
from drac_pipeline.llm.doubles import Brain, Double
from drac_pipeline.parse import parse_markdown
from drac_pipeline.pipeline import find_work, process_document
from drac_pipeline.store import Home

TEXT = st.text(alphabet="ab ,.;\n", max_size=300)
SIZES = st.integers(1, 40)


def chunked(home: Home, spec: str):
    return chunk_corpus(chunker(spec), corpus_documents(home))


def test_windows_share_their_overlap():
    assert windows("abcdefghij", 4, 1) == ["abcd", "defg", "ghij"]
    assert windows("abcdefghijk", 4, 1) == ["abcd", "defg", "ghij", "jk"]
    assert windows("ab", 4, 1) == ["ab"]


@given(TEXT, SIZES, SIZES)
def test_windows_miss_nothing(text: str, size: int, overlap: int):
    overlap %= size
    found = windows(text, size, overlap)
    assert found[0] + "".join(w[overlap:] for w in found[1:]) == text
    assert all(len(w) <= size for w in found)


@given(TEXT, SIZES)
def test_recursive_chunks_joined_are_the_text(text: str, size: int):
    found = recursive(text, size, 0)
    assert "".join(found) == text
    assert all(0 < len(c) <= size for c in found)


@given(TEXT, SIZES, SIZES)
def test_recursive_chunks_with_overlap_are_small_and_in_order(text: str, size: int, overlap: int):
    found = recursive(text, size, overlap % size)
    assert all(0 < len(c) <= size for c in found)
    end = 0
    for c in found:  # each begins within the text so far, and adds to it
        start = max(i for i in range(max(0, end - overlap), end + 1) if text.startswith(c, i))
        assert start + len(c) > end
        end = start + len(c)
    assert end == len(text)


def test_recursive_cuts_at_the_coarsest_separator():
    text = "One one.\nTwo two.\n\nThree three. Four four."
    assert recursive(text, 20, 0) == ["One one.\nTwo two.\n\n", "Three three. ", "Four four."]


def test_sections_have_their_chain_in_front():
    elements = parse_markdown("# Pumps\n\nIntro.\n\n## Start\n\n- one\n- two\n\n## Empty\n\n# Tanks\n\nLast.")
    assert sections_by_heading(elements) == [
        Piece("Pumps\nIntro.", "Pumps"),
        Piece("Pumps > Start\n- one\n- two", "Pumps > Start"),
        Piece("Tanks\nLast.", "Tanks"),
    ]
    assert [p.text for p in sections_by_heading(elements, 20)] == [
        "Pumps\nIntro.",
        "Pumps > Start\n- one",
        "Pumps > Start\n- two",
        "Tanks\nLast.",
    ]


def test_all_ways_over_a_home(small_home):
    ours = chunked(small_home, "drac")
    assert set(ours.documents) == {"manual.pdf", "notes/site visit.pdf", "two pages.pdf"}
    assert ours.breadcrumbs[0] == "Pump manual"
    fixed = chunked(small_home, "fixed:size=80,overlap=20")
    assert fixed.name == "fixed 80/20"
    assert max(len(t) for t in fixed.texts) == 80
    assert "Wait for ten seconds." in " ".join(chunked(small_home, "recursive").texts)
    assert "<!-- page" not in " ".join(chunked(small_home, "recursive:text=markdown").texts)
    assert (
        "Pump manual > Limits\nThe pressure must stay below 6 bar at all times."
        in chunked(small_home, "headings").texts
    )


def test_a_document_that_fails_is_named_and_the_others_go_on(small_home):
    class Picky(Chunker):
        kind = "picky"
        about = "fails on one document"

        def chunk(self, document):
            if document.key == "manual.pdf":
                raise ConversionFailed("it is about pumps", remedy="Take another.")
            if document.key == "two pages.pdf":
                raise RuntimeError("broken")
            return [Piece("all"), Piece("  \n")]

    made = chunk_corpus(Picky(), corpus_documents(small_home))
    assert made.texts == ["all"]
    assert made.failed == {
        "manual.pdf": "conversion failed: it is about pumps. Take another.",
        "two pages.pdf": "RuntimeError: broken",
    }


def test_web_pages_go_straight_and_others_by_a_folder_of_html(small_home, tmp_path):
    none = chunked(small_home, "wrac")
    assert (none.texts, len(none.skipped)) == ([], 3)
    assert "wrac:html=FOLDER" in none.skipped["manual.pdf"]
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "Manual.HTML").write_text("<h1>Pump</h1><p>It moves water.</p>")
    some = chunked(small_home, f"wrac:html={pages}")
    assert some.texts == ["# Pump\n\nIt moves water."]
    assert set(some.skipped) == {"notes/site visit.pdf", "two pages.pdf"}


def test_web_pages_of_a_home(tmp_path):
    source = tmp_path / "web"
    source.mkdir()
    (source / "page.md").write_text("# Not a page\n\nBut Markdown.")
    shutil.copyfile(
        Path(__file__).parents[2] / "data/corpus/support/lm-410-chlorine-reading-drifts.html",
        source / "page.html",
    )
    home = Home(tmp_path / "home")
    find_work(home, source, home.config)
    for key in ("page.html", "page.md"):
        process_document(home.store, key, home.config)
    made = chunked(home, "wrac")
    assert set(made.documents) == {"page.html"}
    assert made.texts == [t for t, d in zip(*_of(chunked(home, "drac")), strict=True) if d == "page.html"]


def _of(made):
    return made.texts, made.documents


def test_reference_chunks_are_found_by_name_and_organization(small_home, tmp_path):
    folder = tmp_path / "parsed"
    folder.mkdir()
    lines = [
        {"file_name": "Manual.md", "chunks": ["one", "two"]},
        {"file_name": "site  visit.md", "chunks": []},
    ]
    (folder / "acme_chunks.json").write_text("\n".join(map(json.dumps, lines)))
    made = chunked(small_home, f"agentic:reference={folder}")
    assert (made.name, made.texts) == ("agentic", ["one", "two"])
    assert set(made.skipped) == {"two pages.pdf"}
    (folder / "notes_chunks.json").write_text(
        json.dumps([{"filename": "site visit.md", "chunks": ["three"]}])
    )
    assert chunked(small_home, f"agentic:reference={folder}/.").texts == ["one", "two", "three"]
    (folder / "bad.json").write_text('[{"chunks": []}]')
    with pytest.raises(ConfigError, match=r"bad.json, record 1: needs `file_name`"):
        chunked(small_home, f"agentic:reference={folder}//")


def test_a_model_writes_chunks_and_is_paid_once(small_home):
    with Double(Brain()) as server:
        small_home.path.joinpath("drac.toml").write_text(
            f'[model]\nprovider = "openai"\nendpoint_url = "{server.url}/v1"\nmodel = "gpt-4.1"\n'
            'api_key_env = "HOME"\n'
        )
        home = Home(small_home.path)
        first = chunked(home, "agentic:by=model")
        asked = server.requests
        assert first.failed == {}
        assert "Press the green button." in " ".join(first.texts)
        assert chunked(home, "agentic:by=model").texts == first.texts
        assert server.requests == asked > 0


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("sliced", "no such way of chunking: 'sliced'; there are drac, fixed"),
        ("fixed:size=big", "size: give a whole number from 1, not"),
        ("fixed:size=10,overlap=10", "overlap (10) has to be less than size (10)"),
        ("fixed:width=10", "width: there is no such setting (options of fixed: size, overlap, text)"),
        ("fixed:size", "write options as name=value"),
        ("agentic", "agentic:reference=PATH"),
        ("agentic:reference=/nowhere", "no such file or folder"),
        ("wrac:html=/nowhere", "no such folder"),
    ],
)
def test_wrong_options_are_named(spec: str, told: str):
    with pytest.raises(ConfigError) as e:
        chunker(spec)
    assert told in str(e.value)


def test_documents_by_name():
    assert same_document("Travel  Policy.md", "Acme/pdf/travel policy.pdf")
    assert not same_document("Travel Policy.md", "Acme/pdf/Travel Policy 2.pdf")
