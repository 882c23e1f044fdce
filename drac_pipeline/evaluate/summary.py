"""An evaluation as plain values: what the JSON file holds, and what page and terminal show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import numpy as np

from drac_pipeline import __version__
from drac_pipeline.evaluate.bootstrap import CONFIDENCE, ENOUGH, RESAMPLES, SEED, Interval, intervals, paired
from drac_pipeline.evaluate.chunk_set import ChunkSet
from drac_pipeline.evaluate.corpus import same_document
from drac_pipeline.evaluate.evaluation import Comparison, Evaluation
from drac_pipeline.evaluate.metrics import BUDGET, METRICS
from drac_pipeline.evaluate.questions import Question
from drac_pipeline.evaluate.scoring import QuestionResult, Settings, averages, grouped

SCHEMA = "retrieval_evaluation/1"
WORST = 20
_SNIPPET = 240
_BINS = 30
_SHOWN_SIZES = 95  # per cent of the chunks of every set are on the axis of sizes
_HEADING_LINES = re.compile(r"\A(?:#{1,6} .*\n+)+")


def summarize(
    evaluation: Evaluation,
    *,
    source: str,
    notes: list[str] | None = None,
    settings: Settings | None = None,
    worst: int = WORST,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> dict[str, Any]:
    """All figures as JSON values. `source` says where the questions are from; `worst` how many of the
    worst questions are listed for each set."""
    settings = settings or Settings()
    asked = evaluation.comparisons[0].questions
    return {
        "schema": SCHEMA,
        "drac_version": __version__,
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "questions": {
            "source": source,
            "count": len(asked),
            "facts": sum(len(q.facts) for q in asked),
            "notes": [*(notes or ()), *evaluation.notes],
        },
        "settings": {
            "threshold": settings.threshold,
            "rrf_k": settings.rrf_k,
            "vector_weight": settings.vector_weight,
            "ndcg": settings.ndcg,
            "budget": BUDGET,
            "confidence": CONFIDENCE,
            "resamples": resamples,
            "seed": seed,
        },
        "without_chunks": evaluation.empty,
        "comparisons": [_comparison(c, worst, resamples, seed) for c in evaluation.comparisons],
    }


def question_records(evaluation: Evaluation) -> Iterator[dict[str, Any]]:
    """A record for each comparison, set, ranker and question."""
    for number, c in enumerate(evaluation.comparisons):
        for s in c.sets:
            for ranker, results in c.results[s.name].items():
                for r in results:
                    yield {
                        "comparison": number,
                        "set": s.name,
                        "ranker": ranker,
                        "organization": r.question.organization,
                        "type": r.question.type,
                        "question": r.question.text,
                        "row": r.question.row,
                        "metrics": r.metrics,
                        "retrieved": [
                            {"document": s.documents[i], "supports": hit, "chunk": i}
                            for i, hit in zip(r.top, r.relevant, strict=True)
                        ],
                        "facts": [
                            {
                                "text": f.text,
                                "covered": f.covered,
                                "in_budget": f.in_budget,
                                "place": f.place,
                                "best_share": f.best_share,
                            }
                            for f in r.facts
                        ],
                    }


def failed_sets(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """The sets that failed on documents, each once, also those that are compared on some documents only."""
    found = {s["name"]: s for c in reversed(summary["comparisons"]) for s in c["sets"] if s["failed"]}
    return list(found.values())


def _comparison(c: Comparison, worst: int, resamples: int, seed: int) -> dict[str, Any]:
    how = {"resamples": resamples, "seed": seed}
    largest = max(np.percentile([len(t) for t in s.texts], _SHOWN_SIZES) for s in c.sets)
    most = -(-int(largest) // 100) * 100 or 100
    return {
        "questions": len(c.questions),
        "documents": c.documents,
        "confined_by": c.confined_by,
        "reference": c.reference,
        "rankers": c.rankers,
        "main_ranker": c.main_ranker,
        "sets": [_set(c, s, most, how) for s in c.sets],
        "differences": [
            {"set": s.name, "ranker": ranker, "metrics": _difference(c, s.name, ranker, how)}
            for s in c.sets
            if s.name != c.reference
            for ranker in c.rankers
        ],
        "worst": {s.name: _worst(c, s, worst) for s in c.sets},
    }


def _difference(c: Comparison, name: str, ranker: str, how: dict[str, int]) -> dict[str, dict[str, Any]]:
    """The reference minus another set; sure where there are questions enough and 0 is outside."""
    found = paired(_columns(c, c.reference, ranker), _columns(c, name, ranker), **how)
    enough = len(c.questions) >= ENOUGH
    return {m: {**_interval(i), "sure": enough and i.sure} for m, i in zip(METRICS, found, strict=True)}


def _set(c: Comparison, s: ChunkSet, most: int, how: dict[str, int]) -> dict[str, Any]:
    organizations = {q.organization for q in c.questions}
    asked = sorted({i for o in organizations for i in s.places(o)})  # questions without one ask for all
    sizes = np.array([len(s.texts[i]) for i in asked])
    counts, _ = np.histogram(np.minimum(sizes, most), bins=_BINS, range=(0, most))
    rankers = {}
    for ranker, results in c.results[s.name].items():
        spread = intervals(np.array(_columns(c, s.name, ranker)), **how)
        rankers[ranker] = {
            "overall": averages(results),
            "intervals": {name: _interval(i) for name, i in zip(METRICS, spread, strict=True)},
            "type": _groups(results, lambda q: q.type),
            "organization": _groups(results, lambda q: q.organization),
        }
    return {
        "name": s.name,
        "about": s.about,
        "chunks": len(asked),
        "documents": len({s.documents[i] for i in asked}),
        "mean_chars": float(sizes.mean()),
        "median_chars": float(np.median(sizes)),
        "largest_chars": int(sizes.max()),
        "sizes": {"counts": counts.tolist(), "most": most},
        "seconds": round(s.seconds, 2),
        "failed": s.failed,
        "skipped": s.skipped,
        "notes": s.notes,
        "rankers": rankers,
    }


def _groups(results: list[QuestionResult], key: Any) -> dict[str, dict[str, float]]:
    found = grouped(results, key)
    if set(found) == {""}:
        return {}
    return {name or "none": {"questions": len(rs), **averages(rs)} for name, rs in found.items()}


def _columns(c: Comparison, name: str, ranker: str) -> list[list[float]]:
    return [[r.metrics[m] for m in METRICS] for r in c.results[name][ranker]]


def _interval(i: Interval) -> dict[str, float]:
    return {"mean": i.mean, "low": i.low, "high": i.high}


def _worst(c: Comparison, s: ChunkSet, n: int) -> list[dict[str, Any]]:
    """The questions whose facts were found least, with what came instead."""
    results = c.results[s.name][c.main_ranker]
    order = sorted(range(len(results)), key=lambda i: (_found(results[i]), i))
    out = []
    for i in order[:n]:
        r = results[i]
        if r.metrics["recall@6"] == 1:
            break
        out.append(
            {
                "question": r.question.text,
                "type": r.question.type,
                "organization": r.question.organization,
                "row": r.question.row,
                "documents": list(r.question.documents),
                "recall@6": r.metrics["recall@6"],
                "others": {
                    other: c.results[other][c.main_ranker][i].metrics["recall@6"]
                    for other in c.results
                    if other != s.name
                },
                "facts": [
                    {
                        "text": f.text,
                        "covered": f.covered,
                        "place": f.place,
                        "best_share": f.best_share,
                        "best": _chunk(s, f.best_chunk),
                    }
                    for f in r.facts
                ],
                "retrieved": [
                    {**_chunk(s, at), "supports": hit, "expected": _expected(r.question, s.documents[at])}
                    for at, hit in zip(r.top, r.relevant, strict=True)
                ],
            }
        )
    return out


def _found(r: QuestionResult) -> tuple[float, float, float]:
    return r.metrics["recall@6"], r.metrics["mrr"], r.metrics["recall@4000c"]


def _expected(question: Question, document: str) -> bool:
    return any(same_document(name, document) for name in question.documents)


def _chunk(s: ChunkSet, i: int) -> dict[str, Any]:
    text = s.texts[i]
    if s.breadcrumbs[i]:  # the headings on top are shown already
        text = _HEADING_LINES.sub("", text).removeprefix(s.breadcrumbs[i])
    text = " ".join(text.split())
    return {
        "document": s.documents[i],
        "breadcrumb": s.breadcrumbs[i],
        "text": text if len(text) <= _SNIPPET else text[:_SNIPPET].rsplit(" ", 1)[0] + " …",
        "chars": len(s.texts[i]),
    }
