"""Score a chunk set: each question is ranked against the chunks of its organization, and judged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from drac_pipeline.config import IndexConfig
from drac_pipeline.errors import ConfigError
from drac_pipeline.evaluate.chunk_set import ChunkSet
from drac_pipeline.evaluate.judge import THRESHOLD, Judge, budget_support
from drac_pipeline.evaluate.metrics import BUDGET, BUDGET_RECALL, DEPTH, KS, NDCG_RULES, question_metrics
from drac_pipeline.evaluate.questions import Question
from drac_pipeline.evaluate.rankers import Ranker, rankings


class MissingChunks(ConfigError):
    """A chunk set has nothing of an organization that is asked about."""


@dataclass(frozen=True)
class Settings:
    """How to judge: the share of a fact's words a chunk has to hold, the rule of NDCG, and how rankings
    are fused (as in [index])."""

    threshold: float = THRESHOLD
    ndcg: str = NDCG_RULES[0]
    rrf_k: float = IndexConfig().rrf_k
    vector_weight: float = IndexConfig().vector_weight


@dataclass
class FactResult:
    """What became of a fact: `place` of the first chunk that supports it in the whole ranking (0: no
    chunk of the index does), the chunk with most of its words and their share, whether it was covered by
    the first 6 chunks and by the first characters."""

    text: str
    place: int
    best_chunk: int
    best_share: float
    covered: bool
    in_budget: bool


@dataclass
class QuestionResult:
    """A question's metrics, the first chunks that were retrieved (places in the set) and whether each
    supports a fact, and its facts."""

    question: Question
    metrics: dict[str, float]
    top: list[int]
    relevant: list[bool]
    facts: list[FactResult] = field(default_factory=list)


def score(
    chunks: ChunkSet,
    questions: Sequence[Question],
    rankers: Sequence[Ranker],
    *,
    hybrid: bool = True,
    settings: Settings | None = None,
    on_question: Callable[[], None] = lambda: None,
) -> dict[str, list[QuestionResult]]:
    """By ranker the results of all questions, organization by organization.

    Raises MissingChunks where an organization that is asked about has no chunks.
    """
    settings = settings or Settings()
    out: dict[str, list[QuestionResult]] = {}
    by_organization: defaultdict[str, list[Question]] = defaultdict(list)
    for q in questions:
        by_organization[q.organization].append(q)
    for organization, asked in by_organization.items():
        places = chunks.places(organization)
        if not places:
            there = ", ".join(sorted({o for o in chunks.organizations if o})) or "none"
            raise MissingChunks(
                f"{chunks.name}: no chunks of {organization or 'the corpus'!r}; organizations with chunks:"
                f" {there}. An organization is a folder of that name in the documents' keys."
            )
        texts = [chunks.texts[i] for i in places]
        judge = Judge(texts, settings.threshold)
        fusion = (settings.rrf_k, settings.vector_weight)
        for i, orders in rankings(texts, [q.text for q in asked], rankers, hybrid, *fusion):
            shares = judge.shares(asked[i].facts)
            supports = judge.supports(asked[i].facts)
            for name, order in orders.items():
                result = _result(asked[i], order, shares, supports, texts, places, settings)
                out.setdefault(name, []).append(result)
            on_question()
    return out


def _result(
    question: Question,
    order: np.ndarray,
    shares: np.ndarray,
    supports: np.ndarray,
    texts: list[str],
    places: Sequence[int],
    settings: Settings,
) -> QuestionResult:
    top = order[:DEPTH]
    first = supports[:, top]
    metrics = question_metrics(first.T, int(supports.any(axis=0).sum()))
    for k in KS:
        metrics[f"ndcg@{k}"] = metrics[f"ndcg@{k}:{settings.ndcg}"]
    in_budget = budget_support((texts[i] for i in order), question.facts, BUDGET, settings.threshold)
    metrics[BUDGET_RECALL] = int(in_budget.sum()) / len(question.facts)
    metrics["ceiling"] = float(supports.any(axis=1).mean())
    ranked = supports[:, order]
    facts = [
        FactResult(
            fact.text,
            int(ranked[f].argmax()) + 1 if ranked[f].any() else 0,
            places[int(shares[f].argmax())],
            float(shares[f].max()),
            bool(first[f].any()),
            bool(in_budget[f]),
        )
        for f, fact in enumerate(question.facts)
    ]
    return QuestionResult(
        question, metrics, [places[i] for i in top], [bool(supports[:, i].any()) for i in top], facts
    )


def averages(results: Sequence[QuestionResult]) -> dict[str, float]:
    """The mean of each metric."""
    names = results[0].metrics if results else {}
    return {name: sum(r.metrics[name] for r in results) / len(results) for name in names}


def grouped(
    results: Iterable[QuestionResult], key: Callable[[Question], str]
) -> dict[str, list[QuestionResult]]:
    """The results by what `key` says of their question, in order of name."""
    out: defaultdict[str, list[QuestionResult]] = defaultdict(list)
    for r in results:
        out[key(r.question)].append(r)
    return dict(sorted(out.items()))
