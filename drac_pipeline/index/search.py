"""Answer a question with chunks: by meaning, by words, or by both."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from drac_pipeline.errors import ConfigError
from drac_pipeline.globs import glob_pattern
from drac_pipeline.index.embedder import Embedder
from drac_pipeline.index.fusion import fuse
from drac_pipeline.index.highlight import spans_of_words
from drac_pipeline.index.open import open_embedder
from drac_pipeline.index.sync import chunk_tables, current_embedder, with_chunks
from drac_pipeline.index.table import ChunkTable, one_of, quoted
from drac_pipeline.llm.open import STATE_FOLDER
from drac_pipeline.store import Home, Manifest

Mode = Literal["hybrid", "vector", "text"]
CANDIDATES = 100  # of each ranking, at least: more change nothing among the first ten


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk found.

    rank        1 is the best
    score       of the fusion (hybrid), cosine (vector) or BM25 (text)
    ranks       its rank by vectors and by words, None where that ranking does not have it
    highlights  (start, end) of the question's words in `text`
    source      the file or object that the document was taken in from
    link        its `file:` or `s3:` address, at the page for a PDF
    """

    rank: int
    score: float
    document_key: str
    chunk_id: str
    ordinal: int
    text: str
    breadcrumb: str
    page_start: int
    page_end: int
    ranks: dict[str, int | None]
    highlights: list[tuple[int, int]]
    source: str
    link: str


def search(
    home: Home | Path | str,
    question: str,
    *,
    k: int = 6,
    mode: Mode = "hybrid",
    source: str | Sequence[str] = (),
    under: str = "",
    page: int | tuple[int, int] | None = None,
) -> list[Hit]:
    """The `k` chunks that answer `question` best.

    `source` are globs on document keys, `under` is (part of) a heading that the chunk stands under or
    holds, or several as `A > B`; `page` is a page or (first, last). Raises ConfigError where nothing is
    indexed, or where the index was made with another embedder than the settings name.
    """
    home = home if isinstance(home, Home) else Home(Path(home))
    if not question.strip():
        raise ConfigError("the question is empty")
    if mode not in ("hybrid", "vector", "text"):
        raise ConfigError(f"no such mode of search: {mode!r}; there are hybrid, vector and text")
    table = _table(home, mode)
    where = _condition(table, [source] if isinstance(source, str) and source else source, under, page)
    n = max(CANDIDATES, 5 * k)
    rankings: dict[str, list[dict[str, Any]]] = {}
    if mode != "text":
        embedder = _embedder(home)
        rankings["vector"] = table.nearest(embedder.embed_queries([question])[0], n, where)
    if mode != "vector":
        rankings["text"] = table.with_words(question, n, where)
    rows = {r["chunk_id"]: r for ranking in rankings.values() for r in ranking}
    ids = {name: [r["chunk_id"] for r in ranking] for name, ranking in rankings.items()}
    if mode == "hybrid":
        settings = home.config.index
        best = fuse([ids["text"], ids["vector"]], settings.rrf_k, (1.0, settings.vector_weight))
    else:
        best = [(r["chunk_id"], r["score"]) for r in rankings[mode]]
    places = {name: {c: i for i, c in enumerate(found, 1)} for name, found in ids.items()}
    out: list[Hit] = []
    for start in range(0, len(best), 2 * k):  # manifests are read together, and no more than needed
        part = best[start : start + 2 * k]
        known = home.store.manifests_of({rows[c]["document_key"] for c, _ in part})
        for chunk_id, score in part:
            manifest = known.get(rows[chunk_id]["document_key"])
            if manifest is None or manifest.retired:  # a moment ago
                continue
            if len(out) == k:
                return out
            ranks = {name: found.get(chunk_id) for name, found in places.items()}
            out.append(_hit(manifest, rows[chunk_id], len(out) + 1, score, ranks, question))
    return out


def _hit(
    manifest: Manifest,
    row: dict[str, Any],
    rank: int,
    score: float,
    ranks: dict[str, int | None],
    question: str,
) -> Hit:
    source = manifest.source
    page = row["page_start"]
    anchor = f"#page={page}" if source.place.lower().endswith(".pdf") and page else ""
    return Hit(
        rank=rank,
        score=round(float(score), 6),
        **{n: row[n] for n in ("document_key", "chunk_id", "ordinal", "text", "breadcrumb")},
        page_start=page,
        page_end=row["page_end"],
        ranks=ranks,
        highlights=spans_of_words(row["text"], question),
        source=source.place,
        link=source.link + anchor,
    )


def _embedder(home: Home) -> Embedder:
    return open_embedder(home.config.embed, home.config.model, home.path / STATE_FOLDER, "search")


def _table(home: Home, mode: Mode) -> ChunkTable:
    tables = chunk_tables(home)
    names = tables.names()
    fill = f"`drac run SOURCE --home {home.path}`"
    if not names:
        raise ConfigError(f"nothing is indexed yet in {home.path}: take documents in with {fill}")
    if mode == "text":
        wanted = current_embedder(with_chunks(home), home.config)
    else:
        wanted = _embedder(home).name
    table = tables.open(wanted) or (tables.open(next(iter(names))) if mode == "text" else None)
    if table is None:
        made = ", ".join(names)
        raise ConfigError(
            f"the index was made with {made}, and [embed] names {wanted} now: their vectors cannot be"
            f" compared. Embed again with {fill}, set [embed] back, or search with --mode text."
        )
    return table


def _condition(
    table: ChunkTable, source: Sequence[str], under: str, page: int | tuple[int, int] | None
) -> str:
    parts = []
    if source:
        keys = (k for k in table.documents() if any(glob_pattern(g).fullmatch(k) for g in source))
        parts.append(one_of("document_key", keys))
    for heading in filter(None, (" ".join(p.split()) for p in under.split(">"))):
        parts.append(_has_heading(heading.lower()))
    if page is not None:
        first, last = (page, page) if isinstance(page, int) else page
        if not 1 <= first <= last < 2**31:
            raise ConfigError(f"no such pages: {first}-{last}; give a page such as 3, or pages such as 3-5")
        parts.append(f"page_start <= {int(last)} AND page_end >= {int(first)}")
    return " AND ".join(f"({p})" for p in parts)


def _has_heading(words: str) -> str:
    """A chunk stands under the heading, or holds one with these words."""
    line = "(?m)^#{1,6} .*" + re.sub(r"[^\w\s]", lambda m: f"\\{m[0]}" if m[0].isascii() else m[0], words)
    return f"contains(lower(breadcrumb), {quoted(words)}) OR regexp_like(lower(text), {quoted(line)})"
