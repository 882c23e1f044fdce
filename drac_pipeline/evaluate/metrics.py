"""The metrics of one question, from which of its facts each retrieved chunk supports.

With k = 6 and 3, each metric from 0 to 1:

recall@k      share of the question's facts that one of the first k chunks supports
precision@k   share of the k places that hold a chunk which supports a fact
mrr           1 / place of the first supporting chunk among the first 6, else 0
ndcg@k        gains of the first k places (1 where a chunk supports a fact), each by 1/log2(place + 1), over
              the same of an ideal order. The ideal has the supporting chunks that were retrieved moved to
              the front (`retrieved`, the figure of tables); or all that the index has (`full`, the usual
              definition); or counts no more supporting chunks than there are facts (`bench`, the rule of
              RAG-Multi-Corpus)
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

KS = (6, 3)
DEPTH = max(KS)
BUDGET = 4000
NDCG_RULES = ("retrieved", "full", "bench")
BUDGET_RECALL = f"recall@{BUDGET}c"
SEVEN = ("recall@6", "recall@3", "precision@6", "precision@3", "mrr", "ndcg@6", "ndcg@3")
METRICS = (*SEVEN, BUDGET_RECALL)
SHORT = {
    "recall@6": "R@6",
    "recall@3": "R@3",
    "precision@6": "P@6",
    "precision@3": "P@3",
    "mrr": "MRR",
    "ndcg@6": "NDCG@6",
    "ndcg@3": "NDCG@3",
    BUDGET_RECALL: f"R@{BUDGET}c",
    "ceiling": "ceiling",
}


def question_metrics(supports: np.ndarray, relevant_in_index: int) -> dict[str, float]:
    """All metrics but those by characters, the rules of NDCG as `ndcg@6:full` and so on.

    `supports` has a row for each retrieved chunk in order and a column for each fact (at least one);
    `relevant_in_index` is the number of chunks in the whole index that support any of the facts.
    """
    n_facts = supports.shape[1]
    found = [bool(row.any()) for row in supports[:DEPTH]]
    found += [False] * (DEPTH - len(found))
    out = {"mrr": next((1 / place for place, hit in enumerate(found, 1) if hit), 0.0)}
    for k in KS:
        gains = found[:k]
        hits = sum(gains)
        out[f"recall@{k}"] = int(supports[:k].any(axis=0).sum()) / n_facts
        out[f"precision@{k}"] = hits / k
        counted = [hit and sum(gains[:i]) < n_facts for i, hit in enumerate(gains)]
        for rule, gained, ideal in (
            ("retrieved", gains, hits),
            ("full", gains, min(k, relevant_in_index)),
            ("bench", counted, min(n_facts, hits)),
        ):
            out[f"ndcg@{k}:{rule}"] = _dcg(gained) / _dcg([True] * ideal) if hits else 0.0
    return out


def _dcg(gains: Sequence[bool]) -> float:
    return sum(gain / math.log2(i + 2) for i, gain in enumerate(gains))
