"""An evaluation from end to end: a home, questions, ways of chunking and rankers in; a report out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from drac_pipeline.config import EmbedConfig
from drac_pipeline.config.wrong import what_is_wrong
from drac_pipeline.counted import counted
from drac_pipeline.errors import ConfigError
from drac_pipeline.evaluate.bootstrap import RESAMPLES, SEED
from drac_pipeline.evaluate.chunk_set import ChunkSet, read_chunk_set
from drac_pipeline.evaluate.chunkers import Chunker, chunk_corpus, chunker
from drac_pipeline.evaluate.corpus import CorpusDocument, corpus_documents
from drac_pipeline.evaluate.evaluation import OURS, OnStep, evaluate
from drac_pipeline.evaluate.questions import load_questions
from drac_pipeline.evaluate.rankers import Ranker, Vectors, Words
from drac_pipeline.evaluate.report import write_report
from drac_pipeline.evaluate.scoring import Settings
from drac_pipeline.evaluate.summary import WORST, question_records, summarize
from drac_pipeline.evaluate.vectors import KeptVectors
from drac_pipeline.index import open_embedder
from drac_pipeline.index.vector_cache import CACHE_FILE
from drac_pipeline.llm.open import STATE_FOLDER
from drac_pipeline.pipeline import State, document_states
from drac_pipeline.store import Home

FOLDER = "evaluation"
HOME_EMBEDDER = "home"
NO_EMBEDDER = "none"


@dataclass(frozen=True)
class Wish:
    """What to evaluate. Empty `questions` and `embedders` are as drac.toml says; `chunk_files` are more
    chunk sets by name; `out` is the folder of the report (default: `evaluation` in the home)."""

    questions: Path | None = None
    chunkers: Sequence[str] = (OURS,)
    chunk_files: dict[str, Path] = field(default_factory=dict)
    embedders: Sequence[str] = ()
    hybrid: bool = True
    organizations: Sequence[str] = ()
    rows_per_organization: int = 0
    threshold: float | None = None
    ndcg: str = ""
    worst: int = WORST
    resamples: int = RESAMPLES
    seed: int = SEED
    out: Path | None = None


@dataclass(frozen=True)
class Done:
    """The report: its page, and all figures as `summarize` gives them."""

    page: Path
    summary: dict[str, Any]


def run_evaluation(home: Home, wish: Wish, on_step: OnStep = lambda *_: None) -> Done:
    """Chunk, rank, judge and report. Raises ConfigError for what no figure can come of."""
    config = home.config.evaluate
    path = wish.questions or _configured(home)
    ways = [chunker(spec) for spec in dict.fromkeys(wish.chunkers)]
    _distinct(ways)
    asked = load_questions(path, wish.organizations, wish.rows_per_organization)
    organizations = sorted({q.organization for q in asked.questions})
    sets: list[ChunkSet] = []
    notes = list(asked.notes)
    if ways:
        documents = corpus_documents(home, organizations)
        notes += _staleness(home, documents)
        for way in ways:
            phase = f"Chunking, {way.label}"
            on_step(phase, len(documents), "")
            sets.append(chunk_corpus(way, documents, lambda key, phase=phase: on_step(phase, 0, key)))
    sets += [read_chunk_set(file, name, organizations) for name, file in wish.chunk_files.items()]
    settings = Settings(
        wish.threshold or config.threshold,
        wish.ndcg or config.ndcg,
        home.config.index.rrf_k,
        home.config.index.vector_weight,
    )
    rankers = _rankers(home, wish, sets, organizations, on_step)
    evaluation = evaluate(
        sets,
        asked.questions,
        rankers,
        hybrid=wish.hybrid,
        settings=settings,
        on_step=on_step,
    )
    summary = summarize(
        evaluation,
        source=str(path),
        notes=notes,
        settings=settings,
        worst=wish.worst,
        resamples=wish.resamples,
        seed=wish.seed,
    )
    out = wish.out or home.path / FOLDER
    return Done(write_report(out, summary, question_records(evaluation)), summary)


def _rankers(
    home: Home, wish: Wish, sets: Sequence[ChunkSet], organizations: Sequence[str], on_step: OnStep
) -> list[Ranker]:
    """Words, and vectors of each embedder, with the chunks embedded."""
    rankers: list[Ranker] = [Words()]
    texts = list({s.texts[i]: None for s in sets for o in organizations for i in s.places(o)})
    for spec in dict.fromkeys(wish.embedders or home.config.evaluate.embedders):
        if spec == NO_EMBEDDER:
            continue
        state = home.path / STATE_FOLDER
        embedder = open_embedder(embed_settings(home, spec), home.config.model, state, "evaluation")
        kept = KeptVectors(embedder, state / CACHE_FILE)
        label = kept.name if spec == HOME_EMBEDDER else f"{kept.name} {spec}"
        missing = kept.missing(texts)
        if missing:
            phase = f"Embedding, {kept.name}"
            on_step(phase, len(missing), "")

            def done(n: int, phase: str = phase) -> None:
                for _ in range(n):
                    on_step(phase, 0, "chunks")

            kept.make(missing, done)
        for s in sets:
            if over := sum(kept.embedder.count_tokens(t) > kept.embedder.max_tokens for t in s.texts):
                s.notes.append(
                    f"{counted(over, 'of its chunks is', 'of its chunks are')} longer than the"
                    f" {counted(kept.embedder.max_tokens, 'token')} that {label}"
                    f" reads: {'cut' if kept.embedder.too_long == 'cut' else 'embedded in parts'}"
                )
        rankers.append(Vectors(kept, label))
    return rankers


def embed_settings(home: Home, spec: str) -> EmbedConfig:
    """The settings of an embedder: `home` for the home's, or these with some changed, as key=value,key=value.

    One that refuses long texts embeds them in parts here: a rival's chunks are as they are. Raises
    ConfigError.
    """
    settings = home.config.embed
    if settings.too_long == "refuse":
        settings = settings.model_copy(update={"too_long": "split"})
    if spec == HOME_EMBEDDER:
        return settings
    changed: dict[str, str] = {}
    for part in filter(None, (p.strip() for p in spec.split(","))):
        key, equals, value = part.partition("=")
        if not equals:
            raise ConfigError(
                f"no such embedder: {spec!r}; name `{HOME_EMBEDDER}`, `{NO_EMBEDDER}` or key=value,key=value"
            )
        changed[key.strip()] = value.strip()
    try:
        return EmbedConfig.model_validate({**settings.model_dump(), **changed})
    except ValidationError as e:
        wrong = "; ".join(what_is_wrong(e, EmbedConfig))
        raise ConfigError(f"embedder {spec!r}: {wrong}") from e


def _configured(home: Home) -> Path:
    named = home.config.evaluate.questions
    if not named:
        raise ConfigError(
            "which questions? Name a CSV file, or set `questions` under [evaluate] in drac.toml"
        )
    return home.path / named


def _distinct(ways: Sequence[Chunker]) -> None:
    labels = [w.label for w in ways]
    if twice := sorted({x for x in labels if labels.count(x) > 1}):
        raise ConfigError(f"{twice[0]} is there twice, with options that its name does not show")


def _staleness(home: Home, documents: Sequence[CorpusDocument]) -> list[str]:
    """A note on chunks that would be made otherwise now."""
    stale = 0
    for d in documents:
        states = document_states(home.store, d.manifest, home.config)
        stale += "chunks" in d.manifest.stages and any(s.state is State.STALE for s in states.values())
    if not stale:
        return []
    of = f"of {counted(len(documents), 'document')}"
    told = counted(stale, f"{of} is", f"{of} are")
    return [f"{told} stale (`drac status` says why); judged as they are"]
