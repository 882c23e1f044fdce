"""What the differences say, in a sentence for each rival."""

from __future__ import annotations

from typing import Any

from drac_pipeline.evaluate.metrics import SHORT


def verdicts(c: dict[str, Any]) -> list[str]:
    """For each rival a sentence: where the reference is surely better or worse."""
    out = []
    for d in c["differences"]:
        if d["ranker"] != c["main_ranker"]:
            continue
        better = [SHORT[m] for m, v in d["metrics"].items() if v["sure"] and v["mean"] > 0]
        worse = [SHORT[m] for m, v in d["metrics"].items() if v["sure"] and v["mean"] < 0]
        told = [
            f"{word} on {', '.join(names)}" for word, names in (("better", better), ("worse", worse)) if names
        ]
        out.append(
            f"{c['reference']} against {d['set']}: {' and '.join(told)}"
            if told
            else f"{c['reference']} against {d['set']}: no difference that these questions can show"
        )
    return out
