"""Evaluate chunk sets against each other: one comparison over all documents, and one more for each set
that only some documents are for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from drac_pipeline.counted import counted
from drac_pipeline.errors import ConfigError
from drac_pipeline.evaluate.chunk_set import ChunkSet
from drac_pipeline.evaluate.corpus import same_document
from drac_pipeline.evaluate.questions import Question
from drac_pipeline.evaluate.rankers import Ranker
from drac_pipeline.evaluate.scoring import MissingChunks, QuestionResult, Settings, score

OURS = "drac"

OnStep = Callable[[str, int, str], None]
"""Called with a phase, its number of steps, and what was just done ("" at the phase's begin)."""


@dataclass
class Comparison:
    """Chunk sets that answered the same questions over the same documents.

    `results` are by set and ranker, all in the same order of questions; `reference` is the set that the
    others are held against; `documents` are the documents it is confined to, None for all.
    """

    sets: list[ChunkSet]
    questions: list[Question]
    results: dict[str, dict[str, list[QuestionResult]]]
    reference: str
    documents: list[str] | None = None
    confined_by: list[str] = field(default_factory=list)

    @property
    def rankers(self) -> list[str]:
        """Names of the rankers, the fused one last."""
        return list(self.results[self.reference])

    @property
    def main_ranker(self) -> str:
        """The one that worst questions are shown for."""
        return self.rankers[-1]


@dataclass
class Evaluation:
    """All comparisons, the first over all documents; and the sets without any chunks, with the cause."""

    comparisons: list[Comparison]
    empty: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def evaluate(
    sets: Sequence[ChunkSet],
    questions: Sequence[Question],
    rankers: Sequence[Ranker],
    *,
    hybrid: bool = True,
    settings: Settings | None = None,
    on_step: OnStep = lambda *_: None,
) -> Evaluation:
    """Judge the sets. A set that skipped documents is judged with the others on the documents it has and
    the questions about these alone; one that failed on documents stays, and its failures count against it.

    Raises ConfigError where there is nothing to judge.
    """
    names = [s.name for s in sets]
    if twice := {n for n in names if names.count(n) > 1}:
        raise ConfigError(f"several chunk sets are called {', '.join(sorted(twice))}; name them NAME=PATH")
    empty = {s.name: _cause(s) for s in sets if not s.texts}
    whole = [s for s in sets if s.texts and not s.skipped]
    partial = [s for s in sets if s.texts and s.skipped]
    if not whole and not partial:
        told = "; ".join(f"{name}: {why}" for name, why in empty.items())
        raise ConfigError(f"no chunks to evaluate ({told})")
    out = Evaluation([], empty)

    def compared(
        members: Sequence[ChunkSet],
        asked: Sequence[Question],
        documents: list[str] | None = None,
        confined: str = "",
    ) -> Comparison:
        results: dict[str, dict[str, list[QuestionResult]]] = {}
        for s in members:
            phase = f"Judging, {s.name}" + (f", on the documents of {confined}" if confined else "")
            on_step(phase, len(asked), "")
            try:
                results[s.name] = score(
                    s,
                    asked,
                    rankers,
                    hybrid=hybrid,
                    settings=settings,
                    on_question=lambda phase=phase: on_step(phase, 0, "questions"),
                )
            except MissingChunks as e:  # the others go on
                empty[s.name] = str(e)
        if not results:
            raise ConfigError("; ".join(empty.values()))
        order = [r.question for r in next(iter(next(iter(results.values())).values()))]
        reference = OURS if OURS in results else next(iter(results))
        judged = [s for s in members if s.name in results]
        return Comparison(judged, order, results, reference, documents)

    if whole:
        out.comparisons.append(compared(whole, questions))
    for has, members in _alike(partial):
        asked = _about(questions, has)
        who = " and ".join(s.name for s in members)
        if not asked:
            out.notes.append(
                f"{who}: not judged, since no question is only about the"
                f" {counted(len(has), 'document')} that it is for"
            )
            continue
        rivals = [part for s in whole if (part := s.only(has)).texts]
        joined = compared([*members, *rivals], asked, sorted(has), who)
        joined.confined_by = [s.name for s in members]
        out.comparisons.append(joined)
    if not out.comparisons:
        raise ConfigError("; ".join(out.notes))
    return out


def _alike(partial: Sequence[ChunkSet]) -> list[tuple[set[str], list[ChunkSet]]]:
    """The sets by the documents they have."""
    out: list[tuple[set[str], list[ChunkSet]]] = []
    for s in partial:
        has = set(s.documents) | set(s.failed)
        same = next((members for documents, members in out if documents == has), None)
        if same is None:
            out.append((has, [s]))
        else:
            same.append(s)
    return out


def _about(questions: Sequence[Question], documents: Collection[str]) -> list[Question]:
    """The questions whose documents are all among these."""
    return [
        q
        for q in questions
        if q.documents and all(any(same_document(name, key) for key in documents) for name in q.documents)
    ]


def _cause(s: ChunkSet) -> str:
    found = s.failed or s.skipped
    if not found:
        return "no chunks"
    key, why = next(iter(found.items()))
    documents = counted(len(found), "document")
    return f"no chunks: {documents} {'failed' if s.failed else 'skipped'}, the first {key}: {why}"
